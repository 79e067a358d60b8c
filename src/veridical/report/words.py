"""The summary in sentences: which is better, and may I believe it?"""

from __future__ import annotations

from veridical._core.numbers import (
    count,
    percent,
    percent_range,
    points,
    points_range,
    pvalue,
)
from veridical._core.text import names
from veridical.comparison.records import SIDES, Side, Winner
from veridical.report import size_words
from veridical.report.schema import (
    DifferenceSummary,
    MeanSummary,
    MethodSummary,
    Summary,
    TruthfulnessSummary,
    TruthSummary,
    Words,
)

EXPLAIN = {
    "in": (
        "IN repeats the selection inside every training fold, so no selected feature "
        "has seen the cases it is tested on."
    ),
    "out": (
        "OUT selects once, on all cases, and cross-validates only the classifier: the "
        "labels of the test cases helped to choose the features, so its accuracies "
        "lean upwards."
    ),
    "truth": (
        "TRUTH draws fresh data sets from the known source, selects and trains on each "
        "of them whole, and tests on independent cases."
    ),
}
# Tests that take folds for independent, and so reject too often on them.
NAIVE_ON_FOLDS = ("paired t",)
LONGEST = 48  # a longer name would drown its sentence


def silence() -> Words:
    """Leave every sentence blank."""
    return {
        "headline": "",
        "belief": "open",
        "evidence": "",
        "artefacts": [],
        "protocols": [],
        "stability": [],
        "sizes": [],
        "truth": [],
        "recommendation": "",
    }


def of(summary: Summary, recommendation: str) -> Words:
    """Put a summary into sentences."""
    artefacts = [s for side in SIDES if (s := _artefact(summary, side))]
    belief, headline = _headline(summary)
    return {
        "headline": headline,
        "belief": belief,
        "evidence": _evidence(summary),
        "artefacts": artefacts,
        "protocols": [EXPLAIN[m["method"]] for m in summary["methods"]],
        "stability": [s for side in SIDES if (s := _stability(summary, side))],
        "sizes": [
            size_words.sentence(m["label"], m["difference"])
            for m in summary["methods"]
            if m["difference"] is not None and m["unit"] == "fold"
        ],
        "truth": _truth(summary, summary["truth"]) if summary["truth"] else [],
        "recommendation": recommendation,
    }


def interval(n: int, unit: str, test_to_train: float) -> str:
    """Say what the interval of a mean assumes."""
    if n < 2:
        return f"a single {unit}: no interval"
    if unit == "data set":
        return f"t interval over {count(n, 'independent data set')}"
    return (
        f"t interval over {count(n, 'fold')}, its variance enlarged by test/train = "
        f"{test_to_train:.3g} (Nadeau and Bengio 2003) because training sets overlap; "
        "an approximation"
    )


def _name(summary: Summary, side: Winner) -> str:
    return shortened(summary["names"]["b" if side == "b" else "a"])


def shortened(name: str) -> str:
    """Cut a name that would drown its sentence."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _other(side: Winner) -> Side:
    return "a" if side == "b" else "b"


def _method(summary: Summary, method: str) -> MethodSummary | None:
    return next((m for m in summary["methods"] if m["method"] == method), None)


def _winner(method: MethodSummary | None) -> Winner | None:
    if method is None or method["difference"] is None:
        return None
    return method["difference"]["winner"]


# ---- is the number an artefact? -------------------------------------------------


def _mean(method: MethodSummary, side: Side) -> MeanSummary:
    return method["a"] if side == "a" else method["b"]


def beats_chance(summary: Summary, method: MethodSummary, side: Side) -> bool:
    """Tell whether the whole interval of a mean lies above chance."""
    low = _mean(method, side)["low"]
    return low is not None and low > summary["data"]["chance"]


def is_artefact(summary: Summary, side: Side) -> bool:
    """Tell whether OUT's accuracy comes from selecting on the cases it is tested on.

    So it is when OUT lies above chance and significantly above IN, while IN, the same
    selector judged on cases it has not seen, does not rise above chance.
    """
    honest, leaky = _method(summary, "in"), _method(summary, "out")
    gap = summary["optimism"].get(side)
    if honest is None or leaky is None or gap is None or gap["low"] is None:
        return False
    return (
        gap["low"] > 0
        and beats_chance(summary, leaky, side)
        and not beats_chance(summary, honest, side)
    )


def _artefact(summary: Summary, side: Side) -> str:
    honest, leaky = _method(summary, "in"), _method(summary, "out")
    if honest is None or leaky is None or not is_artefact(summary, side):
        return ""
    mean = _mean(honest, side)
    return (
        f"The OUT accuracy of {_name(summary, side)}, "
        f"{percent(_mean(leaky, side)['value'])}, is an artefact of selecting on the "
        "same data it is tested on. With the selection inside the folds (IN) "
        f"{percent(mean['value'])} remains "
        f"({_confidence(summary)} {percent_range(mean['low'], mean['high'])}, "
        f"n = {count(mean['n'], honest['unit'])}), not shown to beat always naming the "
        f"most frequent class ({percent(summary['data']['chance'])})."
    )


# ---- the first sentence ---------------------------------------------------------


def _headline(summary: Summary) -> tuple[str, str]:
    if summary["n_features_to_select"] >= summary["data"]["n_features"]:
        return "open", (
            f"Nothing was compared: both selectors keep all "
            f"{count(summary['data']['n_features'], 'feature')}; ask for fewer."
        )
    if summary["truth"] is not None:
        return "known", _headline_truth(summary, summary["truth"])
    honest = _method(summary, "in")
    if honest is None or honest["difference"] is None:
        return "no", _headline_out(summary)
    fooled = [side for side in SIDES if is_artefact(summary, side)]
    if len(fooled) == 2:
        return "no", (
            "Neither selector is shown to beat chance: the accuracy under OUT is an "
            "artefact of "
            "selecting on the same data."
        )
    winner = honest["difference"]["winner"]
    if winner == "draw":
        return "open", _headline_draw(summary, honest["difference"])
    better, worse = _name(summary, winner), _name(summary, _other(winner))
    if not beats_chance(summary, honest, winner):
        return "care", (
            f"{better} does better than {worse} here, but neither is shown to beat "
            "chance."
        )
    if honest["difference"]["test"] in NAIVE_ON_FOLDS and honest["unit"] == "fold":
        return "care", (
            f"{better} looks better than {worse} on these data, but by a test that "
            "takes folds for independent and so claims too much; believe it only if "
            "the corrected test agrees."
        )
    if size_words.inflated(honest["difference"]):
        return "care", (
            f"{better} looks better than {worse} on these data, but by a test that "
            "claims too much in such a design "
            f"({size_words.short(honest['difference']['size'])}); believe it only if "
            "the calibrated test agrees."
        )
    return "yes", (
        f"{better} is better than {worse} on these data, and you may believe it: "
        f"{points(abs(honest['difference']['value']), signed=False)} more accurate "
        "with the selection repeated inside every fold."
    )


def _headline_draw(summary: Summary, honest: DifferenceSummary) -> str:
    a, b = _name(summary, "a"), _name(summary, "b")
    leaky = _winner(_method(summary, "out"))
    start = f"These data do not tell which of {a} and {b} is better"
    if leaky in ("a", "b"):
        return (
            f"{start}: OUT names {_name(summary, leaky)}, but that may not be claimed, "
            "for with honest selection (IN) the difference is not significant."
        )
    gap = points(abs(honest["value"]), signed=False)
    return f"{start}: the difference of {gap} is not significant."


def _headline_out(summary: Summary) -> str:
    leaky = _winner(_method(summary, "out"))
    reason = "the selection has seen the cases it was tested on"
    if leaky in ("a", "b"):
        return (
            f"OUT names {_name(summary, leaky)} better than "
            f"{_name(summary, _other(leaky))}, but you may not believe it: {reason}."
        )
    return f"OUT finds no difference, and OUT alone supports no claim: {reason}."


def _headline_truth(summary: Summary, truth: TruthSummary) -> str:
    winner, n_sets = truth["winner"], truth["n_sets"]
    if winner == "draw":
        fact = (
            f"{count(n_sets, 'fresh data set')} show no difference between "
            f"{_name(summary, 'a')} and {_name(summary, 'b')}"
        )
    else:
        fact = (
            f"{_name(summary, winner)} is truly better than "
            f"{_name(summary, _other(winner))} on this source"
        )
    said = {m["label"]: _winner(m) for m in summary["methods"] if m["label"] != "TRUTH"}
    right = [label for label, verdict in said.items() if verdict == winner]
    wrong = [label for label, v in said.items() if v is not None and v != winner]
    if not said or not right + wrong:
        return f"{fact}."
    if not wrong:
        return f"{fact}, and {names(right)} {_agree(right, 'says so', 'say so')} too."
    if not right:
        return f"{fact}; {names(wrong)} {_agree(wrong, 'misses', 'both miss')} it here."
    return f"{fact}; here {names(right)} finds that and {names(wrong)} does not."


def _agree(subject: list[str], one: str, several: str) -> str:
    return one if len(subject) == 1 else several


def _confidence(summary: Summary) -> str:
    return f"{100 * (1 - summary['alpha']):g} % interval"


def _evidence(summary: Summary) -> str:
    """Say what the headline rests on: the most trustworthy method's figures."""
    method = next(
        (m for name in ("truth", "in", "out") if (m := _method(summary, name))), None
    )
    if method is None:
        return ""
    means = names(
        f"{_name(summary, side)} {percent(_mean(method, side)['value'])}"
        for side in SIDES
    )
    text = f"Mean accuracy under {method['label']}: {means}"
    gap = method["difference"]
    if gap is None:
        return f"{text} (n = {count(method['a']['n'], method['unit'])})."
    return (
        f"{text}. Difference {points(gap['value'])} "
        f"({_confidence(summary)} {points_range(gap['low'], gap['high'])}; "
        f"{pvalue(gap['pvalue'])}, {gap['test']} test{_size(gap)}, "
        f"n = {count(gap['n'], _test_unit(method, gap))})."
    )


def _size(gap: DifferenceSummary) -> str:
    """Put the measured size beside a p-value."""
    return "" if gap["size"] is None else f" ({size_words.short(gap['size'])})"


def _test_unit(method: MethodSummary, gap: DifferenceSummary) -> str:
    """Name what a test counted; some tests average folds before they look at them."""
    return method["unit"] if gap["n"] == method["a"]["n"] else "pair"


# ---- the rest -------------------------------------------------------------------


def _stability(summary: Summary, side: Side) -> str:
    """Say how steady a selector's choice is from fold to fold."""
    total = summary["n_selections"].get("in", 0)
    if total < 2:
        return ""
    times = [f[side].get("in", 0) for f in summary["features"]]
    always = sum(n == total for n in times)
    ever = sum(n > 0 for n in times)
    steady = summary["stability"].get("in", {}).get(side)
    measured = ""
    if steady is not None and steady["low"] is not None and steady["high"] is not None:
        measured = (
            f" Stability {steady['value']:.2f} ({_confidence(summary)} "
            f"{steady['low']:.2f} to {steady['high']:.2f}; 1 is always the same, 0 is "
            "chance)."
        )
    return (
        f"{_name(summary, side)} chose {count(ever, 'feature')} at least once and "
        f"{always} of them in all {total} selections inside the folds; a perfectly "
        "steady selector would choose the same "
        f"{summary['n_features_to_select']} every time."
        f"{measured}"
    )


def _truth(summary: Summary, truth: TruthSummary) -> list[str]:
    winner = truth["winner"]
    if winner == "draw":
        first = (
            f"Over {count(truth['n_sets'], 'data set')} with independent test sets the "
            "two selectors do not differ significantly, so the right verdict is a draw."
        )
    else:
        first = (
            f"Over {count(truth['n_sets'], 'data set')} with independent test sets "
            f"{_name(summary, winner)} is significantly better, so that is the right "
            "verdict."
        )
    outcome = truth["truthfulness"]
    return [first] if outcome is None else [first, _truthfulness(summary, outcome)]


def _truthfulness(summary: Summary, outcome: TruthfulnessSummary) -> str:
    n = count(outcome["n_sets"], "data set")
    tally = (
        f"only IN was right on {outcome['only_in']} of {n}, only OUT on "
        f"{outcome['only_out']} (exact one-tailed binomial test, "
        f"{pvalue(outcome['pvalue'])}, significant below {summary['alpha'] / 2:g})"
    )
    if outcome["better"] == "same":
        return f"Neither protocol reached it significantly more often: {tally}."
    return f"{outcome['better'].upper()} reached it significantly more often: {tally}."
