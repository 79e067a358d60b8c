"""Rates of detection and of false alarms, with intervals, from cells of the study."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from veridical.evaluation.intervals import wilson
from veridical.experiments import Check, PaperStudy, StudyReport, StudyTable
from veridical.leakbench.mechanisms import MECHANISMS

#: Findings about the design of a study, which may be right on an honest table.
DESIGN = frozenset(("VD004", "VD005", "VD006", "VD008", "VD009", "VD010"))
#: Mean effect from which a dose must be found, and smallest share of tables in which it
#: must be; largest shares of controls with a false alarm of one check, and of any.
EFFECT, DETECTION, ALARMS_OF_ONE, ALARMS_OF_ANY = 0.05, 0.9, 0.01, 0.02
#: Number of tables; with fewer, a rate leaves a statement open.
ENOUGH_TABLES = 50


class Rate(NamedTuple):
    """A share of tables with its 95 % interval (Wilson)."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """The share."""
        return self.hits / self.n if self.n else float("nan")

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval."""
        low, high = wilson(self.share, self.n)
        return max(0.0, float(low)), min(1.0, float(high))

    def write(self, digits: int = 0) -> str:
        """Write the share in per cent, with its interval."""
        if not self.n:
            return "–"
        low, high = self.bounds
        share, least, most = (
            f"{100 * one:.{digits}f}" for one in (self.share, low, high)
        )
        return f"{share} % ({least} to {most})"


def count_detections(frame: pd.DataFrame) -> pd.DataFrame:
    """Count, for each mechanism and dose, how often it was found.

    Parameters
    ----------
    frame : DataFrame
        Cells with kind, name, dose, moved, flagged, noted.

    Returns
    -------
    DataFrame
        Columns name, dose, n, moved (mean), error (its standard error), found, noted,
        cleared (tables without any error or warning of a leak), n_moved and found_moved
        (tables in which the mistake moved the score by 5 points or more).
    """
    rows = []
    planted = frame[frame["kind"] == "mechanism"]
    for (name, dose), part in planted.groupby(["name", "dose"], sort=True):
        wanted = set(MECHANISMS[str(name)].codes)
        flagged = [set(str(codes).split()) for codes in part["flagged"].fillna("")]
        noted = [set(str(codes).split()) for codes in part["noted"].fillna("")]
        found = np.array([bool(codes & wanted) for codes in flagged])
        by_much = part["moved"].to_numpy() >= EFFECT
        rows.append(
            {
                "name": name,
                "dose": dose,
                "n": len(part),
                "moved": part["moved"].mean(),
                "error": part["moved"].std(ddof=1) / np.sqrt(len(part)),
                "found": int(found.sum()),
                "noted": int(
                    sum(
                        bool(codes & wanted) and not hit
                        for codes, hit in zip(noted, found, strict=True)
                    )
                ),
                "cleared": sum(not codes - DESIGN for codes in flagged),
                "n_moved": int(by_much.sum()),
                "found_moved": int(found[by_much].sum()),
            }
        )
    return pd.DataFrame(rows)


def count_causes(frame: pd.DataFrame) -> pd.DataFrame:
    """Count how often the part in which a mistake belongs is the largest.

    Parameters
    ----------
    frame : DataFrame
        Cells with kind, name, dose, moved, largest, part, signal.

    Returns
    -------
    DataFrame
        For each mechanism with a cause and each dose: name, dose, cause, n, largest
        (tables in which it is), n_moved and largest_moved (the same for tables in which
        the score moved by 5 points or more), moved and part (means).
    """
    rows = []
    planted = frame[frame["kind"] == "mechanism"]
    for (name, dose), cells in planted.groupby(["name", "dose"], sort=True):
        cause = MECHANISMS[str(name)].cause
        if not cause:
            continue
        hits = (cells["largest"] == cause).to_numpy()
        by_much = cells["moved"].to_numpy() >= EFFECT
        rows.append(
            {
                "name": name,
                "dose": dose,
                "cause": cause,
                "n": len(cells),
                "largest": int(hits.sum()),
                "n_moved": int(by_much.sum()),
                "largest_moved": int(hits[by_much].sum()),
                "moved": cells["moved"].mean(),
                "part": cells["part"].mean(),
            }
        )
    return pd.DataFrame(rows)


def count_alarms(frame: pd.DataFrame) -> tuple[dict[str, Rate], dict[str, Rate]]:
    """Count false alarms by control (all together under the key "") and by code."""
    honest = frame[frame["kind"] == "control"]
    codes = honest["flagged"].fillna("").map(lambda one: set(str(one).split()) - DESIGN)
    alarmed = codes.map(bool)
    by_control = {"": Rate(int(alarmed.sum()), len(honest))}
    for name, part in alarmed.groupby(honest["name"], sort=True):
        by_control[str(name)] = Rate(int(part.sum()), len(part))
    seen = sorted(set().union(*codes)) if len(codes) else []
    by_code = {
        code: Rate(int(codes.map(lambda one, c=code: c in one).sum()), len(honest))
        for code in seen
    }
    return by_control, by_code


def report(study: PaperStudy, frame: pd.DataFrame) -> StudyReport:
    """Make the report of the study from its cells."""
    done = frame[frame["status"] == "ok"] if "status" in frame else frame
    detections = count_detections(done)
    by_control, by_code = count_alarms(done)
    checks = [
        *_check_detections(detections),
        *_check_alarms(by_control, by_code),
    ]
    tables = (
        tabulate_detections(detections),
        tabulate_alarms(by_control, by_code),
        tabulate_causes(count_causes(done)),
    )
    notes = (
        "Doses that move the score by less than 5 points on average need not be found.",
        "Findings about the design (such as unbalanced classes) are not false alarms.",
    )
    return study.make_report(
        frame.assign(status="ok") if "status" not in frame else frame,
        checks, tables, (), notes,
    )  # fmt: skip


def _check_detections(detections: pd.DataFrame) -> list[Check]:
    """Decide for every dose that moves the score whether it is found."""
    checks = []
    for row in detections.to_dict("records"):
        if row["moved"] < EFFECT:
            continue
        rate = Rate(int(row["found"]), int(row["n"]))
        met = "reproduced" if rate.share >= DETECTION else "not reproduced"
        checks.append(
            Check(
                f"{row['name']} at dose {row['dose']:g} is found",
                "open" if rate.n < ENOUGH_TABLES else met,  # type: ignore[arg-type]
                f"at least {100 * DETECTION:g} % of tables",
                f"{rate.write()}, n = {rate.n}",
                f"share of tables with an error or warning ≥ {100 * DETECTION:g} %",
            )
        )
    return checks


def _check_alarms(by_control: dict[str, Rate], by_code: dict[str, Rate]) -> list[Check]:
    every = by_control[""]
    if not every.n:
        return []
    worst = max(by_code, key=lambda code: by_code[code].hits, default="none")
    one = by_code.get(worst, Rate(0, every.n))
    rule = "share of honest tables with an error or warning of a leak"
    return [
        Check(
            what,
            "open" if rate.n < ENOUGH_TABLES else "reproduced" if rate.share <= most
            else "not reproduced",
            f"at most {100 * most:g} %",
            f"{rate.write()}, n = {rate.n}",
            f"{rule} ≤ {100 * most:g} %",
        )
        for what, rate, most in (
            ("False alarms of all checks together", every, ALARMS_OF_ANY),
            (f"False alarms of the worst check ({worst})", one, ALARMS_OF_ONE),
        )
    ]  # fmt: skip


def tabulate_detections(detections: pd.DataFrame) -> StudyTable:
    """Make the table of detections."""
    rows = tuple(
        (
            str(row["name"]),
            f"{row['dose']:g}",
            f"{100 * row['moved']:+.1f} ± {100 * row['error']:.1f}",
            str(int(row["n"])),
            Rate(int(row["found"]), int(row["n"])).write(),
            Rate(int(row["found_moved"]), int(row["n_moved"])).write(),
            Rate(int(row["noted"]), int(row["n"])).write(),
        )
        for row in detections.to_dict("records")
    )
    header = (
        *("mechanism", "dose", "points moved", "tables", "found"),
        *("found where moved", "noted only"),
    )
    return StudyTable("Detection of planted mistakes", header, rows)


def tabulate_causes(causes: pd.DataFrame) -> StudyTable:
    """Make the table of the decomposition."""
    rows = tuple(
        (
            str(row["name"]),
            f"{row['dose']:g}",
            str(row["cause"]),
            f"{100 * row['moved']:+.1f}",
            f"{100 * row['part']:+.1f}",
            Rate(int(row["largest"]), int(row["n"])).write(),
            Rate(int(row["largest_moved"]), int(row["n_moved"])).write(),
        )
        for row in causes.to_dict("records")
    )
    header = (
        *("mechanism", "dose", "part", "points moved", "points of the part"),
        *("largest", "largest where moved"),
    )
    return StudyTable("The part of a planted mistake", header, rows)


def tabulate_alarms(
    by_control: dict[str, Rate], by_code: dict[str, Rate]
) -> StudyTable:
    """Make the table of false alarms, by control and by code."""
    rows = [
        (name or "all controls", str(rate.n), str(rate.hits), rate.write())
        for name, rate in by_control.items()
    ]
    rows += [
        (f"of {code}", str(rate.n), str(rate.hits), rate.write())
        for code, rate in by_code.items()
    ]
    header = ("control or code", "tables", "false alarms", "share")
    return StudyTable("False alarms on honest work", header, tuple(rows))
