"""The engine gives what an obvious loop gives: procedures, tables, splits and sizes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import veridical._core.reading
import veridical._core.table
from veridical._core.encoding import encode
from veridical._core.errors import InputError
from veridical._core.parallel import Workers, serial
from veridical._core.reading import read_table
from veridical._core.sklearn_private import take
from veridical._core.splits import Split
from veridical.auditing import audit
from veridical.comparison import compare
from veridical.evaluation import (
    Bootstrap632,
    CrossValidation,
    LeaveOut,
    estimate,
    evaluate,
    select,
)
from veridical.evaluation.engine import Procedure, as_procedure, evaluate_table, rank
from veridical.evaluation.naming import read_cv
from veridical.learning import DAGSVM, ESTIMATORS, estimators_for
from veridical.selection import AnovaF, Correlation, InformationGain, ReliefF

SIZES = (1, 2, 4, 7)
TREE = DecisionTreeClassifier(random_state=0)
LOGISTIC = LogisticRegression(max_iter=2000)


def numeric(n=48, p=12, n_classes=3, seed=0):
    """Three features tell the classes apart, the others are noise."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, :3] += 1.2 * rng.normal(size=(n_classes, 3))[y]
    return X, np.array(["lo", "mid", "up"])[y]


def mixed():
    """Numbers and categories, as a data frame."""
    X, y = numeric()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X[:, :8]).add_prefix("x")
    for j in range(3):
        letters = np.where(rng.random(len(y)) < 0.5, y, rng.permutation(y))
        frame.insert(2 * j, f"c{j}", pd.Categorical(letters))
    return frame, y


def missing():
    """The same with missing values among numbers and categories."""
    frame, y = mixed()
    rng = np.random.default_rng(2)
    return frame.mask(rng.random(frame.shape) < 0.1), y


def counts():
    """A sparse matrix of small numbers."""
    X, y = numeric()
    return sparse.csr_array(np.maximum(0, np.round(2 * X))), y


def loop(procedures, X, y, splits):
    """Fit and predict each procedure on each split and at each size: the definition."""
    result = []
    for one in procedures:
        by_split = []
        for train, test in splits:
            seen = np.arange(len(y)) if one.protocol == "out" else train
            order = None
            if one.selector is not None:
                order = order_by_fit(one.selector, X, y, seen, one.sizes[-1])
            rows = []
            for size in one.sizes or (None,):
                columns = None if size is None else np.sort(order[:size])
                rows.append(fit_predict(one.estimator, X, y, train, test, columns))
            by_split.append(np.array(rows))
        result.append(by_split)
    return result


def order_by_fit(selector, X, y, rows, n_features):
    """Order the features by a plain fit, best first."""
    if len(set(y[rows])) == 1:
        return np.arange(n_features)  # whatever: the one class is predicted
    selector = clone(selector)
    name = {"SelectKBest": "k", "SelectFromModel": "max_features"}
    selector.set_params(
        **{name.get(type(selector).__name__, "n_features_to_select"): n_features}
    )
    fitted = selector.fit(take(X, rows), y[rows])
    if hasattr(fitted, "order_"):
        return fitted.order_
    chosen = fitted.get_support(indices=True)
    if hasattr(fitted, "scores_"):
        return chosen[np.argsort(-fitted.scores_[chosen], kind="stable")]
    return chosen


def fit_predict(estimator, X, y, train, test, columns):
    if len(set(y[train])) == 1:
        return np.full(len(test), y[train[0]])
    parts = [take(X, rows) for rows in (train, test)]
    if columns is not None:
        parts = [take(part, columns, axis=1) for part in parts]
    return clone(estimator).fit(parts[0], y[train]).predict(parts[1])


def check(procedures, X, y, splits, run=serial):
    """Evaluate, and set every prediction against the loop."""
    table = read_table(X, y)
    found = evaluate_table(procedures, table, splits, run=run)
    expected = loop(procedures, X, y, splits)
    assert len(found) == len(procedures)
    for one, by_split in zip(found, expected, strict=True):
        for s, (codes, labels) in enumerate(
            zip(one.predictions, by_split, strict=True)
        ):
            np.testing.assert_array_equal(table.target.classes[codes], labels)
            right = (labels == y[splits[s].test]).mean(axis=1)
            np.testing.assert_allclose(one.accuracies()[:, s], right, atol=1e-12)
    return found


# -- against the loop ----------------------------------------------------------------


@pytest.mark.parametrize("make", [numeric, mixed, missing], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", sorted(set(estimators_for("classes")) - {"dagsvm"}))
def test_named_estimators_on_every_kind_of_table(name, make):
    X, y = make()
    splits = CrossValidation(2).split(y, 1)
    estimator, selector = ESTIMATORS[name](), InformationGain()
    procedures = [
        Procedure(estimator),
        Procedure(estimator, selector, SIZES),
        Procedure(estimator, selector, SIZES, "out"),
    ]
    check(procedures, X, y, splits)


@pytest.mark.parametrize("estimator", [TREE, LOGISTIC, SVC()], ids=str)
def test_sparse_tables(estimator):
    X, y = counts()
    splits = CrossValidation(3).split(y, 1)
    selector = SelectKBest(f_classif)
    check(
        [Procedure(estimator, selector, SIZES, p) for p in ("in", "out")]
        + [Procedure(estimator)],
        X,
        y,
        splits,
    )


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix"])
def test_sparse_tables_of_any_form(form):
    X, y = counts()
    splits = CrossValidation(3).split(y, 1)
    table = read_table(getattr(sparse, form)(X), y)
    (found,) = evaluate_table([Procedure(TREE)], table, splits, run=serial)
    (expected,) = loop([Procedure(TREE)], X, y, splits)
    for codes, labels in zip(found.predictions, expected, strict=True):
        np.testing.assert_array_equal(table.target.classes[codes], labels)


@pytest.mark.parametrize(
    "selector",
    [
        AnovaF(),
        ReliefF(),
        SelectKBest(f_classif),
        RFE(LOGISTIC, step=3),
        SelectFromModel(DecisionTreeClassifier(random_state=0), threshold=-np.inf),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), KNeighborsClassifier(3), LOGISTIC, TREE, DAGSVM()],
    ids=lambda e: type(e).__name__,
)
def test_any_selector_with_any_estimator(selector, estimator):
    X, y = numeric()
    splits = [*CrossValidation(2).split(y, 2), *Bootstrap632(1).split(y, 2)]
    # What chooses a set of features, not an order, has one size.
    sizes = SIZES if hasattr(selector, "rank_many") else (4,)
    if isinstance(selector, SelectKBest):
        sizes = SIZES
    check(
        [Procedure(estimator, selector, sizes, p) for p in ("in", "out")], X, y, splits
    )


def test_several_procedures_share_a_selector_and_its_rankings(monkeypatch):
    X, y = numeric()
    splits = CrossValidation(4).split(y, 3)
    shared, other = AnovaF(), ReliefF()
    procedures = [
        Procedure(LOGISTIC, shared, SIZES),
        Procedure(TREE, shared, (3,)),
        Procedure(TREE, shared, (2, 5), "out"),
        Procedure(TREE, other, (3,)),
        Procedure(TREE),
        Procedure(LOGISTIC, other, (1, 9)),
    ]
    sets = []
    for kind in (AnovaF, ReliefF):
        plain = kind.rank_table

        def count(self, table, train_sets, plain=plain):
            sets.append((type(self), len(train_sets)))
            return plain(self, table, train_sets)

        monkeypatch.setattr(kind, "rank_table", count)
    found = check(procedures, X, y, splits)
    # Each training set once, and all samples once for OUT, of one selector alone.
    assert sets == [(AnovaF, 5), (ReliefF, 4)]
    assert [ranked.order.size for ranked in found[2].rankings] == [7] * 4
    assert found[4].rankings == [None] * 4


def test_equal_subsets_are_fitted_once():
    X, y = numeric(n_classes=2)
    fitted = []

    class Counting(GaussianNB):
        def fit(self, X, y):
            fitted.append(X.shape)
            return super().fit(X, y)

    splits = CrossValidation(3).split(y, 0)
    # With two classes both order features alike.
    estimator = Counting()
    procedures = [Procedure(estimator, s, (5,)) for s in (AnovaF(), Correlation())]
    evaluate_table(procedures, read_table(X, y), splits, run=serial)
    assert len(fitted) == 3


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), RandomForestClassifier(3, random_state=0), DAGSVM()]
)
def test_the_number_of_processes_does_not_matter(estimator):
    X, y = numeric()
    splits = CrossValidation(5).split(y, 0)
    procedures = [
        Procedure(estimator, AnovaF(), SIZES),
        Procedure(estimator, SelectKBest(), (3,)),
        Procedure(estimator),
    ]
    table = read_table(X, y)
    one, two = (
        evaluate_table(procedures, table, splits, run=run)
        for run in (serial, Workers(2))
    )
    for a, b in zip(one, two, strict=True):
        for left, right in zip(a.predictions, b.predictions, strict=True):
            np.testing.assert_array_equal(left, right)
        for left, right in zip(a.rankings, b.rankings, strict=True):
            if left is not None:
                np.testing.assert_array_equal(left.order, right.order)


@pytest.mark.parametrize("selector", [AnovaF(), SelectKBest()], ids=str)
def test_one_class_to_learn_from(selector):
    X, y = numeric(n_classes=2)
    only = np.flatnonzero(y == "mid")[:10]
    rest = np.setdiff1d(np.arange(len(y)), only)
    splits = [Split(rest, len(y), only), *CrossValidation(2).split(y, 0)]
    procedures = [Procedure(SVC(), selector, SIZES, p) for p in ("in", "out")]
    inside, outside, whole = check([*procedures, Procedure(SVC())], X, y, splits)
    assert inside.rankings[0] is None
    assert outside.rankings[0] is not None
    for found in (inside, outside, whole):
        assert (read_table(X, y).target.classes[found.predictions[0]] == "mid").all()


def test_features_in_another_order_for_the_selector():
    """Ties go by place; predictions do not change where there are none."""
    X, y = numeric()
    columns = np.random.default_rng(0).permutation(X.shape[1])
    splits = CrossValidation(3).split(y, 0)
    table, procedure = read_table(X, y), Procedure(TREE, AnovaF(), SIZES)
    plain, mixed_up = (
        evaluate_table([procedure], table, splits, run=serial, columns=given)[0]
        for given in (None, columns)
    )
    for a, b in zip(plain.predictions, mixed_up.predictions, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(plain.rankings, mixed_up.rankings, strict=True):
        np.testing.assert_array_equal(a.order, b.order)


# -- the public call -----------------------------------------------------------------


@pytest.mark.parametrize("make", [numeric, mixed, counts], ids=lambda f: f.__name__)
def test_the_public_call_is_the_loop(make):
    X, y = make()
    splits = [
        *RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(
            np.zeros(len(y)), y
        )
    ]
    selector = InformationGain() if make is mixed else SelectKBest(f_classif)
    procedures = [Procedure(TREE, selector, SIZES, p) for p in ("in", "out")]
    if make is mixed:
        procedures = [
            Procedure(ESTIMATORS["nb"](), selector, SIZES, p) for p in ("in", "out")
        ]
    found = evaluate(procedures, X, y, splits)
    expected = loop(procedures, X, y, splits)
    classes = np.unique(y)
    for one, by_split in zip(found, expected, strict=True):
        for codes, labels in zip(one.predictions, by_split, strict=True):
            np.testing.assert_array_equal(classes[codes], labels)
        assert one.applied == []


@pytest.mark.parametrize("estimator", [DAGSVM(), LOGISTIC], ids=str)
def test_known_rankings_replace_those_of_a_selector(estimator):
    X, y = numeric()
    splits = CrossValidation(3).split(y, 0)
    orders = [order_by_fit(AnovaF(), X, y, split.train, 7) for split in splits]
    known, selected = evaluate(
        [
            Procedure(estimator, sizes=SIZES, orders=orders),
            Procedure(estimator, AnovaF(), SIZES),
        ],
        X,
        y,
        splits,
    )
    for a, b in zip(known.predictions, selected.predictions, strict=True):
        np.testing.assert_array_equal(a, b)
    for order, ranked in zip(orders, known.rankings, strict=True):
        np.testing.assert_array_equal(ranked.order[:7], order[:7])


def test_an_independent_test_set_is_not_seen_under_out():
    """The last rows have other values; selection on the others ignores them."""
    X, y = numeric(n=60)
    n = 40
    X[n:] = np.random.default_rng(5).normal(size=(20, X.shape[1])) * 100
    folds = [(split.train, split.test) for split in CrossValidation(4).split(y[:n], 0)]
    whole = (np.arange(n), np.arange(n, 60))
    for selector in (AnovaF(), ReliefF(), InformationGain(), SelectKBest(f_classif)):
        procedures = [Procedure(TREE, selector, SIZES, p) for p in ("in", "out")]
        inside, outside = evaluate(
            procedures, X, y, [whole, *folds], everything=np.arange(n)
        )
        order = order_by_fit(selector, X, y, np.arange(n), 7)[:7]
        for ranked in outside.rankings:
            np.testing.assert_array_equal(ranked.order, order)
        for (train, _), ranked in zip(folds, inside.rankings[1:], strict=True):
            expected = order_by_fit(selector, X, y, train, 7)[:7]
            np.testing.assert_array_equal(ranked.order, expected)
        np.testing.assert_array_equal(inside.predictions[0], outside.predictions[0])


def probabilities(model, X, y):
    return model.predict_proba(X), y


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_function_is_applied_to_every_model(n_jobs):
    X, y = numeric(n=20)
    splits = LeaveOut(1).split(y)
    order = np.arange(4)
    plain, part = evaluate(
        [Procedure(LOGISTIC), Procedure(LOGISTIC, sizes=(3,), orders=[order] * 20)],
        X,
        y,
        splits,
        apply=probabilities,
        n_jobs=n_jobs,
    )
    for found, columns in ((plain, slice(None)), (part, slice(3))):
        assert found.predictions == []
        for (train, test), (mine, label) in zip(splits, found.applied, strict=True):
            fitted = clone(LOGISTIC).fit(X[train, columns], y[train])
            expected = fitted.predict_proba(X[test, columns])
            np.testing.assert_allclose(mine, expected, rtol=1e-12)
            assert label == y[test]


def test_a_precomputed_kernel_is_divided_by_rows_and_columns():
    X, y = numeric()
    splits = [*CrossValidation(3).split(y, 0), *Bootstrap632(3).split(y, 0)]
    by_kernel = evaluate([Procedure(SVC(kernel="precomputed"))], X @ X.T, y, splits)
    by_values = evaluate([Procedure(SVC(kernel="linear"))], X, y, splits)
    for a, b in zip(by_kernel[0].predictions, by_values[0].predictions, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_estimate_divides_a_precomputed_kernel_as_scikit_learn_does(scoring):
    X, y = numeric(n_classes=2)
    model = SVC(kernel="precomputed")
    splits = [*StratifiedKFold(4).split(X, y)]
    found = estimate(model, X @ X.T, y, cv=splits, scoring=scoring)
    expected = cross_val_score(clone(model), X @ X.T, y, cv=splits, scoring=scoring)
    np.testing.assert_allclose(found.scores, expected)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": (3, 2), "selector": AnovaF()}, "ascending"),
        ({"sizes": (0, 2), "selector": AnovaF()}, "from 1 up"),
        ({"sizes": (2,)}, "needs a ranking"),
        ({"selector": AnovaF(), "orders": [[0]]}, "not both"),
        ({"selector": AnovaF(), "protocol": "inside"}, "'in' or 'out'"),
    ],
)
def test_a_wrong_procedure_is_told(changes, words):
    with pytest.raises(InputError, match=words):
        Procedure(TREE, **changes)


@pytest.mark.parametrize("orders", [[[0, 1, 2]], [[0, 1, 2], [0, 1]]])
def test_orders_must_fit_the_splits(orders):
    X, y = numeric()
    procedure = Procedure(TREE, sizes=(3,), orders=orders)
    with pytest.raises(InputError, match="one ranking per split"):
        evaluate([procedure], X, y, CrossValidation(2).split(y, 0))


# -- pipelines taken apart -----------------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "frame", "integers", "csr"])
@pytest.mark.parametrize(
    "steps",
    [
        [AnovaF(4), LOGISTIC],
        [Normalizer(), AnovaF(4), StandardScaler(with_mean=False), TREE],
        [FunctionTransformer(np.sqrt), "passthrough", AnovaF(0.5), TREE],
    ],
    ids=["plain", "normalizer", "function"],
)
def test_a_pipeline_taken_apart_predicts_as_the_whole(steps, kind):
    X, y = numeric()
    X = np.round(np.abs(10 * X))
    X = {
        "array": X,
        "frame": pd.DataFrame(X).add_prefix("x"),
        "integers": X.astype(int),
        "csr": sparse.csr_array(X),
    }[kind]
    model = make_pipeline(*steps)
    table = read_table(X, y)
    procedure, seen = as_procedure(model, table)
    assert isinstance(procedure.selector, AnovaF)
    splits = [*CrossValidation(4).split(y, 0), *Bootstrap632(3).split(y, 0)]
    (apart,) = evaluate_table([procedure], seen, splits, run=serial)
    (whole,) = evaluate_table([Procedure(model)], table, splits, run=serial)
    (expected,) = loop([Procedure(model)], X, y, splits)
    for a, b, labels in zip(
        apart.predictions, whole.predictions, expected, strict=True
    ):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(table.target.classes[a], labels)


@pytest.mark.parametrize("where", ["pipeline", "config"])
def test_a_pipeline_that_hands_on_frames(where):
    X, y = numeric()
    X = pd.DataFrame(X).add_prefix("x")

    class NamesMatter(GaussianNB):
        def fit(self, X, y):
            assert list(X.columns) == sorted(X.columns, key=lambda c: int(c[1:]))
            return super().fit(X, y)

    model = make_pipeline(AnovaF(3), NamesMatter())
    splits = CrossValidation(3).split(y, 0)
    with config_context(transform_output="pandas" if where == "config" else "default"):
        if where == "pipeline":
            model.set_output(transform="pandas")
        procedure, seen = as_procedure(model, read_table(X, y))
        assert procedure.selector is not None
        (found,) = evaluate_table([procedure], seen, splits, run=serial)
        (expected,) = loop([Procedure(model)], X, y, splits)
    for codes, labels in zip(found.predictions, expected, strict=True):
        np.testing.assert_array_equal(seen.target.classes[codes], labels)


def test_a_share_of_features_is_counted_exactly():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 100)), np.arange(40) % 2
    procedure, _ = as_procedure(make_pipeline(AnovaF(0.29), TREE), read_table(X, y))
    assert procedure.sizes == (29,)
    found = select("anova", X, y, n_features_to_select=0.29, cv=3)
    assert len(found.features) == found.sizes[-1] == 29


# -- the verbs -----------------------------------------------------------------------


SAME = [LOGISTIC, SVC(), "logistic", "svm"]


def by_hand(estimator, X, y, seed, n_folds=10, n_features=None):
    """Accuracy over all folds, features selected inside each."""
    model = ESTIMATORS[estimator]() if isinstance(estimator, str) else estimator
    right = []
    for train, test in CrossValidation(n_folds).split(y, seed):
        columns = np.arange(X.shape[1])
        if n_features is not None:
            selector = AnovaF(n_features).fit(X[train], y[train])
            columns = selector.get_support(indices=True)
        fitted = clone(model).fit(X[np.ix_(train, columns)], y[train])
        right.append(fitted.predict(X[np.ix_(test, columns)]) == y[test])
    return np.concatenate(right).mean()


@pytest.mark.parametrize("estimator", SAME, ids=str)
def test_every_verb_gives_the_same_accuracy(estimator):
    X, y = numeric(80, n_classes=2, seed=4)
    whole = by_hand(estimator, X, y, 7)
    assert estimate(estimator, X, y, random_state=7).value == pytest.approx(whole)
    audited = audit(estimator, X, y, n_permutations=19, random_state=7)
    assert audited.accuracy["in"].value == pytest.approx(whole)
    everything = select(
        "anova", X, y, estimator=estimator, n_features_to_select=None, random_state=7
    )
    assert everything.accuracy.value == pytest.approx(whole)


@pytest.mark.parametrize("estimator", SAME, ids=str)
def test_every_verb_gives_the_same_accuracy_of_a_selection(estimator):
    X, y = numeric(80, n_classes=2, seed=4)
    model = ESTIMATORS[estimator]() if isinstance(estimator, str) else estimator
    pipeline = make_pipeline(AnovaF(4), model)
    expected = by_hand(estimator, X, y, 7, n_features=4)
    assert estimate(pipeline, X, y, random_state=7).value == pytest.approx(expected)
    audited = audit(pipeline, X, y, n_permutations=19, random_state=7)
    assert audited.accuracy["in"].value == pytest.approx(expected)
    selected = select(
        "anova", X, y, estimator=estimator, n_features_to_select=4, random_state=7
    )
    assert selected.accuracy.value == pytest.approx(expected)


@pytest.mark.parametrize("estimator", ["logistic", "svm"])
def test_compare_gives_the_same_accuracy(estimator):
    X, y = numeric(80, n_classes=2, seed=4)
    expected = by_hand(estimator, X, y, 7, n_features=4)
    found = compare(
        ["anova", "relieff"],
        X,
        y,
        estimator=estimator,
        n_features_to_select=4,
        cv=10,
        random_state=7,
    )
    # Folds are of one size, so that their mean is the share of all samples.
    assert found.accuracy["in"][0].mean() == pytest.approx(expected)


@pytest.mark.parametrize(
    "cv",
    [
        "5x2",
        3,
        ShuffleSplit(4, random_state=0),
        ShuffleSplit(4),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=3),
        [(np.arange(24), np.arange(24, 48)), (np.arange(24, 48), np.arange(24))],
        CrossValidation(4, stratified=False),
    ],
    ids=str,
)
def test_select_takes_any_splitter_selector_and_estimator(cv):
    X, y = numeric()
    splits = read_cv(cv).split(y, 5)
    for selector in ("anova", SelectKBest(f_classif, k=1)):
        found = select(
            selector,
            X,
            y,
            estimator=GaussianNB(),
            n_features_to_select=4,
            cv=cv,
            random_state=5,
        )
        procedure = Procedure(GaussianNB(), AnovaF(), found.sizes)
        (expected,) = loop([procedure], X, y, splits)
        truth = np.concatenate([y[split.test] for split in splits])
        right = np.concatenate(expected, axis=1) == truth
        np.testing.assert_allclose(found.size_accuracy, right.mean(axis=1))
        assert found.n_folds == len(splits)
        assert found.n_test == len(np.unique(np.concatenate([s.test for s in splits])))
        assert found.estimator == "GaussianNB"


@pytest.mark.parametrize(
    "selector",
    [
        RFE(LOGISTIC),
        SelectFromModel(DecisionTreeClassifier(random_state=0)),
    ],
    ids=lambda s: type(s).__name__,
)
def test_select_takes_a_selector_of_sets(selector):
    X, y = numeric()
    found = select(selector, X, y, n_features_to_select=1, cv=3, random_state=0)
    procedure = Procedure(ESTIMATORS["svm"](), selector, (1,))
    splits = CrossValidation(3).split(y, 0)
    (expected,) = loop([procedure], X, y, splits)
    right = np.concatenate(
        [
            (labels == y[split.test])[0]
            for labels, split in zip(expected, splits, strict=True)
        ]
    )
    assert found.accuracy.value == pytest.approx(right.mean())


# -- read once -----------------------------------------------------------------------


@pytest.fixture
def encoded(monkeypatch):
    """Count how often the whole table is encoded, not only its first sample."""
    shapes = []

    def count(X, *args, **kwargs):
        if len(X) > 1:
            shapes.append(np.shape(X))
        return encode(X, *args, **kwargs)

    for module in (veridical._core.reading, veridical._core.table):
        monkeypatch.setattr(module, "encode", count)
    return shapes


def test_select_encodes_once(encoded):
    X, y = numeric()
    select("relieff", X, y, estimator="nb", n_features_to_select=3, cv=4)
    assert encoded == [X.shape]


def test_audit_encodes_once(encoded):
    X, y = numeric(n_classes=2)
    options = {"cv": 4, "n_permutations": 19, "random_state": 0}
    audit("nb", X, y, **options)
    audit("nb", X, y, selected=[0, 1], **options)
    audit(make_pipeline(AnovaF(3), TREE), X, y, **options)
    assert encoded == [X.shape] * 3


def test_estimate_encodes_at_most_once(encoded):
    X, y = numeric()
    estimate("nb", X, y, cv=4, random_state=0)
    assert encoded in ([], [X.shape])
    encoded.clear()
    estimate(make_pipeline(ReliefF(3), TREE), X, y, cv=4, random_state=0)
    assert encoded == [X.shape]
    encoded.clear()
    estimate(TREE, X, y, cv=4, random_state=0)
    assert encoded == []  # it may take what cannot be encoded


def test_categorical_features_named_by_their_places_are_those_of_the_table():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(60, 5)), rng.integers(0, 4, size=60).astype(float)]
    y = np.isin(X[:, 5], (0, 3)).astype(int)
    table = read_table(X, y)
    selector = InformationGain(1, categorical_features=[5])
    everything = [np.arange(60)]
    for seed in range(4):
        columns = np.random.default_rng(seed).permutation(6)
        (found,) = rank(selector, table, everything, 1, columns)
        assert found.order.tolist() == [5]
