"""All uses of private names of scikit-learn.

No other module imports or reads one. The behaviour that we rely on is stated by a test
in ``tests/core/test_sklearn_private.py``, so that a
new version that changes one fails there, by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import SelectFromModel
from sklearn.feature_selection._base import _get_feature_importances
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import _check_partial_fit_first_call

from veridical._core.arrays import FloatArray


def take(X: Any, indices: Any, *, axis: int = 0) -> Any:
    """Take rows, or columns where axis is 1, of any container of samples.

    Parameters
    ----------
    X : array, sparse matrix, data frame or list
        Of any library that scikit-learn accepts.
    indices : int or bool array, list or slice
        Which rows or columns.
    axis : int, default=0
        1 for columns.
    """
    if type(X) is np.ndarray and isinstance(indices, np.ndarray):
        # The same; to find out what X is takes longer than to index a small array.
        return X[:, indices] if axis == 1 else X[indices]
    return _safe_indexing(X, indices, axis=axis)


def is_first_batch(estimator: Any, classes: Any) -> bool:
    """Check the classes given to ``partial_fit``, and whether it is the first call.

    The first call sets ``estimator.classes_``.
    """
    return bool(_check_partial_fit_first_call(estimator, classes))


def is_search(estimator: Any) -> bool:
    """Return whether an estimator tunes parameters by cross-validation."""
    return isinstance(estimator, BaseSearchCV)


def importances_of(selector: SelectFromModel) -> FloatArray:
    """Return the importances by which a fitted SelectFromModel selects."""
    return np.asarray(
        _get_feature_importances(
            selector.estimator_,
            selector.importance_getter,
            "norm",
            selector.norm_order,
        )
    )


# -- what transformers return --------------------------------------------------------


def output_kind(estimator: Any) -> str:
    """Return the output format of ``transform``: "default", "pandas" or "polars"."""
    return str(_get_output_config("transform", estimator=estimator)["dense"])


def is_watched(estimator: Any) -> bool:
    """Return whether a fit is running that callbacks observe."""
    return hasattr(estimator, "_callback_fit_ctx") and hasattr(
        estimator, "_skl_callbacks"
    )


# -- scorers -------------------------------------------------------------------------


class ScorerParts(NamedTuple):
    """The arguments of ``make_scorer`` that made a scorer."""

    function: Callable[..., Any] | None
    options: dict[str, Any]
    response_method: Any
    greater_is_better: bool


def parts_of(scorer: Any) -> ScorerParts:
    """Return the parts of a scorer; defaults for a plain callable."""
    return ScorerParts(
        getattr(scorer, "_score_func", None),
        getattr(scorer, "_kwargs", {}),
        getattr(scorer, "_response_method", "predict"),
        getattr(scorer, "_sign", 1) > 0,
    )
