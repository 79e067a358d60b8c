"""A source like the data: classes, marginals, strength, correlation, and no more."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.feature_selection import f_classif

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.comparison.simulation import (
    SimulatedSource,
    association_with_classes,
    outcome_scores,
    schaefer_strimmer_shrinkage,
    scores_within,
)
from veridical.kernels.statistics import benjamini_hochberg


@pytest.fixture(scope="module")
def observed():
    """Two strong columns, one that differs in spread, five of noise, two correlated."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], [70, 50])
    X = rng.normal(size=(120, 10))
    X[:, 0] += 1.5 * (y == "yes")
    X[:, 1] += 1.0 * (y == "yes")
    X[:, 2] *= np.where(y == "yes", 3.0, 1.0)
    X[:, 8] = X[:, 7] + 0.5 * rng.normal(size=120)
    X[:, 9] = rng.poisson(3, 120)
    return X, y


def test_classes_marginals_and_names(observed):
    X, y = observed
    source = SimulatedSource.from_table(read_table(X, y))
    drawn, labels = source(120, random_state=1)
    assert pd.Series(labels).value_counts().to_dict() == {"no": 70, "yes": 50}
    assert (pd.Series(source(1200, random_state=1)[1]) == "yes").sum() == 500
    # Values are those observed, in the observed frequencies.
    assert all(np.isin(drawn[:, j], X[:, j]).all() for j in range(10))
    large, _ = source(20000, random_state=2)
    for j in range(10):
        assert stats.ks_2samp(large[:, j], X[:, j]).statistic < 0.02
    assert np.array_equal(drawn, source(120, random_state=1)[0])
    assert not np.array_equal(drawn, source(120, random_state=3)[0])


def test_strength_is_kept_where_there_is_some(observed):
    X, y = observed
    source = SimulatedSource.from_table(read_table(X, y))
    assert set(np.flatnonzero(source.keep)) == {0, 1, 2}
    drawn, labels = source(20000, random_state=0)
    here = labels == "yes"
    for j in (0, 1):
        seen = X[y == "yes", j].mean() - X[y == "no", j].mean()
        gap = drawn[here, j].mean() - drawn[~here, j].mean()
        assert gap == pytest.approx(source.keep[j] * seen, abs=0.05)
        assert gap < seen
    spread = drawn[here, 2].std() / drawn[~here, 2].std()
    assert 1.5 < spread <= X[y == "yes", 2].std() / X[y == "no", 2].std()
    for j in range(3, 10):
        assert f_classif(drawn[:, [j]], labels)[1][0] > 1e-3
    weak = SimulatedSource.from_table(read_table(X, y), strength=0.5)
    assert weak.keep == pytest.approx(source.keep / 2)
    assert SimulatedSource.from_table(read_table(X, y), strength=9).keep.max() == 1
    assert SimulatedSource.from_table(read_table(X, y), strength=0).n_relevant == 0


def test_correlation_is_kept_but_shrunk(observed):
    X, y = observed
    source = SimulatedSource.from_table(read_table(X, y))
    drawn, _ = source(20000, random_state=0)
    seen = stats.spearmanr(X[:, 7], X[:, 8]).statistic
    kept = stats.spearmanr(drawn[:, 7], drawn[:, 8]).statistic
    assert 0.8 * (1 - source.shrinkage) * seen < kept < seen
    assert abs(stats.spearmanr(drawn[:, 3], drawn[:, 4]).statistic) < 0.1


def test_shrinkage_is_schaefer_and_strimmers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6))
    Z = scores_within(X, np.zeros(30, dtype=int), np.zeros(6, dtype=bool))
    # Their formula, loop by loop, on columns of variance one.
    x = Z * np.sqrt(29)
    above = below = 0.0
    for i in range(6):
        for j in range(6):
            if i != j:
                w = x[:, i] * x[:, j]
                above += 30 / 29**3 * ((w - w.mean()) ** 2).sum()
                below += (30 / 29 * w.mean()) ** 2
    assert schaefer_strimmer_shrinkage(Z) == pytest.approx(above / below, rel=1e-9)
    noise = rng.normal(size=(40, 300))
    mostly = schaefer_strimmer_shrinkage(
        scores_within(noise, np.zeros(40, dtype=int), np.zeros(300, dtype=bool))
    )
    assert mostly > 0.9
    assert mostly == pytest.approx(ledoit_wolf_shrinkage(noise), abs=0.1)


def test_noise_stays_noise():
    rng = np.random.default_rng(1)
    found = [
        SimulatedSource.from_table(
            read_table(rng.normal(size=(50, 500)), np.resize(["a", "b"], 50))
        ).n_relevant
        for _ in range(20)
    ]
    # 10 % false discoveries: on pure noise any at all in about one data set of ten.
    assert sum(n > 0 for n in found) <= 6


def test_categorical_and_missing_features():
    rng = np.random.default_rng(2)
    y = np.resize(["a", "b", "c"], 150)
    X = pd.DataFrame(
        {
            "kind": pd.Categorical(
                np.where(rng.random(150) < 0.8, y, rng.choice(list("abc"), 150))
            ),
            "idle": pd.Categorical(rng.choice(["u", "v"], 150)),
            "size": np.where(rng.random(150) < 0.3, np.nan, rng.normal(size=150)),
        }
    )
    source = SimulatedSource.from_table(read_table(X, y))
    assert source.keep[0] > 0.8
    assert source.keep[1] == source.keep[2] == 0
    drawn, labels = source(6000, random_state=0)
    assert list(drawn.columns) == ["kind", "idle", "size"]
    assert drawn["size"].isna().mean() == pytest.approx(
        X["size"].isna().mean(), abs=0.03
    )
    agree = (drawn["kind"].astype(str) == labels).mean()
    assert 0.6 < agree < (X["kind"].astype(str) == y).mean() + 0.03
    assert drawn["idle"].value_counts(normalize=True)["u"] == pytest.approx(
        (X["idle"] == "u").mean(), abs=0.03
    )


def test_chi_squared_and_false_discoveries_by_hand():
    column = np.repeat([0.0, 0.0, 1.0, 1.0], [10, 20, 30, 5])
    codes = np.repeat([0, 1, 0, 1], [10, 20, 30, 5])
    theirs = stats.chi2_contingency([[10, 20], [30, 5]], correction=False)
    assert association_with_classes(column, codes) == pytest.approx(
        (theirs.statistic, theirs.pvalue)
    )
    p = np.array([0.5, 0.04, 0.001, 0.06, 0.9])
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


def test_sparse_data_and_small_classes():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.2))
    y = np.repeat([0, 1, 2], [30, 8, 2])
    drawn, labels = SimulatedSource.from_table(read_table(X, y))(10, random_state=0)
    assert drawn.shape == (10, 12)
    assert set(labels) == {0, 1, 2}
    with pytest.raises(InputError, match="strength"):
        SimulatedSource.from_table(read_table(X, y), strength=-1)


# -- numbers and survival times --------------------------------------------------------


def _outcomes(kind, n=300, seed=0):
    """Two of eight features matter, one of them backwards; one is a category."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    X[:, 3] = np.exp(X[:, 3])
    X[:, 7] = 0.8 * X[:, 6] + 0.6 * X[:, 7]
    signal = X[:, 0] - 0.6 * X[:, 1]
    if kind == "numbers":
        return X, signal + rng.normal(size=n)
    time, limit = rng.exponential(np.exp(-signal)), rng.exponential(2.0, n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= limit, np.minimum(time, limit)
    return X, y


@pytest.mark.parametrize("kind", ["numbers", "survival"])
def test_sources_of_other_outcomes_keep_relations_and_marginals(kind):
    X, y = _outcomes(kind)
    table = read_table(X, y)
    source = SimulatedSource.from_table(table)
    assert np.flatnonzero(source.keep).tolist() == [0, 1]
    # Numbers grow with the first feature, and times become shorter.
    sign = 1 if kind == "numbers" else -1
    assert (np.sign(source.keep[:2]) == [sign, -sign]).all()
    drawn, labels = source(6000, random_state=1)
    Z = np.asarray(drawn)
    z = outcome_scores(read_table(Z, labels).target)
    found = [np.corrcoef(stats.rankdata(x), stats.rankdata(z))[0, 1] for x in Z.T]
    np.testing.assert_allclose(found, 6 / np.pi * np.arcsin(source.keep / 2), atol=0.08)
    for j in range(8):  # values are those observed, about equally often
        assert np.isin(Z[:, j], X[:, j]).all()
        np.testing.assert_allclose(
            np.quantile(Z[:, j], [0.25, 0.5, 0.75]),
            np.quantile(X[:, j], [0.25, 0.5, 0.75]),
            atol=0.15 * X[:, j].std(),
        )
    assert np.corrcoef(Z[:, 6], Z[:, 7])[0, 1] > 0.6
    # Every outcome occurs equally often.
    times = np.unique(labels, return_counts=True)[1]
    assert set(times) <= {20} or kind == "survival"
    again, same = source(6000, random_state=1)
    np.testing.assert_array_equal(np.asarray(again), Z)
    np.testing.assert_array_equal(same, labels)


@pytest.mark.parametrize("kind", ["numbers", "survival"])
def test_noise_of_other_outcomes_stays_noise(kind):
    X, y = _outcomes(kind)
    order = np.random.default_rng(5).permutation(len(y))
    counts = [
        SimulatedSource.from_table(read_table(X[:, 2:], y[order[::step]])).n_relevant
        for step in (1, -1)
    ]
    assert counts == [0, 0]
    weak = SimulatedSource.from_table(read_table(X, y), strength=0.5)
    whole = SimulatedSource.from_table(read_table(X, y))
    np.testing.assert_allclose(weak.keep, whole.keep / 2)
    strong = SimulatedSource.from_table(read_table(X, y), strength=9)
    assert np.abs(strong.keep).max() < 1


def test_a_category_that_depends_on_a_number_is_drawn_near_it():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    colour = np.where(y + 0.3 * rng.normal(size=400) > 0, "red", "blue")
    X = pd.DataFrame({"a": rng.normal(size=400), "colour": pd.Categorical(colour)})
    source = SimulatedSource.from_table(read_table(X, y))
    assert source.keep[1] > 0.9
    drawn, labels = source(2000, random_state=0)
    red = (drawn["colour"] == "red").to_numpy()
    assert red[labels > 1].mean() > 0.85 > 0.15 > red[labels < -1].mean()


@pytest.mark.parametrize("kind", ["classes", "numbers", "survival"])
def test_weights_of_a_source_are_repeats(kind):
    """Distributions are those of repeated samples; significance is not repeated."""
    X, y = _outcomes("numbers" if kind == "classes" else kind, n=80)
    if kind == "classes":
        y = (y > 0).astype(int)
    w = np.random.default_rng(3).integers(0, 4, 80)
    rows = np.repeat(np.arange(80), w)
    weighted = SimulatedSource.from_table(read_table(X, y, sample_weight=w))
    repeated = SimulatedSource.from_table(read_table(X[rows], y[rows]))
    np.testing.assert_array_equal(weighted.pooled, repeated.pooled)
    np.testing.assert_allclose(weighted.mixing, repeated.mixing, atol=1e-12)
    assert weighted.shrinkage == pytest.approx(repeated.shrinkage, abs=1e-12)
    for one, other in zip(weighted.by_class, repeated.by_class, strict=True):
        np.testing.assert_array_equal(one, other)
    if kind != "classes":
        np.testing.assert_allclose(weighted.scores[rows], repeated.scores, atol=1e-12)
    assert weighted.n_relevant <= repeated.n_relevant
    labels = weighted(2 * len(rows), random_state=0)[1]
    if kind == "classes":
        share = np.average(y, weights=w)
        assert np.mean(labels) == pytest.approx(share, abs=0.01)
    # Weights that are no whole numbers are repeats up to the width of a step.
    near = SimulatedSource.from_table(read_table(X, y, sample_weight=w * 0.7001))
    np.testing.assert_allclose(
        np.quantile(near.pooled, [0.2, 0.5, 0.8], axis=0),
        np.quantile(repeated.pooled, [0.2, 0.5, 0.8], axis=0),
        atol=0.25,
    )
