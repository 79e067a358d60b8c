"""Honest work on honest tables: a finding here is a false alarm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.leakbench.honest_tables import HonestTable, target_encoder
from veridical.leakbench.planting import Control, Scenario

Rng = np.random.Generator


def _plain(table: HonestTable, rng: Rng) -> Scenario:
    return Scenario(table.estimator, table.X, table.y)


def _sorted(table: HonestTable, rng: Rng) -> Scenario:
    return _plain(table.by_class(), rng)


def _unbalanced(table: HonestTable, rng: Rng) -> Scenario:
    second = np.flatnonzero(table.y == 1)
    rows = np.r_[np.flatnonzero(table.y == 0), second[: max(8, second.size // 3)]]
    return _plain(table.take(rng.permutation(rows)), rng)


def _tiny(table: HonestTable, rng: Rng) -> Scenario:
    rows = np.concatenate([np.flatnonzero(table.y == k)[:12] for k in (0, 1)])
    return _plain(table.take(rng.permutation(rows)), rng)


def _strong(table: HonestTable, rng: Rng) -> Scenario:
    """Shift a third of the features between the classes."""
    X = table.X.copy()
    shifted = X.shape[1] // 3 + 1
    X[:, :shifted] += 1.2 * X.std(axis=0)[:shifted] * table.y[:, None]
    return _plain(replace(table, X=X), rng)


def _outliers(table: HonestTable, rng: Rng) -> Scenario:
    """Multiply samples by factors that vary, as arrays of different quality do."""
    scale = np.exp(0.5 * rng.normal(size=(table.n, 1)))
    return _plain(replace(table, X=table.X * scale), rng)


def _forest(table: HonestTable, rng: Rng) -> Scenario:
    forest = RandomForestClassifier(8, max_depth=4, random_state=table.seed)
    return Scenario(forest, table.X, table.y)


def _selecting(table: HonestTable, rng: Rng) -> Scenario:
    k = min(10, table.X.shape[1] - 1)
    return Scenario(make_pipeline(SelectKBest(k=k), table.estimator), table.X, table.y)


def _missing(table: HonestTable, rng: Rng) -> Scenario:
    """Remove values at random, and impute inside the folds."""
    X = np.where(rng.random(table.X.shape) < 0.05, np.nan, table.X)
    return Scenario(make_pipeline(SimpleImputer(), table.estimator), X, table.y)


def _rounded(table: HonestTable, rng: Rng) -> Scenario:
    """Round values to two digits, which gives ties."""
    scale = table.X.std(axis=0)
    X = np.round(10 * table.X / np.where(scale > 0, scale, 1)) / 10
    return Scenario(table.estimator, X, table.y)


def _ranks(table: HonestTable, rng: Rng) -> Scenario:
    """Replace the values of each sample by their ranks."""
    return Scenario(table.estimator, stats.rankdata(table.X, axis=1), table.y)


def _encoded_inside(table: HonestTable, rng: Rng) -> Scenario:
    """Encode categories by the class inside the folds."""
    kinds = rng.integers(table.n // 4, size=(table.n, 2)).astype(float)
    X = pd.DataFrame(np.hstack([table.X, kinds]))
    X.columns = X.columns.astype(str)
    coded: list[Any] = list(X.columns[-2:])
    encode = make_column_transformer(
        (target_encoder(), coded),
        remainder=StandardScaler(),
    )
    return Scenario(make_pipeline(encode, table.estimator), X, table.y)


def _ids(table: HonestTable, rng: Rng) -> Scenario:
    """Add the number of the sample, in an order that has nothing to do with it."""
    number = np.arange(table.n)[:, None] + 1.0
    return Scenario(table.estimator, np.hstack([number, table.X]), table.y)


def _batches(table: HonestTable, rng: Rng) -> Scenario:
    """Measure in two batches that are independent of the class, and say so."""
    batch = rng.integers(2, size=table.n)
    X = table.X + 0.5 * table.X.std(axis=0) * batch[:, None]
    return Scenario(table.estimator, X, table.y, known={"batch": batch})


def _threshold(table: HonestTable, rng: Rng) -> Scenario:
    """Use a threshold that was decided before."""
    learner = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
    decided = FixedThresholdClassifier(learner, threshold=0.3 + 0.1 * rng.integers(5))
    return Scenario(decided, table.X, table.y)


def _boosting(table: HonestTable, rng: Rng) -> Scenario:
    """Boost as many trees as were decided before."""
    boosted = AdaBoostClassifier(n_estimators=5, random_state=table.seed)
    return Scenario(boosted, table.X, table.y)


#: Every control by its name.
CONTROLS: dict[str, Control] = {
    one.name: one
    for one in (
        Control("plain", "Cross-validate an honest classifier.", _plain),
        Control("sorted", "The same, with the samples sorted by class.", _sorted),
        Control("unbalanced", "One class has three times fewer samples.", _unbalanced),
        Control("tiny", "Twelve samples of each class.", _tiny),
        Control("strong-signal", "A third of the features differ.", _strong),
        Control("uneven-samples", "Samples differ in scale.", _outliers),
        Control("forest", "A random forest.", _forest),
        Control("selection-inside", "Select inside the folds.", _selecting),
        Control("missing-at-random", "5 % of the values are missing.", _missing),
        Control("rounded", "Values with two digits.", _rounded),
        Control("ranks", "Ranks within each sample.", _ranks),
        Control("encoded-inside", "Target encoding inside the folds.", _encoded_inside),
        Control("sample-number", "The number of the sample is a feature.", _ids),
        Control("fixed-threshold", "A threshold decided before.", _threshold),
        Control("boosting", "As many trees as decided before.", _boosting),
        Control("batches", "Two batches, independent of the class.", _batches),
    )
}
