"""From a comparison of several selectors to plain numbers, strings and sentences."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from veridical._core.numbers import count, percent, points, pvalue
from veridical._core.text import names
from veridical.comparison.records import Comparison, Friedman, PairVerdict
from veridical.report import size_words
from veridical.report.many_schema import (
    MANY_SCHEMA,
    ManyMethod,
    ManyPair,
    ManySummary,
    ManyWords,
    RanksSummary,
    SelectorSummary,
)
from veridical.report.schema import SizeSummary
from veridical.report.summarize import (
    LABELS,
    METHODS,
    clean,
    clean_settings,
    data_info,
    difference,
    finite,
    interval,
    mean_with_interval,
)
from veridical.report.words import EXPLAIN, NAIVE_ON_FOLDS, shortened


def of(record: Comparison) -> ManySummary:
    """Turn a comparison of several selectors into what a page shows.

    Parameters
    ----------
    record : Comparison
        From `veridical.comparison.compare`.
    """
    methods = [m for m in METHODS if m in record.accuracy]
    summary: ManySummary = {
        "schema": MANY_SCHEMA,
        "kind": "many",
        "names": [clean(name) for name in record.names],
        "estimators": [clean(name) for name in record.estimators],
        "n_features_to_select": int(record.n_features_to_select),
        "alpha": float(record.alpha),
        "correction": record.correction,
        "data": data_info(record.data),
        "selectors": [_selector(record, i) for i in range(len(record.names))],
        "methods": [_method(record, method) for method in methods],
        "settings": clean_settings(record.settings),
        "words": {
            "headline": "",
            "belief": "open",
            "evidence": "",
            "sizes": [],
            "protocols": [EXPLAIN[method] for method in methods],
            "recommendation": clean(record.recommendation, 4000),
        },
    }
    summary["words"] = _words(summary)
    return summary


def _selector(record: Comparison, i: int) -> SelectorSummary:
    ratio = float(record.settings["n_test"]) / float(record.settings["n_train"])
    steady = record.stability.get("in")
    chosen = record.selected.get("in", next(iter(record.selected.values())))
    return {
        "name": clean(record.names[i]),
        "means": {
            method: mean_with_interval(scores[i], ratio, record.alpha)
            for method, scores in record.scores.items()
        },
        "ranks": {m: float(f.mean_ranks[i]) for m, f in record.friedman.items()},
        "optimism": interval(record.optimism[i]) if record.optimism else None,
        "stability": interval(steady[i]) if steady else None,
        "n_distinct": int(np.unique(chosen[i]).size),
        "seconds": float(record.seconds[i]),
    }


def _method(record: Comparison, method: str) -> ManyMethod:
    _, _, n_repeats, n_folds = record.accuracy[method].shape
    return {
        "method": method,
        "label": LABELS[method],
        "n_repeats": n_repeats,
        "n_folds": n_folds,
        "pairs": [
            _pair(places, pair)
            for places, pair in zip(
                combinations(range(len(record.names)), 2),
                record.pairs[method],
                strict=True,
            )
        ],
        "friedman": _ranks(record.friedman[method]),
    }


def _pair(places: tuple[int, int], pair: PairVerdict) -> ManyPair:
    first, second = places
    better = {pair.first: first, pair.second: second}
    return {
        "first": first,
        "second": second,
        "better": None if pair.better is None else better[pair.better],
        "adjusted": finite(pair.adjusted),
        "difference": difference(pair.verdict),
    }


def _ranks(found: Friedman) -> RanksSummary:
    size: SizeSummary | None = None
    if found.size is not None:
        known = found.size
        size = {
            "nominal": float(known.nominal),
            "rate": float(known.rate),
            "low": float(known.low),
            "high": float(known.high),
            "n_simulations": int(known.n_simulations),
            "design": known.design,
            "calibrated": False,
        }
    return {
        "mean_ranks": [float(rank) for rank in found.mean_ranks],
        "statistic": finite(found.statistic),
        "df": [float(df) for df in found.df],
        "pvalue": float(found.pvalue),
        "chi2": float(found.chi2),
        "critical_difference": float(found.critical_difference),
        "n": int(found.n),
        "groups": [list(group) for group in found.groups],
        "size": size,
    }


# -- sentences -----------------------------------------------------------------------


def _words(summary: ManySummary) -> ManyWords:
    belief, headline = _headline(summary)
    return {
        **summary["words"],
        "headline": headline,
        "belief": belief,
        "evidence": _evidence(summary),
        "sizes": _sizes(summary),
    }


def _headline(summary: ManySummary) -> tuple[str, str]:
    method = summary["methods"][0]
    if method["method"] != "in":
        return "no", (
            "OUT alone supports no claim: the selection has seen the cases it was "
            "tested on."
        )
    n = len(summary["names"])
    won = [pair for pair in method["pairs"] if pair["better"] is not None]
    if not won:
        return "open", (
            f"These data do not tell which of {count(n, 'selector')} is better: no "
            f"difference between two of them is significant "
            f"({_correction(summary)})."
        )
    winners = sorted(
        {pair["better"] for pair in won if pair["better"] is not None},
        key=lambda i: method["friedman"]["mean_ranks"][i],
    )
    best = winners[0]
    beaten = [
        summary["names"][pair["second" if pair["better"] == pair["first"] else "first"]]
        for pair in won
        if pair["better"] == best
    ]
    start = f"{_short(summary, best)} is better than {names(_shortened(beaten))}"
    naive = won[0]["difference"]["test"] in NAIVE_ON_FOLDS
    if naive or any(size_words.inflated(pair["difference"]) for pair in won):
        size = won[0]["difference"]["size"]
        return "care", (
            f"{start} on these data by a test that claims too much in such a design "
            f"({size_words.short(size)}); believe it only if the calibrated test "
            "agrees."
        )
    more = len(won) - len(beaten)
    others = f", and {count(more, 'other difference')} shown" if more else ""
    return "yes", f"{start} on these data, and you may believe it{others}."


def _shortened(beaten: list[str]) -> list[str]:
    return [shortened(name) for name in beaten]


def _short(summary: ManySummary, i: int) -> str:
    return shortened(summary["names"][i])


def _correction(summary: ManySummary) -> str:
    n_pairs = count(len(summary["methods"][0]["pairs"]), "pair")
    if summary["correction"] == "none":
        return f"{n_pairs}, not corrected for their number"
    return f"{n_pairs}, {summary['correction'].capitalize()}'s correction"


def _evidence(summary: ManySummary) -> str:
    method = summary["methods"][0]
    found = method["friedman"]
    order = np.argsort(found["mean_ranks"], kind="stable")
    ranked = "; ".join(
        f"{_short(summary, int(i))} "
        f"{percent(summary['selectors'][int(i)]['means'][method['method']]['value'])} "
        f"(mean rank {found['mean_ranks'][int(i)]:.2f})"
        for i in order
    )
    return (
        f"Mean accuracy under {method['label']}, by mean rank over "
        f"{count(found['n'], 'fold')}: {ranked}. All together: "
        f"{pvalue(found['pvalue'])} (Friedman's test in Iman and Davenport's form, "
        f"{size_words.short(found['size'])})."
    )


def _sizes(summary: ManySummary) -> list[str]:
    sentences = []
    for method in summary["methods"]:
        gap = method["pairs"][0]["difference"]
        label = f"{method['label']}, pairs ({gap['test']} test)"
        sentences.append(size_words.sentence(label, gap))
        size = method["friedman"]["size"]
        text = (
            f"{method['label']}, Friedman's test takes folds for independent: "
            f"{size_words.short(size)}"
        )
        if size is not None:
            text += (
                f" in this design (the nearest simulated: {size['design']}; "
                f"n = {size['n_simulations']} data sets on which all are equal)"
            )
        sentences.append(f"{text}. Its ranks show an order; claims rest on the pairs.")
    return sentences


def describe_pair(summary: ManySummary, pair: ManyPair) -> str:
    """Say in a few words what was found on a pair."""
    if pair["better"] is None:
        return "no significant difference"
    gap = points(abs(pair["difference"]["value"]), signed=False)
    return f"{_short(summary, pair['better'])} better by {gap}"
