"""IN and OUT on one data set: against an obvious loop, and what must not matter."""

import re
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from tests.oracles.comparison import in_and_out

import veridical
from veridical._core.splits import CrossValidation
from veridical.comparison import (
    compare,
    corrected_resampled_t,
    paired_t,
)
from veridical.comparison.records import Comparison
from veridical.datasets import make_linear, make_monks, make_random_labels
from veridical.learning import C45, make_estimator
from veridical.learning.tabular import TabularClassifier
from veridical.selection import FCBF, MRMR, AnovaF, ReliefF

NAMED = ["svm", "nb", "1nn", "c45"]
MODELS = {
    "svm": lambda: make_pipeline(MinMaxScaler(), SVC(kernel="linear", C=1.0)),
    "1nn": lambda: make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)),
}


def best(sign, n_features):
    def choose(X, y):
        return np.argsort(sign * f_classif(X, y)[0])[:n_features]

    return choose


def same(one: Comparison, other: Comparison) -> bool:
    return (
        all(np.array_equal(one.accuracy[m], other.accuracy[m]) for m in one.accuracy)
        and all(
            np.array_equal(one.selected[m], other.selected[m]) for m in one.selected
        )
        and one.pairs == other.pairs
        and one.by_estimator == other.by_estimator
        and np.array_equal(one.optimism, other.optimism, equal_nan=True)
    )


@pytest.mark.parametrize(
    "cv",
    [
        KFold(7, shuffle=True, random_state=3),
        StratifiedKFold(5),
        RepeatedKFold(n_splits=4, n_repeats=3, random_state=1),
    ],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_the_obvious_loop(problem, anova, worst, cv, n_classes):
    X, y = problem
    y = y % n_classes
    folds = list(cv.split(X, y))
    names = NAMED
    # With three classes scikit-learn decides ties by the order of the names.
    models = {name: partial(make_estimator, name) for name in names}
    models |= MODELS if n_classes == 2 else {}
    result = compare(
        [anova, worst], X, y, n_features_to_select=5, estimator=names, cv=cv
    )
    for c, name in enumerate(names):
        for i, sign in enumerate((-1, 1)):
            inside, outside = in_and_out(best(sign, 5), models[name], X, y, folds)
            assert np.array_equal(result.accuracy["in"][i, c].ravel(), inside)
            assert np.array_equal(result.accuracy["out"][i, c].ravel(), outside)


def test_a_number_of_folds_means_stratified_shuffled_folds(problem, anova, worst):
    X, y = problem
    common = {"n_features_to_select": 4, "random_state": 11}
    result = compare([anova, worst], X, y, **common)
    folds = CrossValidation(10).split(y, random_state=11)
    told = result.settings["cross-validation"]
    assert told == "stratified 10-fold cross-validation"
    assert {len(np.unique(y[test])) for _, test in folds} == {3}
    assert not any(np.all(np.diff(test) == 1) for _, test in folds)
    again = compare([anova, worst], X, y, cv=[*map(tuple, folds)], **common)
    assert same(result, again)


def test_estimate_has_the_same_folds(problem, first):
    """A selector that leaves out nothing: what is left is the estimate of a model."""
    X, y = problem
    common = {"estimator": "nb", "random_state": 11}
    result = compare([first, first], X, y, n_features_to_select=1.0, **common)
    alone = veridical.estimate("nb", X, y, random_state=11)
    assert result.n_features_to_select == X.shape[1]
    for method in ("in", "out"):
        assert np.array_equal(result.accuracy[method][0, 0, 0], alone.scores)


def test_same_folds_for_every_side_method_and_classifier(problem):
    """A0: what a classifier is trained and tested on, seen from inside it."""
    X, y = problem
    marked = np.column_stack([X, np.arange(len(X))])  # the last column names the row

    class Spy(KNeighborsClassifier):
        seen: list = []  # noqa: RUF012

        def fit(self, X, y):
            self.rows_ = X[:, -1]
            return super().fit(X, y)

        def predict(self, X):
            Spy.seen.append((self.rows_.tolist(), X[:, -1].tolist()))
            return super().predict(X)

    class KeepsMark(SelectKBest):
        def __init__(self, first=True, k=2):
            super().__init__(k=k)
            self.first = first

        def fit(self, X, y):
            super().fit(X, y)
            spread = X.max(axis=0)
            self.scores_ = self.scores_ if self.first else -self.scores_
            self.scores_[np.argmax(spread)] = np.inf
            return self

    compare(
        [KeepsMark(), KeepsMark(first=False)],
        marked,
        y,
        n_features_to_select=3,
        cv=5,
        estimator=Spy(),
    )
    splits = {(tuple(train), tuple(test)) for train, test in Spy.seen}
    assert len(splits) == 5
    assert len(Spy.seen) > 10  # sides and methods chose different columns
    for train, test in splits:
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(y)
    assert sorted(row for _, test in splits for row in test) == list(range(len(y)))


def test_shapes_and_fields(problem, anova, worst):
    X, y = problem
    result = compare(
        [anova, worst],
        X,
        y,
        n_features_to_select=4,
        estimator=["1nn", "c45"],
        cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=3),
        random_state=0,
        name="toy",
    )
    assert result.accuracy["in"].shape == result.accuracy["out"].shape == (2, 2, 3, 5)
    assert result.selected["in"].shape == (2, 3, 5, 4)
    assert result.selected["out"].shape == (2, 3, 1, 4)
    assert result.names == ("AnovaRanker(worst=False)", "AnovaRanker(worst=True)")
    assert result.data.name == "toy"
    assert result.data.classes == {"0": 30, "1": 30, "2": 30}
    assert result.data.feature_names[:2] == ("x0", "x1")
    assert set(result.by_estimator) == {"1nn", "c45"}
    frame = result.to_frame()
    assert len(frame) == 2 * 2 * 2 * 15
    assert frame.groupby("method")["accuracy"].mean()["in"] == pytest.approx(
        result.accuracy["in"].mean()
    )


def test_verdicts_come_from_the_tests(problem, anova, worst):
    def bare(verdict):
        assert verdict.test.size is not None  # the verdict adds what was measured
        return replace(verdict.test, size=None)

    X, y = problem
    sizes = {"n_train": 81, "n_test": 9}
    common = {
        "n_features_to_select": 4,
        "random_state": 5,
        "estimator": ["1nn", "c45"],
    }
    result = compare([anova, worst], X, y, **common)
    scores = result.scores
    for method in ("in", "out"):
        a, b = scores[method]
        assert bare(result.verdicts[method]) == corrected_resampled_t(a, b, **sizes)
        assert result.verdicts[method].winner == "a"
        (pair,) = result.pairs[method]
        assert (pair.first, pair.second, pair.better) == (
            *result.names,
            result.names[0],
        )
        assert pair.adjusted == pair.pvalue == result.verdicts[method].pvalue
    for i in range(2):
        gap = corrected_resampled_t(scores["out"][i], scores["in"][i], **sizes)
        assert result.optimism[i] == (gap.mean_difference, *gap.interval)
        alone = result.accuracy["in"][:, i]
        (pair,) = result.by_estimator[("1nn", "c45")[i]]["in"]
        assert bare(pair.verdict) == corrected_resampled_t(
            *alone.reshape(2, -1), **sizes
        )
    bias = [gap.value for gap in result.optimism]
    assert result.bias_imbalance == {"out": pytest.approx(abs(bias[0] - bias[1]))}
    plain = compare([anova, worst], X, y, test="paired-t", alpha=0.01, **common)
    expected = paired_t(*scores["in"], alpha=0.01)
    assert bare(plain.verdicts["in"]) == expected


def test_against_itself_everything_is_a_draw(problem, anova, chance):
    """A11: also for a selector that uses chance."""
    X, y = problem
    for selector in (anova, chance):
        result = compare(
            [selector, selector], X, y, n_features_to_select=6, random_state=2
        )
        assert [v.winner for v in result.verdicts.values()] == ["draw", "draw"]
        assert all(v.pvalue == 1 for v in result.verdicts.values())
        assert np.array_equal(result.accuracy["in"][0], result.accuracy["in"][1])
        assert result.names[0] != result.names[1]


def test_swapping_the_sides_mirrors_everything(problem, anova, chance):
    X, y = problem
    one = compare([anova, chance], X, y, n_features_to_select=3, random_state=1)
    other = compare([chance, anova], X, y, n_features_to_select=3, random_state=1)
    for method in ("in", "out"):
        assert np.array_equal(one.accuracy[method][::-1], other.accuracy[method])
        assert one.verdicts[method].pvalue == other.verdicts[method].pvalue


def test_any_number_of_processes(problem, anova):
    X, y = problem
    forest = RandomForestClassifier(n_estimators=3)  # uses chance, has no seed
    common = {
        "n_features_to_select": 4,
        "estimator": ["svm", forest],
        "cv": 4,
        "random_state": 3,
    }
    rfe = RFE(LogisticRegression(), step=5)
    one = compare([anova, rfe], X, y, n_jobs=1, **common)
    two = compare([anova, rfe], X, y, n_jobs=2, **common)
    assert same(one, two)
    assert not same(one, compare([anova, rfe], X, y, **{**common, "random_state": 4}))


def test_a_fresh_seed_is_recorded(problem, anova, chance):
    X, y = problem
    one = compare([anova, chance], X, y, n_features_to_select=4)
    seed = one.settings["random_state"]
    assert same(
        one, compare([anova, chance], X, y, n_features_to_select=4, random_state=seed)
    )


@pytest.mark.parametrize(
    "rename",
    [
        lambda y: np.array(["zebra", "ant", "mole"])[y],
        lambda y: np.array(["zebra", "ant", "mole"], dtype=object)[y],
        lambda y: pd.Series(pd.Categorical.from_codes(y, ["c", "b", "a"])),
        lambda y: (7 - 3 * y).astype(float),
        lambda y: y.reshape(-1, 1),
        lambda y: y.tolist(),
    ],
    ids=["text", "object", "category", "numbers", "column", "list"],
)
def test_names_of_classes_do_not_matter(problem, anova, worst, rename):
    X, y = problem
    # Alone, C4.5 gives a tie between classes to the first label.
    tree = TabularClassifier(C45(), scale=False, categorical_weight=None)
    estimators = [*NAMED[:3], tree]
    common = {"n_features_to_select": 4, "random_state": 8, "estimator": estimators}
    expected = compare([anova, worst], X, y, **common)
    assert same(compare([anova, worst], X, rename(y), **common), expected)


@pytest.mark.parametrize("kind", ["pandas", "polars", "csr", "csc", "list", "float32"])
def test_the_same_table_in_other_containers(problem, kind):
    X, y = problem
    X = X.astype(np.float32).astype(np.float64)
    names = [f"gene {j}" for j in range(X.shape[1])]
    if kind == "polars":
        polars = pytest.importorskip("polars")
        dressed = polars.DataFrame(dict(zip(names, X.T, strict=True)))
    else:
        dressed = {
            "pandas": pd.DataFrame(X, columns=names),
            "csr": sparse.csr_matrix(X),
            "csc": sparse.csc_array(X),
            "list": X.tolist(),
            "float32": X.astype(np.float32),
        }[kind]
    pair = SelectKBest(f_classif), RFE(LogisticRegression(), step=10)
    common = {"n_features_to_select": 4, "random_state": 8, "cv": 4}
    expected = compare(pair, X, y, **common)
    result = compare(pair, dressed, y, **common)
    assert same(result, expected)
    if kind in ("pandas", "polars"):
        assert result.data.feature_names == tuple(names)


def test_the_place_of_a_feature_carries_no_information(first, anova):
    X, y = make_linear(60, random_state=0)
    picks = [
        compare(
            [first, anova], X, y, n_features_to_select=10, random_state=seed
        ).selected["out"]
        for seed in (1, 2)
    ]
    assert not np.array_equal(np.sort(picks[0][0, 0, 0]), np.arange(10))
    assert not np.array_equal(picks[0][0], picks[1][0])
    assert np.array_equal(picks[0][1], picks[1][1])  # no ties: the order is innocent


def test_on_noise_out_is_an_artefact_and_in_is_chance(anova, worst):
    X, y = make_random_labels(50, 2000, random_state=4)
    result = compare([anova, worst], X, y, n_features_to_select=20, random_state=0)
    a_in, a_out = (result.accuracy[m][0].mean() for m in ("in", "out"))
    assert a_out > 0.85
    assert abs(a_in - 0.5) < 0.2
    assert result.optimism[0].low > 0.1
    assert "artefact of selection" in result.recommendation
    level = "always predicting the most frequent class (50.0 %"
    assert f"not shown to be better than {level}" in result.recommendation


def test_our_selectors_by_object_and_by_name():
    X, y = make_linear(80, random_state=1)
    common = {"n_features_to_select": 8, "random_state": 0, "cv": 5}
    by_object = compare([ReliefF(), FCBF()], X, y, **common)
    by_name = compare(["relieff", "fcbf"], X, y, **common)
    assert same(by_object, by_name)
    assert by_name.names == ("ReliefF", "FCBF")
    once = ReliefF(n_features_to_select=8).fit(X, y)
    chosen = by_object.selected["out"][0, 0, 0]
    assert set(chosen) == set(np.flatnonzero(once.support_))


@pytest.fixture(scope="module")
def mixed():
    X, y = make_monks(1, 120, random_state=3)
    X = X.assign(size=np.random.default_rng(0).normal(size=120))
    X.loc[::9, "a1"] = np.nan
    X.loc[::7, "size"] = np.nan
    return X, np.array(["no", "yes"])[y]


def test_mixed_tables_equal_the_obvious_loop(mixed):
    """Codes inside, data frames in the loop: the same models."""
    X, y = mixed
    cv = KFold(4, shuffle=True, random_state=0)
    result = compare(
        ["relieff", "fcbf"], X, y, n_features_to_select=4, estimator=NAMED, cv=cv
    )
    for f, (train, test) in enumerate(cv.split(X)):
        columns = np.sort(result.selected["in"][0, 0, f])
        known, unknown = X.iloc[train, columns], X.iloc[test, columns]
        fitted = ReliefF(n_features_to_select=4).fit(X.iloc[train], y[train])
        assert np.array_equal(columns, np.flatnonzero(fitted.support_))
        for c, name in enumerate(NAMED):
            model = make_estimator(name).fit(known, y[train])
            expected = np.mean(model.predict(unknown) == y[test])
            assert result.accuracy["in"][0, c, 0, f] == expected


@pytest.mark.parametrize("classifier", NAMED)
def test_categorical_features_and_missing_values(mixed, classifier):
    X, y = mixed
    result = compare(
        ["relieff", "information-gain"],
        X,
        y,
        n_features_to_select=3,
        estimator=classifier,
        cv=4,
        random_state=0,
    )
    assert result.accuracy["in"].min() > 0.3
    assert result.data.feature_names == tuple(X.columns)
    assert 4 in result.selected["out"][1, 0, 0]  # a5 decides by itself


def test_other_peoples_classifiers_get_data_frames_with_categories():
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = make_monks(1, 120, random_state=3)
    model = HistGradientBoostingClassifier(
        max_iter=5, categorical_features="from_dtype"
    )
    result = compare(
        ["relieff", "fcbf"],
        X,
        y,
        n_features_to_select=3,
        estimator=model,
        cv=3,
        random_state=0,
    )
    assert result.estimators == ("HistGradientBoostingClassifier",)
    assert result.accuracy["in"].mean() > 0.4


def test_scikit_learn_selectors_of_every_kind(problem, anova):
    X, y = problem
    for selector in (
        SelectKBest(f_classif, k=1),
        RFE(LogisticRegression(), n_features_to_select=1, step=5),
        SelectFromModel(LogisticRegression()),
    ):
        result = compare(
            [selector, anova], X, y, n_features_to_select=5, cv=3, random_state=0
        )
        assert result.selected["in"].shape == (2, 1, 3, 5)
        assert all(len(set(row)) == 5 for row in result.selected["in"][0, 0])
    again = compare(
        [SelectKBest(f_classif), anova], X, y, n_features_to_select=5, random_state=0
    )
    assert np.array_equal(again.selected["in"][0], again.selected["in"][1])


class Named(SelectKBest):
    """The best of the features whose names have a prefix."""

    def __init__(self, prefix="a", k=2):
        super().__init__(k=k)
        self.prefix = prefix

    def fit(self, X, y):
        super().fit(X, y)
        self.scores_[~X.columns.str.startswith(self.prefix)] = -1.0
        return self


@pytest.mark.parametrize(
    "steps", [(), (MinMaxScaler().set_output(transform="pandas"),)]
)
def test_selectors_may_know_features_by_their_names(problem, steps):
    X, y = problem
    names = [f"{'ab'[j % 2]}{j}" for j in range(X.shape[1])]
    found = compare(
        {p: make_pipeline(*steps, Named(p)) for p in "ab"},
        pd.DataFrame(X, columns=names),
        y,
        estimator="nb",
        n_features_to_select=2,
        random_state=0,
    )
    for side in (0, 1):
        assert (found.selected["in"][side] % 2 == side).all()
        assert (found.selected["out"][side] % 2 == side).all()


def test_users_objects_are_left_alone(problem, anova):
    X, y = problem
    selector, model = SelectKBest(f_classif, k=2), RandomForestClassifier(5)
    before = X.copy()
    compare([selector, anova], X, y, n_features_to_select=4, estimator=model, cv=3)
    assert selector.k == 2
    assert not hasattr(selector, "scores_")
    assert not hasattr(model, "estimators_")
    assert model.random_state is None
    assert np.array_equal(X, before)


def test_selectors_have_the_names_of_the_mapping_or_of_their_classes(
    problem, anova, worst
):
    X, y = problem
    common = {"n_features_to_select": 4, "cv": 3, "random_state": 0, "estimator": "1nn"}
    mine = compare({"up": anova, "down": worst}, X, y, **common)
    assert mine.names == ("up", "down")
    assert "up" in mine.recommendation
    pair = SelectKBest(f_classif, k=3), SelectKBest(f_classif, k=9)
    plain = compare(pair, X, y, **common)  # k is not theirs to decide
    assert plain.names == ("SelectKBest (1)", "SelectKBest (2)")
    several = [KNeighborsClassifier(1), KNeighborsClassifier(3), "svm"]
    result = compare(pair, X, y, **{**common, "estimator": several})
    assert result.estimators == (
        "KNeighborsClassifier (1)",
        "KNeighborsClassifier (2)",
        "svm",
    )


def test_one_method_alone(problem, anova, worst):
    X, y = problem
    common = {"n_features_to_select": 4, "random_state": 0}
    both = compare([anova, worst], X, y, **common)
    for method in ("in", "out"):
        one = compare([anova, worst], X, y, methods=[method], **common)
        assert (
            list(one.accuracy) == list(one.selected) == list(one.verdicts) == [method]
        )
        assert np.array_equal(one.accuracy[method], both.accuracy[method])
        assert (one.optimism, one.bias_imbalance) == ((), {})
    assert "run IN as well" in one.recommendation


def test_random_splits_are_folds_of_one_repeat(problem, anova, worst):
    X, y = problem
    cv = ShuffleSplit(6, test_size=0.3)
    result = compare(
        [anova, worst], X, y, n_features_to_select=4, cv=cv, random_state=0
    )
    assert result.accuracy["in"].shape == (2, 1, 1, 6)
    again = compare([anova, worst], X, y, n_features_to_select=4, cv=cv, random_state=0)
    assert same(result, again)
    splits = list(KFold(3).split(X))
    listed = compare([anova, worst], X, y, n_features_to_select=4, cv=splits)
    assert listed.accuracy["in"].shape == (2, 1, 1, 3)


def test_progress_counts_up_to_its_total(problem, anova):
    X, y = problem
    calls = []
    compare(
        [anova, SelectKBest(f_classif)],
        X,
        y,
        n_features_to_select=4,
        cv=3,
        progress=lambda done, total: calls.append((done, total)),
    )
    total = 1 + 4 + 3  # one ranking for all sets, four fits, three folds
    assert calls == [(done, total) for done in range(1, total + 1)]


def test_all_features_make_the_selectors_equal(problem, anova, worst):
    X, y = problem
    result = compare(
        [anova, worst], X, y, n_features_to_select=X.shape[1], random_state=0
    )
    assert np.array_equal(result.accuracy["in"][0], result.accuracy["out"][1])
    assert result.verdicts["in"].pvalue == 1


def test_a_share_of_the_features(problem, anova, worst):
    X, y = problem
    common = {"estimator": "1nn", "cv": 3, "random_state": 0}
    share = compare([anova, worst], X, y, n_features_to_select=0.2, **common)
    assert share.n_features_to_select == 6
    assert same(share, compare([anova, worst], X, y, n_features_to_select=6, **common))


def test_a_search_goes_as_far_as_the_comparison_asks():
    # Features beyond the depth of the search would follow by relevance alone.
    X, y = make_linear(60, random_state=3)
    shallow = MRMR(2, n_searched=2)
    record = compare(
        [shallow, "anova"], X, y, n_features_to_select=12, cv=3, random_state=0
    )
    deep = compare(
        [MRMR(12, n_searched=12), "anova"],
        X,
        y,
        n_features_to_select=12,
        cv=3,
        random_state=0,
    )
    np.testing.assert_array_equal(record.selected["in"][0], deep.selected["in"][0])
    assert shallow.n_features_to_select == 2


def test_no_size_of_folds_is_claimed_for_random_subsampling():
    X, y = make_linear(40, 20, random_state=0)
    options = {"estimator": "nb", "n_features_to_select": 3, "random_state": 0}
    folds = compare([AnovaF(), ReliefF()], X, y, cv=KFold(10, shuffle=True), **options)
    drawn = ShuffleSplit(10, test_size=0.1)  # as many test sets, of the same size
    subsamples = compare([AnovaF(), ReliefF()], X, y, cv=drawn, **options)
    assert folds.verdicts["in"].test.size is not None
    assert subsamples.verdicts["in"].test.size is None


class Complainer(GaussianNB):
    """A classifier that warns at every fit."""

    def fit(self, X, y):
        warnings.warn("It did not converge.", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_models_warn_of_is_said_once(n_jobs):
    X, y = make_linear(40, 20, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        compare(
            [AnovaF(), ReliefF()],
            X,
            y,
            estimator=Complainer(),
            n_features_to_select=3,
            random_state=0,
            n_jobs=n_jobs,
        )
    said = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert len(said) == 1
    assert re.fullmatch(r"It did not converge\. \(\d\d times\)", said[0])


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_calibration_is_advised_only_where_it_can_be_had(target):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(48, 4)), np.repeat(np.arange(12), 4)
    y = rng.normal(size=48) if target == "numbers" else np.arange(48) % 2
    found = compare(
        ["correlation", "anova"],
        X,
        y,
        estimator="ridge" if target == "numbers" else "1nn",
        n_features_to_select=2,
        groups=groups,
        cv=4,
        random_state=0,
    )
    page = veridical.report.page(found)
    assert "has not been measured in designs like this one" in page
    assert ("--calibrated" in page) == (target == "classes")
