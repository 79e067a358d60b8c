"""Methods by name, as the command line knows them, and from whatever people pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from sklearn.model_selection import check_cv

from veridical._core.errors import InputError
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    RandomSubsampling,
    Resubstitution,
    Splitter,
)
from veridical._core.text import did_you_mean
from veridical.evaluation.bootstrap import Bootstrap632

#: How a method may be written, and what it means; N and M stand for numbers.
METHODS = {
    "resubstitution": "test on the training cases",
    "holdout": "test on a third of the cases, once",
    "subsamplingN": "the mean of N holdouts",
    "N": "stratified cross-validation, N folds (also cvN)",
    "MxN": "the same, M times: 5x2 is five times two folds",
    "plain-cvN": "cross-validation with folds at random",
    "loo": "leave-one-out",
    "leaveN": "leave N cases out at a time",
    "completeN": "every way to leave N cases out",
    "boot632": ".632 bootstrap, 50 samples (boot632-N: N samples)",
    "boot632+": ".632+ bootstrap, 50 samples (boot632+-N: N samples)",
}

_PATTERNS: list[tuple[str, Callable[[re.Match[str]], Method]]] = [
    (r"resubstitution", lambda m: Resubstitution()),
    (r"holdout", lambda m: Holdout()),
    (r"subsampling(\d+)", lambda m: RandomSubsampling(int(m[1]))),
    (
        r"(?:(\d+)x|(?:cv)?)(\d+)",
        lambda m: CrossValidation(int(m[2]), n_repeats=int(m[1] or 1)),
    ),
    (r"plain-cv(\d+)", lambda m: CrossValidation(int(m[1]), stratified=False)),
    (r"loo", lambda m: LeaveOut(1)),
    (r"leave(\d+)", lambda m: LeaveOut(int(m[1]))),
    (r"complete(\d+)", lambda m: CompleteCV(int(m[1]))),
    (
        r"boot632(\+)?(?:-(\d+))?",
        lambda m: Bootstrap632(int(m[2] or 50), m[1] is not None),
    ),
]


def make_method(name: str) -> Method:
    """Make a method from its name.

    Parameters
    ----------
    name : str
        As in `METHODS`.

    Examples
    --------
    >>> from veridical.evaluation import make_method
    >>> make_method("5x2")
    CrossValidation(n_folds=2, stratified=True, n_repeats=5)
    >>> make_method("boot632+")
    Bootstrap632(n_samples=50, plus=True)
    """
    for pattern, make in _PATTERNS:
        match = re.fullmatch(pattern, name.strip().lower())
        if match:
            try:
                return make(match)
            except InputError as error:
                raise InputError(f"Method {name!r} cannot be: {error}") from error
    near = did_you_mean(name, [m.replace("N", "10").replace("M", "5") for m in METHODS])
    raise InputError(
        f"There is no method {name!r}{near} Use one of {', '.join(METHODS)}, with a "
        "number for N (cv10, say)."
    )


def read_cv(cv: Any) -> Method:
    """Turn ``cv=`` into a method, in every verb alike.

    Parameters
    ----------
    cv : int, str, method, scikit-learn splitter or iterable of (train, test)
        What the user passed; a number is that many stratified folds.

    Examples
    --------
    >>> read_cv(10)
    CrossValidation(n_folds=10, stratified=True, n_repeats=1)
    """
    if isinstance(cv, type):
        raise InputError(
            f"cv is the class {cv.__name__}; pass an instance, {cv.__name__}(...)."
        )
    if isinstance(cv, Method):
        return cv
    if isinstance(cv, str):
        return make_method(cv)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        return CrossValidation(int(cv))
    if not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError(
            f"cv={cv!r} is no way to split; pass a number of folds, repeats and folds "
            "such as '5x2', a method of veridical.evaluation such as Bootstrap632(), a "
            "scikit-learn splitter, or a list of (train, test) row indices."
        )
    return Splitter(check_cv(cv))
