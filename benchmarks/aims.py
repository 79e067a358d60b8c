"""The aims, as ratios, and whether the measurements reach them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from benchmarks.definitions import CaseRecord, Measurement


@dataclass(frozen=True)
class Verdict:
    """An aim compared with the measurements; ``reached`` is None if unknown.

    ``firm`` is False where one of the two times was not measured here.
    """

    words: str
    reached: bool | None
    found: str
    firm: bool = True


class Aim(Protocol):
    """Something that can be compared with the measurements of a case."""

    def assess(self, record: CaseRecord) -> Verdict:
        """Say whether the aim is reached."""
        ...


@dataclass(frozen=True)
class Faster:
    """`contender` is at least `times` as fast as `than`.

    Parameters
    ----------
    contender, than : str
        Names of contenders.
    times : float
        The ratio wanted of the time of `than` to that of `contender`; below 1 it says
        how much slower is still good enough.
    recorded : float, optional
        Seconds `than` took on another two-core machine; used, and said so, where it
        cannot be measured here.
    """

    contender: str
    than: str
    times: float
    recorded: float | None = None

    @property
    def words(self) -> str:
        """The aim as a sentence."""
        if self.times >= 1:
            return f"{self.contender}: at least {self.times:g} × as fast as {self.than}"
        return f"{self.contender}: at most {1 / self.times:g} × the time of {self.than}"

    def assess(self, record: CaseRecord) -> Verdict:
        """Compare the two times; a time over the limit gives a bound."""
        ours, theirs = record.find(self.contender), record.find(self.than)
        if ours is None or ours.status != "measured" or not ours.counts:
            return Verdict(self.words, None, f"{self.contender}: {_why_not(ours)}")
        assert ours.seconds is not None
        if theirs is None or theirs.status in ("missing", "failed"):
            return self._assess_recorded(ours.seconds, _why_not(theirs))
        if not theirs.counts:
            return Verdict(self.words, None, f"{self.than}: {_why_not(theirs)}")
        assert theirs.seconds is not None
        ratio = theirs.seconds / ours.seconds
        if theirs.status == "over":
            # The true ratio is larger: enough to say yes, never to say no.
            reached = True if ratio >= self.times else None
            return Verdict(self.words, reached, f"more than {self._show(ratio)}")
        return Verdict(self.words, ratio >= self.times, self._show(ratio))

    def _assess_recorded(self, seconds: float, why_not: str) -> Verdict:
        if self.recorded is None:
            return Verdict(self.words, None, f"{self.than}: {why_not}")
        ratio = self.recorded / seconds
        found = (
            f"{self._show(ratio)} if {self.than} takes {self.recorded:g} s, as noted "
            f"on another two-core machine; here: {why_not}"
        )
        return Verdict(self.words, ratio >= self.times, found, firm=False)

    def _show(self, ratio: float) -> str:
        if self.times >= 1:
            return f"{show_ratio(ratio)} × as fast"
        return f"{show_ratio(1 / ratio)} × the time"


@dataclass(frozen=True)
class Lean:
    """X and what `contender` needs beside it stay under `times` the size of X.

    A matrix of n × n numbers comes on top.
    """

    contender: str
    times: float = 3.0

    @property
    def words(self) -> str:
        """The aim as a sentence."""
        return f"{self.contender}: memory under {self.times:g} × X (and n × n)"

    def assess(self, record: CaseRecord) -> Verdict:
        """Compare the growth of memory with the size of X."""
        ours = record.find(self.contender)
        if ours is None or ours.status != "measured" or ours.peak is None:
            return Verdict(self.words, None, f"{self.contender}: {_why_not(ours)}")
        allowed = (self.times - 1) * ours.data_bytes + 8 * ours.n_samples**2
        total = 1 + ours.peak / ours.data_bytes
        return Verdict(self.words, ours.peak <= allowed, f"{total:.2f} × X")


def show_ratio(ratio: float) -> str:
    """Write a ratio with three significant digits."""
    if ratio >= 100:
        return f"{ratio:.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def _why_not(measurement: Measurement | None) -> str:
    if measurement is None:
        return "not run"
    if measurement.agreement is not None and measurement.agreement.holds is False:
        return "its result differs"
    return measurement.note or measurement.status
