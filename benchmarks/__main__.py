"""``python -m benchmarks``: measure, show a table as it goes, write the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks import draw, machine, readme_table, results_page, store, tabulate
from benchmarks.cases import CASES, find
from benchmarks.definitions import Case, CaseRecord, Measurement
from benchmarks.measure import run_case
from benchmarks.worker import LIMIT

HERE = Path(__file__).resolve().parent
PAGE, PICTURE = HERE / "RESULTS.md", HERE / "results.svg"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 1 if a result differs from ours."""
    options = _options(arguments)
    console = Console()
    try:
        cases = find(options.cases)
    except ValueError as error:
        print(f"python -m benchmarks: {error}", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            shape = " × ".join(map(str, case.size.values()))
            console.print(
                f"{case.name:30} {shape:12} {case.title}",
                highlight=False,
                soft_wrap=True,
            )
        return 0
    about, load = machine.describe(), machine.load()
    if load > 0.5:
        console.print(
            f"[yellow]The machine is busy (load {load:.1f}, {machine.cores()} cores): "
            "times will be too long and ratios unsteady.[/]"
        )
    everything = not options.cases
    records = {} if everything or options.small else store.load(about)
    try:
        for case in cases:
            record = _run(console, case, options, load)
            records[case.name] = record
            if not options.small:
                store.save(about, records.values())
    except KeyboardInterrupt:
        console.print("[yellow]Stopped; what was measured is kept.[/]")
    in_order = [records[name] for name in CASES if name in records]
    if in_order and not options.small:
        _write(in_order, about)
        console.print(
            f"Wrote {PAGE.name} and {PICTURE.name} in {HERE.name}/, and the README."
        )
    return int(any(_contradicted(record) for record in in_order))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure veridical against other packages, results compared "
        "first; write RESULTS.md and results.svg.",
    )
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="names of cases, or how names begin; all without any. Cases measured "
        "earlier on this machine stay on the page.",
    )
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SECONDS",
        help="stop a contender whose call takes longer (default %(default)g)",
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="small problems, to see that everything works; writes nothing",
    )
    return parser.parse_args(arguments)


def _run(
    console: Console, case: Case, options: argparse.Namespace, load: float
) -> CaseRecord:
    n, p = (case.small if options.small else case.size).values()
    console.rule(f"{case.title}, {n} × {p}", align="left")

    def tell(measurement: Measurement) -> None:
        seconds = tabulate.show_seconds(measurement)
        console.print(f"  {measurement.contender}: {seconds}", style="dim")

    record = run_case(
        case, limit=options.limit, small=options.small, load=load, tell=tell
    )
    table = Table(*tabulate.HEADINGS)
    for row in tabulate.rows(case, record):
        table.add_row(*map(escape, row.cells()))
    console.print(table)
    for remark in tabulate.remarks(case, record):
        console.print(f"  {escape(remark)}", style="dim")
    if options.small:  # the aims are for the real size
        return record
    for _, _, verdict in tabulate.verdicts(CASES, [record]):
        judged = tabulate.show_verdict(verdict)
        console.print(f"  {judged}: {escape(verdict.words)} ({escape(verdict.found)})")
    return record


def _write(records: Sequence[CaseRecord], about: dict[str, str]) -> None:
    drawn = draw.points(CASES, records)
    if drawn:
        draw.draw(drawn, PICTURE)
    picture = PICTURE.name if drawn else None
    store.write(PAGE, results_page.page(CASES, records, about, picture))
    readme_table.update()


def _contradicted(record: CaseRecord) -> bool:
    found = [measurement.agreement for measurement in record.measurements]
    return any(one is not None and one.holds is False for one in found)


if __name__ == "__main__":
    sys.exit(main())
