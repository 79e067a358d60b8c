"""ReliefF asked of some cases only."""

import numpy as np
import pytest

from veridical._records import Labelled
from veridical.criteria import ReliefRelevance
from veridical.kernels.trainsets import TrainSets
from veridical.selection import ReliefF

RNG = np.random.default_rng(40)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 7)) + np.outer(Y, [1, 0.5, 0, 0, 0, 0, 0])
DATA = Labelled(X, np.zeros(7, dtype=bool), Y, 3)
ALL = TrainSets.all_rows(60)


def weights(queries):
    relevance = ReliefRelevance(5, np.atleast_2d(queries))
    return relevance.scores(DATA, ALL, 1)[0]


def test_the_mean_over_single_cases_is_the_score_of_all():
    single = [weights(np.arange(60) == i) for i in range(60)]
    np.testing.assert_allclose(
        np.mean(single, axis=0), weights(np.ones(60)), atol=1e-13
    )


def test_asking_twice_counts_twice():
    twice = weights(np.where(np.arange(60) == 3, 2.0, np.arange(60) == 8))
    one, other = weights(np.arange(60) == 3), weights(np.arange(60) == 8)
    np.testing.assert_allclose(twice, (2 * one + other) / 3, atol=1e-13)


def test_asking_as_many_as_there_are_asks_all():
    everyone = ReliefF(1, n_neighbors=5).fit(X, Y).scores_
    for n in (60, 1000):
        sampled = ReliefF(1, n_neighbors=5, n_samples=n, random_state=0).fit(X, Y)
        np.testing.assert_allclose(sampled.scores_, everyone, atol=1e-14)


def test_a_seed_fixes_the_cases_and_another_changes_them():
    def score(seed):
        return ReliefF(1, n_samples=10, random_state=seed).fit(X, Y).scores_

    np.testing.assert_array_equal(score(1), score(1))
    assert np.abs(score(1) - score(2)).max() > 1e-6


@pytest.mark.parametrize("n_samples", [5, 20])
def test_many_training_sets_draw_as_fit_draws(n_samples):
    folds = [np.flatnonzero(np.arange(60) % 6 != f) for f in range(6)]
    folds.append(RNG.integers(0, 60, 60))
    selector = ReliefF(1, n_samples=n_samples, random_state=7)
    for rows, order in zip(folds, selector.rank_many(X, Y, folds), strict=True):
        assert order.tolist() == selector.fit(X[rows], Y[rows]).order_.tolist()


def test_features_that_matter_only_together():
    table = RNG.random((200, 6))
    y = (table[:, 1] > 0.5) ^ (table[:, 4] > 0.5)
    assert set(ReliefF(2).fit(table, y).order_[:2]) == {1, 4}
