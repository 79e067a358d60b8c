"""Write the measured tables into ``docs/leakbench.md``."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks import store
from benchmarks.leakbench.parts import MISTAKES, count_covered
from veridical.leakbench import MECHANISMS
from veridical.leakbench.rates import (
    DESIGN,
    DETECTION,
    EFFECT,
    Rate,
    count_alarms,
    count_causes,
    count_detections,
    tabulate_causes,
)

#: Number of tables of each kind that rates need.
AIM = 200
#: Number of tables of each kind that counts of other packages need.
FAIR = 20
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"


def write_page(page: Path, folder: Path) -> None:
    """Replace what stands between the two comments by new tables.

    Parameters
    ----------
    page : Path
        The page.
    folder : Path
        Folder with ``results.csv`` and, where they were measured, ``parts.csv``
        (intervals of parts), ``permuted.csv`` (permuted arrays) and ``rivals.csv``
        (other packages).
    """
    frame = pd.read_csv(folder / "results.csv", keep_default_na=False)
    sections = _sections(frame)
    for name, write in (
        ("parts", _intervals),
        ("permuted", _permuted),
        ("rivals", lambda others: _rivals(frame, others)),
    ):
        measured = folder / f"{name}.csv"
        if measured.exists():
            sections += write(pd.read_csv(measured, keep_default_na=False))
    made = "\n\n".join(sections)
    store.write_between(page, BEGIN, END, f"\n{made}\n")


def _sections(frame: pd.DataFrame) -> list[str]:
    detections = count_detections(frame)
    by_control, by_code = count_alarms(frame)
    planted, honest = (
        int((frame["kind"] == kind).sum()) for kind in ("mechanism", "control")
    )
    fewest = int(frame.groupby(["name", "dose"]).size().min())
    dates = " to ".join(
        sorted({*frame["date"]})[:: max(1, frame["date"].nunique() - 1)]
    )
    commits = ", ".join(sorted({*frame["commit"]}))
    seeds = ", ".join(str(seed) for seed in sorted({*frame["seed"]}))
    return [
        f"Measured {dates} (commit {commits}) on {planted} tables with a mistake "
        f"and {honest} honest ones, {fewest} or more of each kind: draws 0 to "
        f"{frame['table'].max()} of seed {seeds}, on which no threshold was chosen, "
        f"of {frame['source'].nunique()} sources, with "
        "`python -m benchmarks.leakbench`. Shares have 95 % intervals (Wilson). "
        "*Found*: an error or a warning with a code of the mechanism; *where moved*: "
        "in those tables in which the mistake moved the score by 5 points or more. "
        "*Noted*: a note only." + _too_few(fewest),
        "### Planted mistakes",
        _table(
            "mechanism | dose | points moved | tables | found | found where moved | "
            "noted | codes",
            [_detection(row) for row in detections.to_dict("records")],
        ),
        _below(detections),
        "### Honest work",
        _table(
            "control | tables | false alarms | share",
            [
                (name or "**all**", str(rate.n), str(rate.hits), rate.write(1))
                for name, rate in by_control.items()
            ],
        ),
        _codes(by_code),
        _design(frame),
        "### The score taken apart",
        *_causes(frame),
    ]


def _causes(frame: pd.DataFrame) -> list[str]:
    """Say how often the part in which a mistake belongs is the largest."""
    causes = count_causes(frame)
    table = tabulate_causes(causes)
    whole, moved = (
        Rate(int(causes[hits].sum()), int(causes[n].sum()))
        for hits, n in (("largest", "n"), ("largest_moved", "n_moved"))
    )
    none = sorted({name for name, one in MECHANISMS.items() if not one.cause})
    return [
        "Each mechanism belongs in one part of the decomposition. *Largest*: that part "
        "is larger than all others beside chance and signal. *Points moved* are of "
        "balanced accuracy, against the cure; *points of the part* are of accuracy, as "
        f"the audit sees it. Over all tables the part is the largest in {whole.write()}"
        f", and where the score moved by 5 points or more in {moved.write()}. No part "
        "can be computed for "
        f"{', '.join(none)}: their points are counted as signal; with their tables it "
        f"is {_with_none(frame, moved).write()} where the score moved. Selection, "
        "where only the selected features are left, and steps fitted on all samples "
        "are bounds: all that the score has above chance beside the other parts.",
        _table(" | ".join(table.header), list(table.rows)),
    ]


def _with_none(frame: pd.DataFrame, moved: Rate) -> Rate:
    """Return the same share, of all tables whose score moved by 5 points or more."""
    planted = frame[frame["kind"] == "mechanism"]
    return Rate(moved.hits, int((planted["moved"] >= EFFECT).sum()))


def _design(frame: pd.DataFrame) -> str:
    """Say how many honest tables have warnings that are not counted."""
    honest = frame[frame["kind"] == "control"]
    flagged = honest["flagged"].map(lambda codes: {*codes.split()} & DESIGN)
    seen = sorted(set().union(*flagged))
    said = "; ".join(
        f"{code} {flagged.map(lambda found, one=code: one in found).sum()} of "
        f"{len(honest)}"
        for code in seen
    )
    return (
        f"Not counted are findings about the design ({', '.join(sorted(DESIGN))}), "
        "such as classes of very different size (VD009), which are right about "
        f"honest work too. Tables with such a warning: {said or 'none'}."
    )


#: What an interval of a part should cover.
ESTIMANDS = {
    "chance": "the mean over all permutations",
    "batch": "the mean over all permutations",
    "signal": "the accuracy on new samples above chance (simulated sources)",
    "signal of leaky work": "the mean accuracy of cured work on other tables above "
    "chance (simulated sources)",
    "selection": "the mean over other tables of the same source and estimator",
    "luck": "the value with unlimited runs on the same samples",
}


def _intervals(parts: pd.DataFrame) -> list[str]:
    """Say how often intervals of parts cover."""
    rows = [
        (part, ESTIMANDS.get(part, ESTIMANDS["luck"]), Rate(hits, n).write(), str(n))
        for part, (hits, n) in count_covered(parts).items()
    ]
    return [
        "How often 95 % intervals of parts cover, by `python -m "
        f"benchmarks.leakbench.parts` on draws 0 to {parts['table'].max()} of the same "
        "seed. Intervals of one table are not independent, so that the intervals of "
        "these shares are too narrow. The intervals of choice, of removed samples and "
        "of fitted steps are bounds and have no coverage. Signal of leaky work is that "
        f"of tables with {', '.join(name for name, _ in MISTAKES)} in turn.",
        _table("part | what it should cover | coverage | intervals", rows),
    ]


def _permuted(frame: pd.DataFrame) -> list[str]:
    """Write the table of permuted arrays."""
    rows = []
    for name, part in frame.groupby("name", sort=False):
        codes = sorted({code for one in part["flagged"] for code in one.split()})
        rows.append(
            (
                str(name),
                str(len(part)),
                f"{100 * part['score'].mean():.0f} %",
                str(int(part["found"].sum())),
                str(int((part["conclusion"] == "yes").sum())),
                ", ".join(codes) or "none",
            )
        )
    return [
        "### Permuted real arrays",
        "The same mistakes, made by hand in real arrays whose labels were permuted, so "
        "that nothing can be learned, by `python -m benchmarks.leakbench.permuted`. "
        "*Score* is the mean accuracy that is reported; *all-clear*: the page says "
        "that the accuracy may be reported.",
        _table("mistake | audits | score | found | all-clear | findings", rows),
    ]


def _too_few(fewest: int) -> str:
    """Say that fewer tables were measured than the rates need."""
    if fewest >= AIM:
        return ""
    return (
        f" The aim is {AIM} tables of each kind; with fewer the intervals are wide, "
        "and a share of 100 % does not show that 90 % is reached. The command resumes "
        "where it stopped."
    )


def _table(header: str, rows: list[tuple[str, ...]]) -> str:
    heads = header.split(" | ")
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _detection(row: dict[str, object]) -> tuple[str, ...]:
    n = int(str(row["n"]))
    name = str(row["name"])
    codes = ", ".join(MECHANISMS[name].codes) or "none"
    moved, error = float(str(row["moved"])), float(str(row["error"]))
    found, noted = (Rate(int(str(row[key])), n).write() for key in ("found", "noted"))
    where_moved = Rate(int(str(row["found_moved"])), int(str(row["n_moved"])))
    effect = f"{100 * moved:+.1f} ± {100 * error:.1f}"
    shares = found, where_moved.write(), noted
    return (name, f"{row['dose']:g}", effect, str(n), *shares, codes)


def _below(detections: pd.DataFrame) -> str:
    """List doses that move the score and are found too seldom."""
    moves = detections[detections["moved"] >= EFFECT]
    said = [
        f"**Below 90 %** {where}: {_name_weak(moves, found, n)}."
        for where, found, n in (
            ("of all tables, of the doses that move the score by 5 points or more on "
             "average", "found", "n"),
            ("of those tables in which it moved by 5 points or more", "found_moved",
             "n_moved"),
        )
    ]  # fmt: skip
    return "\n\n".join(said)


def _name_weak(moves: pd.DataFrame, found: str, n: str) -> str:
    weak = moves[moves[found] < DETECTION * moves[n]]
    names = [
        f"{row['name']} at dose {row['dose']:g} ({100 * row[found] / row[n]:.0f} %)"
        for row in weak.to_dict("records")
    ]
    return "; ".join(names) or "none"


def _codes(by_code: dict[str, Rate]) -> str:
    if not by_code:
        return "No check raised a false alarm."
    said = "; ".join(
        f"{code} {rate.hits} of {rate.n}" for code, rate in by_code.items()
    )
    return f"False alarms by check: {said}."


#: How Leakly is used.
LEAKLY = (
    " Leakly repeats the work on 100 permuted labels, which takes long, so that it was "
    "given two tables of each kind. Where the mistake is a step of the work, the step "
    "is repeated too (mistakes that try many settings were left out); where it is in "
    "the data, a logistic regression is repeated on the data as they are."
)


def _rivals(frame: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Put other packages beside the audit, on the tables that they were given."""
    keys = ["seed", "kind", "name", "dose", "source", "table"]
    both = others.rename(columns={"flagged": "warned"}).merge(frame, on=keys)
    if both.empty:  # they were given tables of other draws
        return []
    ours = both.drop_duplicates(keys)
    names = sorted(both["package"].unique())
    rows = []
    for (kind, name, dose), part in both.groupby(["kind", "name", "dose"], sort=True):
        mine = ours[
            (ours["kind"] == kind) & (ours["name"] == name) & (ours["dose"] == dose)
        ]
        if kind == "mechanism":
            hits = int(count_detections(mine)["found"].iloc[0])
        else:
            hits = count_alarms(mine)[0][""].hits
        row = [f"{name} (control)" if kind == "control" else str(name), f"{dose:g}"]
        row += [str(len(mine)), f"{hits}"]
        for one in names:
            warned = part[part["package"] == one]["warned"]
            some = len(warned) if len(warned) < len(mine) else ""
            row.append(
                f"{int(warned.sum())}{some and f' of {some}'}"
                if len(warned)
                else "fails"
                if one not in ("Leakly", "skore")
                else "not run"
            )
        rows.append(tuple(row))
    fewest = int(ours.groupby(["kind", "name", "dose"]).size().min())
    versions = ", ".join(
        f"{one} {both[both['package'] == one]['version'].iloc[0]}" for one in names
    )
    return [
        "### Other packages",
        f"The same tables given to {versions}, each as its documentation says: one "
        "training and one test set (the first fold) or the whole table, with default "
        "settings. Any warning counts, whatever it is about, which favours packages "
        "that warn often; see their warnings on controls. "
        + "With so few tables the counts are examples, not rates. "
        * (fewest < FAIR)
        + "The audit alone was told "
        "the batch, the number of tries and of removed samples, what was fitted on "
        "which samples, and the features from which others were selected: these "
        "packages have no way to take them. Packages that do not take a fitted "
        "procedure cannot see mistakes in it." + LEAKLY * ("Leakly" in names),
        "Over all of these tables (*moved*: the mistake moved the score by 5 points or "
        "more):",
        _table(
            "package | mistakes | mistakes that moved | honest work",
            [_total("audit", ours.assign(warned=_warnings(ours)))]
            + [_total(one, both[both["package"] == one]) for one in names],
        ),
        _table(" | ".join(["mechanism", "dose", "tables", "audit", *names]), rows),
    ]


def _warnings(cells: pd.DataFrame) -> list[int]:
    """Return whether the audit found the mistake, or raised a false alarm."""
    said = []
    for kind, name, codes in zip(
        cells["kind"], cells["name"], cells["flagged"], strict=True
    ):
        found = set(str(codes).split())
        counted = found - DESIGN
        if kind == "mechanism":
            counted = found & set(MECHANISMS[str(name)].codes)
        said.append(int(bool(counted)))
    return said


def _total(package: str, cells: pd.DataFrame) -> tuple[str, ...]:
    """Write in how many tables a package warned."""
    planted = cells[cells["kind"] == "mechanism"]
    parts = (
        planted,
        planted[planted["moved"] >= EFFECT],
        cells[cells["kind"] == "control"],
    )
    rates = [Rate(int(part["warned"].sum()), len(part)) for part in parts]
    return (package, *(f"{rate.write()} of {rate.n}" for rate in rates))
