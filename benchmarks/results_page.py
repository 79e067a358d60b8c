"""The page ``RESULTS.md``: machine, aims, and a table for each case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks import tabulate
from benchmarks.definitions import Case, CaseRecord

INTRODUCTION = """\
# Results of the benchmarks

Written by `make bench`; do not edit.

Every contender runs in a process of its own, one after the other. It is called once on
a small problem of the same kind (imports, compilation), then three times on the real
one, and where calls are short, until half a second is spent or 25 are made; the best
time counts. A contender slower than 20 s a call is called once.
*Ratio* is its time in times of the first row's. *Memory* is how much the process grew
at most beside the data, or — where a contender works in further processes. Results are
compared before a time is believed: one that differs where it should be equal gets no
ratio. Every package may use all cores where it can.
"""


def page(
    cases: Mapping[str, Case],
    records: Sequence[CaseRecord],
    machine: Mapping[str, str],
    picture: str | None = None,
) -> str:
    """Write the page as Markdown.

    Parameters
    ----------
    cases : mapping of name to Case
        What was measured.
    records : sequence of CaseRecord
        In the order of the page.
    machine : mapping of heading to value
        What it was measured on.
    picture : str, optional
        File name of the picture, relative to the page.
    """
    parts = [INTRODUCTION]
    if picture:
        parts.append(f"![Times in times of veridical's]({picture})\n")
    parts += [_machine(machine, records), _aims(cases, records)]
    parts += [_case(cases[record.case], record) for record in records]
    return "\n".join(parts)


def _machine(machine: Mapping[str, str], records: Sequence[CaseRecord]) -> str:
    busiest = max((record.load for record in records), default=0.0)
    rows = [*machine.items(), ("Load when the runs began", f"at most {busiest:.1f}")]
    return "## Machine\n\n" + table(("", ""), rows)


def _aims(cases: Mapping[str, Case], records: Sequence[CaseRecord]) -> str:
    rows = [
        (record.case, verdict.words, verdict.found, tabulate.show_verdict(verdict))
        for _, record, verdict in tabulate.verdicts(cases, records)
    ]
    return "## Aims\n\n" + table(("case", "aim", "found", ""), rows)


def _case(case: Case, record: CaseRecord) -> str:
    n, p = record.shape
    lines = [
        f"## {case.title}",
        "",
        f"`{case.name}`: {n} × {p}, measured on {record.measured_on} "
        f"(code {record.commit}).",
        "",
    ]
    if case.notes:
        lines += [case.notes, ""]
    rows = [row.cells() for row in tabulate.rows(case, record)]
    remarks = [f"- {remark}" for remark in tabulate.remarks(case, record)]
    lines.append(table(tabulate.HEADINGS, rows))
    return "\n".join([*lines, *remarks, ""] if remarks else lines)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; what is in the cells cannot break it."""
    lines = [_line(headings), _line(["---"] * len(headings))]
    lines += [_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    safe = [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]
    return "| " + " | ".join(safe) + " |"
