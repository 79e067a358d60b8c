"""The parts of a benchmark: problem, contender, check, case, measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.aims import Aim


VERIDICAL = "veridical"  # what our own contender is called

# Number of timed calls of every contender: three, and where calls are short, until half
# a second is spent or 25 calls are made, so that other load affects the best of them
# less.
CALLS = 3
ENOUGH = 0.5
MOST = 25


class Missing(Exception):
    """A contender needs something that is not installed; the message says what."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The input of every contender of a case.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    y : int array of shape (n_samples,)
        Classes ``0, 1, ...``.
    n_selected : int
        How many features are wanted.
    folds : tuple of arrays
        Rows of each training set, for cases about many training sets.
    limit : float
        Seconds after which a contender is stopped.
    """

    X: Any
    y: Any
    n_selected: int = 10
    folds: tuple[Any, ...] = ()
    limit: float = 300.0


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a contender, and its time where it measures itself.

    Parameters
    ----------
    order : array, optional
        Features best first, all or the leading ones; a row for each training set where
        there are many. -1 stands where the contender did not look.
    scores : array, optional
        Score of every feature, larger is better.
    seconds : float, optional
        The time, from a contender that measures itself (in another language's
        process, say); it is then called once.
    note : str
        How that time was measured.
    """

    order: Any = None
    scores: Any = None
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Agreement:
    """Do two results agree? ``holds`` is None where they are not meant to be equal."""

    holds: bool | None
    words: str


#: Compares a contender's result with another's: ``check(reference, contender)``.
Check = Callable[[Result, Result], Agreement]


def as_it_is(problem: Problem) -> Any:
    """Return the problem unchanged: the default preparation."""
    return problem


@dataclass(frozen=True)
class Contender:
    """One way to solve the problem of a case.

    Parameters
    ----------
    name : str
        As it stands in the table.
    run : callable
        What is timed: takes what `prepare` returns, gives a `Result`.
    prepare : callable
        Brings the problem into the contender's own form; not timed.
    check : callable, optional
        How its result is compared before its time is reported.
    compared_with : str, optional
        The contender it is compared with; by default the first of the case.
    differs : str
        Where it solves another problem, in words.
    own_processes : bool
        Whether it works in further processes, whose memory the worker cannot see.
    """

    name: str
    run: Callable[[Any], Result]
    prepare: Callable[[Problem], Any] = as_it_is
    check: Check | None = None
    compared_with: str | None = None
    differs: str = ""
    own_processes: bool = False


@dataclass(frozen=True)
class Case:
    """One problem and its contenders; ratios are to the first contender.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        What the report calls it.
    make : callable
        Makes the problem from `size`; seeded, so every process makes the same.
    size, small : mapping of str to int
        Arguments of `make`: the real ones, and those of the warm-up and ``--small``.
    contenders : tuple of Contender
        veridical's own first.
    aims : tuple of Aim
        The ratios we want to reach.
    notes : str
        What a reader must know to judge the figures.
    """

    name: str
    title: str
    make: Callable[..., Problem]
    size: Mapping[str, int]
    small: Mapping[str, int]
    contenders: tuple[Contender, ...]
    aims: tuple[Aim, ...] = ()
    notes: str = ""

    def contender(self, name: str) -> Contender:
        """Find a contender by its name."""
        for contender in self.contenders:
            if contender.name == name:
                return contender
        known = ", ".join(repr(contender.name) for contender in self.contenders)
        raise KeyError(f"{self.name} has no contender {name!r}; it has {known}")

    def problem(self, *, small: bool, limit: float) -> Problem:
        """Make the data, at full or reduced size."""
        made = self.make(**(self.small if small else self.size))
        return Problem(made.X, made.y, made.n_selected, made.folds, limit)


@dataclass(frozen=True)
class Measurement:
    """The measurement of one contender.

    Parameters
    ----------
    contender : str
        Its name.
    status : {"measured", "over", "missing", "failed"}
        Whether it was measured, ran into the limit, is not installed or broke.
    seconds : float, optional
        Best time of a call; the limit itself if it was exceeded.
    calls : int
        How many calls the time is the best of.
    peak : int, optional
        Bytes by which memory grew at most during the calls.
    data_bytes, n_samples : int
        Size of X, to hold the memory against.
    note : str
        The reason of a failure, or how the time was measured.
    agreement : Agreement, optional
        Whether its result is that of the contender it is compared with.
    """

    contender: str
    status: str
    seconds: float | None = None
    calls: int = 0
    peak: int | None = None
    data_bytes: int = 0
    n_samples: int = 0
    note: str = ""
    agreement: Agreement | None = None

    @property
    def counts(self) -> bool:
        """Whether a ratio may be built on this time: measured and not contradicted."""
        differs = self.agreement is not None and self.agreement.holds is False
        return self.seconds is not None and not differs


@dataclass(frozen=True)
class CaseRecord:
    """The measurements of a case, and when and on what code they were made."""

    case: str
    shape: tuple[int, int]
    measured_on: str
    commit: str
    load: float
    measurements: tuple[Measurement, ...] = field(default=())

    def find(self, contender: str) -> Measurement | None:
        """Return the measurement of a contender, if there is one."""
        for measurement in self.measurements:
            if measurement.contender == contender:
                return measurement
        return None


def rows_of(order: Any) -> Any:
    """Return an order as rows, one for each training set."""
    return np.atleast_2d(np.asarray(order))
