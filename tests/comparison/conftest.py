"""Small selectors and data that the tests of this room share."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.feature_selection import f_classif


class AnovaRanker(BaseEstimator):
    """Ranks by scikit-learn's F statistic; ``worst`` turns the order round."""

    def __init__(self, worst=False):
        self.worst = worst

    def rank_many(self, X, y, train_sets):
        sign = 1 if self.worst else -1
        return [
            np.argsort(sign * f_classif(X[rows], y[rows])[0], kind="stable")
            for rows in train_sets
        ]


class RandomRanker(BaseEstimator):
    """Ranks by chance, from its own seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def rank_many(self, X, y, train_sets):
        rng = np.random.default_rng(self.random_state)
        return [rng.permutation(X.shape[1]) for _ in train_sets]


class FirstColumns:
    """Takes the columns in the order in which it sees them; no scikit-learn here."""

    def rank_many(self, X, y, train_sets):
        return [np.arange(X.shape[1]) for _ in train_sets]


@pytest.fixture(scope="session")
def anova():
    return AnovaRanker()


@pytest.fixture(scope="session")
def worst():
    return AnovaRanker(worst=True)


@pytest.fixture(scope="session")
def chance():
    return RandomRanker()


@pytest.fixture(scope="session")
def first():
    return FirstColumns()


@pytest.fixture(scope="session")
def problem():
    """Three classes, 90 samples, 30 columns of which 6 carry information."""
    return make_classification(
        n_samples=90,
        n_features=30,
        n_informative=6,
        n_redundant=0,
        n_classes=3,
        class_sep=1.5,
        random_state=7,
    )
