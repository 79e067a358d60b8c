"""Honest tables: simulated and real samples in which nothing leaks.

Every draw of a table differs: a simulated table is drawn anew, of a real one some
samples and features are taken at random, in random order. In every second draw of a
real table the labels are permuted, so that nothing can be learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as of_sklearn
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from veridical._core.seeds import mixed_generator
from veridical.datasets import available, load
from veridical.learning import make_estimator

#: Largest number of samples and of features that are taken of a real table.
N_SAMPLES, N_FEATURES = 100, 200
#: Real tables from the folder of data, where it has them.
ARRAYS = ("colon", "golub_amlall3", "lung_filtered", "mll")


@dataclass(frozen=True, eq=False)
class HonestTable:
    """Samples of two classes, and an honest classifier for them.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features as numbers, without missing values.
    y : int array of shape (n_samples,)
        Classes, 0 and 1.
    estimator : classifier
        A classifier or pipeline that learns from training samples only.
    name : str
        Name of the source.
    seed : int
        Seed of this draw.
    """

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    estimator: Any
    name: str
    seed: int

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    def take(self, rows: Any) -> HonestTable:
        """Take some samples, in the order given."""
        return replace(self, X=self.X[rows], y=self.y[rows])

    def by_class(self) -> HonestTable:
        """Sort the samples by class, as tables often are."""
        return self.take(np.argsort(self.y, kind="stable"))

    def with_noisy_copies(
        self, again: NDArray[np.intp], noise: float, rng: np.random.Generator
    ) -> HonestTable:
        """Add copies of samples, with noise in standard deviations; mix all samples."""
        X, spread = self.X[again], self.X.std(axis=0)
        X += noise * spread * rng.normal(size=X.shape)
        order = rng.permutation(self.n + again.size)
        both = np.vstack([self.X, X]), np.r_[self.y, self.y[again]]
        return replace(self, X=both[0][order], y=both[1][order])

    def with_noise_features(self, n_features: int) -> HonestTable:
        """Append features of noise until there are `n_features`."""
        rng = mixed_generator(self.seed, 1)
        more = rng.normal(size=(self.n, max(0, n_features - self.X.shape[1])))
        return replace(self, X=np.hstack([self.X, more]))


def draw_table(source: str, seed: int) -> HonestTable:
    """Draw a table.

    Parameters
    ----------
    source : str
        Name of a simulated or real source, see `HONEST_SOURCES`.
    seed : int
        Number of the draw.

    Examples
    --------
    >>> from veridical.leakbench import draw_table
    >>> table = draw_table("noise", 3)
    >>> table.X.shape, sorted(set(table.y.tolist()))
    ((80, 40), [0, 1])
    """
    rng = mixed_generator(seed, *source.encode())
    X, y = HONEST_SOURCES[source](rng)
    turn = (
        seed // len(HONEST_SOURCES) % len(HONEST_CLASSIFIERS)
    )  # a source has every estimator
    return HonestTable(X, y, HONEST_CLASSIFIERS[turn](), source, seed)


def simulated_sources() -> list[str]:
    """Return the names of the simulated sources."""
    return list(_SIMULATED)


def real_sources() -> list[str]:
    """Return the names of the real sources that are found."""
    found = set(available())
    return [name for name in _REAL if name not in ARRAYS or name in found]


# -- estimators ----------------------------------------------------------------------


def nearest(n_neighbors: int = 1) -> Any:
    """Make a nearest-neighbour classifier on standardised features."""
    return make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors))


def shallow_tree(max_depth: int = 3) -> DecisionTreeClassifier:
    """Make a tree that finds a feature which gives the class away."""
    return DecisionTreeClassifier(max_depth=max_depth, random_state=0)


def target_encoder() -> TargetEncoder:
    """Make a target encoder with a seed, which scikit-learn 1.9 takes as folds."""
    if "deprecated" in str(signature(TargetEncoder).parameters["random_state"].default):
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        return TargetEncoder(target_type="binary", cv=folds)
    return TargetEncoder(target_type="binary", random_state=0)


#: Honest classifiers; the draws of a table take them in turn.
HONEST_CLASSIFIERS: tuple[Callable[[], Any], ...] = (
    GaussianNB,
    lambda: nearest(3),
    lambda: make_estimator("svm"),
)


# -- sources -------------------------------------------------------------------------

Drawn = tuple[NDArray[np.float64], NDArray[np.intp]]


def _classes(rng: np.random.Generator, n: int) -> NDArray[np.intp]:
    return rng.permutation(np.arange(n) % 2).astype(np.intp)


def _noise(rng: np.random.Generator) -> Drawn:
    return rng.normal(size=(80, 40)), _classes(rng, 80)


def _signal(rng: np.random.Generator) -> Drawn:
    X, y = _noise(rng)
    X[:, :5] += 0.6 * y[:, None]
    return X, y


def _correlated(rng: np.random.Generator) -> Drawn:
    """Draw blocks of ten features that share a component."""
    y = _classes(rng, 90)
    common = np.repeat(rng.normal(size=(90, 6)), 10, axis=1)
    X = 0.7 * common + 0.7 * rng.normal(size=(90, 60))
    X[:, :10] += 0.4 * y[:, None]
    return X, y


def _tails(rng: np.random.Generator) -> Drawn:
    y = _classes(rng, 80)
    X = rng.standard_t(3, size=(80, 30))
    X[:, :3] += 0.8 * y[:, None]
    return X, y


def _wide(rng: np.random.Generator) -> Drawn:
    y = _classes(rng, 60)
    X = rng.normal(size=(60, 400))
    X[:, :10] += 0.7 * y[:, None]
    return X, y


_SIMULATED: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "noise": _noise,
    "signal": _signal,
    "correlated": _correlated,
    "heavy-tails": _tails,
    "wide": _wide,
}


def _real(read: Callable[[], tuple[Any, Any]], rng: np.random.Generator) -> Drawn:
    """Take samples of the two largest classes and features of a real table."""
    X, labels = read()
    X = np.asarray(X, dtype=np.float64)
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    two = np.sort(np.argsort(-np.bincount(codes), kind="stable")[:2])
    rows = rng.permutation(np.flatnonzero(np.isin(codes, two)))
    rows = rows[: min(N_SAMPLES, max(40, rows.size * 9 // 10))]
    features = np.flatnonzero(np.ptp(X[rows], axis=0) > 0)
    features = np.sort(rng.permutation(features)[:N_FEATURES])
    y = (codes[rows] == two[1]).astype(np.intp)
    if rng.random() < 0.5:
        y = rng.permutation(y)
    return X[np.ix_(rows, features)], y


def _reader(name: str) -> Callable[[np.random.Generator], Drawn]:
    return lambda rng: _real(lambda: load(name), rng)


def _of_sklearn(name: str) -> Callable[[np.random.Generator], Drawn]:
    read = getattr(of_sklearn, name)
    return lambda rng: _real(lambda: read(return_X_y=True), rng)


_REAL: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "breast-cancer": _of_sklearn("load_breast_cancer"),
    "wine": _of_sklearn("load_wine"),
    "digits": _of_sklearn("load_digits"),
    **{name: _reader(name) for name in ARRAYS},
}

#: Every source of honest tables by its name.
HONEST_SOURCES = {**_SIMULATED, **_REAL}
