"""Groups and weights in the verbs."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import veridical
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.splits import split_table
from veridical.evaluation import CrossValidation, Procedure, evaluate
from veridical.learning import NaiveBayes
from veridical.selection import AnovaF

SCORES = [
    "accuracy",
    "balanced_accuracy",
    "roc_auc",
    "average_precision",
    "matthews_corrcoef",
    "f1",
    "precision",
    "sensitivity",
    "specificity",
    "log_loss",
    "brier_score",
    "f1_macro",
]


@pytest.fixture(scope="module")
def patients():
    """Return 16 patients of 4 samples that resemble each other; a class is constant."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(16), 4)
    y = np.where(np.arange(16) % 2, "ill", "well")[groups]
    X = rng.normal(size=(16, 6))[groups] + 0.1 * rng.normal(size=(64, 6))
    X[:, 0] += (y == "ill") * 1.5
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    frame.insert(2, "patient", [f"p{g}" for g in groups])
    return frame, y, groups


VERBS = {
    "estimate": lambda X, y, **o: veridical.estimate("nb", X, y, **o),
    "select": lambda X, y, **o: veridical.select("anova", X, y, estimator="nb", **o),
    "compare": lambda X, y, **o: veridical.compare(
        ["anova", "correlation"], X, y, estimator="nb", **o
    ),
    "audit": lambda X, y, **o: veridical.audit("nb", X, y, n_permutations=19, **o),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_groups(verb, patients):
    X, y, groups = patients
    run, rest = VERBS[verb], X.drop(columns="patient")
    named = run(X, y, groups="patient", cv=4, random_state=0)
    given = run(rest, y, groups=groups, cv=4, random_state=0)
    assert named.to_frame().equals(given.to_frame())
    assert named.data.n_features == 6
    settings = " ".join(map(str, named.settings.values()))
    assert "16 groups kept whole" in settings
    with pytest.raises(InputError, match="one group only"):
        run(rest, y, groups=np.zeros(64))
    with pytest.raises(InputError, match="17 folds cannot be made of 16 groups"):
        run(rest, y, groups=groups, cv=17)
    with pytest.raises(InputError, match="All samples of class 'ill' are in one group"):
        run(rest, y, groups=np.where(y == "ill", -1, groups), cv=3)


def test_tests_count_groups(patients):
    X, y, _ = patients
    found = veridical.estimate("nb", X, y, groups="patient", cv=4, random_state=0)
    assert found.test_share == pytest.approx(4 / 12)
    assert found.n_units == 16
    assert 16 <= found.n_effective <= 64
    assert "wilson" not in found.assumes
    assert "nested" not in found.assumes
    low, high = found.interval()
    wide = veridical.estimate("nb", X.drop(columns="patient"), y, random_state=0)
    assert (
        high - low > wide.interval(kind="wilson")[1] - wide.interval(kind="wilson")[0]
    )


def test_all_hits_leave_the_interval_a_width(patients):
    _, y, groups = patients
    clear = pd.DataFrame({"a": (y == "ill") * 1.0})
    found = veridical.estimate("nb", clear, y, groups=groups, cv=4, random_state=0)
    low, high = found.interval()
    assert found.value == high == 1
    assert 0.7 < low < 0.9  # 16 groups, not 64 samples


# -- weights ---------------------------------------------------------------------------


def _repeated(weights, splits):
    """Return the rows of the repeated table, and the splits of these rows."""
    rows = np.repeat(np.arange(len(weights)), weights)
    return rows, [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test)))
        for train, test in splits
    ]


@pytest.fixture(scope="module")
def weighted():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 8))
    X[:, :2] += y[:, None]
    weights = rng.integers(0, 4, 60)
    return X, y, weights, CrossValidation(4).split(y, 0)


@pytest.mark.parametrize(
    "estimator",
    [
        "nb",
        "svm",
        "logistic",
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(AnovaF(3), GaussianNB()),
        KNeighborsClassifier(3),  # takes no weights: samples are repeated
        make_pipeline(SelectKBest(k=3), GaussianNB()),
    ],
    ids=str,
)
def test_whole_weights_are_repeated_samples(estimator, weighted):
    X, y, weights, splits = weighted
    rows, again = _repeated(weights, splits)
    scores = ["accuracy", "balanced_accuracy", "roc_auc"]
    one = veridical.estimate(
        estimator, X, y, sample_weight=weights, cv=splits, scoring=scores
    )
    other = veridical.estimate(estimator, X[rows], y[rows], cv=again, scoring=scores)
    for name in scores:
        assert one.by_score[name].value == pytest.approx(
            other.by_score[name].value, abs=1e-9
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_score_of_whole_weights_is_that_of_repeated_samples(n_classes):
    rng = np.random.default_rng(2)
    y, X = np.arange(72) % n_classes, rng.normal(size=(72, 3))
    X[:, 0] += y
    weights = rng.integers(0, 4, 72)
    splits = CrossValidation(3).split(y, 0)
    rows, again = _repeated(weights, splits)
    scores = SCORES if n_classes == 2 else [
        "accuracy", "balanced_accuracy", "roc_auc_ovr", "roc_auc_ovo",
        "average_precision", "matthews_corrcoef", "log_loss", "brier_score",
    ]  # fmt: skip
    learner = NaiveBayes()  # scikit-learn's adds a share of an unweighted variance
    one = veridical.estimate(
        learner, X, y, sample_weight=weights, cv=splits, scoring=scores
    )
    other = veridical.estimate(learner, X[rows], y[rows], cv=again, scoring=scores)
    for name in one.by_score:
        a, b = one.by_score[name], other.by_score[name]
        assert a.value == pytest.approx(b.value, abs=1e-9), name
        assert a.scores == pytest.approx(b.scores, abs=1e-9), name


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "log_loss", "brier"])
def test_weighted_scores_are_those_of_scikit_learn(name, weighted):
    from sklearn.metrics import get_scorer

    X, y, _, splits = weighted
    weights = np.random.default_rng(3).random(60)
    found = veridical.estimate(
        GaussianNB(), X, y, sample_weight=weights, cv=splits, scoring=name
    )
    scorer = get_scorer(
        {"log_loss": "neg_log_loss", "brier": "neg_brier_score"}.get(name, name)
    )
    for s, (train, test) in enumerate(splits):
        model = GaussianNB().fit(X[train], y[train], sample_weight=weights[train])
        expected = scorer(model, X[test], y[test], sample_weight=weights[test])
        assert found.scores[s] == pytest.approx(abs(expected), rel=1e-9)


def test_selection_and_comparison_use_weights(weighted):
    X, y, weights, splits = weighted
    rows, again = _repeated(weights, splits)
    options = {"estimator": "nb", "n_features_to_select": 3}
    one = veridical.select("anova", X, y, sample_weight=weights, cv=splits, **options)
    other = veridical.select("anova", X[rows], y[rows], cv=again, **options)
    assert [f.name for f in one.features] == [f.name for f in other.features]
    assert one.accuracy.value == pytest.approx(other.accuracy.value)
    pair = ["anova", "relieff"]
    one = veridical.compare(
        pair, X, y, sample_weight=weights, cv=splits, random_state=0, **options
    )
    other = veridical.compare(
        pair, X[rows], y[rows], cv=again, random_state=0, **options
    )
    assert one.accuracy["in"] == pytest.approx(other.accuracy["in"])
    assert one.accuracy["out"] == pytest.approx(other.accuracy["out"])


def test_rankings_without_weights_get_repeated_samples(weighted):
    X, y, _, _ = weighted
    seen = []

    class Ranker:
        def rank_many(self, X, y, train_sets):
            seen.extend(train_sets)
            return [np.arange(X.shape[1]) for _ in train_sets]

    options = {"estimator": "nb", "cv": 3, "random_state": 0, "n_features_to_select": 2}
    whole = np.arange(len(y)) % 3
    veridical.select(Ranker(), X, y, sample_weight=whole, **options)
    for rows in seen:
        assert set(np.unique(rows, return_counts=True)[1]) <= {1, 2}
        assert (whole[rows] > 0).all()
    with pytest.raises(InputError, match="Ranker takes no sample_weight"):
        veridical.select(Ranker(), X, y, sample_weight=whole + 0.5, **options)


def test_audit_uses_weights(weighted):
    X, y, weights, splits = weighted
    rows, again = _repeated(weights, splits)
    one = veridical.audit(
        "nb", X, y, sample_weight=weights, cv=splits, n_permutations=19, random_state=0
    )
    other = veridical.audit(
        "nb", X[rows], y[rows], cv=again, n_permutations=19, random_state=0
    )
    assert one.accuracy["in"].value == pytest.approx(other.accuracy["in"].value)
    assert one.balanced_accuracy == pytest.approx(other.balanced_accuracy)


@pytest.mark.parametrize("verb", VERBS)
def test_bad_weights_are_errors(verb):
    rng = np.random.default_rng(0)
    X, y, run = rng.normal(size=(40, 4)), np.arange(40) % 2, VERBS[verb]
    with pytest.raises(InputError, match="Negative values in sample_weight"):
        run(X, y, sample_weight=np.r_[-1, np.ones(39)])
    with pytest.raises(InputError, match="0 for every sample"):
        run(X, y, sample_weight=np.zeros(40))
    with pytest.raises(InputError, match="leaves one class only"):
        run(X, y, sample_weight=y)


def test_weights_that_an_estimator_cannot_take_are_an_error(weighted):
    X, y, _, splits = weighted
    odd = np.full(60, 0.3)
    with pytest.raises(
        InputError, match=r"KNeighborsClassifier takes no sample_weight"
    ):
        veridical.estimate(KNeighborsClassifier(), X, y, sample_weight=odd, cv=splits)
    with pytest.raises(InputError, match=r"^1-NN takes no sample_weight"):
        veridical.choose(
            X, y, selectors=["anova"], estimators=["1nn"], sizes=[2], sample_weight=odd
        )
    pipeline = make_pipeline(SelectKBest(k=2), GaussianNB())
    with pytest.raises(InputError, match=r"SelectKBest takes no sample_weight"):
        veridical.estimate(pipeline, X, y, sample_weight=odd, cv=splits)
    with pytest.raises(InputError, match="takes no sample_weight"):
        veridical.estimate(
            "nb", X, y, sample_weight=odd, cv=splits, scoring=lambda m, X, y: 1.0
        )


def test_equal_weights_change_nothing(weighted):
    X, y, _, splits = weighted
    (one,) = evaluate([Procedure(GaussianNB(), AnovaF(), (2, 4))], X, y, splits)
    (other,) = evaluate(
        [Procedure(GaussianNB(), AnovaF(), (2, 4))], X, y, splits,
        sample_weight=np.full(60, 2.0),
    )  # fmt: skip
    for a, b in zip(one.predictions, other.predictions, strict=True):
        assert np.array_equal(a, b)
    assert one.accuracies() == pytest.approx(other.accuracies())


# -- metadata of scikit-learn ----------------------------------------------------------


def test_a_search_by_groups_gets_its_groups(patients):
    X, y, groups = patients
    rest = X.drop(columns="patient")
    search = GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=GroupKFold(3))
    found = veridical.estimate(search, rest, y, groups=groups, cv=4, random_state=0)
    splits = split_table(CrossValidation(4), read_table(rest, y, groups=groups), 0)
    hits = []
    for train, test in splits:
        model = GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=GroupKFold(3))
        model.fit(rest.iloc[train], y[train], groups=groups[train])
        hits.append(model.predict(rest.iloc[test]) == y[test])
    assert found.value == np.concatenate(hits).mean()


def test_names_and_bare_estimators_get_weights_where_routing_is_enabled(weighted):
    """They have no requests; those that take no weights get repeated samples."""
    X, y, weights, splits = weighted
    options = {"sample_weight": weights, "cv": splits, "random_state": 0}

    def values():
        found = veridical.choose(
            X, y, selectors=["anova"], sizes=[2], estimators=["nb", "1nn"], **options
        )
        names = ["nb", "1nn", "svm", LogisticRegression()]
        return [
            found.score,
            found.estimator_.predict(X).tolist(),
            *(veridical.estimate(one, X, y, **options).value for one in names),
        ]

    expected = values()
    with sklearn.config_context(enable_metadata_routing=True):
        assert values() == expected
        refused = LogisticRegression().set_fit_request(sample_weight=False)
        with pytest.raises(InputError, match="does not request sample_weight"):
            veridical.estimate(refused, X, y, **options)


def test_metadata_routing_decides_in_pipelines(weighted):
    X, y, weights, splits = weighted
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        found = veridical.estimate(pipeline, X, y, sample_weight=weights, cv=splits)
        silent = make_pipeline(StandardScaler(), LogisticRegression())
        with pytest.raises(InputError, match="does not request sample_weight"):
            veridical.estimate(silent, X, y, sample_weight=weights, cv=splits)
    hits = []
    for train, test in splits:
        kept = train[weights[train] > 0]
        scaler = StandardScaler().fit(X[kept])
        model = LogisticRegression().fit(
            scaler.transform(X[kept]), y[kept], sample_weight=weights[kept]
        )
        hits.append(model.predict(scaler.transform(X[test])) == y[test])
    tested = np.concatenate([test for _, test in splits])
    expected = np.average(np.concatenate(hits), weights=weights[tested])
    assert found.value == pytest.approx(expected)
