"""What SVM+ and LUFe refuse, warn of and decide alike."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean

LOSSES = ("hinge", "squared_hinge")
SOLVERS = ("auto", "exact", "descent")

#: An exact answer with a larger gap comes with a warning.
_POOR_GAP = 1e-6


INFEASIBLE = (
    "No weights meet the constraints: without privileged_bias the slacks must be a "
    "linear function of the privileged features (nowhere negative, with the hinge "
    "loss), and that and the features together do not separate the classes. Centred "
    "privileged features allow no slack at all. Use privileged_bias=True, or "
    "privileged features that are not negative (counts, say)."
)


def check_parameters(machine: Any) -> None:
    """Refuse parameters that mean nothing."""
    for name in ("C", "gamma"):
        value = getattr(machine, name)
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name}={value!r} must be a positive number.")
    tol, max_iter = getattr(machine, "tol", 1.0), getattr(machine, "max_iter", 1)
    if not isinstance(tol, Real) or not float(tol) >= 0:
        raise InputError(f"tol={tol!r} must be a number, not negative.")
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise InputError(f"max_iter={max_iter!r} must be a whole number above 0.")
    for name, known in (("loss", LOSSES), ("solver", SOLVERS)):
        value = getattr(machine, name, known[0])
        if value not in known:
            raise InputError(
                f"{name}={value!r} is unknown{did_you_mean(str(value), known)} Use one "
                f"of {', '.join(known)}."
            )


def has_poor_gap(machine: Any) -> bool:
    """Whether an exact answer is not as exact as it should be."""
    return bool(machine.dual_gap_ > _POOR_GAP)


def warn_of_gap(machine: Any) -> None:
    """Say so where rounding has kept the exact solver from the optimum."""
    if has_poor_gap(machine):
        warnings.warn(
            f"The answer may be off: its relative duality gap is "
            f"{machine.dual_gap_:.1g}. Scale the features, or use less extreme C and "
            "gamma.",
            ConvergenceWarning,
            stacklevel=4,
        )


def warn_of_sweeps(machine: Any) -> None:
    """Say so where coordinate descent ran out of sweeps."""
    if machine.dual_gap_ > machine.tol:
        warnings.warn(
            f"Coordinate descent stopped after {machine.n_iter_} sweeps with a "
            f"relative gap of {machine.dual_gap_:.1g}, above tol={machine.tol:g}. "
            "Raise max_iter, scale the features, lower C/gamma, on which the number "
            "of sweeps depends, or use solver='exact'.",
            ConvergenceWarning,
            stacklevel=4,
        )


def choose(classes: NDArray[Any], scores: FloatArray) -> NDArray[Any]:
    """Turn scores into labels; a score of 0 is the second of two classes."""
    if scores.ndim == 1:
        return classes[(scores >= 0).astype(np.intp)]
    return classes[scores.argmax(axis=1)]
