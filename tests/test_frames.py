"""Every estimator and verb reads data frames of any library, and refuses lazy ones."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

import veridical.learning
import veridical.preparation
import veridical.selection
from veridical._core.encoding import encode
from veridical._core.hashing import table_hash
from veridical._core.reading import check_features
from veridical.auditing import audit
from veridical.comparison import compare, sensitivity
from veridical.evaluation import correction, estimate, nested_cv, select
from veridical.learning import C45, NaiveBayes
from veridical.selection import AnovaF, InformationGain, ReliefF

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

ESTIMATORS = [
    thing
    for room in (veridical.selection, veridical.learning, veridical.preparation)
    for thing in (getattr(room, name) for name in room.__all__)
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
]


def _make(kind):
    if kind.__name__ == "ExpressionFilter":  # by default for intensities in hundreds
        return kind(low=None, high=None, min_fold=None, min_difference=None, log=None)
    return kind()


def _numbers():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2], 20)  # classes, and also times
    X = rng.normal(size=(40, 4))
    X[:, 2] += 2 * y
    return {f"f{j}": X[:, j] for j in range(4)}, y


def _answer(fitted, X):
    return fitted.transform(X) if hasattr(fitted, "transform") else fitted.predict(X)


@pytest.mark.filterwarnings("ignore:n_features_to_select:UserWarning")
@pytest.mark.filterwarnings("ignore:.* has no (batch|covariates):UserWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_pyarrow_table_gives_what_the_array_gives(kind):
    columns, y = _numbers()
    array = np.column_stack(list(columns.values()))
    table = pa.table(columns)
    plain, fitted = (_make(kind).fit(X, y) for X in (array, table))
    assert fitted.feature_names_in_.tolist() == list(columns)
    np.testing.assert_array_equal(_answer(fitted, table), _answer(plain, array))


@pytest.mark.filterwarnings("ignore:n_features_to_select:UserWarning")
@pytest.mark.filterwarnings("ignore:.* has no (batch|covariates):UserWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_lazy_frame_is_refused_with_the_cure(kind):
    columns, y = _numbers()
    lazy = pl.LazyFrame(columns)
    with pytest.raises(ValueError, match=r"lazy frame.*call X\.collect\(\)"):
        _make(kind).fit(lazy, y)
    fitted = _make(kind).fit(lazy.collect(), y)
    with pytest.raises(ValueError, match=r"call X\.collect\(\)"):
        _answer(fitted, lazy)


VERBS = {
    "check_features": lambda X, y: check_features(X),
    "table_hash": table_hash,
    "encode": lambda X, y: encode(X),
    "estimate": lambda X, y: estimate(C45(), X, y, random_state=0),
    "nested_cv": lambda X, y: nested_cv(NaiveBayes(), X, y, n_repeats=3),
    "correction": lambda X, y: correction(X, y, n_features_to_select=2, random_state=0),
    "compare": lambda X, y: compare(
        [AnovaF(2), ReliefF(2)], X, y, n_features_to_select=2, random_state=0
    ),
    "compare three": lambda X, y: compare(
        ["anova", "relieff", "correlation"],
        X,
        y,
        n_features_to_select=2,
        random_state=0,
    ),
    "sensitivity": lambda X, y: sensitivity(
        [AnovaF(2), ReliefF(2)],
        X,
        y,
        n_features_to_select=2,
        n_sets=2,
        random_state=0,
    ),
    "select": lambda X, y: select(
        "anova", X, y, n_features_to_select=2, random_state=0
    ),
    "audit": lambda X, y: audit(
        make_pipeline(AnovaF(2), NaiveBayes()), X, y, n_permutations=19, random_state=0
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_refuse_a_lazy_frame_with_the_cure(verb):
    columns, y = _numbers()
    with pytest.raises(ValueError, match=r"lazy frame.*call X\.collect\(\)"):
        VERBS[verb](pl.LazyFrame(columns), y)


@pytest.mark.parametrize("verb", ["estimate", "compare", "select", "audit"])
def test_verbs_take_a_pyarrow_table(verb):
    columns, y = _numbers()
    found, expected = (
        VERBS[verb](X, y) for X in (pa.table(columns), pl.DataFrame(columns))
    )
    assert repr(found) == repr(expected)


def test_the_hash_of_a_pyarrow_table_is_that_of_the_polars_frame():
    columns, y = _numbers()
    assert table_hash(pa.table(columns), y) == table_hash(pl.DataFrame(columns), y)


def test_categorical_columns_of_a_pyarrow_table():
    table = pa.table(
        {
            "size": [1.0, None, 3.0, 4.0],
            "text": ["x", "y", None, "x"],
            "kind": pa.array(["u", "v", "u", "v"]).dictionary_encode(),
            "flag": [True, False, None, True],
            "count": [1, 2, None, 3],
        }
    )
    found = encode(table)
    assert found.categorical.tolist() == [False, True, True, True, False]
    nan = np.nan
    np.testing.assert_array_equal(
        found.values,
        [[1, 0, 0, 1, 1], [nan, 1, 1, 0, 2], [3, nan, 0, nan, nan], [4, 0, 1, 1, 3]],
    )
    fitted = InformationGain(1).fit(table, [0, 1, 0, 1])
    assert fitted.get_feature_names_out().tolist() == ["kind"]


def test_a_pyarrow_table_with_a_name_twice_is_refused():
    table = pa.table([[1.0, 2.0], [2.0, 1.0]], names=["a", "a"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        AnovaF(1).fit(table, [0, 1])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        C45().fit(table, [0, 1])
