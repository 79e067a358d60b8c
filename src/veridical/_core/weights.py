"""Sample weights: the one place that reads and checks them.

Weights are *frequency weights*: a sample of weight 3 counts as three equal samples, a
sample of weight 0 as none.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray
from veridical._core.errors import InputError
from veridical._core.text import listed

# Bits of a weight, relative to the sum of all weights; one less than doubles have, so
# that sums of weights are exact.
_WEIGHT_BITS = 52


def read_weights(
    sample_weight: Any, n_samples: int, name: str = "sample_weight"
) -> FloatArray:
    """Check sample weights: one per sample, finite, none negative, not all 0.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        None is a weight of 1 for every sample.
    n_samples : int
        Number of samples.
    name : str, default="sample_weight"
        What messages call the weights.

    Raises
    ------
    InputError
        If the weights cannot be used.

    Examples
    --------
    >>> read_weights([1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    try:
        weights = np.array(sample_weight, dtype=np.float64)  # never the user's own
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} must be numbers, one for each sample ({error})."
        ) from None
    if weights.shape != (n_samples,):
        raise InputError(
            f"{name} has shape {weights.shape}, but X has {n_samples} samples; "
            "give one weight for each sample."
        )
    _refuse(np.isnan(weights), weights, f"NaN in {name}", "replace it by a number")
    _refuse(
        np.isinf(weights),
        weights,
        f"Infinite values in {name}",
        "replace it by a number",
    )
    _refuse(
        weights < 0,
        weights,
        f"Negative values in {name}",
        "give 0 to leave a sample out",
    )
    if not np.isfinite(weights.sum()):
        raise InputError(
            f"The sum of {name} overflows; divide all weights by the same number."
        )
    if not weights.any():
        raise InputError(
            f"{name} is 0 for every sample; give at least one non-zero weight, "
            f"or leave {name} out."
        )
    return weights


def read_target_weights(sample_weight: Any, target: Any) -> FloatArray:
    """Check the weights of samples with a target; round them.

    They are rounded so that their sums are exact: a feature that is constant within
    each class has a variance of exactly 0 also with weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,) or number
        As the user gave it.
    target : object
        The target of the samples; of classes, two must have a positive weight.

    Raises
    ------
    InputError
        If the weights cannot be used, or leave one class only.
    """
    weights = read_weights(sample_weight, len(target))
    if getattr(target, "classes", None) is not None:
        left = np.unique(target.codes[weights > 0])
        if left.size < 2:
            without = np.delete(target.classes, left)
            raise InputError(
                f"sample_weight is 0 for every sample of class {listed(without)}, "
                "which leaves one class only; give samples of at least two classes a "
                "positive weight."
            )
    elif target.is_constant(weights > 0):
        raise InputError(
            "sample_weight is 0 for so many samples that the target of the others "
            "does not vary; give more samples a positive weight."
        )
    return round_weights(weights)


def round_weights(weights: FloatArray) -> FloatArray:
    """Round weights so that their sums are exact, whatever the order of the terms.

    A weight changes by less than 2⁻⁵² of the sum of all weights. Whole numbers do not
    change (if they sum to less than 2⁵²), and no positive weight becomes 0.

    Examples
    --------
    >>> weights = round_weights(np.array([0.1, 0.2, 0.3, 0.7]))
    >>> bool(weights.sum() == weights[::-1].sum())
    True
    >>> round_weights(np.array([3.0, 0.0, 5.0]))
    array([3., 0., 5.])
    """
    if weights.sum() < 2.0**_WEIGHT_BITS and np.array_equal(weights, np.rint(weights)):
        return weights
    unit = 2.0 ** (np.ceil(np.log2(weights.sum())) - _WEIGHT_BITS)
    return np.where(weights > 0, np.maximum(np.rint(weights / unit), 1.0) * unit, 0.0)


def _refuse(bad: BoolArray, weights: FloatArray, what: str, cure: str) -> None:
    if bad.any():
        i = int(np.argmax(bad))
        raise InputError(f"{what}: {weights[i]:g} in row {i}, counted from 0; {cure}.")
