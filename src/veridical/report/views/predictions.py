"""Confusion matrix, ROC and precision–recall curves, and calibration of a record."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from veridical._core.numbers import number, percent
from veridical._core.records import Curve, Interval
from veridical.evaluation.records import PredictionCurves
from veridical.report.plain import IntervalSummary, fill
from veridical.report.view import (
    Block,
    Column,
    Curves,
    Figure,
    Notes,
    Reliability,
    Section,
    Share,
    table,
)

#: Keys of an interval in a summary.
_KEYS: tuple[Literal["value", "low", "high"], ...] = ("value", "low", "high")


class ProbabilityBin(TypedDict):
    """Samples whose probability lies in an interval, and what was observed."""

    low: float
    high: float
    n: int
    predicted: float | None
    observed: float | None
    n_units: int
    n_effective: float
    interval: IntervalSummary


class CurvesSummary(TypedDict):
    """Predictions beyond one number.

    ``confusion`` counts samples by true class (rows) and predicted class. ``roc`` holds
    true-positive rates at the false-positive rates ``places``, ``precision`` the
    precision at these recalls; both are empty without decision values or probabilities.
    ``slope`` and ``intercept`` are those of the calibration curve on the scale of
    logits, None without probabilities.
    """

    classes: list[str]
    confusion: list[list[float]]
    positive: str | None
    places: list[float]
    roc: list[IntervalSummary]
    precision: list[IntervalSummary]
    bins: list[ProbabilityBin]
    slope: float | None
    intercept: float | None


def summarize_curves(curves: PredictionCurves | None) -> CurvesSummary | None:
    """Write what a record says about its predictions, as plain numbers."""
    if curves is None:
        return None
    bins = [fill(ProbabilityBin, one) for one in curves.bins]
    found: CurvesSummary = fill(CurvesSummary, curves, bins=bins)
    return found


def prediction_section(s: CurvesSummary | None, about: str = "") -> list[Section]:
    """Show the predictions in a section of a page; nothing where there are none."""
    if s is None:
        return []
    blocks: list[Block] = [_confusion(s, about)]
    if s["roc"]:
        blocks += [_roc(s), _precision(s)]
    if s["bins"]:
        blocks += [_reliability(s), Notes((_calibration(s),))]
    return [Section("The predictions", tuple(blocks))]


def _confusion(s: CurvesSummary, about: str) -> Block:
    rows = []
    for name, row in zip(s["classes"], s["confusion"], strict=True):
        total = sum(row)
        cells = (
            f"{one:g} ({percent(one / total)})" if total else f"{one:g}" for one in row
        )
        rows.append((name, *cells))
    heads: list[str | Column] = ["True class!"]
    heads += [Column(f"predicted {name}", number=True) for name in s["classes"]]
    caption = "Confusion matrix: predictions by true and by predicted class, and the "
    return table(f"{caption}share of the true class{about}", heads, rows)


def _drawn(
    s: CurvesSummary, values: list[IntervalSummary], title: str, axis: str, unit: str
) -> Figure:
    has_band = any(one["low"] != one["high"] for one in values)
    if has_band:  # of one test set there is none
        title += ", mean of the folds with a 95 % band"
    named = tuple(f"{place:g}" for place in s["places"])
    points = tuple(Interval(*(one[k] or 0.0 for k in _KEYS)) for one in values)
    picture = Curves(
        "",
        title,
        unit,
        ((axis, named),),
        (Curve(f"class {s['positive']}", tuple(range(len(points))), points),),
        ribbon=True,
    )
    return Figure.from_curves(picture.described())


def _roc(s: CurvesSummary) -> Figure:
    return _drawn(
        s, s["roc"], "ROC curve", "false-positive rate", "true-positive rate",
    )  # fmt: skip


def _precision(s: CurvesSummary) -> Figure:
    return _drawn(
        s, s["precision"], "Precision and recall", "recall", "precision",
    )  # fmt: skip


def _reliability(s: CurvesSummary) -> Figure:
    said = [
        f"{number(b['low'], 1)} to {number(b['high'], 1)}: predicted "
        f"{percent(b['predicted'])}, observed {percent(b['observed'])} of {b['n']}"
        for b in s["bins"]
        if b["n"]
    ]
    shares = tuple(
        Share(
            b["low"], b["high"], b["n"], b["predicted"], b["observed"],
            b["interval"]["low"], b["interval"]["high"],
        )
        for b in s["bins"]
    )  # fmt: skip
    picture = Reliability(
        f"Calibration. {'; '.join(said)}.", (("predictions", shares),)
    )
    units = (
        "groups, or samples that have weights or several predictions,"
        if any(b["n_units"] for b in s["bins"])
        else "samples"
    )
    caption = (
        "Calibration curve. Horizontal: predicted probability of class "
        f"{s['positive']}, in tenths. Vertical: share of the samples in each tenth "
        f"that are of this class, with its 95 % interval (Wilson, as if {units} were "
        "independent). On the dashed line probabilities are correct."
    )
    return Figure.from_picture(picture, caption, key=(("predictions", "a"),))


def _calibration(s: CurvesSummary) -> str:
    slope, intercept = (
        "not defined" if one is None else number(one, 2)
        for one in (s["slope"], s["intercept"])
    )
    return (
        f"Calibration slope {slope}: 1 is right, below 1 probabilities are too "
        f"extreme. Calibration intercept {intercept}: 0 is right, below 0 "
        f"probabilities of class {s['positive']} are too high on average. Both are on "
        "the scale of logits, from the test samples of all folds."
    )
