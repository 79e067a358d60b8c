"""The same argument means the same in every verb that looks at data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.feature_selection import (
    RFE,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import veridical
from veridical._core.errors import InputError
from veridical.evaluation import Bootstrap632, CrossValidation, Resubstitution
from veridical.evaluation.naming import read_cv
from veridical.learning import ESTIMATORS, estimators_for
from veridical.selection import AnovaF, selectors_for

PAIR = ("anova", "information-gain")


def select(X, y, **options):
    return veridical.select(
        "anova", X, y, **{"estimator": "nb", "n_features_to_select": 2, **options}
    )


def estimate(X, y, **options):
    return veridical.estimate("nb", X, y, **options)


def compare(X, y, **options):
    return veridical.compare(
        PAIR, X, y, **{"estimator": "nb", "n_features_to_select": 2, **options}
    )


def audit(X, y, **options):
    return veridical.audit("nb", X, y, n_permutations=19, **options)


def audit_selected(X, y, **options):
    return audit(X, y, selected=[0, 1], selector="anova", **options)


def sensitivity(X, y, **options):
    few = {"strengths": (1.0,), "n_sets": 2, "n_test": 10}
    common = {"estimator": "nb", "n_features_to_select": 2}
    return veridical.sensitivity(PAIR, X, y, **{**few, **common, **options})


def choose(X, y, **options):
    few = {"selectors": PAIR, "sizes": [2], "estimators": ["nb"], "n_bootstrap": 20}
    return veridical.choose(X, y, **{**few, **options})


VERBS = [select, estimate, compare, choose, audit, audit_selected, sensitivity]
#: Those that select features in every training set.
SELECTING = [select, compare, choose, audit_selected, sensitivity]


def problem(n=40, p=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p))
    X[:, 0] += 4 * y
    return X, np.array(["no", "yes"], dtype="<U4")[y]


def with_small_class(size):
    X, y = problem()
    y[:size] = "rare"
    return X, y


# -- classes that splits lack --------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_a_class_that_a_training_set_lacks_is_warned_of(verb):
    X, y = with_small_class(1)
    sentence = (
        r"^Class 'rare' is missing from the training set of 1 of 5 splits, so its "
        "samples count as errors there"
    )
    with pytest.warns(UserWarning, match=sentence):
        verb(X, y, cv=5, random_state=0)


@pytest.mark.parametrize("verb", VERBS)
def test_a_class_smaller_than_the_number_of_folds_is_warned_of(verb):
    X, y = with_small_class(2)
    sentence = r"^Class 'rare' has 2 samples, fewer than the 5 folds"
    with pytest.warns(UserWarning, match=sentence):
        verb(X, y, cv=5, random_state=0)


def test_the_number_of_folds_stays_what_was_asked_for():
    X, y = with_small_class(2)
    with pytest.warns(UserWarning, match="fewer than the 5 folds"):
        assert select(X, y, cv=5).n_folds == 5
    with pytest.warns(UserWarning, match="fewer than the 5 folds"):
        assert compare(X, y, cv=5).accuracy["in"].shape == (2, 1, 1, 5)


@pytest.mark.parametrize(
    ("name", "estimator"),
    [(name, "nb") for name in sorted(selectors_for("classes"))]
    + [("anova", name) for name in sorted(estimators_for("classes"))],
)
def test_every_selector_and_estimator_goes_on_without_a_class(name, estimator):
    """The samples of the missing class are errors; the others are still predicted."""
    X, y = with_small_class(1)
    with pytest.warns(UserWarning, match="'rare' is missing"):
        found = veridical.select(
            name, X, y, estimator=estimator, n_features_to_select=2, cv=4
        )
    assert {one.name: one.accuracy for one in found.classes}["rare"] == 0
    assert found.n_test == len(y)


@pytest.mark.parametrize("verb", SELECTING)
def test_nothing_is_selected_on_one_class(verb):
    X, y = problem()
    no, yes = np.flatnonzero(y == "no"), np.flatnonzero(y == "yes")
    with pytest.raises(
        InputError,
        match=r"'yes' is missing from the training set of split 1 of 2.*one class",
    ):
        verb(X, y, cv=[(no, yes), (yes, no)], random_state=0)


@pytest.mark.parametrize("verb", [estimate, audit])
def test_without_selection_one_class_is_named_whatever_the_estimator(verb):
    X, y = problem()
    no, yes = np.flatnonzero(y == "no"), np.flatnonzero(y == "yes")
    with pytest.warns(UserWarning, match="2 of 2 training sets hold one class only"):
        verb(X, y, cv=[(no, yes), (yes, no)], random_state=0)


# -- methods that are more than splits -----------------------------------------------


@pytest.mark.parametrize("verb", [select, compare, audit, sensitivity])
@pytest.mark.parametrize("cv", ["boot632-6", Bootstrap632(6, plus=True)], ids=str)
def test_verbs_say_that_they_use_the_splits_of_the_bootstrap(verb, cv):
    X, y = problem()
    found = verb(X, y, cv=cv, random_state=0)
    words = "6 bootstrap samples, tested on the samples outside each"
    assert found.settings["cross-validation"] == words


def test_select_tests_the_samples_outside_the_bootstrap_samples():
    X, y = problem()
    method = Bootstrap632(6)
    found = select(X, y, n_features_to_select=5, cv=method, random_state=0)
    outside = estimate(X, y, cv=list(method.split(y, 0)), random_state=0)
    weighed = estimate(X, y, cv=method, random_state=0)
    assert found.accuracy.value == outside.value != weighed.value
    assert any("outside the bootstrap samples" in note for note in found.notes)
    assert "6 bootstrap samples" in found.to_dict()["words"]["evidence"]


def test_resubstitution_is_called_optimistic_or_refused():
    X, y = problem()
    note = "Resubstitution tests on the training samples; it is optimistic."
    for cv in (Resubstitution(), "resubstitution"):
        with pytest.raises(InputError, match="does not measure the accuracy on new"):
            select(X, y, cv=cv)
    assert any(
        one.startswith(note) for one in estimate(X, y, cv="resubstitution").notes
    )
    assert "VD011" in {one.code for one in audit(X, y, cv="resubstitution").findings}
    with pytest.raises(InputError, match=r"1 split\(s\)"):
        compare(X, y, cv=Resubstitution())


def test_without_an_interval_the_page_says_so(tmp_path):
    X, y = problem()
    rows = np.arange(len(y))
    with pytest.warns(UserWarning, match="also training samples"):
        found = select(X, y, cv=[(rows, rows)])
    summary = found.to_dict()
    assert summary["low"] is summary["high"] is None
    assert "no interval" in summary["words"]["headline"]
    found.save(tmp_path / "page.html")
    assert "nan" not in (tmp_path / "page.html").read_text().split("<svg")[1]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb is not choose])
def test_test_samples_that_were_learned_from_are_warned_of(verb):
    X, y = problem()
    rows = np.arange(len(y))
    with pytest.warns(UserWarning, match="Some test samples are also training samples"):
        verb(X, y, cv=[(rows, rows[:20]), (rows[:30], rows[30:])], random_state=0)


def test_nothing_is_chosen_by_test_samples_that_were_learned_from():
    X, y = problem()
    rows = np.arange(len(y))
    with pytest.raises(InputError, match="tested by models that were trained on them"):
        choose(X, y, cv=[(rows, rows[:20]), (rows[:30], rows[30:])], random_state=0)


# -- the same numbers ----------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", ["svm", "logistic", LogisticRegression(max_iter=20)]
)
def test_the_same_cv_gives_the_same_folds_in_every_verb(estimator):
    X, y = load_wine(return_X_y=True)
    common = {"cv": 10, "random_state": 0}
    n = X.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plain logistic regression does not converge
        estimated = veridical.estimate(estimator, X, y, **common)
        audited = veridical.audit(estimator, X, y, n_permutations=19, **common)
        selected = veridical.select(
            "anova", X, y, estimator=estimator, n_features_to_select=n, **common
        )
        compared = veridical.compare(
            PAIR, X, y, estimator=estimator, n_features_to_select=n, **common
        )
    assert audited.accuracy["in"].value == estimated.value
    assert selected.accuracy.value == selected.size_accuracy[-1] == estimated.value
    # A comparison is one of folds, and averages over them.
    mean = pytest.approx(estimated.details["mean_of_splits"], abs=1e-12)
    assert compared.accuracy["in"].mean(axis=(1, 2, 3)).tolist() == [mean, mean]


# -- any selector, estimator and splitter of scikit-learn ----------------------------

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


@pytest.mark.parametrize(
    ("selector", "n"),
    [
        (SelectKBest(k=2), 2),
        (RFE(LogisticRegression(), n_features_to_select=2), 2),
        (RFE(LogisticRegression()), 2),
        (SequentialFeatureSelector(GaussianNB(), n_features_to_select=2, cv=2), 2),
        (SelectFromModel(LogisticRegression()), 1),
        (SelectFromModel(LogisticRegression(), max_features=3), 3),
        (GenericUnivariateSelect(mode="k_best", param=2), 2),
        (SelectPercentile(percentile=40), 2),
        (VarianceThreshold(), 5),
        (SelectFdr(alpha=1e-6), 1),
        (make_pipeline(StandardScaler(), SelectKBest(k=2)), 2),
        (make_pipeline(VarianceThreshold(), StandardScaler(), AnovaF(2)), 2),
        (make_pipeline(FunctionTransformer(np.arctan), SelectPercentile()), 1),
        (make_pipeline(SimpleImputer(), SelectFromModel(TREE)), 1),
    ],
    ids=str,
)
def test_any_selector_selects_as_many_as_it_was_made_for(selector, n):
    X, y = problem()
    found = veridical.select(selector, X, y, estimator="nb", cv=3, random_state=0)
    assert len(found.features) == n
    assert found.features[0].index == 0
    assert found.features[0].n_folds == 3


@pytest.mark.parametrize(
    "selector",
    [VarianceThreshold(0.9), SelectPercentile(percentile=30), SelectFdr(alpha=0.99)],
    ids=str,
)
def test_what_a_threshold_keeps_is_learned_on_every_training_set(selector):
    X, y = problem(p=8)
    found = veridical.select(selector, X, y, estimator="nb", cv=4, random_state=0)
    hits = []
    for train, test in CrossValidation(4).split(y, 0):
        model = make_pipeline(clone(selector), ESTIMATORS["nb"]())
        model.fit(X[train], y[train])
        hits.extend(model.predict(X[test]) == y[test])
    assert found.accuracy.value == np.mean(hits)


def test_a_selector_that_cannot_be_told_how_many_says_so():
    X, y = problem()
    with pytest.raises(
        InputError, match=r"SelectPercentile returned 1 .* 3 are needed"
    ):
        veridical.select(SelectPercentile(percentile=20), X, y, n_features_to_select=3)
    with pytest.raises(InputError, match=r"VarianceThreshold returned 5 .* 3 are"):
        veridical.compare(
            ["anova", VarianceThreshold()], X, y, n_features_to_select=3, cv=3
        )
    with pytest.raises(InputError, match=r"SelectFdr returned 0 .* 1 is needed"):
        veridical.select(SelectFdr(alpha=1e-9), X[:, 1:], y)


def test_a_pipeline_selects_what_its_steps_do_on_the_training_samples():
    """Dropped columns and all: places are those of X."""
    X, y = problem(p=6)
    X[:, 2] = 1
    X[:, 4] *= 1000
    table = pd.DataFrame(X, columns=list("abcdef"))
    selector = make_pipeline(VarianceThreshold(), StandardScaler(), SelectKBest(k=2))
    for data in (X, table):
        found = veridical.select(selector, data, y, estimator="nb", cv=3)
        fitted = clone(selector).fit(X, y)
        kept = np.delete(np.arange(6), 2)[fitted[-1].get_support()]
        assert {one.index for one in found.features} == set(kept)
        scores = fitted[-1].scores_[fitted[-1].get_support()]
        assert {one.score for one in found.features} == set(scores)
    assert {one.name for one in found.features} == {"abcdef"[j] for j in kept}


def test_a_pipeline_as_selector_in_every_verb_that_takes_one():
    X, y = problem()
    scaled = make_pipeline(StandardScaler(), SelectKBest(k=2))
    result = veridical.compare(
        {"scaled": scaled, "plain": SelectKBest(k=2)},
        X,
        y,
        n_features_to_select=3,
        estimator="nb",
        cv=4,
        random_state=0,
    )
    # The F ratio does not depend on the scale.
    a, b = np.sort(result.selected["in"], axis=-1)
    assert np.array_equal(a, b)
    audited = veridical.audit(
        "nb", X, y, selected=[0, 1], selector=scaled, n_permutations=19, random_state=0
    )
    assert audited.preselection.overlap["StandardScaler, then SelectKBest"] >= 1


@pytest.mark.parametrize(
    "step", [PCA(), PCA(2), FunctionTransformer(lambda X: X[:, ::-1])], ids=type
)
def test_a_step_that_makes_other_columns_cannot_stand_before_a_selector(step):
    X, y = problem()
    selector = make_pipeline(step, SelectKBest(k=2))
    words = f"{type(step).__name__} comes before the selector"
    with pytest.raises(InputError, match=words):
        veridical.select(selector, X, y, cv=3)
    with pytest.raises(InputError, match=words):
        veridical.compare(["anova", selector], X, y, n_features_to_select=2, cv=3)


def test_a_pipeline_that_does_not_select_is_no_selector():
    X, y = problem()
    with pytest.raises(InputError, match="pipeline whose last step has them"):
        veridical.select(make_pipeline(StandardScaler(), GaussianNB()), X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=2),
        VotingClassifier([("nb", GaussianNB()), ("tree", TREE)]),
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), SelectKBest(k=1), GaussianNB()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_any_estimator_may_follow_a_selector(estimator):
    X, y = problem()
    found = veridical.select(AnovaF(2), X, y, estimator=estimator, cv=3, random_state=0)
    assert found.accuracy.value > 0.6


@pytest.mark.parametrize(
    ("cv", "n"),
    [
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2), 6),
        (ShuffleSplit(4), 4),
        (LeaveOneOut(), 40),
        (PredefinedSplit(np.arange(40) % 4), 4),
        (list(StratifiedKFold(3).split(*problem())), 3),
        ("2x3", 6),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("verb", [select, estimate, compare, audit])
def test_any_splitter_makes_the_folds_of_every_verb(verb, cv, n):
    X, y = problem()
    found = verb(X, y, cv=cv, random_state=0)
    if verb is select:
        assert found.n_folds == n
    elif verb is estimate:
        assert len(found.scores) == n
    elif verb is compare:
        assert found.accuracy["in"].size == 2 * n
    else:
        assert 0 <= found.accuracy["in"].value <= 1


# -- what no verb can use ------------------------------------------------------------


def with_value(value):
    X = pd.DataFrame(problem()[0], columns=list("abcde")).astype(object)
    X.iloc[3, 1] = value
    return X


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": ["no"] * 40}, "only one class, 'no'"),
        ({"y": np.arange(40) / 7}, "must be classes, but"),
        ({"y": ["no", "yes"] * 19}, "40 rows but 38 labels"),
        ({"X": with_value("oops")}, "Column 'b' .* holds 'oops'"),
        ({"X": with_value(np.inf)}, "Column 'b' .* infinite value"),
        ({"X": np.empty((0, 3)), "y": []}, "no samples"),
        ({"X": np.empty((40, 0))}, "no features"),
        ({"cv": 0}, "cv=0 folds are not possible with 40 samples; use 2 to 40"),
        ({"cv": 41}, "cv=41 folds are not possible with 40 samples; use 2 to 40"),
        ({"cv": "10x"}, "no method '10x'; did you mean '10x5'"),
        ({"cv": [([0, 1], [99])] * 2}, "names row 99, but X has 40 rows"),
        ({"n_jobs": 0}, "n_jobs=0 does no work; use 1"),
        ({"random_state": "x"}, "random_state='x' cannot be used as a seed"),
    ],
    ids=[
        "one class", "continuous", "lengths", "text", "infinite", "no samples",
        "no features", "no folds", "too many folds", "10x", "row 99", "no jobs", "seed",
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_the_same_words(verb, change, message):
    X, y = problem()
    with pytest.raises(InputError, match=message):
        verb(**{"X": X, "y": y, **change})


def test_two_samples_allow_two_folds():
    with pytest.raises(InputError, match="use 2 folds, which are leave-one-out"):
        read_cv(3, 2)


@pytest.mark.parametrize("verb", [select, estimate, compare, audit])
def test_labels_and_generators_of_every_kind(verb):
    X, y = problem()
    common = {"cv": 3}
    plain = verb(X, y, random_state=np.random.default_rng(1), **common)
    again = verb(
        X,
        pd.Categorical(y, categories=["no", "yes", "never"]),
        random_state=np.random.default_rng(1),
        **common,
    )
    values = [one.value if verb is estimate else one.accuracy for one in (plain, again)]
    if verb is compare:
        values = [one["in"].tolist() for one in values]
    elif verb is audit:
        values = [one["in"].value for one in values]
    assert values[0] == values[1]
