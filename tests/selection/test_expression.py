"""Preprocessing of expression arrays."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from veridical._core.errors import InputError
from veridical.datasets import load
from veridical.learning import DAGSVM
from veridical.selection import AnovaF, ExpressionFilter


def arrays(seed=0, n=12, p=60):
    rng = np.random.default_rng(seed)
    return np.exp(
        rng.normal(6.5, 0.4, p) + rng.uniform(0.1, 1.2, p) * rng.normal(size=(n, p))
    )


def naive(train, test):
    """The four steps, gene by gene and array by array."""
    kept = []
    for j in range(train.shape[1]):
        values = [min(max(v, 100), 16000) for v in train[:, j]]
        if max(values) / min(values) > 5 and max(values) - min(values) > 500:
            kept.append(j)
    rows = []
    for row in test:
        logs = [np.log10(min(max(row[j], 100), 16000)) for j in kept]
        mean = sum(logs) / len(logs)
        sd = np.sqrt(sum((v - mean) ** 2 for v in logs) / len(logs))
        rows.append([(v - mean) / sd for v in logs])
    return kept, np.array(rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_four_steps(seed):
    X = arrays(seed)
    kept, expected = naive(X[:8], X[8:])
    genes = ExpressionFilter().fit(X[:8])
    assert 0 < len(kept) < 60
    assert genes.get_support(indices=True).tolist() == kept
    np.testing.assert_allclose(genes.transform(X[8:]), expected, atol=1e-10)


@pytest.mark.skipif("VERIDICAL_DATA" not in os.environ, reason="no data folder")
def test_leukaemia_keeps_the_published_number_of_genes():
    X, _ = load("golub_amlall3")
    assert ExpressionFilter().fit(X).n_features_ == 3571


def test_inequalities_are_strict():
    X = np.array([[100.0, 1000.0, 200.0], [500.0, 1500.0, 1001.0]])
    # fold 5 but difference 400; difference 500 but fold 1.5; both exceeded
    assert ExpressionFilter().fit(X).support_.tolist() == [False, False, True]
    X[1] = [600.0, 5000.0, 1000.0]
    # difference exactly 500; fold exactly 5; fold exactly 5
    only_fold = ExpressionFilter(min_difference=None).fit(X)
    assert only_fold.support_.tolist() == [True, False, False]
    only_difference = ExpressionFilter(min_fold=None).fit(X)
    assert only_difference.support_.tolist() == [False, True, True]


def test_options_switch_steps_off():
    X = arrays(4)
    plain = ExpressionFilter(
        low=None, high=None, min_fold=None, min_difference=None, log=None,
        standardize=False,
    )  # fmt: skip
    np.testing.assert_array_equal(plain.fit_transform(X), X)
    ratios = plain.set_params(log=2)
    np.testing.assert_allclose(ratios.fit_transform(X), np.log2(X))
    centred = ratios.set_params(standardize=True).fit_transform(X)
    np.testing.assert_allclose(centred.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(centred.std(axis=1), 1)


def test_constant_genes_never_stay():
    X = arrays(5)
    X[:, 3] = 700.0
    kept = ExpressionFilter(min_fold=None, min_difference=None).fit(X).support_
    assert not kept[3]


def test_the_test_fold_is_not_looked_at():
    X = arrays(6)
    y = np.arange(12) % 2
    pipeline = make_pipeline(ExpressionFilter(), AnovaF(3), DAGSVM())
    alone = pipeline.fit(X[:8], y[:8])[0].support_.copy()
    changed = X.copy()
    changed[8:] *= 100
    np.testing.assert_array_equal(pipeline.fit(changed[:8], y[:8])[0].support_, alone)


def test_names_go_through():
    X = pd.DataFrame(arrays(7), columns=[f"g{j}" for j in range(60)])
    genes = ExpressionFilter().set_output(transform="pandas").fit(X)
    names = [f"g{j}" for j in genes.get_support(indices=True)]
    assert genes.transform(X).columns.tolist() == names
    assert genes.get_feature_names_out().tolist() == names


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"low": "a"}, "low='a'"),
        ({"low": 10, "high": 5}, "below high"),
        ({"log": 1}, "not a base"),
        ({"low": 1e6, "high": None}, "None of the 60 genes"),
    ],
)
def test_bad_parameters_are_named(parameters, word):
    with pytest.raises(InputError, match=word):
        ExpressionFilter(**parameters).fit(arrays())


def test_what_is_not_positive_is_named():
    X = pd.DataFrame(arrays(8)[:, :3], columns=["a", "b", "c"])
    X.loc[2, "b"] = -1.0
    with pytest.raises(InputError, match=r"'b'.*fold"):
        ExpressionFilter(low=None).fit(X)
    lenient = ExpressionFilter(low=None, min_fold=None, min_difference=None).fit(X)
    with pytest.raises(InputError, match=r"'b'.*logarithm"):
        lenient.transform(X)
    X.loc[2, "b"] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ExpressionFilter().fit(X)
