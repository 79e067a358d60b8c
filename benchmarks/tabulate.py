"""Records become rows of words, for the terminal and for the Markdown page alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.aims import Verdict, show_ratio
from benchmarks.definitions import Case, CaseRecord, Contender, Measurement

HEADINGS = ("contender", "seconds", "ratio", "memory", "result")


@dataclass(frozen=True)
class Row:
    """One contender's line of the table."""

    contender: str
    seconds: str
    ratio: str
    memory: str
    result: str

    def cells(self) -> tuple[str, ...]:
        """Return the row, in the order of the headings."""
        return self.contender, self.seconds, self.ratio, self.memory, self.result


def rows(case: Case, record: CaseRecord) -> list[Row]:
    """Return the table of a case."""
    return [
        row(case.contender(measurement.contender), record, measurement)
        for measurement in record.measurements
    ]


def row(contender: Contender, record: CaseRecord, measurement: Measurement) -> Row:
    """Return the row of a contender, with its ratio to the first contender."""
    return Row(
        measurement.contender,
        show_seconds(measurement),
        show_relative(record.measurements[0], measurement),
        show_memory(measurement.peak),
        show_result(contender, measurement),
    )


def show_seconds(measurement: Measurement) -> str:
    """Write the time with three digits, or why there is none."""
    if measurement.status == "over":
        return f"over {measurement.seconds:g}"
    if measurement.seconds is None:
        return {"missing": "not installed", "failed": "failed"}[measurement.status]
    digits = ".3g" if measurement.seconds < 1000 else ".0f"
    shown = format(measurement.seconds, digits)
    if measurement.note.startswith("extrapolated"):
        return f"≈ {shown}"
    return shown


def show_relative(reference: Measurement, measurement: Measurement) -> str:
    """Write the ratio to the reference; none for results that differ."""
    if not measurement.counts or reference.status != "measured":
        return "—"
    assert measurement.seconds is not None
    assert reference.seconds is not None
    ratio = show_ratio(measurement.seconds / reference.seconds)
    return f"> {ratio} ×" if measurement.status == "over" else f"{ratio} ×"


def show_memory(peak: int | None) -> str:
    """Write bytes as MiB."""
    return "—" if peak is None else f"{peak / 2**20:.1f} MiB"


def show_result(contender: Contender, measurement: Measurement) -> str:
    """Write how the result compares, or why there is none."""
    if measurement.status in ("missing", "failed"):
        return measurement.note
    if measurement.agreement is None:
        return "not compared" if contender.differs else "—"
    mark = {True: "agrees: ", False: "DIFFERS: ", None: ""}
    return mark[measurement.agreement.holds] + measurement.agreement.words


def remarks(case: Case, record: CaseRecord) -> list[str]:
    """Return remarks on contenders: other problems, other ways to time."""
    said = []
    for measurement in record.measurements:
        if measurement.seconds is None:
            continue
        parts = [case.contender(measurement.contender).differs, measurement.note]
        if measurement.status == "over":
            parts.pop()  # the table says so
        elif measurement.calls == 1 and not measurement.note:
            parts.append("called once")
        words = "; ".join(part for part in parts if part)
        if words:
            said.append(f"{measurement.contender}: {words}.")
    return said


def verdicts(
    cases: Mapping[str, Case], records: Iterable[CaseRecord]
) -> list[tuple[Case, CaseRecord, Verdict]]:
    """Return the verdict on every aim of every record."""
    return [
        (cases[record.case], record, aim.assess(record))
        for record in records
        for aim in cases[record.case].aims
    ]


def show_verdict(verdict: Verdict) -> str:
    """One word for an aim."""
    word = {True: "reached", False: "not reached", None: "not judged"}
    return word[verdict.reached] + ("" if verdict.firm else ", on a noted figure")
