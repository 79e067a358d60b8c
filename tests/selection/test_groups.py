"""Features that are kept, and groups that are ranked as one, in every selector.

The orders of selectors that score features one by one are those of a fit without
groups, put together by `Groups` of the oracles. Searches have oracles of their own.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from tests.oracles import incremental
from tests.oracles import selection as oracle
from tests.oracles.incremental import Groups, UnclearError
from tests.selection.problems import Problem, examples, labels, train_sets
from tests.selection.rows import ROWS, each, each_selector

import veridical
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.evaluation import estimate
from veridical.learning import NaiveBayes
from veridical.selection import (
    FCBF,
    HSIC,
    MRMR,
    SVMRFE,
    AnovaF,
    DifferentialPrioritization,
    ReliefF,
)
from veridical.selection._base import ScoreSelector

pytestmark = pytest.mark.filterwarnings("ignore:Some features are constant within")

seeds = st.integers(0, 2**32 - 1)


@st.composite
def groupings(draw, n_features):
    """Labels of groups and features to keep that leave something to select."""
    rng = np.random.default_rng(draw(seeds))
    n_groups = draw(st.integers(1, n_features))
    found = rng.integers(0, n_groups, n_features).tolist()
    keep = rng.permutation(n_features)[: draw(st.integers(0, n_features))].tolist()
    while keep and not Groups(found, keep).free:
        keep.pop()
    return Groups(found, keep), keep


def options(groups, keep):
    return {"feature_groups": groups.labels, "keep": keep or None}


def random_problem(seed, n=40, p=9, n_classes=3):
    rng = np.random.default_rng(seed)
    y = labels(rng, n, n_classes)
    X = rng.normal(size=(n, p)) + np.outer(y, rng.random(p))
    return Problem(X, np.zeros(p, bool), y)


# -- what holds for all selectors ------------------------------------------------------


@each()
@given(data=st.data())
@examples(6)
def test_groups_of_one_feature_are_no_groups(row, data):
    """The searches by groups give what the searches by features give."""
    problem = data.draw(row.problems(max_rows=20))
    plain = row.make(problem).fit(problem.X, problem.y)
    p = problem.categorical.size
    grouped = row.make(problem, feature_groups=list(range(p)))
    grouped.fit(problem.X, problem.y)
    assert grouped.order_.tolist() == plain.order_.tolist()
    assert grouped.ranking_.tolist() == plain.ranking_.tolist()
    assert grouped.support_.tolist() == plain.support_.tolist()


@each()
@given(data=st.data())
@examples(6)
def test_many_training_sets_with_groups_give_what_fitting_each_gives(row, data):
    problem = data.draw(row.problems(max_rows=20))
    groups, keep = data.draw(groupings(problem.categorical.size))
    sets = data.draw(train_sets(problem.y, row.min_rows))
    selector = row.make(problem, **options(groups, keep))
    orders = selector.rank_many(problem.X, problem.y, sets)
    for rows, order in zip(sets, orders, strict=True):
        fitted = clone(selector).fit(problem.X[rows], problem.y[rows])
        assert order.tolist() == fitted.order_.tolist()


@each()
@given(data=st.data())
@examples(6)
def test_fitted_attributes_agree(row, data):
    problem = data.draw(row.problems(max_rows=20))
    groups, keep = data.draw(groupings(problem.categorical.size))
    n_wanted = data.draw(st.integers(1, len(groups.free)))
    selector = row.make(
        problem, **options(groups, keep) | {"n_features_to_select": n_wanted}
    )
    selector.fit(problem.X, problem.y)
    order = selector.order_.tolist()
    assert sorted(order) == list(range(problem.categorical.size))
    assert order == groups.arrange(order)
    chosen = groups.keep + groups.join(groups.free_in(order)[:n_wanted])
    assert order[: len(chosen)] == chosen
    assert selector.n_features_ == len(chosen)
    assert selector.get_support(indices=True).tolist() == sorted(chosen)
    wanted = groups.kept + groups.free_in(order)
    ranks = [1 + wanted.index(label) for label in groups.labels]
    assert selector.ranking_.tolist() == ranks
    table = Table.from_arrays(problem.X, problem.categorical, problem.y)
    assert selector.count_selected(table, selector.order_) == len(chosen)


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if issubclass(r.selector, ScoreSelector)],
    ids=lambda row: row.name,
)
@given(data=st.data())
@examples(10)
def test_the_score_of_a_group_is_the_best_of_its_features(row, data):
    problem = data.draw(row.problems(max_rows=20))
    groups, keep = data.draw(groupings(problem.categorical.size))
    plain = row.make(problem).fit(problem.X, problem.y)
    grouped = row.make(problem, **options(groups, keep)).fit(problem.X, problem.y)
    assert grouped.order_.tolist() == groups.arrange(plain.order_.tolist())
    np.testing.assert_array_equal(grouped.scores_, plain.scores_)
    free = groups.free_in(grouped.order_.tolist())
    best = [np.nan_to_num(plain.scores_[groups.join([g])], nan=-9) for g in free]
    best = np.array([scores.max() for scores in best])
    best = np.minimum(best, 1e300)  # an infinite score is above all others
    slack = row.atol * row.scale(problem.y) + row.rtol * np.abs(best[:-1])
    assert (best[1:] <= best[:-1] + slack * best.size).all()


@each_selector()
def test_what_is_kept_comes_beside_the_count_and_by_any_name(row):
    problem = random_problem(1)
    frame = pd.DataFrame(problem.X, columns=list("abcdefghi"))
    mask = np.isin(np.arange(9), [7, 2])
    fitted = [
        row.make(problem, keep=keep, n_features_to_select=3).fit(X, problem.y)
        for keep, X in [
            ([7, 2], problem.X),
            (mask, problem.X),
            (["h", "c"], frame),
            (pd.Index(["h", "c"]), frame),
        ]
    ]
    for one in fitted:
        assert one.n_features_ == 5
        assert one.order_[:2].tolist() == [2, 7]
        assert one.order_.tolist() == fitted[0].order_.tolist()
    assert {"c", "h"} <= set(fitted[2].get_feature_names_out())
    single = row.make(problem, keep="h").fit(frame, problem.y)
    assert single.order_[0] == 7
    all_of_them = row.make(problem, keep=[4], n_features_to_select=8)
    assert all_of_them.fit(problem.X, problem.y).n_features_ == 9


@each_selector()
def test_labels_and_mappings_say_the_same(row):
    problem = random_problem(2)
    frame = pd.DataFrame(problem.X, columns=list("abcdefghi"))
    spellings = [
        (["p", "q", "p", "r", "s", "q", "t", "u", "v"], frame),
        (np.array([0, 1, 0, 2, 3, 1, 4, 5, 6]), problem.X),
        (["p", "q", "p", None, None, "q", np.nan, None, None], frame),
        ({"p": ["a", "c"], "q": ["b", "f"]}, frame),
        ({0: [2, 0], 1: [5, 1]}, problem.X),
        ({"p": frame.columns.isin(["a", "c"]), "q": [1, 5]}, frame),
    ]
    orders = [
        row.make(problem, feature_groups=given).fit(X, problem.y).order_.tolist()
        for given, X in spellings
    ]
    assert all(order == orders[0] for order in orders)


@each_selector("weights")
def test_groups_and_weights_together(row):
    problem = random_problem(3)
    weights = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights)
    selector = row.make(problem, keep=[3], feature_groups=list("aabbcdeff"))
    weighted = clone(selector).fit(problem.X, problem.y, sample_weight=weights)
    copied = clone(selector).fit(problem.X[rows], problem.y[rows])
    assert weighted.order_.tolist() == copied.order_.tolist()


def test_a_share_is_one_of_groups_and_none_is_all():
    problem = random_problem(4)
    groups = {"feature_groups": list("aabbccdde")}
    half = AnovaF(0.5, **groups).fit(problem.X, problem.y)
    assert len({"aabbccdde"[j] for j in half.get_support(indices=True)}) == 2
    assert AnovaF(None, **groups).fit(problem.X, problem.y).n_features_ == 9


def test_pipelines_and_parameters():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = AnovaF(2, keep=["ash"], feature_groups={"colour": [9, 10]})
    assert clone(selector).get_params()["keep"] == ["ash"]
    assert "keep=['ash']" in repr(selector)
    pipeline = make_pipeline(
        selector.set_output(transform="pandas"), LogisticRegression(max_iter=10_000)
    )
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.7
    fitted = pipeline.fit(X, y)[0]
    assert "ash" in fitted.get_feature_names_out()
    assert fitted.transform(X).columns.tolist() == list(fitted.get_feature_names_out())


# -- searches --------------------------------------------------------------------------


SEARCHES = [
    (MRMR(), incremental.mrmr, {}),
    (MRMR(scheme="difference"), incremental.mrmr, {"scheme": "difference"}),
    (MRMR(1, n_searched=2), incremental.mrmr, {"n_searched": 2}),
    (DifferentialPrioritization(alpha=0.3), incremental.prioritize, {"alpha": 0.3}),
    (DifferentialPrioritization(alpha=1.0), incremental.prioritize, {"alpha": 1.0}),
    (
        DifferentialPrioritization(alpha=0.4, relevance="one-vs-all"),
        incremental.prioritize_one_vs_all,
        {"alpha": 0.4},
    ),
    (
        DifferentialPrioritization(1, alpha=0.4, relevance="one-vs-all", n_searched=2),
        incremental.prioritize_one_vs_all,
        {"alpha": 0.4, "n_searched": 2},
    ),
]


@pytest.mark.parametrize(("selector", "search", "told"), SEARCHES)
@given(data=st.data())
@examples(25)
def test_a_forward_search_adds_whole_groups(selector, search, told, data):
    row = next(row for row in ROWS if row.selector is type(selector))
    problem = data.draw(row.problems(max_rows=14))
    groups, keep = data.draw(groupings(problem.categorical.size))
    try:
        _, order = search(problem.columns(), problem.y.tolist(), groups=groups, **told)
    except UnclearError:
        assume(False)
    selector = clone(selector).set_params(**options(groups, keep))
    if selector.n_features_to_select == 10:
        selector.set_params(n_features_to_select=None)
    selector.fit(problem.X, problem.y)
    assert selector.order_.tolist() == order


def test_paths_of_a_search_by_groups():
    problem = random_problem(5)
    groups = {"keep": [4], "feature_groups": list("abcabdefg")}
    for one in DifferentialPrioritization(2, **groups).path(
        problem.X, problem.y, [0.3, 1.0]
    ):
        alone = clone(one).fit(problem.X, problem.y)
        assert one.order_.tolist() == alone.order_.tolist()
        assert one.ranking_.tolist() == alone.ranking_.tolist()
        assert one.support_.tolist() == alone.support_.tolist()
        relevance = one.scores_[one.order_]
        means = np.cumsum(relevance) / np.arange(1, 10)
        np.testing.assert_allclose(one.relevance_path_, means, rtol=1e-10)


@given(data=st.data())
@examples(15)
def test_fcbf_lets_kept_features_remove_others(data):
    row = next(row for row in ROWS if row.selector is FCBF)
    problem = data.draw(row.problems())
    groups, keep = data.draw(groupings(problem.categorical.size))
    told = problem.columns(), problem.y.tolist(), problem.categorical
    score, order, n_accepted = oracle.fcbf(*told, keep=groups.keep)
    assume(row.is_clear(score, problem.y))
    selector = row.make(
        problem, **options(groups, keep) | {"n_features_to_select": None}
    )
    selector.fit(problem.X, problem.y)
    assert selector.order_.tolist() == groups.arrange(order)
    accepted = groups.keep + groups.join(groups.free_in(order[:n_accepted]))
    assert sorted(accepted) == selector.get_support(indices=True).tolist()


def eliminate(groups, score, n_drop):
    """Drop the group whose best feature is worst, until one is left."""
    left, free, dropped = list(range(len(groups.labels))), list(groups.free), []
    while len(free) > 1:
        worth = dict(zip(left, score(left), strict=True))
        worst = sorted(free, key=lambda g: max(worth[j] for j in groups.join([g])))
        gone = worst[: max(1, n_drop(len(free)))]
        dropped = gone[::-1] + dropped
        free = [g for g in free if g not in gone]
        left = [j for j in left if groups.labels[j] not in gone]
    return groups.keep + groups.join(free + dropped)


@given(seed=seeds, data=st.data())
@examples(15)
def test_the_svm_drops_whole_groups(seed, data):
    problem = random_problem(seed, n=24, p=6, n_classes=3)
    groups, keep = data.draw(groupings(6))

    def score(left):
        pairs = SVC(kernel="linear", C=0.5, tol=1e-10).fit(
            problem.X[:, left], problem.y
        )
        return (pairs.coef_**2).sum(axis=0)

    selector = SVMRFE(1, C=0.5, **options(groups, keep)).fit(problem.X, problem.y)
    wanted = eliminate(groups, score, lambda left: 1)
    assert selector.order_.tolist() == wanted


@given(seed=seeds, data=st.data())
@examples(10)
def test_a_backward_search_with_a_kernel_drops_whole_groups(seed, data):
    problem = random_problem(seed, n=12, p=5, n_classes=2)
    groups, keep = data.draw(groupings(5))
    Z = scale(problem.X)
    L = np.zeros((12, 12))
    for pair, product in oracle.label_products(problem.y.tolist()).items():
        L[pair] = product

    def dependence(features):
        D = ((Z[:, None, features] - Z[None, :, features]) ** 2).sum(axis=2)
        K = np.exp(-D / 2 / max(len(features), 1))
        np.fill_diagonal(K, 0.0)
        row_K, row_L, m = K.sum(axis=1), L.sum(axis=1), 12
        whole = row_K.sum() * row_L.sum() / ((m - 1) * (m - 2))
        return (K * L).sum() + whole - 2 * (row_K @ row_L) / (m - 2)

    def score(left):
        return [-dependence([j for j in left if j != one]) for one in left]

    selector = HSIC(1, kernel="rbf", search="backward", **options(groups, keep))
    selector.fit(problem.X, problem.y)
    wanted = eliminate(groups, score, lambda left: int(0.1 * left))
    assert selector.order_.tolist() == wanted


def test_steps_of_the_svm_count_groups():
    """With a step of 2 a round ends where the groups wanted are left."""
    problem = random_problem(6, p=10)
    selector = SVMRFE(3, step=2, keep=[9], feature_groups=list("aabbccddee"))
    selector.fit(problem.X, problem.y)
    assert selector.n_features_ == 8
    assert selector.order_[:2].tolist() == [8, 9]


# -- messages ------------------------------------------------------------------------


NAMED = pd.DataFrame(random_problem(7).X, columns=[f"gene{j}" for j in range(9)])


@each_selector()
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"keep": ["gene10"]}, r"keep names 'gene10', .*did you mean"),
        ({"keep": [9]}, r"keep names column 9, but X has 9 columns; use 0 to 8"),
        ({"keep": [True, False]}, r"keep is a mask of 2 values, but X has 9"),
        ({"keep": list(range(9))}, r"keep holds all 9 features .* name fewer"),
        ({"keep": 2.5}, r"keep=2.5 is not a list"),
        ({"keep": [2.5]}, r"keep holds 2.5; use a boolean mask, or a list"),
        ({"feature_groups": [0, 1]}, r"feature_groups has 2 labels, but X has 9"),
        ({"feature_groups": "abcdefghi"}, r"feature_groups='abcdefghi' is not a list"),
        ({"feature_groups": [[1]] * 9}, r"holds \[1\], which cannot be a label"),
        ({"feature_groups": {"a": ["gen1"]}}, r"feature_groups\['a'\] names 'gen1'"),
        ({"feature_groups": {"a": []}}, r"feature_groups\['a'\] holds no features"),
        ({"feature_groups": {"a": "gene1"}}, r"feature_groups\['a'\]='gene1' is not"),
        (
            {"feature_groups": {"a": [0, 1], "b": [1, 2]}},
            r"feature 'gene1' in the groups 'a' and 'b'; put it into one",
        ),
        (
            {"feature_groups": list("aaabbbccc"), "n_features_to_select": 4},
            r"n_features_to_select=4 counts groups .* there are 3; use 1 to 3",
        ),
        (
            {
                "feature_groups": list("aaabbbccc"),
                "keep": [0],
                "n_features_to_select": 3,
            },
            r"there are 2 beside those in keep; use 1 to 2, or None",
        ),
        (
            {"feature_groups": list("aaabbbccc"), "keep": [0, 3, 6]},
            r"keep holds all 9 features of X \(with those of their groups\)",
        ),
    ],
)
def test_groups_that_cannot_be_used(row, parameters, words):
    problem = random_problem(7)
    selector = row.make(problem, **parameters)
    with pytest.raises(InputError, match=words):
        selector.fit(NAMED, problem.y)
    if "n_features_to_select" not in parameters:
        with pytest.raises(InputError, match=words):
            selector.rank_many(NAMED, problem.y, [np.arange(40)])


def test_names_without_names_and_what_alpha_cannot_choose():
    problem = random_problem(8)
    with pytest.raises(InputError, match="keep names the column 'a', but X is an arr"):
        AnovaF(keep=["a"]).fit(problem.X, problem.y)
    with pytest.raises(InputError, match=r"alpha='auto'.*give a number for alpha"):
        DifferentialPrioritization(2, alpha="auto", keep=[1]).fit(problem.X, problem.y)
    with pytest.warns(UserWarning, match="the 8 features of X beside those in keep"):
        AnovaF(9, keep=[1]).fit(problem.X, problem.y)


def test_tables_are_ranked_and_fitted_as_arrays_are():
    problem = random_problem(9)
    table = Table.from_arrays(problem.X, problem.categorical, problem.y)
    rows = np.arange(len(problem.y))[::2]
    for selector in (AnovaF(2, keep=[3]), AnovaF(2, feature_groups=list("aabbccdde"))):
        fitted = clone(selector).fit(problem.X, problem.y)
        assert fitted.order_.tolist() == selector.fit_table(table).order_.tolist()
        (order,) = selector.rank_table(table, [rows])
        (again,) = selector.rank_many(problem.X, problem.y, [rows])
        assert order.tolist() == again.tolist()


def test_verbs_keep_features_outside_the_count():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 12))
    X[:, :2] += y[:, None]
    splits = list(StratifiedKFold(4).split(X, y))
    options = {"estimator": "nb", "cv": splits, "random_state": 0}
    blocks = np.repeat(np.arange(6), 2)
    for selector, n_selected in (
        (AnovaF(2, keep=[11]), 3),
        (AnovaF(2, feature_groups=blocks), 4),
        (AnovaF(1, keep=[11], feature_groups=blocks), 4),
    ):
        found = veridical.select(selector, X, y, **options)
        fitted = clone(selector).fit(X, y)
        assert [one.index for one in found.features] == fitted.order_[
            :n_selected
        ].tolist()
        hits = []
        for train, test in splits:
            chosen = clone(selector).fit(X[train], y[train]).get_support(indices=True)
            assert len(chosen) == n_selected
            model = NaiveBayes().fit(X[train][:, chosen], y[train])
            hits.append(model.predict(X[test][:, chosen]) == y[test])
        assert found.accuracy.value == np.concatenate(hits).mean()
        more = veridical.select(selector, X, y, n_features_to_select=3, **options)
        assert len(more.features) > n_selected


def test_compare_keeps_features_too():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 12))
    options = {"estimator": "nb", "cv": 4, "random_state": 0}
    pair = [AnovaF(keep=[11]), ReliefF(keep=[11])]
    found = veridical.compare(pair, X, y, n_features_to_select=2, **options)
    assert found.selected["in"].shape[-1] == 3
    assert (found.selected["in"] == 11).any(axis=-1).all()
    uneven = [AnovaF(keep=[11]), ReliefF()]
    with pytest.raises(InputError, match="2 to 3 features, because of keep"):
        veridical.compare(uneven, X, y, n_features_to_select=2, **options)


def test_a_pipeline_with_groups_is_evaluated_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 20))
    X[:, 3] += y
    selector = AnovaF(3, keep=[0], feature_groups=np.repeat(np.arange(10), 2))
    pipeline = make_pipeline(selector, GaussianNB())
    folds = list(StratifiedKFold(5).split(X, y))
    found = estimate(pipeline, X, y, cv=folds, random_state=0)
    assert found.scores.tolist() == cross_val_score(pipeline, X, y, cv=folds).tolist()
