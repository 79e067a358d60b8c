"""Methods by name, and from whatever is passed as ``cv=``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

from sklearn.model_selection import check_cv

from veridical._core.advice import advise
from veridical._core.errors import InputError
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    PurgedKFold,
    RandomSubsampling,
    Resubstitution,
    Splitter,
)
from veridical._core.targets import Kind
from veridical._core.text import did_you_mean, quote
from veridical.evaluation.bootstrap import Bootstrap632

#: Names of methods, with what each does; the numbers in them may be any.
METHODS = {
    "10": "stratified cross-validation, 10 folds",
    "10x5": "10 times stratified cross-validation with 5 folds",
    "plain-10": "cross-validation with 10 folds at random",
    "purged-10-2": "10 folds in time order; training leaves out 2 samples on either "
    "side of a fold (purged-10-2-5: 5 more after it)",
    "loo": "leave-one-out",
    "leave5": "leave 5 samples out at a time",
    "complete2": "every way to leave 2 samples out",
    "holdout": "test on a third of the samples, once",
    "subsampling20": "the mean of 20 holdouts",
    "boot632": ".632 bootstrap, 50 bootstrap samples (boot632-100: 100)",
    "boot632+": ".632+ bootstrap, 50 bootstrap samples (boot632+-100: 100)",
    "resubstitution": "test on the training samples",
}

_PATTERNS: list[tuple[str, Callable[[re.Match[str]], Method]]] = [
    (r"resubstitution", lambda m: Resubstitution()),
    (r"holdout", lambda m: Holdout()),
    (r"subsampling(\d+)", lambda m: RandomSubsampling(int(m[1]))),
    (
        r"(plain-)?(?:(\d+)x)?(\d+)",
        lambda m: CrossValidation(int(m[3]), m[1] is None, int(m[2] or 1)),
    ),
    (
        r"purged-(\d+)(?:-(\d+))?(?:-(\d+))?",
        lambda m: PurgedKFold(int(m[1]), int(m[2] or 0), int(m[3] or 0)),
    ),
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
        As in `METHODS`: a number of folds, "10x5" for ten repeats of five folds, or
        the name of another method.

    Examples
    --------
    >>> from veridical.evaluation.naming import make_method
    >>> make_method("10x5")
    CrossValidation(n_folds=5, stratified=True, n_repeats=10)
    >>> make_method("boot632+")
    Bootstrap632(n_samples=50, plus=True)
    """
    for pattern, make in _PATTERNS:
        match = re.fullmatch(pattern, name.strip().lower())
        if match:
            try:
                return make(match)
            except InputError as error:
                raise InputError(f"Method {name!r} is not possible: {error}") from error
    raise InputError(
        f"There is no method {name!r}{did_you_mean(name, METHODS)} Use a number of "
        f"folds, or one of {', '.join(METHODS)}; other numbers are possible in "
        "each name."
    )


def read_cv(cv: Any, n_samples: int | None = None, kind: Kind = "classes") -> Method:
    """Turn ``cv=`` into a method, in every verb alike.

    Parameters
    ----------
    cv : int, str, method, scikit-learn splitter or iterable of (train, test)
        What the user passed; a number, or a text such as "10" or "10x5", means folds
        that are stratified by class or by event, and shuffled for numbers.
    n_samples : int, optional
        Number of samples to split, where known: more folds are an error.
    kind : {"classes", "numbers", "survival"}, default="classes"
        Kind of the target.

    Raises
    ------
    InputError
        If it is no way to split, or there are too few samples for the folds.

    Examples
    --------
    >>> read_cv(10)
    CrossValidation(n_folds=10, stratified=True, n_repeats=1)
    """
    if isinstance(cv, type):
        raise InputError(
            f"cv is the class {cv.__name__}; pass an instance, {cv.__name__}(...)."
        )
    if isinstance(cv, str) and cv.strip().isdecimal():
        cv = int(cv)
    if isinstance(cv, str):
        method = make_method(cv)
    elif isinstance(cv, Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(_impossible_folds(int(cv), n_samples))
        method = CrossValidation(int(cv))
    else:
        method = cv if isinstance(cv, Method) else _as_splitter(cv)
    asked = isinstance(cv, (str, Integral))
    if asked and kind == "numbers" and isinstance(method, CrossValidation):
        method = replace(method, stratified=False)
    if isinstance(method, CrossValidation) and method.n_folds > (n_samples or math.inf):
        raise InputError(_impossible_folds(method.n_folds, n_samples))
    return method


def _as_splitter(cv: Any) -> Splitter:
    if not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError(
            f"cv={cv!r} is not a way to split; pass a number of folds, repeats and "
            "folds such as '5x2', a method of veridical.evaluation such as "
            "Bootstrap632(), a scikit-learn splitter, or a list of (train, test) row "
            "indices."
        )
    return Splitter(check_cv(cv if hasattr(cv, "split") else _read_splits(cv)))


def _read_splits(cv: Iterable[Any]) -> list[tuple[Any, Any]]:
    pairs = []
    for i, one in enumerate(cv):
        try:
            train, test = one
        except (TypeError, ValueError):
            raise InputError(
                f"cv[{i}] is {quote(one)}, not a pair (train, test); pass a list of "
                "pairs of row indices, such as list(splitter.split(X, y))."
            ) from None
        pairs.append((train, test))
    return pairs


def _impossible_folds(n_folds: int, n_samples: int | None) -> str:
    if n_samples is None:
        return f"cv={n_folds} folds are not possible; use 2 or more."
    loo = advise("LeaveOut(1)", "loo")
    wanted = f"2 to {n_samples} folds, of which {n_samples} are leave-one-out: {loo}"
    if n_samples <= 2:
        wanted = f"2 folds, which are leave-one-out: {loo}"
    return (
        f"cv={n_folds} folds are not possible with {n_samples} samples; use {wanted}."
    )
