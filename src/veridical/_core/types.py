"""Types of what users pass to the verbs, for editors and type checkers.

scikit-learn ships no types, so a type checker takes its classes for Any; editors read
its source and know more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import sparray, spmatrix
from sklearn.base import BaseEstimator

from veridical._core.scoring import Score
from veridical._core.splits import Method


class SklearnSplitter(Protocol):
    """A splitter with the methods of those in ``sklearn.model_selection``."""

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Any, Any]]:
        """Return the training and test rows of every split."""
        ...

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        ...


#: Features: a list of rows, an array, a data frame or a sparse matrix.
MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
#: Classes of the samples.
LabelsLike: TypeAlias = ArrayLike
#: The group of every sample, or columns of X.
GroupsLike: TypeAlias = ArrayLike | str | Sequence[str] | None
#: The weight of every sample, or a column of X.
WeightsLike: TypeAlias = ArrayLike | str | None
#: A name in ``veridical.learning.ESTIMATORS``, or a scikit-learn classifier.
EstimatorLike: TypeAlias = str | BaseEstimator
#: A name in ``veridical.selection.SELECTORS``, or a selector.
SelectorLike: TypeAlias = str | BaseEstimator
#: Batch of the samples: a column of X, the values, or a ``ComBat``.
BatchLike: TypeAlias = str | int | ArrayLike | BaseEstimator | None
#: Covariates of the samples: columns of X, the values, or a ``Residualize``.
CovariatesLike: TypeAlias = str | int | list[str] | ArrayLike | BaseEstimator | None
#: Folds, a name, a method, a splitter, or pairs of training and test rows.
CVLike: TypeAlias = (
    int | str | Method | SklearnSplitter | Iterable[tuple[ArrayLike, ArrayLike]]
)
#: A score: a name, ``scorer(estimator, X, y)``, or what ``make_score`` returns.
OneScoringLike: TypeAlias = str | Callable[[Any, Any, Any], float] | Score
#: One score or several, of which the first leads; None is accuracy.
ScoringLike: TypeAlias = (
    OneScoringLike | Sequence[OneScoringLike] | Mapping[str, OneScoringLike] | None
)
#: Source of all random numbers; None draws a new seed.
RandomStateLike: TypeAlias = int | np.random.Generator | np.random.RandomState | None
