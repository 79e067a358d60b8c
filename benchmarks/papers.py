"""Write the results of the five papers into the pages of ``docs/papers``.

    veridical study run --all --scale paper --jobs 2 --out papers
    python -m benchmarks.papers .
    python -m benchmarks.measured

The first command runs the studies, and can be stopped and resumed. The second one reads
their stores, which it finds by name in the folder that it is given (``lufe.sqlite`` and
so on; a study without a store keeps its results), writes the findings and tables into
``benchmarks/papers.json``, with date, commit, seed and time, and from there into the
blocks of the pages. Without a folder it writes the blocks only. ``--code`` names the
commit that computed the cells, if it is not the one that is checked out. Data sets are
needed as for the run: a store does not count cells whose data are not found.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import store
from benchmarks.measure import ROOT, commit
from benchmarks.results_page import table
from veridical.experiments import SCALES, PaperStudy, Plan, Store, StudyReport
from veridical.papers import NOT_OF_A_PAPER, find_study, names

FILE = ROOT / "benchmarks" / "papers.json"
PAGES = ROOT / "docs" / "papers"
SUMMARY = PAGES / "where-they-hold.md"
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
OUTCOMES = ("reproduced", "not reproduced", "open")
#: Tables that a page shows, by how their titles begin; the report has all.
SHOWN = {
    "in-vs-out": ("Table 3",),
    "accuracy-estimation": ("Table 1: the true accuracies",),
    "lufe": ("Table 1", "Gene expression", "Chosen parameters"),
    "differential-prioritization": ("Predictor sets",),
    "bias-corrected-bayes": ("Calibration with 1000", "The simulation", "Time", "The"),
}
FINDINGS = ("finding", "outcome", "published", "here", "reproduced where")

#: Results of a study, as they are stored.
Found = dict[str, Any]


def studies() -> list[str]:
    """Return the names of the studies that repeat a paper."""
    return [name for name in names() if name in SHOWN and name not in NOT_OF_A_PAPER]


# -- from a store to the file ----------------------------------------------------------


def read_store(study: PaperStudy, path: Path, code: str) -> Found | None:
    """Return what a page shows of the last run; None where nothing is finished.

    Parameters
    ----------
    study : PaperStudy
        The study.
    path : Path
        Its store; a run may be writing to it.
    code : str
        The commit that computed the cells.
    """
    report = study.report(path)
    if report is None:
        return None
    with Store(path) as opened:
        runs = [json.loads(text) for text in opened.runs()]
        runs = [run for run in runs if run.get("study") == study.name]
        spec = study.spec.model_validate(runs[-1]["spec"])
        plan = Plan(study, spec, opened.keys())
        rows = list(opened.rows())
        planned = plan.keys.contain([row.key for row in rows])
        rows = [row for row, mine in zip(rows, planned, strict=True) if mine]
    scales = [scale for scale in SCALES if study.plan(scale, spec.seed) == spec]
    return {
        "paper": report.paper,
        "scale": scales[0] if scales else None,
        "seed": spec.seed,
        "code": code,
        "finished": _date(max(row.finished for row in rows)),
        "runs": sum(run["spec"] == runs[-1]["spec"] for run in runs),
        "cells": plan.counts.as_dict(),
        "seconds": round(sum(row.seconds for row in rows), 1),
        "cells sha256": report.settings["cells sha256"],
        **_written(report),
    }


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _written(report: StudyReport) -> Found:
    """Return findings, tables and notes as plain values."""
    return {
        "conclusion": report.conclusion.sentence,
        "checks": [asdict(check) for check in report.checks],
        "tables": [
            asdict(one)
            for one in report.tables
            if one.title.startswith(SHOWN.get(report.study, ""))
        ],
        "notes": list(report.notes),
    }


# -- from the file to the pages --------------------------------------------------------


def results(name: str, found: Found) -> str:
    """Write the block of a page: how it was computed, all findings, and tables."""
    checks = [
        (one["statement"], _marked(one["outcome"]), *_figures(one), one["rule"])
        for one in found["checks"]
    ]
    parts = [f"{_origin(name, found)} {found['conclusion']}", table(FINDINGS, checks)]
    for one in found["tables"]:
        parts += [f"**{one['title']}**", table(one["header"], one["rows"])]
        parts += one["notes"]
    return "\n\n".join(part.rstrip("\n") for part in parts)


def _origin(name: str, found: Found) -> str:
    cells = found["cells"]
    done, when = f"{cells['ok']:,}", "finished on"
    if cells["ok"] < cells["planned"]:
        done, when = f"{done} of {cells['planned']:,}", "the last on"
    again = f", in {found['runs']} runs" if found["runs"] > 1 else ""
    how = f"--scale {found['scale']} --seed {found['seed']}"
    command = f"{name} {how if found['scale'] else '--spec SPEC.toml'}"
    done = done.replace(",", " ")
    return (
        f"Computed by `veridical study run {command}`: {done} cells, {when} "
        f"{found['finished']}{again} (code {found['code']}). Times of all cells, by "
        f"the clock, each on one thread, add up to {_duration(found['seconds'])}."
    )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return (
        f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} h"
    )


def _marked(outcome: str) -> str:
    return outcome if outcome == "reproduced" else f"**{outcome}**"


def _figures(check: Mapping[str, str]) -> tuple[str, str]:
    return check["published"], check["ours"]


def summary(stored: Mapping[str, Found]) -> str:
    """Write the block of the page of all papers: counts, and what did not hold."""
    counts, rest = [], []
    for name, found in stored.items():
        link, outcomes = f"[{name}]({name}.md)", Counter()
        for check in found["checks"]:
            outcomes[check["outcome"]] += 1
            if check["outcome"] != "reproduced":
                said = (check["statement"], *_figures(check), check["rule"])
                rest.append((link, _marked(check["outcome"]), *said))
        numbers = [outcomes[outcome] for outcome in OUTCOMES]
        numbers += [found["cells"]["ok"], _duration(found["seconds"])]
        origin = found["seed"], found["finished"], found["code"]
        counts.append((link, *map(str, (*numbers, *origin))))
    rest.sort(key=lambda row: row[1])
    heads = ("study", *OUTCOMES, "cells", "time of all cells", "seed", "date", "code")
    missing = [name for name in studies() if name not in stored]
    parts = [
        table(heads, counts),
        *([f"Not computed yet: {', '.join(missing)}."] if missing else []),
        "The findings that were not reproduced, or are open. A finding is open where "
        "the interval contains the bound of its rule, or there are too few runs or no "
        "data to decide.",
        table(("study", "outcome", "finding", *FINDINGS[2:]), rest),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts)


def blocks(stored: Mapping[str, Found]) -> Iterator[tuple[Path, str]]:
    """Return the pages, with what stands between their two comments."""
    for name, found in stored.items():
        yield PAGES / f"{name}.md", results(name, found)
    yield SUMMARY, summary(stored)


def load() -> dict[str, Found]:
    """Read the stored results, in the order of the studies."""
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return {name: stored[name] for name in studies() if name in stored}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers")
    parser.add_argument("folder", nargs="?", type=Path, help="with the stores")
    parser.add_argument("--code", help="the commit that computed the cells")
    options = parser.parse_args(arguments)
    stored = load()
    if options.folder is not None:
        paths = {name: options.folder / f"{name}.sqlite" for name in studies()}
        present = {name: path for name, path in paths.items() if path.is_file()}
        if not present:
            expected = ", ".join(path.name for path in paths.values())
            parser.error(f"{options.folder} has none of {expected}")
        for name, path in present.items():
            found = read_store(find_study(name), path, options.code or commit())
            if found is not None:
                stored[name] = found
                print(f"{name}: {found['cells']['ok']} cells. {found['conclusion']}")
        stored = {name: stored[name] for name in studies() if name in stored}
        store.write(FILE, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    for page, text in blocks(stored):
        store.write_between(page, BEGIN, END, text)


if __name__ == "__main__":
    main()
