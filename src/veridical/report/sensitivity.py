"""From IN, OUT and TRUTH on sources like the data to plain numbers and sentences."""

from __future__ import annotations

from veridical._core.numbers import count, percent
from veridical._core.text import names
from veridical.comparison.records import SIDES, Comparison, Sensitivity
from veridical.report.sensitivity_schema import (
    SENSITIVITY_SCHEMA,
    SensitivitySummary,
    SourceSummary,
)
from veridical.report.summarize import clean, clean_settings, data_info, interval
from veridical.report.words import shortened


def of(record: Sensitivity) -> SensitivitySummary:
    """Turn a sensitivity analysis into what a page shows.

    Parameters
    ----------
    record : Sensitivity
        From `veridical.comparison.sensitivity`.
    """
    sources = [_source(record, i) for i in range(len(record.sources))]
    headline, belief = _headline(record, sources)
    observed = record.observed
    return {
        "schema": SENSITIVITY_SCHEMA,
        "kind": "sensitivity",
        "names": {
            side: clean(name) for side, name in zip(SIDES, record.names, strict=True)
        },
        "estimators": [clean(name) for name in observed.estimators],
        "n_features_to_select": int(observed.n_features_to_select),
        "alpha": float(observed.alpha),
        "data": data_info(record.data),
        "observed": _means(observed, ("in", "out")),
        "sources": sources,
        "settings": clean_settings(record.settings),
        "words": {
            "headline": headline,
            "belief": belief,
            "evidence": _evidence(sources),
            "recommendation": clean(record.recommendation, 4000),
            "recipe": clean(record.recipe, 4000),
        },
    }


def _means(record: Comparison, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    return {
        method: {
            side: float(record.accuracy[method][i].mean())
            for i, side in enumerate(SIDES)
        }
        for method in methods
    }


def _source(record: Sensitivity, i: int) -> SourceSummary:
    found = record.sources[i]
    verdict, outcome = found.verdicts["truth"], found.truthfulness
    assert outcome is not None
    true = verdict.winner
    gap = (verdict.mean_difference, *verdict.interval)
    return {
        "strength": float(record.strengths[i]),
        "n_relevant": int(record.n_relevant[i]),
        "means": _means(found, ("truth", "in", "out")),
        "difference": interval(gap),
        "pvalue": float(verdict.pvalue),
        "winner": true,
        "n_sets": len(found.set_verdicts["in"]),
        "right": {
            method: sum(winner == true for winner in winners)
            for method, winners in found.set_verdicts.items()
        },
        "only": {"in": outcome.only_in, "out": outcome.only_out},
        "truthful_pvalue": float(outcome.pvalue),
        "more_truthful": outcome.better,
    }


def _headline(record: Sensitivity, sources: list[SourceSummary]) -> tuple[str, str]:
    a, b = (shortened(clean(name)) for name in record.names)
    better = {source["more_truthful"] for source in sources}
    about = f"about {a} and {b} on data like these"
    if better == {"in"}:
        return f"IN tells the truth {about} more often than OUT.", "yes"
    if better == {"out"}:
        return f"OUT tells the truth {about} more often than IN.", "care"
    if better == {"same"}:
        return f"Neither IN nor OUT is shown to tell the truth {about} more often.", (
            "open"
        )
    return (
        f"Whether IN or OUT tells the truth {about} more often depends on how strong "
        "the features are.",
        "care",
    )


def _evidence(sources: list[SourceSummary]) -> str:
    said = [
        f"at strength {source['strength']:g}, IN on "
        f"{percent(source['right']['in'] / source['n_sets'], 0)} and OUT on "
        f"{percent(source['right']['out'] / source['n_sets'], 0)}"
        for source in sources
    ]
    n_sets = count(sources[0]["n_sets"], "data set")
    return f"Right verdicts, of {n_sets} from each source: {names(said)}."
