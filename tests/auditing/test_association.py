"""Tests of features selected by the labels: level, power, and traces of selection."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from tests.oracles.audit import f_ratio

from veridical._core.reading import read_table
from veridical.auditing.association import (
    TRACE_LEVEL,
    best_features_pvalue,
    chosen_by_labels,
    find_selection_trace,
    strengths,
)
from veridical.auditing.records import LEVEL
from veridical.datasets import make_random_labels
from veridical.selection import AnovaF, ReliefF


def test_strengths_are_f_chi_square_and_likeness():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = rng.permutation(np.arange(30) % 3)
    data = read_table(X, y)
    other = rng.permutation(data.y)

    found = strengths(data, np.arange(4), np.stack([data.y, other]))

    for b, labels in enumerate((data.y, other)):
        for j in range(4):
            assert np.expm1(found[0, b, j]) == pytest.approx(f_ratio(X[:, j], labels))
            thirds = np.searchsorted(np.quantile(X[:, j], (1 / 3, 2 / 3)), X[:, j])
            table = pd.crosstab(thirds, labels).to_numpy()
            chi = stats.chi2_contingency(table, correction=False).statistic
            assert np.expm1(found[1, b, j]) == pytest.approx(chi / 4)
            along = labels[np.argsort(X[:, j])]
            pairs = [(i, i + lag) for lag in (1, 2, 3) for i in range(30 - lag)]
            alike = np.mean([along[i] == along[k] for i, k in pairs])
            assert found[2, b, j] == pytest.approx(alike)


def test_categorical_and_missing_features_are_read():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    frame = pd.DataFrame(
        {
            "told": pd.Categorical(np.where(y, "a", "b")),
            "noise": pd.Categorical(rng.choice(list("xyz"), 40)),
            "number": np.where(rng.random(40) < 0.2, np.nan, rng.normal(size=40)),
        }
    )
    data = read_table(frame, y)

    found = strengths(data, np.arange(3), data.y[None])

    assert np.isfinite(found).all()
    # Neither means nor neighbours of codes mean anything.
    assert (found[[0, 2], 0, :2] == 0).all()
    assert found[1, 0, 0] > 3 * found[1, 0, 1]


def correlated_table(effect, seed, n=40, p=120, k=10):
    """Make a table whose first k features share a factor and differ by class."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p))
    X[:, :k] = (X[:, :k] + rng.normal(size=(n, 1))) / np.sqrt(2) + effect * y[:, None]
    return X, y


def test_best_features_are_no_better_than_for_permuted_labels_without_signal():
    pvalues = [
        best_features_pvalue(read_table(*correlated_table(0.0, seed)), 10, seed)
        for seed in range(60)
    ]

    assert min(pvalues) >= 1 / 1000
    assert np.mean(np.array(pvalues) <= 0.1) < 0.25  # P(more) is 0.001
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


def test_best_features_are_better_where_there_is_a_signal():
    data = read_table(*correlated_table(2.0, 0))
    X, y = correlated_table(0.0, 1)
    frame = pd.DataFrame(X).assign(told=pd.Categorical(np.where(y, "a", "b")))

    assert best_features_pvalue(data, 10, 0) == 1 / 1000
    assert best_features_pvalue(read_table(frame, y), 1, 0) == 1 / 1000
    categories = frame[["told"]].assign(other=pd.Categorical(list("xyxy") * 10))
    assert best_features_pvalue(read_table(categories, y), 1, 0) == 1 / 1000


def test_blocks_of_features_do_not_matter(monkeypatch):
    data = read_table(*correlated_table(0.7, 2))
    whole = best_features_pvalue(data, 10, 0)
    monkeypatch.setattr("veridical.auditing.association._BLOCK", 7)

    assert best_features_pvalue(data, 10, 0) == whole


def by_mutual_information(X, y):
    return mutual_info_classif(X, y, random_state=0)


@pytest.mark.parametrize(
    "selector", [AnovaF(20), ReliefF(20), SelectKBest(by_mutual_information, k=20)]
)
def test_selected_features_are_noticed_on_noise(selector):
    for seed in range(2):
        X, y = make_random_labels(50, 300, random_state=seed)
        columns = selector.fit(X, y).get_support(indices=True)
        assert chosen_by_labels(read_table(X, y), columns, seed) <= LEVEL


def test_features_taken_at_random_are_rarely_flagged():
    pvalues = []
    for seed in range(40):
        X, y = make_random_labels(40, 200, random_state=seed)
        columns = np.random.default_rng(seed).choice(200, 10, replace=False)
        pvalues.append(chosen_by_labels(read_table(X, y), np.sort(columns), seed))
    # At most 1 in 100 is to be expected below the level; 4 of 40 would be an accident
    # of less than one in a thousand.
    assert np.count_nonzero(np.array(pvalues) <= LEVEL) < 4
    assert np.mean(pvalues) > 0.5


def test_features_taken_at_random_from_informative_ones_are_not_flagged():
    """Where every column has to do with the class, that is no sign of selection."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 100)) + y[:, None]
    data = read_table(X, y)

    blind = [
        chosen_by_labels(data, np.sort(rng.choice(100, 10, replace=False)), seed)
        for seed in range(10)
    ]
    best = AnovaF(10).fit(X, y).get_support(indices=True)

    assert min(blind) > LEVEL
    assert chosen_by_labels(data, best, 0) <= LEVEL


def test_few_features_are_judged_by_labels_alone():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4))
    X[:, 0] += 3 * y

    assert chosen_by_labels(read_table(X, y), np.array([0]), 0) <= LEVEL
    assert chosen_by_labels(read_table(X, y), np.array([1]), 0) > LEVEL


# ---- traces of selection -----------------------------------------------------------


def test_selection_leaves_a_trace_on_noise():
    traces = []
    for seed in range(10):
        X, y = make_random_labels(50, 2000, random_state=seed)
        best = AnovaF(20).fit(X, y).transform(X)
        traces.append(find_selection_trace(read_table(best, y), seed))
    found = [trace for trace in traces if trace is not None and trace.is_shown]
    assert len(found) >= 9
    for n, largest, pvalue in found:
        assert n == 20
        assert largest < 0.02
        assert pvalue <= TRACE_LEVEL


def test_useful_features_among_selected_noise_do_not_hide_the_trace():
    shown = 0
    for seed in range(10):
        X, y = make_random_labels(60, 1000, random_state=seed)
        X[:, :2] += 1.2 * y[:, None]
        best = AnovaF(12).fit(X, y).transform(X)
        trace = find_selection_trace(read_table(best, y), seed)
        shown += trace is not None and trace.is_shown
    assert shown >= 8


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_useful_features_have_none(load):
    X, y = load(return_X_y=True)
    found = find_selection_trace(read_table(X, y), 0)
    assert found is None or not found.is_shown


def test_features_without_selection_leave_no_trace():
    for seed in range(20):
        X, y = make_random_labels(50, 20, random_state=seed)
        assert find_selection_trace(read_table(X, y), 0) is None
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    strong = rng.normal(size=(60, 20)) + 1.5 * y[:, None]
    found = find_selection_trace(read_table(strong, y), 0)
    assert found is not None
    assert not found.is_shown


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_equally_useful_features_leave_no_trace(correlation):
    flagged = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.arange(60) % 2
        X = np.sqrt(1 - correlation) * rng.normal(size=(60, 6)) + y[:, None]
        X += np.sqrt(correlation) * rng.normal(size=(60, 1))
        found = find_selection_trace(read_table(X, y), seed)
        flagged += found is not None and found.is_shown
    assert flagged <= 3  # 1 % at most are to be expected; more than 3 in 0.1 % of runs
