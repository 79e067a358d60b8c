"""Write the measured tables into ``docs/leakbench.md``."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from veridical.leakbench import MECHANISMS
from veridical.leakbench.rates import (
    DETECTION,
    EFFECT,
    Rate,
    count_alarms,
    count_detections,
)

#: Number of tables of each kind that rates need.
AIM = 200
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"


def write_page(page: Path, folder: Path) -> None:
    """Replace what stands between the two comments by new tables.

    Parameters
    ----------
    page : Path
        The page.
    folder : Path
        Folder with ``results.csv`` and, where other packages were scored,
        ``rivals.csv``.
    """
    frame = pd.read_csv(folder / "results.csv", keep_default_na=False)
    rivals = folder / "rivals.csv"
    others = pd.read_csv(rivals, keep_default_na=False) if rivals.exists() else None
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made = "\n\n".join(_sections(frame, others))
    page.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")


def _sections(frame: pd.DataFrame, others: pd.DataFrame | None) -> list[str]:
    detections = count_detections(frame)
    by_control, by_code = count_alarms(frame)
    planted, honest = (
        int((frame["kind"] == kind).sum()) for kind in ("mechanism", "control")
    )
    fewest = int(detections["n"].min())
    dates = " to ".join(
        sorted({*frame["date"]})[:: max(1, frame["date"].nunique() - 1)]
    )
    commits = ", ".join(sorted({*frame["commit"]}))
    parts = [
        f"Measured {dates} (commit {commits}) on {planted} tables with a mistake "
        f"and {honest} honest ones, {fewest} or more of each kind, with "
        "`python -m benchmarks.leakbench`. Shares have 95 % intervals (Wilson). "
        "*Found*: an error or a warning with a code of the mechanism. *Noted*: a note "
        "only." + _too_few(fewest),
        "### Planted mistakes",
        _table(
            "mechanism | dose | points moved | tables | found | noted | codes",
            [_detection(row) for row in detections.to_dict("records")],
        ),
        _below(detections),
        "### Honest work",
        _table(
            "control | tables | false alarms | share",
            [
                (name or "**all**", str(rate.n), str(rate.hits), rate.write())
                for name, rate in by_control.items()
            ],
        ),
        _codes(by_code),
    ]
    if others is not None:
        parts += _rivals(frame, others)
    return parts


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
    effect = f"{100 * moved:+.1f} ± {100 * error:.1f}"
    return (name, f"{row['dose']:g}", effect, str(n), found, noted, codes)


def _below(detections: pd.DataFrame) -> str:
    """List doses that move the score and are found too seldom."""
    share = detections["found"] / detections["n"]
    weak = detections[(detections["moved"] >= EFFECT) & (share < DETECTION)]
    if weak.empty:
        return "Every dose that moves the score by 5 points or more is found in 90 %."
    names = "; ".join(
        f"{row['name']} at dose {row['dose']:g} ({100 * row['found'] / row['n']:.0f} %)"
        for row in weak.to_dict("records")
    )
    return (
        "**Below 90 %** although the score moves by 5 points or more on average: "
        f"{names}."
    )


def _codes(by_code: dict[str, Rate]) -> str:
    if not by_code:
        return "No check raised a false alarm."
    said = "; ".join(
        f"{code} {rate.hits} of {rate.n}" for code, rate in by_code.items()
    )
    return f"False alarms by check: {said}."


def _rivals(frame: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Put other packages beside the audit, on the tables that they were given."""
    keys = ["kind", "name", "dose", "source", "table"]
    both = others.rename(columns={"flagged": "warned"}).merge(frame, on=keys)
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
            row.append(str(int(warned.sum())) if len(warned) else "fails")
        rows.append(tuple(row))
    versions = ", ".join(
        f"{one} {both[both['package'] == one]['version'].iloc[0]}" for one in names
    )
    return [
        "### Other packages",
        f"The same tables given to {versions}, each as its documentation says: one "
        "training and one test set (the first fold) or the whole table, with default "
        "settings. Any warning counts, whatever it is about, which favours packages "
        "that warn often; see their warnings on controls. With so few tables "
        "the counts are examples, not rates. The audit alone was told the batch, the "
        "number of tries, what was fitted on which samples, and the features from "
        "which others were selected: these packages have no way to take them. Packages "
        "that do not take a "
        "fitted procedure cannot see mistakes in it.",
        _table(" | ".join(["mechanism", "dose", "tables", "audit", *names]), rows),
    ]
