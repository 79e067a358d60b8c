"""Selectors for targets of numbers and survival times.

The same questions as for classes: oracles, many training sets, what must not matter,
weights, containers, other packages. And noise stays noise.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.feature_selection import (
    RFE,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.svm import SVR
from statsmodels.duration.hazard_regression import PHReg
from tests.oracles.incremental import UnclearError
from tests.oracles.outcomes import cox_sums
from tests.selection.problems import (
    Problem,
    examples,
    survival,
    train_sets,
    varies,
)
from tests.selection.rows import each_outcome
from tests.selection.test_groups import groupings

import veridical
from veridical._core.errors import InputError
from veridical.learning import CoxRidge
from veridical.selection import (
    FCBF,
    SVMRFE,
    AnovaF,
    CoxScore,
    DifferentialPrioritization,
    InformationGain,
    ReliefF,
)

pl = pytest.importorskip("polars")
pytestmark = pytest.mark.filterwarnings("ignore:Some features are the target")

seeds = st.integers(0, 2**32 - 1)


def fit(row, problem, **more):
    return row.make(problem, **more).fit(problem.X, problem.y)


def assert_same(row, fitted, reference, y):
    assert fitted.order_.tolist() == reference.order_.tolist()
    if hasattr(reference, "scores_"):
        np.testing.assert_allclose(
            fitted.scores_, reference.scores_, **row.tolerance(y)
        )


def plain(row, n=40, p=12, seed=0, **options):
    """A table without wild columns, with some signal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] = X[:, 0]
    if row.target == "survival":
        y = survival(rng, X[:, 2], **options)
    else:
        y = 2 * X[:, 2] + rng.normal(size=n)
    return Problem(X, np.zeros(p, dtype=bool), y)


def assert_many_is_the_loop(row, problem, sets):
    orders = row.make(problem).rank_many(problem.X, problem.y, sets)
    for rows, order in zip(sets, orders, strict=True):
        alone = row.make(problem).fit(problem.X[rows], problem.y[rows])
        assert order.tolist() == alone.order_.tolist()


# -- information by nearest neighbours -------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [1, 3, 8])
def test_information_is_that_of_scikit_learn(n_neighbors):
    """In bits; its noise of 1e-10 moves no neighbour of these values."""
    rng = np.random.default_rng(n_neighbors)
    X = rng.normal(size=(150, 6))
    X[:, 5] = rng.integers(0, 4, 150)
    y = np.abs(X[:, 1]) + 0.3 * X[:, 5] + 0.1 * rng.normal(size=150)
    discrete = np.arange(6) == 5
    options = {"discrete_features": discrete, "n_neighbors": n_neighbors}
    ours = InformationGain(
        1,
        estimate="neighbors",
        n_neighbors=n_neighbors,
        categorical_features=discrete,
    )
    theirs = mutual_info_regression(X, y, random_state=0, **options)
    np.testing.assert_allclose(ours.fit(X, y).scores_ * np.log(2), theirs, atol=1e-10)
    classes = np.digitize(y, [0.6, 1.2])
    theirs = mutual_info_classif(X, classes, random_state=0, **options)
    found = ours.fit(X, classes).scores_ * np.log(2)
    np.testing.assert_allclose(found, theirs, atol=1e-10)


def test_information_of_normal_numbers_is_known():
    """Two normal numbers of correlation r share −log2(1 − r²) / 2 bits."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=4000)
    r = np.array([0.0, 0.5, 0.9])
    X = r * y[:, None] + np.sqrt(1 - r**2) * rng.normal(size=(4000, 3))
    found = InformationGain(1, estimate="neighbors").fit(X, y)
    np.testing.assert_allclose(found.scores_, -np.log2(1 - r**2) / 2, atol=0.05)
    assert found.estimate_ == "distances to 3 nearest neighbours"


def test_the_estimate_of_information_is_checked_and_said():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X[:, 0] + 0.1
    with pytest.raises(InputError, match="must be 'intervals' or 'neighbors'"):
        InformationGain(1, estimate="knn").fit(X, y)
    with pytest.raises(InputError, match="n_neighbors=0 must be a whole number"):
        InformationGain(1, estimate="neighbors", n_neighbors=0).fit(X, y)
    said = InformationGain(1).fit(X, y).estimate_
    assert said.endswith("the target in 4 intervals of equal frequency")
    page = veridical.select(InformationGain(1), X, y, estimator="ridge", random_state=0)
    assert page.settings["information"] == said


# -- strata of the Cox score test ------------------------------------------------------


@given(seed=seeds, whole=st.booleans())
@examples(8)
def test_score_tests_add_up_over_strata(seed, whole):
    """U and V of each stratum alone, event by event, are summed."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(24, 3)), 1)
    y, strata = survival(rng, X[:, 0], grid=True), rng.integers(0, 3, 24)
    weights = rng.integers(0, 3, 24) if whole else np.ones(24, dtype=int)
    rows = np.repeat(np.arange(24), weights)
    assume(y["event"][rows].any())
    U, V = np.zeros((2, 3))
    for stratum in np.unique(strata[rows]):
        own = rows[strata[rows] == stratum]
        for j in range(3):
            u, v = cox_sums(X[own, j].tolist(), y[own].tolist())
            U[j], V[j] = U[j] + float(u), V[j] + float(v)
    assume((V > 1e-9).all())
    found = CoxScore(1).fit(X, y, weights, strata=strata)
    np.testing.assert_allclose(found.scores_, U**2 / V, rtol=1e-9, atol=1e-12)


def test_score_tests_with_strata_are_those_of_statsmodels():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    strata = rng.choice(["a", "b"], 80)
    y = survival(rng, X[:, 1], grid=True)
    zero = np.zeros(1)
    wanted = []
    for x in X.T:
        model = PHReg(
            y["time"], x[:, None], status=y["event"] * 1, ties="efron", strata=strata
        )
        wanted.append((model.score(zero) ** 2 / -model.hessian(zero)[0])[0])
    found = CoxScore(1).fit(X, y, strata=strata)
    np.testing.assert_allclose(found.scores_, wanted, rtol=1e-9)


def test_many_training_sets_with_strata_are_the_loop():
    rng = np.random.default_rng(4)
    X, strata = rng.normal(size=(60, 8)), rng.integers(0, 3, 60)
    y = survival(rng, X[:, 1])
    sets = [rng.choice(60, 50) for _ in range(5)] + [np.arange(60)]
    orders = CoxScore(1).rank_many(X, y, sets, strata=strata)
    for rows, order in zip(sets, orders, strict=True):
        alone = CoxScore(1).fit(X[rows], y[rows], strata=strata[rows])
        assert order.tolist() == alone.order_.tolist()
    one = CoxScore(1).fit(X, y, strata=np.zeros(60))
    np.testing.assert_array_equal(one.scores_, CoxScore(1).fit(X, y).scores_)


def test_strata_remove_what_hospitals_differ_in():
    """Times, and a feature, that differ between hospitals and not within them."""
    rng = np.random.default_rng(5)
    site = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 2))
    X[:, 1] += 2 * site
    y = np.empty(300, dtype=[("event", bool), ("time", float)])
    y["event"] = rng.random(300) < 0.8
    y["time"] = rng.exponential(np.where(site == 0, 1.0, 6.0) * np.exp(-0.4 * X[:, 0]))
    assert CoxScore(1).fit(X, y).order_[0] == 1
    stratified = CoxScore(1).fit(X, y, strata=site)
    assert stratified.order_[0] == 0
    assert stratified.pvalues_[1] > 0.01


# -- oracles -------------------------------------------------------------------------


@each_outcome("oracle")
@given(data=st.data())
@examples(8)
def test_scores_and_order_are_the_oracles(row, data):
    problem = data.draw(row.problems())
    try:
        scores, order, n_kept = row.oracle(problem)
    except UnclearError:
        reject()
    assume(row.is_clear(scores, problem.y))
    fitted = fit(row, problem, n_features_to_select=None)
    wanted = np.array([float(score) for score in scores])
    np.testing.assert_allclose(fitted.scores_, wanted, **row.tolerance(problem.y))
    assert fitted.order_.tolist() == order
    assert fitted.n_features_ == n_kept
    assert not hasattr(fitted, "classes_")


@each_outcome("peer")
@pytest.mark.parametrize("grid", [False, True], ids=["floats", "ties"])
def test_scores_are_those_of_other_packages(row, grid):
    problem = plain(row, 60, **({"grid": grid} if row.target == "survival" else {}))
    wanted = row.peer.scores(problem.X, problem.y, problem.categorical)
    np.testing.assert_allclose(fit(row, problem).scores_, wanted, rtol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_elimination_is_that_of_scikit_learn(C):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 12))
    y = X[:, 3] - X[:, 5] + 0.5 * rng.normal(size=40)
    machine = SVR(kernel="linear", C=C, epsilon=0.1, tol=1e-9)
    theirs = RFE(machine, n_features_to_select=1).fit(X, (y - y.mean()) / y.std())
    ours = SVMRFE(1, C=C).fit(X, 7.0 * y + 100.0)
    assert ours.ranking_.tolist() == theirs.ranking_.tolist()
    with pytest.raises(InputError, match="epsilon=-1"):
        SVMRFE(epsilon=-1).fit(X, y)


# -- many training sets --------------------------------------------------------------


@each_outcome("oracle")
@given(data=st.data())
@examples(6)
def test_many_training_sets_give_what_fitting_each_gives(row, data):
    problem = data.draw(row.problems(max_rows=24))
    sets = data.draw(train_sets(problem.y, row.min_rows))
    assert_many_is_the_loop(row, problem, [r for r in sets if varies(problem.y[r])])


@each_outcome()
def test_folds_bags_and_an_outlier_left_out(row):
    problem = plain(row, 40, 60 if row.oracle else 8)
    problem.X[7, :4] = 1e12
    if row.target == "numbers":
        problem.y[3] = 1e9
    rng = np.random.default_rng(1)
    every = np.arange(40)
    sets = [np.delete(every, i) for i in (3, 7, 20)]
    sets += [np.flatnonzero(every % 5 != f) for f in range(5)]
    sets += [rng.integers(0, 40, 40), rng.permutation(40)[:20]]
    assert_many_is_the_loop(row, problem, sets)


# -- what must not matter ------------------------------------------------------------


@each_outcome("oracle")
@given(data=st.data(), seed=seeds)
@examples(4)
def test_order_of_rows_and_features_and_powers_of_two(row, data, seed):
    problem = data.draw(row.problems(max_rows=24))
    rng = np.random.default_rng(seed)
    reference = fit(row, problem)
    rows = rng.permutation(len(problem.y))
    assert_same(row, fit(row, problem.take(rows)), reference, problem.y)
    threads = fit(row, problem, n_jobs=2)
    assert threads.order_.tolist() == reference.order_.tolist()
    if row.affine is not None:
        power = np.where(problem.categorical, 0, rng.integers(-20, 21))
        scaled = Problem(problem.X * 2.0**power, problem.categorical, problem.y)
        assert_same(row, fit(row, scaled), reference, problem.y)
    if hasattr(reference, "scores_") and row.oracle:
        columns = rng.permutation(problem.categorical.size)
        moved = Problem(problem.X[:, columns], problem.categorical[columns], problem.y)
        np.testing.assert_allclose(
            fit(row, moved).scores_,
            reference.scores_[columns],
            **row.tolerance(problem.y),
        )


@each_outcome()
def test_units_of_the_target(row):
    """Other units of a number, and for most any monotone map of times."""
    problem = plain(row)
    if row.target == "numbers":
        other = -32.0 * problem.y + 1024.0
    else:
        other = problem.y.copy()
        other["time"] = np.exp(problem.y["time"])
    changed = Problem(problem.X, problem.categorical, other)
    assert_same(row, fit(row, changed), fit(row, problem), problem.y)


@each_outcome()
def test_targets_in_other_containers_select_the_same(row):
    problem = plain(row)
    reference = fit(row, problem)
    names = [f"g{j}" for j in range(problem.X.shape[1])]
    y = problem.y
    if row.target == "survival":
        frame = pd.DataFrame({"died": y["event"], "days": y["time"]})
    else:
        frame = pd.Series(y)
    tables = [
        (pd.DataFrame(problem.X, columns=names), frame),
        (pl.DataFrame(problem.X, schema=names), pl.from_pandas(frame)),
        (np.asfortranarray(problem.X), y.tolist() if row.target == "numbers" else y),
    ]
    if row.sparse:
        tables.append((sparse.csr_matrix(problem.X), y))
    for X, target in tables:
        fitted = row.selector(1, **row.parameters).fit(X, target)
        assert_same(row, fitted, reference, y)
    if row.sparse:
        holes = problem.X * (np.abs(problem.X) > 0.5)
        dense = Problem(holes, problem.categorical, y)
        assert_same(
            row,
            row.selector(1, **row.parameters).fit(sparse.csc_matrix(holes), y),
            fit(row, dense),
            y,
        )


def containers(row, problem, y):
    """Yield the features and the target as every library has them."""
    names = [f"g{j}" for j in range(problem.X.shape[1])]
    if row.target == "survival":
        frame = pd.DataFrame({"died": y["event"], "days": y["time"]})
    else:
        frame = pd.Series(y)
    yield "numpy", problem.X, y
    yield "pandas", pd.DataFrame(problem.X, columns=names), frame
    yield "polars", pl.DataFrame(problem.X, schema=names), pl.from_pandas(frame)
    if row.sparse:
        yield "csr", sparse.csr_array(problem.X), y
        yield "csc", sparse.csc_matrix(problem.X), y


def weightings(row, n):
    """Yield no weights, and those that the selector reads."""
    rng = np.random.default_rng(8)
    yield None
    yield rng.integers(0, 4, n)
    if row.weights == "any":
        yield rng.random(n) + 0.1


@each_outcome()
def test_many_training_sets_of_every_container_with_weights_are_the_loop(row):
    """Folds and a bootstrap sample; half of the values are 0, as sparse data have."""
    problem = plain(row, 36, 10)
    problem.X[np.abs(problem.X) < 0.7] = 0.0
    rng, every = np.random.default_rng(2), np.arange(36)
    sets = [
        *(np.flatnonzero(every % 4 != f) for f in range(4)),
        rng.integers(0, 36, 36),
    ]
    for weights in weightings(row, 36):
        wanted = []
        for rows in sets:
            w = None if weights is None else weights[rows]
            fitted = row.make(problem).fit(problem.X[rows], problem.y[rows], w)
            wanted.append(fitted.order_.tolist())
        for name, X, y in containers(row, problem, problem.y):
            selector = row.selector(1, **row.parameters)
            found = selector.rank_many(X, y, sets, weights)
            assert [order.tolist() for order in found] == wanted, name


@each_outcome()
@given(data=st.data())
@examples(3)
def test_many_training_sets_with_groups_of_features_are_the_loop(row, data):
    problem = data.draw(row.problems(max_rows=20))
    groups, keep = data.draw(groupings(problem.categorical.size))
    sets = data.draw(train_sets(problem.y, row.min_rows))
    sets = [rows for rows in sets if varies(problem.y[rows])]
    assume(sets)
    chosen = {"feature_groups": groups.labels, "keep": keep or None}
    orders = row.make(problem, **chosen).rank_many(problem.X, problem.y, sets)
    for rows, order in zip(sets, orders, strict=True):
        alone = row.make(problem, **chosen).fit(problem.X[rows], problem.y[rows])
        assert order.tolist() == alone.order_.tolist()


@each_outcome()
def test_a_selection_keeps_groups_of_samples_whole(row):
    """`select` ranks on training sets without the groups that it tests on."""
    problem = plain(row, 40, 10)
    groups = np.random.default_rng(5).permutation(np.arange(40) % 8)
    weights = np.random.default_rng(6).integers(1, 4, 40)
    model = "ridge" if row.target == "numbers" else "cox"
    selector = row.make(problem, n_features_to_select=3)
    options = {"estimator": model, "n_features_to_select": 3, "random_state": 0}
    given = {"groups": groups, "sample_weight": weights}
    splits = [*GroupKFold(4).split(problem.X, groups=groups)]
    found = veridical.select(
        selector, problem.X, problem.y, cv=GroupKFold(4), **given, **options
    )
    counts = np.zeros(10, dtype=int)
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
        fitted = clone(selector)
        fitted.fit(problem.X[train], problem.y[train], weights[train])
        counts[fitted.order_[:3]] += 1
    every = (*found.features, *found.other_features)
    assert {one.index: one.n_folds for one in every if one.n_folds} == {
        j: n for j, n in enumerate(counts.tolist()) if n
    }


# -- weights -------------------------------------------------------------------------


@each_outcome("weights")
@given(seed=seeds)
@examples(3)
def test_whole_weights_repeat_samples(row, seed):
    problem = plain(
        row, 24, 6, seed, **({"grid": True} if row.target[0] == "s" else {})
    )
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, 24)
    weights[:4] = 1
    rows = np.repeat(np.arange(24), weights)
    assume(varies(problem.y[rows]))
    weighted = row.make(problem).fit(problem.X, problem.y, weights)
    assert_same(row, weighted, fit(row, problem.take(rows)), problem.y)
    sets = [np.arange(4, 24), rng.integers(0, 24, 30)]
    sets = [s for s in sets if varies(problem.y[s[weights[s] > 0]])]
    many = row.make(problem).rank_many(problem.X, problem.y, sets, weights)
    for s, order in zip(sets, many, strict=True):
        alone = row.make(problem).fit(problem.X[s], problem.y[s], weights[s])
        assert order.tolist() == alone.order_.tolist()


@each_outcome()
def test_any_weights_or_the_reason_why_not(row):
    problem = plain(row)
    weights = np.random.default_rng(3).random(40) + 0.1
    if row.weights != "any":
        with pytest.raises(InputError, match="whole numbers"):
            row.make(problem).fit(problem.X, problem.y, weights)
        return
    fitted = row.make(problem).fit(problem.X, problem.y, weights)
    halves = np.full(40, 0.5)  # drawn twice they weigh whole numbers
    for w, rows in ((weights, np.arange(30)), (halves, np.tile(np.arange(20), 2))):
        (many,) = row.make(problem).rank_many(problem.X, problem.y, [rows], w)
        alone = row.make(problem).fit(problem.X[rows], problem.y[rows], w[rows])
        assert many.tolist() == alone.order_.tolist()
    rows = np.random.default_rng(4).permutation(40)
    moved = row.make(problem).fit(problem.X[rows], problem.y[rows], weights[rows])
    assert fitted.order_.tolist() == moved.order_.tolist()


def test_weights_of_a_line_and_of_untied_times_by_hand():
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(30, 3)), rng.random(30) + 0.2
    y = X[:, 0] + rng.normal(size=30)
    r = [np.cov(x, y, aweights=w)[0, 1] for x in X.T]
    r /= np.sqrt([np.cov(x, aweights=w) * np.cov(y, aweights=w) for x in X.T])
    wanted = r**2 / (1 - r**2) * (w.sum() - 2)
    np.testing.assert_allclose(AnovaF().fit(X, y, w).scores_, wanted, rtol=1e-10)
    times = survival(rng, X[:, 0])
    wanted = []
    for x in X.T:
        U = V = 0.0
        for i in np.flatnonzero(times["event"]):
            risk = times["time"] >= times["time"][i]
            mean = np.average(x[risk], weights=w[risk])
            U += w[i] * (x[i] - mean)
            V += w[i] * np.average((x[risk] - mean) ** 2, weights=w[risk])
        wanted.append(U**2 / V)
    np.testing.assert_allclose(CoxScore().fit(X, times, w).scores_, wanted, rtol=1e-10)


# -- by hand -------------------------------------------------------------------------


def test_a_target_of_two_numbers_agrees_with_classes_on_strong_features():
    """RReliefF of two values and ReliefF of two classes lead with the same features."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 10)) + np.outer(y, [3, 2.5, 2, 0, 0, 0, 0, 0, 0, 0])
    classes, numbers = ReliefF(3).fit(X, y), ReliefF(3).fit(X, y + 0.5)
    assert classes.order_[:3].tolist() == numbers.order_[:3].tolist() == [0, 1, 2]
    assert hasattr(classes, "classes_")
    assert not hasattr(numbers, "classes_")


def test_rrelieff_on_four_points():
    """Every sample has one neighbour: 0 and 1, 2 and 3."""
    X, y = np.array([[0.0], [0.1], [0.9], [1.0]]), np.array([0.0, 0.5, 0.9, 1.0])
    # N_C = 2 (0.5 + 0.1), N_A = 4 × 0.1, N_CA = 0.1 N_C: W = 0.1 − 0.28 / 2.8.
    found = ReliefF(1, n_neighbors=1).fit(X, y).scores_
    np.testing.assert_allclose(found, [0.1 - (0.4 - 0.12) / (4 - 1.2)], atol=1e-15)
    with pytest.raises(InputError, match=r"decay=2.0 is for a target of numbers"):
        ReliefF(decay=2.0).fit(X, [0, 0, 1, 1])
    with pytest.raises(InputError, match="decay=-1 must be"):
        ReliefF(decay=-1).fit(X, y)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (
            {"n_neighbors": 1},
            [0.217871094202, 0.017037795611, -0.015116525938, -0.096015784427],
        ),
        (
            {"n_neighbors": 4},
            [0.216305247298, -0.021862408276, -0.001063817052, -0.149237442426],
        ),
        (
            {"n_neighbors": 4, "decay": 2.0},
            [0.199289448059, 0.004572061482, -0.025284754808, -0.090802957704],
        ),
    ],
)
def test_rrelieff_of_another_package(options, wanted):
    """Weights of sklearn-relief 1.0.0b2, with every sample as a query once.

    It was given the features and the target scaled to 0 and 1; the last is categorical.
    """
    X = np.array(
        [
            [0.77, 0.44, 0.86, 2],
            [0.09, 0.98, 0.76, 1],
            [0.13, 0.45, 0.37, 0],
            [0.64, 0.82, 0.44, 2],
            [0.55, 0.06, 0.83, 1],
            [0.76, 0.35, 0.97, 2],
            [0.78, 0.19, 0.47, 0],
            [0.15, 0.68, 0.74, 0],
            [0.33, 0.37, 0.47, 2],
            [0.13, 0.48, 0.23, 2],
        ]
    )
    y = np.array([0.84, 0.13, 0.2, 0.9, 0.62, 0.96, 0.8, 0.24, 0.52, -0.31])
    found = ReliefF(1, categorical_features=[3], **options).fit(X, y)
    np.testing.assert_allclose(found.scores_, wanted, rtol=0, atol=1e-11)


def test_the_log_rank_test_of_two_groups():
    """The score test of a group of 0 and 1 is the log-rank test."""
    group = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    time = np.array([6.0, 7.0, 10.0, 15.0, 1.0, 2.0, 3.0, 9.0])
    event = np.array([1, 1, 0, 1, 1, 1, 1, 0], dtype=bool)
    y = np.rec.fromarrays([event, time])
    samples = [
        stats.CensoredData.right_censored(time[group == g], ~event[group == g])
        for g in (0, 1)
    ]
    wanted = stats.logrank(*samples).statistic ** 2
    fitted = CoxScore(1).fit(group[:, None], y)
    np.testing.assert_allclose(fitted.scores_, [wanted])
    np.testing.assert_allclose(fitted.pvalues_, stats.chi2.sf(wanted, 1))
    assert fitted.signs_.tolist() == [1.0]


def test_parameters_that_need_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    with pytest.raises(InputError, match="'one-vs-all' needs a target of classes"):
        DifferentialPrioritization(relevance="one-vs-all").fit(X, y)
    with pytest.raises(InputError, match="give a number for alpha"):
        DifferentialPrioritization(alpha="auto").fit(X, y)
    for cls in (InformationGain, FCBF):
        with pytest.raises(InputError, match="target_bins=1 must be"):
            cls(target_bins=1).fit(X, y)
    by_alpha = DifferentialPrioritization(2).path(X, y, [0.3, 1.0])
    assert by_alpha[1].order_[0] == AnovaF().fit(X, y).order_[0]


def test_targets_and_training_sets_with_nothing_to_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    with pytest.raises(InputError, match="constant target"):
        AnovaF().fit(X, np.full(20, 0.5))
    with pytest.raises(InputError, match="holds one value of the target only"):
        AnovaF().rank_many(X, np.r_[np.full(10, 0.5), y[:10]], [np.arange(10)])
    times = survival(rng, X[:, 0])
    times["event"][:10] = False
    with pytest.raises(InputError, match=r"Training set 0 has no event.*stratified"):
        CoxScore().rank_many(X, times, [np.arange(10)])
    with pytest.raises(InputError, match="target of the others does not vary"):
        CoxScore().fit(X, times, np.arange(20) < 10)


# -- noise stays noise ---------------------------------------------------------------


def test_pvalues_of_permuted_outcomes_are_uniform():
    """F7: (time, event) pairs in another order, and numbers too."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(80, 400))
    times, y = survival(rng, X[:, 0], grid=True), X[:, 0] + rng.standard_t(3, size=80)
    for selector, target in ((CoxScore(), times), (AnovaF(), y)):
        found = [
            selector.fit(X, target[rng.permutation(80)]).pvalues_ for _ in range(5)
        ]
        assert stats.kstest(np.concatenate(found), "uniform").pvalue > 0.01


@pytest.mark.parametrize("target", ["numbers", "survival"])
def test_selection_inside_the_folds_is_at_chance_on_noise_and_outside_is_not(target):
    """The canary: R² at most 0 and concordance ½ inside, far above outside."""
    inside, outside = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 1500))
        if target == "numbers":
            y, selector, model = rng.normal(size=60), AnovaF(10), Ridge()
        else:
            y = survival(rng, np.zeros(60))
            selector, model = CoxScore(10), CoxRidge()
        fold = rng.permutation(60) % 5
        trains = [np.flatnonzero(fold != f) for f in range(5)]
        *orders, leak = selector.rank_many(X, y, [*trains, np.arange(60)])
        for f, (train, order) in enumerate(zip(trains, orders, strict=True)):
            test = np.flatnonzero(fold == f)
            for chosen, scores in ((order[:10], inside), (leak[:10], outside)):
                fitted = model.fit(X[np.ix_(train, chosen)], y[train])
                scores.append(fitted.score(X[np.ix_(test, chosen)], y[test]))
    if target == "numbers":
        assert np.mean(inside) < 0 < 0.2 < np.mean(outside)
    else:
        assert abs(np.mean(inside) - 0.5) < 0.06
        assert np.mean(outside) > 0.7
