"""Recursive elimination selects what scikit-learn's RFE selects, fitted exactly."""

import warnings

import numpy as np
import pytest
import qpsolvers
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import RFE
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.criteria import svm
from veridical.search.backward import backward
from veridical.selection import SVMRFE


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize(("k", "step"), [(1, 1), (5, 1), (4, 3), (5, 0.1)])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_same_features_as_scikit_learn(load, k, step, C):
    X, y = load(return_X_y=True)
    X, y = scale(X)[::2], y[::2]
    reference = RFE(
        SVC(kernel="linear", C=C, tol=1e-9), n_features_to_select=k, step=step
    ).fit(X, y)
    fitted = SVMRFE(k, step=step, C=C).fit(X, y)
    np.testing.assert_array_equal(fitted.support_, reference.support_)
    for rank in range(2, reference.ranking_.max()):
        worse = fitted.ranking_[reference.ranking_ > rank]
        assert worse.min() > fitted.ranking_[reference.ranking_ <= rank].max()


def test_features_dropped_in_one_round_go_by_index():
    X, y = load_wine(return_X_y=True)
    order = SVMRFE(3, step=5).fit(scale(X), y).order_  # 13, 8, then the 3 asked for
    assert order[3:8].tolist() == sorted(order[3:8])
    assert order[8:].tolist() == sorted(order[8:])


def with_outliers(seed):
    """Four classes, and in every column one value that is 10⁶ times too large."""
    rng = np.random.default_rng(seed)
    n, p, n_classes = 61, 40, 4
    often = np.tile(np.arange(n_classes), 2)
    y = np.r_[often, rng.integers(0, n_classes, n - often.size)]
    rng.shuffle(y)
    X = rng.normal(size=(n, p)) + np.outer(y, rng.random(p) < 0.2) * rng.random(p)
    X[rng.integers(0, n, p), np.arange(p)] *= 1e6
    return X, y


def test_outliers_do_not_blunt_the_solution():
    """Products of 10¹² with multipliers of 10⁻¹²: margins still count to the end."""
    X, y = with_outliers(2)
    selector = SVMRFE(5, step=0.2)
    rows = np.random.default_rng(9).permutation(len(y))
    moved = selector.fit(X[rows], y[rows]).order_
    np.testing.assert_array_equal(selector.fit(X, y).order_, moved)


@pytest.mark.parametrize("seed", [2, 3])
def test_outliers_in_any_order_of_the_rows(seed):
    X, y = with_outliers(seed)
    selector = SVMRFE(5, step=0.2)
    order = selector.fit(X, y).order_.tolist()
    rng = np.random.default_rng(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(24):
            rows = rng.permutation(len(y))
            assert selector.fit(X[rows], y[rows]).order_.tolist() == order


def eliminate(X, y, C):
    """One feature at a time, each machine solved by a general program."""
    s, left, gone = np.where(y == y[0], 1.0, -1.0), list(range(X.shape[1])), []
    n = len(s)
    while len(left) > 1:
        length = np.linalg.norm(X[:, left], axis=0)  # unknowns of about one size
        k = len(left)
        P = np.diag(np.r_[1 / length**2, np.zeros(n + 1)])
        q = np.r_[np.zeros(k + 1), np.full(n, C)]
        margins = -s[:, None] * np.column_stack([X[:, left] / length, np.ones(n)])
        w = qpsolvers.solve_qp(
            sparse.csc_matrix(P),
            q,
            sparse.csc_matrix(np.hstack([margins, -np.eye(n)])),
            -np.ones(n),
            lb=np.r_[np.full(k + 1, -np.inf), np.zeros(n)],
            solver="clarabel",
            tol_gap_abs=1e-11,
            tol_gap_rel=1e-11,
            tol_feas=1e-11,
        )[:k]
        gone.append(left.pop(int(np.argmin(np.abs(w / length)))))
    return [*left, *reversed(gone)]


@pytest.mark.parametrize("seed", range(3))
def test_features_on_three_scales(seed):
    """Small weights are weights too: they belong to long columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 7)) + np.outer(y, np.arange(7) < 3)
    X *= 10.0 ** rng.permutation(np.linspace(0, 3, 7))
    assert SVMRFE(1).fit(X, y).order_.tolist() == eliminate(X, y, 1.0)


@pytest.mark.parametrize("power", [7, 16])
def test_scales_that_rounding_cannot_bridge_are_said(power):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 7)) + 0.5 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVMRFE(3).fit(X, y)
    X *= 10.0 ** np.linspace(0, power, 7)
    with pytest.warns(UserWarning, match=r"duality gap.*one scale"):
        SVMRFE(3).fit(X, y)


def test_products_beyond_the_largest_number():
    X = np.random.default_rng(0).normal(size=(20, 3)) * 1e200
    with pytest.raises(InputError, match=r"overflow.*StandardScaler"):
        SVMRFE(2).fit(X, np.arange(20) % 2)


def tables():
    """Yield tables on which rounds are clear, tied, or singular."""
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(40, 300))
    two, four = np.arange(40) % 2, np.arange(40) % 4
    wide[:, :5] += two[:, np.newaxis]
    yield "wide", wide, two
    yield "four classes", wide, four
    yield "copies of features", np.hstack([wide[:, :40], wide[:, 20:60]]), two
    yield (
        "copies of samples",
        np.vstack([wide, wide[:10]])[:, :90],
        np.r_[two, two[:10]],
    )
    yield "more samples than features", rng.normal(size=(120, 15)), np.arange(120) % 2
    yield "counts", rng.poisson(2.0, size=(50, 120)).astype(float), np.arange(50) % 2
    yield "other scales", wide * np.exp(rng.normal(0, 2, 300)), two
    yield "sparse", sparse.random(40, 150, 0.1, format="csr", rng=rng), two


@pytest.mark.parametrize("pool", [(svm.POOL, svm.EXPECTED), (12, 4)])
@pytest.mark.parametrize("C", [1.0, 1e-3])
@pytest.mark.parametrize(
    ("X", "y"), [pytest.param(X, y, id=name) for name, X, y in tables()]
)
def test_several_rounds_at_once_are_a_loop_over_rounds(X, y, C, pool, monkeypatch):
    """The compiled rounds drop what rounds with the scores of all features drop."""
    monkeypatch.setattr(svm, "POOL", pool[0])
    monkeypatch.setattr(svm, "EXPECTED", pool[1])
    ahead = SVMRFE(1, C=C).fit(X, y).order_
    monkeypatch.setattr(
        svm.SVMWeights, "drop_ahead", lambda self, kept, rtol: np.zeros(0, dtype=int)
    )
    np.testing.assert_array_equal(ahead, SVMRFE(1, C=C).fit(X, y).order_)


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("copies", [0, 15])
def test_several_rounds_of_a_regression_at_once_are_a_loop(C, copies, monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 120))
    X[:copies] = X[20 : 20 + copies]
    y = X[:, 3] - X[:, 5] + rng.normal(size=40)
    ahead = SVMRFE(1, C=C).fit(X, y).order_
    monkeypatch.setattr(
        svm.SVMWeights, "drop_ahead", lambda self, kept, rtol: np.zeros(0, dtype=int)
    )
    np.testing.assert_array_equal(ahead, SVMRFE(1, C=C).fit(X, y).order_)


def regression_weights(X, y, C, epsilon):
    """Squared weights of a support vector regression, by a general program."""
    n, X = len(y), X - X.mean(axis=0)
    signed = np.vstack([X, -X])
    a = qpsolvers.solve_qp(
        sparse.csc_matrix(signed @ signed.T),
        np.r_[epsilon - y, epsilon + y],
        A=sparse.csc_matrix(np.repeat([1.0, -1.0], n)[None]),
        b=np.zeros(1),
        lb=np.zeros(2 * n),
        ub=np.full(2 * n, C),
        solver="clarabel",
        tol_gap_abs=1e-10,
        tol_gap_rel=1e-10,
        tol_feas=1e-10,
    )
    return (a @ signed) ** 2


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_samples_of_a_regression_that_contradict_each_other(C, epsilon):
    """Copies of a sample with other targets: no weights fit both, whatever C is."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 60))
    X[15:] = X[:15]
    y = X[:, 3] - X[:, 5] + 0.5 * rng.normal(size=30)
    order = SVMRFE(1, C=C, epsilon=epsilon).fit(X, y).order_
    target = (y - y.mean()) / y.std()
    for left in range(60, 10, -1):
        weights = regression_weights(X[:, order[:left]], target, C, epsilon)
        assert weights[-1] <= weights.min() * (1 + 1e-5)


def test_a_regression_that_needs_no_weights_has_ties_and_no_warning():
    """Every error is below epsilon: all weights are 0, and the index decides."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(30, 12)), rng.normal(size=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVMRFE(1, epsilon=9.0).fit(X, y).order_.tolist() == list(range(12))


def test_most_rounds_are_clear():
    """On wide tables nearly all rounds run at once, which is where the time goes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 600)), np.arange(60) % 2
    rounds = []
    weights = svm.SVMWeights(read_table(X, y), np.ones(60), 1.0)

    def score(kept):
        rounds.append(kept.size)
        return weights.scores(kept)

    backward(
        600,
        score,
        lambda left: 1,
        rtol=1e-9,
        atol=lambda: weights.noise,
        ahead=lambda kept: weights.drop_ahead(kept, 1e-9),
    )
    assert len(rounds) < 60


GRID = (1e-3, 1e-1, 1.0, 1e3)


def grid_problem(kind):
    """A table that C = 0.001 does not separate and C = 1000 does, and training sets."""
    rng = np.random.default_rng(31)
    X = rng.normal(size=(40, 90))
    drawn = X[:, :3].sum(axis=1) + rng.normal(size=40)
    y = drawn if kind == "numbers" else np.digitize(drawn, [-1.0, 1.0])
    y = np.minimum(y, 1) if kind == "two classes" else y
    sets = [np.arange(40), np.arange(0, 40, 2), rng.integers(0, 40, 40)]
    return X, y, sets


@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers"])
@pytest.mark.parametrize("step", [0.1, 7, 1])
def test_a_grid_has_the_orders_of_each_pair(kind, step):
    X, y, sets = grid_problem(kind)
    weight = np.linspace(0.5, 2.0, 40)
    sizes = (30, 5, 11, None)
    found = SVMRFE(step=step).rank_grid(
        X, y, sets, Cs=GRID, sizes=sizes, sample_weight=weight
    )
    for i, j in np.ndindex(len(GRID), len(sizes)):
        alone = SVMRFE(sizes[j], step=step, C=GRID[i])
        expected = alone.rank_many(X, y, sets, sample_weight=weight)
        for order, theirs in zip(found[i][j], expected, strict=True):
            np.testing.assert_array_equal(order, theirs)


def test_a_grid_of_groups_and_features_to_keep():
    X, y, sets = grid_problem("two classes")
    groups = np.arange(90) // 2
    selector = SVMRFE(step=4, keep=[7], feature_groups=groups)
    found = selector.rank_grid(X, y, sets, Cs=(0.01, 10.0), sizes=(3, 6))
    for i, C in enumerate((0.01, 10.0)):
        for j, k in enumerate((3, 6)):
            alone = selector.__class__(k, step=4, C=C, keep=[7], feature_groups=groups)
            np.testing.assert_array_equal(found[i][j], alone.rank_many(X, y, sets))


def test_a_grid_shares_rounds(monkeypatch):
    """One problem for all C from which no multiplier is bounded, and for both sizes."""
    X, y, _ = grid_problem("two classes")
    X = np.random.default_rng(1).normal(size=(40, 900))
    solved = []
    scores = svm.SVMWeights.scores

    def count(self, kept):
        solved.append(kept.size)
        return scores(self, kept)

    monkeypatch.setattr(svm.SVMWeights, "scores", count)
    SVMRFE(300, step=100).rank_grid(X, y, [np.arange(40)], Cs=GRID, sizes=(300, 350))
    shared = len(solved)
    solved.clear()
    for C in GRID:
        for k in (300, 350):
            SVMRFE(k, step=100, C=C).fit(X, y)
    assert shared < 0.4 * len(solved)


def test_an_empty_grid_and_bad_values():
    X, y, sets = grid_problem("two classes")
    assert SVMRFE().rank_grid(X, y, sets, Cs=(), sizes=(3,)) == []
    assert SVMRFE().rank_grid(X, y, [], Cs=(1.0,), sizes=(3,)) == [[[]]]
    few = SVMRFE().rank_grid(X, y, sets, Cs=iter((1.0,)), sizes=iter((3,)))
    assert [len(row) for row in few] == [1]
    with pytest.raises(InputError, match="sizes=3 must be several values"):
        SVMRFE().rank_grid(X, y, sets, Cs=(1.0,), sizes=3)
    with pytest.raises(InputError, match=r"C=-1\.0"):
        SVMRFE().rank_grid(X, y, sets, Cs=(1.0, -1.0), sizes=(3,))
    with pytest.raises(InputError, match="n_features_to_select=0"):
        SVMRFE().rank_grid(X, y, sets, Cs=(1.0,), sizes=(3, 0))
