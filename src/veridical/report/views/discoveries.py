"""Discoveries: which features may be claimed, at what rate, and on what evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from veridical._core.arrays import FloatArray
from veridical._core.numbers import MISSING, count, percent
from veridical._core.records import Curve, Interval, Setting
from veridical._core.text import capitalized
from veridical.discovery.conclusions import (
    exchanges_values,
    say_evidence,
    write_level,
)
from veridical.discovery.likeness import write_rate
from veridical.discovery.records import CLOSE, Discoveries
from veridical.evaluation.arguments import name_of
from veridical.evaluation.conclusions import write_plain
from veridical.report.plain import DataInfo, clean, concluded, fill, finite, to_json
from veridical.report.view import (
    Block,
    Cloud,
    Curves,
    Fact,
    Figure,
    Level,
    Notes,
    Rows,
    Section,
    Spot,
    TableCell,
    TableColumns,
    Text,
    View,
    Warn,
    answer,
    bare_pvalue,
    by_columns,
    confidence,
    data_facts,
    paragraph,
    provenance,
    sized_data,
    view,
)

SCHEMA = "veridical/discoveries/1"
BADGES = {
    "yes": "May be claimed",
    "care": "Claim with care",
    "open": "Nothing to claim",
}
#: More features than this are left to the data frame.
MOST_LISTED = 200
#: Points of the cloud that are neither claimed nor close, at most.
MOST_SPOTS = 600
#: Curves of a picture of stability paths, and rows of the table in a terminal.
MOST_PATHS, MOST_LEADING = 3, 20

CLAIMS = {
    "association": "Association: feature and outcome depend on each other",
    "conditional": "Conditional: feature and outcome depend on each other given all "
    "other features",
    "stable": "Stable: the procedure selects the feature again and again",
}
METHOD_NAMES = {
    "permutation": "permutation of the outcome",
    "dcrt": "the distilled conditional randomization test",
    "knockoffs": "Gaussian knockoffs, e-values averaged over draws",
    "pairs": "complementary pairs of half samples",
    "decoys": "half samples, with permuted copies as decoys",
}
EXCHANGED = "permutation of the values of the feature"
STATISTICS = {
    "dcrt": "partial correlation",
    "knockoffs": "importance minus that of the knockoff",
}


class FeatureEvidence(TypedDict):
    """A feature and its evidence.

    ``qvalue`` is the smallest nominal rate at which the feature is claimed. ``low`` and
    ``high`` are the bounds of the effect, for claimed features where an interval is
    valid.
    """

    index: int
    name: str
    claimed: bool
    frequency: float | None
    statistic: float | None
    pvalue: float | None
    qvalue: float
    effect: float | None
    low: float | None
    high: float | None
    evidence: str


class PathSummary(TypedDict):
    """Share of half samples that select a feature, by number of features selected."""

    name: str
    sizes: list[int]
    shares: list[float]


class MeasuredRateSummary(TypedDict):
    """The rate in simulated designs like the data: median, least and most."""

    nominal: float
    rate: float
    low: float
    high: float
    n_designs: int
    n_sets: int
    design: str
    holds: bool
    near: bool


class DiscoveriesWords(TypedDict):
    """The discoveries in sentences."""

    headline: str
    belief: str
    evidence: str
    tested: str
    not_said: str
    measured: str
    notes: list[str]
    warnings: list[str]


class DiscoveriesSummary(TypedDict):
    """Everything the page of discoveries shows.

    ``features`` are the claimed ones, those that come close, and the next best, up to a
    number; ``claimed``, ``close`` and ``consensus`` are indices of features.
    """

    schema: str
    kind: Literal["discoveries"]
    data: DataInfo
    selector: str
    claim: str
    method: str
    rate: str
    level: float
    claimed: list[int]
    close: list[int]
    consensus: list[int]
    threshold: float | None
    effect_kind: str
    features: list[FeatureEvidence]
    paths: list[PathSummary]
    measured: MeasuredRateSummary | None
    settings: dict[str, Setting]
    words: DiscoveriesWords


@to_json.register
def summarize(record: Discoveries) -> Any:
    """Turn discoveries into plain numbers and strings."""
    names = record.data.feature_names
    leading = record.ranked[: max(MOST_LISTED, record.claimed.size)]
    claimed = set(record.claimed.tolist())
    features = [
        {
            "index": int(j),
            "name": names[j],
            "claimed": int(j) in claimed,
            "frequency": finite(record.frequency[j]),
            "statistic": finite(record.statistic[j]),
            "pvalue": finite(record.pvalue[j]),
            "qvalue": float(record.qvalue[j]),
            "effect": finite(record.effect[j]),
            "low": finite(record.effect_low[j]),
            "high": finite(record.effect_high[j]),
            "evidence": say_evidence(record, int(j)),
        }
        for j in leading
    ]
    paths = [
        {"name": names[one.feature], "sizes": one.sizes, "shares": one.shares}
        for one in record.paths
    ]
    return fill(
        DiscoveriesSummary,
        record,
        schema=SCHEMA,
        kind="discoveries",
        features=features,
        paths=paths,
        threshold=finite(record.threshold),
        words=concluded(
            record,
            evidence=_evidence(record),
            tested=record.tested,
            not_said=record.not_said,
            measured=_measured(record),
            notes=list(record.notes),
            warnings=list(record.warnings),
        ),
    )


def _evidence(record: Discoveries) -> str:
    n = record.claimed.size
    p = record.data.n_features
    return (
        f"{record.tested} {count(n, 'feature')} of {p} "
        f"{'is' if n == 1 else 'are'} claimed, by {_method(record)}, with "
        f"{write_level(record, nominal=True)}. {record.not_said}"
    )


def _method(record: Discoveries) -> str:
    """Name how the claims were made."""
    return EXCHANGED if exchanges_values(record) else METHOD_NAMES[record.method]


def _write_qvalue(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _measured(record: Discoveries) -> str:
    if record.measured is None:
        return (
            "No rate was measured for this method with features and an outcome like "
            "these."
        )
    said = write_rate(record.measured, record.rate)
    if not record.measured.near:
        said += " These designs are far from the data in size or nominal rate."
    if not record.measured.holds:
        said += " The assumptions of the method do not hold in all of them."
    return said


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Discoveries) -> View:
    """Show what may be claimed, the evidence, and the measured rate."""
    s: DiscoveriesSummary = summarize(record)
    words, selector = s["words"], name_of(s["selector"])
    facts = [
        *data_facts(s["data"]),
        Fact("Claim", CLAIMS[s["claim"]]),
        Fact("Score", selector),
        Fact("Method", capitalized(_method(record))),
    ]
    features = _table(s, record)
    sections = [
        Section("What may be claimed", (*_figures(s, record), features), first=True),
        Section(
            "What was tested",
            (
                Text(words["tested"], "claim"),
                Text(words["not_said"]),
                Notes(tuple(words["notes"])),
            ),
            first=True,
        ),
        Section("How often such claims are false", (Text(words["measured"]),)),
    ]
    if s["consensus"]:
        sections.append(Section("Consensus", (_consensus(s, record),)))
    warned: tuple[Warn, ...] = ()
    if words["warnings"]:
        warned = (Warn("Assumptions", tuple(words["warnings"])),)
    n_leading = min(MOST_LEADING, len(features.rows))
    caption = (
        f"The {n_leading} features of {sized_data(s['data'])} with the strongest "
        f"evidence; {len(s['claimed'])} are claimed. q-value: the smallest nominal "
        "rate at which the feature is claimed."
    )
    if s["effect_kind"]:
        caption += f" Effect: {s['effect_kind']}."
    rows = features.rows[:MOST_LEADING]
    return View(
        title=f"Which features may be claimed? {s['data']['name']}",
        question="Which of these features may I claim?",
        **answer(words, BADGES),
        facts=tuple(facts),
        sections=tuple(sections),
        provenance=provenance(s, [words["tested"], words["measured"]]),
        tables=(replace(features, caption=caption, rows=rows, folded=""),),
        method=paragraph(
            s["settings"],
            [
                f"The features of {sized_data(s['data'])} were scored by {selector}.",
                words["evidence"],
                *words["notes"],
                words["measured"],
            ],
        ),
        remarks=(
            *words["warnings"],
            words["tested"],
            words["not_said"],
            *words["notes"],
            words["measured"],
        ),
        warnings=warned,
    )


def _figures(s: DiscoveriesSummary, record: Discoveries) -> tuple[Block, ...]:
    found: list[Block] = []
    if (_heights(record)[1] > 0).any():
        found.append(_cloud(s, record))
    if s["paths"] and any(any(path["shares"]) for path in s["paths"]):
        found.append(_draw_paths(s))
    return tuple(found)


def _cloud(s: DiscoveriesSummary, record: Discoveries) -> Figure:
    """Draw evidence over effect: the higher, the stronger the evidence."""
    claimed, close = set(s["claimed"]), set(s["close"])
    has_effect = bool(s["effect_kind"])
    across = s["effect_kind"] or STATISTICS.get(s["method"], "score")
    order = record.ranked
    others = [j for j in order.tolist() if j not in claimed and j not in close]
    step = max(1, len(others) // MOST_SPOTS)
    # The strongest first: these are named.
    leading = [j for j in order.tolist() if j in claimed or j in close]
    upward, heights, threshold = _heights(record)
    spots = []
    for j in [*leading, *others[::step]]:
        x = record.effect[j] if has_effect else record.statistic[j]
        if not math.isfinite(float(x)) or not math.isfinite(float(heights[j])):
            continue
        side: Literal["a", "b"] | None = None
        if j in claimed:
            side = "a"
        elif j in close:
            side = "b"
        name = clean(record.data.feature_names[j])
        spots.append(Spot(name, float(x), float(heights[j]), side))
    levels: tuple[Level, ...] = ()
    if math.isfinite(threshold):
        levels = (Level("claimed above", threshold),)
    alt = (
        f"{count(len(spots), 'feature')}. Horizontal: {across}; vertical: {upward}. "
        f"{count(len(claimed), 'feature')} claimed."
    )
    caption = f"Every point is a feature. Horizontal: {across}; vertical: {upward}."
    if levels:
        caption += " Above the dashed line, features may be claimed."
    if close:
        caption += f" Close: not claimed, but would be at {CLOSE:g} times the rate."
    picture = Cloud(alt, tuple(spots), across, upward, levels)
    return Figure.from_picture(
        picture,
        caption,
        key=tuple(
            (name, side)
            for name, side, shown in (("claimed", "a", claimed), ("close", "b", close))
            if shown
        ),
        title="Evidence and effect" if has_effect else "Evidence and score",
    )


def _heights(record: Discoveries) -> tuple[str, FloatArray, float]:
    """Return the evidence for every feature, and above which features are claimed."""
    if record.claim == "stable":
        return "% of half samples", 100 * record.frequency, 100 * record.threshold
    name, values = "p-value", record.pvalue
    if record.method == "knockoffs":
        name, values = "q-value", record.qvalue
    heights = -np.log10(np.maximum(values, 1e-300))
    return f"−log10 of the {name}", heights, heights[record.claimed].min(initial=np.inf)


def _draw_paths(s: DiscoveriesSummary) -> Figure:
    """Draw how often half samples select the leading features."""
    paths = s["paths"][:MOST_PATHS]
    sizes = tuple(str(size) for size in paths[0]["sizes"])
    curves = tuple(
        Curve(
            path["name"],
            tuple(range(len(sizes))),
            tuple(
                Interval(100 * share, math.nan, math.nan) for share in path["shares"]
            ),
        )
        for path in paths
    )
    band = None
    if s["threshold"] is not None:
        band = Interval(100 * s["threshold"], 100 * s["threshold"], 100.0)
    picture = Curves(
        "",
        "Stability paths of the leading features",
        "% of half samples",
        (("features selected by each half", sizes),),
        curves,
        band,
        ribbon=True,
    )
    return Figure.from_curves(picture.described())


def _table(s: DiscoveriesSummary, record: Discoveries) -> Rows:
    """Tabulate the leading features, with the columns that the method has."""
    n_shown = max(MOST_LEADING, len(s["claimed"]) + len(s["close"]))
    leading = s["features"][: min(n_shown, MOST_LISTED)]
    columns: TableColumns = [
        ("Feature!", [one["name"] for one in leading]),
        ("Claim~", [_verdict(one, s) for one in leading]),
        ("q-value#*", [_write_qvalue(one["qvalue"]) for one in leading]),
    ]
    pvalues = [_known(one["pvalue"], bare_pvalue) for one in leading]
    if set(pvalues) != {MISSING}:
        columns.append(("p-value#", pvalues))
    shares = [_known(one["frequency"], lambda x: percent(x, 0)) for one in leading]
    if set(shares) != {MISSING}:
        name = "Draws#" if s["method"] == "knockoffs" else "Half samples#"
        columns.append((name, shares))
    sizes = [_known(one["statistic"], lambda x: f"{x:.3g}") for one in leading]
    columns.append(("Statistic#^", sizes))
    caption = (
        "The leading features. The q-value is the smallest nominal rate at which a "
        "feature is claimed"
    )
    if s["rate"] == "pfer":
        caption += f"; {s['data']['n_features']} (all features) means at no rate"
    if s["effect_kind"]:
        effects = [_known(one["effect"], write_plain) for one in leading]
        columns.append(("Effect#", effects))
        caption += f". Effect: {s['effect_kind']}"
    spans = [_write_span(one) for one in leading]
    if set(spans) != {MISSING}:
        columns.append((f"{confidence(record.effect_confidence)}#^", spans))
        caption += (
            ". Only claimed features have intervals, which are wider because these "
            "features were chosen: the false coverage rate is at most "
            f"{100 * record.false_coverage:g} %"
        )
    return by_columns(caption, columns)


def _verdict(one: FeatureEvidence, s: DiscoveriesSummary) -> TableCell:
    if one["claimed"]:
        return TableCell("claimed", tone="yes")
    if one["index"] in s["close"]:
        return TableCell("close", tone="care")
    return TableCell("")


def _known(value: float | None, write: Callable[[float], str]) -> str:
    return MISSING if value is None else write(value)


def _write_span(one: FeatureEvidence) -> str:
    low, high = one["low"], one["high"]
    if low is None or high is None:
        return MISSING
    return f"{write_plain(low)} to {write_plain(high)}"


def _consensus(s: DiscoveriesSummary, record: Discoveries) -> Text:
    n = len(s["consensus"])
    names = [clean(record.data.feature_names[j]) for j in s["consensus"][:30]]
    more = f" and {n - 30} more" if n > 30 else ""
    what = "draws of knockoffs" if s["method"] == "knockoffs" else "half samples"
    return Text(
        f"{count(n, 'feature')} selected by more than half of the {what}: "
        f"{', '.join(names)}{more}."
    )
