"""From a record to plain numbers and strings: all that a page may show.

Nothing is computed again here. Results come from the record; the only figures derived
are descriptions of stored accuracies (means, their intervals, counts).
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any, TypeVar

import numpy as np
from scipy import stats

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.records import DataSummary
from veridical.comparison.records import (
    SIDES,
    Comparison,
    PairVerdict,
    Side,
    Verdict,
    Winner,
)
from veridical.report import words
from veridical.report.schema import (
    SCHEMA,
    AnySummary,
    DataInfo,
    DifferenceSummary,
    EstimatorSummary,
    FeatureSummary,
    IntervalSummary,
    MeanSummary,
    MethodSummary,
    PairSummary,
    Summary,
    TruthSummary,
)
from veridical.report.size_words import size_of

T = TypeVar("T")

METHODS = ("in", "out", "truth")
LABELS = {"in": "IN", "out": "OUT", "truth": "TRUTH"}
MOST_PAIRS = 150  # more dots than this are a smear: show one mean per repeat
LONGEST_NAME = 200
_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e")
_ISOLATES = frozenset("\u2066\u2067\u2068\u2069")


@singledispatch
def summarize(record: Any) -> AnySummary:
    """Turn a record into plain numbers and strings, ready for JSON.

    Parameters
    ----------
    record : record
        One that has a page, see `veridical.report.save`.

    Returns
    -------
    dict
        As described in `veridical.report.schema`.
    """
    raise InputError(
        f"no report is known for a {type(record).__name__}; give a record that has a "
        "page: what select(), estimate(), compare(), truth(), sensitivity() or audit() "
        "returned"
    )


def pair(record: Comparison) -> Summary:
    """Turn a comparison of two selectors into what its page shows.

    Parameters
    ----------
    record : Comparison
        From `veridical.comparison.compare` or `truth`.
    """
    summary: Summary = {
        "schema": SCHEMA,
        "kind": "comparison",
        "names": _by_side([clean(name) for name in record.names]),
        "estimators": [clean(name) for name in record.estimators],
        "n_features_to_select": int(record.n_features_to_select),
        "alpha": float(record.alpha),
        "data": data_info(record.data),
        "methods": [_method(record, m) for m in METHODS if m in record.accuracy],
        "by_estimator": _by_estimator(record),
        "optimism": _by_side([interval(gap) for gap in record.optimism]),
        "bias_imbalance": {m: float(v) for m, v in record.bias_imbalance.items()},
        "bias_reference": "TRUTH" if "truth" in record.accuracy else "IN",
        "n_selections": {m: int(s[0, ..., 0].size) for m, s in record.selected.items()},
        "features": _features(record),
        "stability": {
            method: _by_side([interval(one) for one in own])
            for method, own in record.stability.items()
        },
        "seconds": _by_side([float(taken) for taken in record.seconds]),
        "truth": _truth(record),
        "settings": clean_settings(record.settings),
        "words": words.silence(),
    }
    summary["words"] = words.of(summary, clean(record.recommendation, 2000))
    return summary


def _by_side(values: Sequence[T]) -> dict[Side, T]:
    """Call the values of two selectors a and b; there may be none."""
    return dict(zip(SIDES, values, strict=True)) if values else {}


def clean(text: object, longest: int = LONGEST_NAME) -> str:
    r"""Make a name safe to set in a line of text.

    Control characters, halves of surrogate pairs and marks that turn the direction of
    writing can forge what a reader sees, in a terminal as on a page; each becomes a
    replacement character. Markup is left alone: escaping it is the template's work.

    Examples
    --------
    >>> clean("gene\n 7"), len(clean("x" * 1000))
    ('gene 7', 200)
    """
    shown = "".join(map(_visible, " ".join(str(text).split())))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _visible(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cs")
    forging = character in _DIRECTION_MARKS or character in _ISOLATES
    return "\N{REPLACEMENT CHARACTER}" if hidden or forging else character


def clean_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Make settings safe to show; values may be long."""
    return {clean(key): clean(value, 2000) for key, value in settings.items()}


def finite(value: float) -> float | None:
    """JSON has no infinity and no NaN."""
    return float(value) if math.isfinite(value) else None


def interval(bounds: tuple[float, float, float]) -> IntervalSummary:
    """Turn a value with its interval into plain numbers."""
    value, low, high = bounds
    return {"value": float(value), "low": finite(low), "high": finite(high)}


def data_info(data: DataSummary) -> DataInfo:
    """Describe the data."""
    total = sum(data.classes.values())
    return {
        "name": clean(data.name),
        "n_samples": int(data.n_samples),
        "n_features": int(data.n_features),
        "classes": [
            {"name": clean(name), "count": int(n), "share": n / total}
            for name, n in data.classes.items()
        ],
        "chance": float(data.majority_share),
    }


def _difference(
    pairs: Mapping[str, Sequence[PairVerdict]], method: str
) -> DifferenceSummary | None:
    """Turn the verdict of a method on two selectors, if any, into plain numbers."""
    return difference(pairs[method][0].verdict) if method in pairs else None


def difference(verdict: Verdict) -> DifferenceSummary:
    """Turn a verdict into plain numbers and strings."""
    test = verdict.test
    return {
        "winner": verdict.winner,
        "value": float(verdict.mean_difference),
        "low": finite(verdict.interval[0]),
        "high": finite(verdict.interval[1]),
        "pvalue": finite(verdict.pvalue),
        "test": clean(test.name),
        "statistic": finite(test.statistic),
        "df": finite(test.df),
        "n": int(test.n),
        "alpha": float(test.alpha),
        "assumptions": clean(test.assumptions, 2000),
        "size": size_of(test),
        "rope": test.rope,
        "probabilities": None
        if test.probabilities is None
        else {who: float(share) for who, share in test.probabilities.items()},
    }


def _method(record: Comparison, method: str) -> MethodSummary:
    values = np.asarray(record.accuracy[method]).mean(axis=1)  # side, repeat, fold
    _, n_repeats, n_folds = values.shape
    independent = _repeats_are_data_sets(record, method)
    sample = values.mean(axis=2) if independent else values.reshape(2, -1)
    unit = "data set" if independent else "fold"
    ratio = 0.0 if independent else _test_to_train(record, n_folds)
    by_repeat = not independent and n_repeats > 1 and sample.shape[1] > MOST_PAIRS
    shown = values.mean(axis=2) if by_repeat else sample
    return {
        "method": method,
        "label": LABELS[method],
        "unit": unit,
        "n_repeats": n_repeats,
        "n_folds": n_folds,
        "a": mean_with_interval(sample[0], ratio, record.alpha),
        "b": mean_with_interval(sample[1], ratio, record.alpha),
        "interval": words.interval(sample.shape[1], unit, ratio),
        "difference": _difference(record.pairs, method),
        "pairs": _pairs(shown, n_folds, "repeat" if by_repeat else unit),
        "pair_unit": "repeat" if by_repeat else unit,
    }


def _repeats_are_data_sets(record: Comparison, method: str) -> bool:
    """On a source every repeat is a data set of its own, hence independent."""
    if method == "truth":
        return True
    n_repeats = record.accuracy[method].shape[2]
    return n_repeats > 1 and len(record.set_verdicts.get(method, ())) == n_repeats


def _test_to_train(record: Comparison, n_folds: int) -> float:
    """Cases tested per case trained on, from the settings or else from the folds."""
    try:
        n_test, n_train = (
            float(record.settings["n_test"]),
            float(record.settings["n_train"]),
        )
    except (KeyError, ValueError):
        return 1 / (n_folds - 1) if n_folds > 1 else 0.0
    return n_test / n_train if n_train > 0 else 0.0


def mean_with_interval(
    values: FloatArray, test_to_train: float, alpha: float
) -> MeanSummary:
    """Average accuracies, with a t interval for the mean.

    Parameters
    ----------
    values : array of shape (n,)
        One accuracy per fold or data set.
    test_to_train : float
        Size of a test set over the size of a training set; the variance of the mean is
        ``s² (1/n + test_to_train)``, because training sets overlap [1]_. Zero for
        independent data sets.
    alpha : float
        One minus the confidence.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine
       Learning 52 (2003).

    Examples
    --------
    >>> mean = mean_with_interval(np.array([0.5, 0.75, 1.0]), 0.0, 0.05)
    >>> mean["value"], mean["std"], round(mean["low"], 3)
    (0.75, 0.25, 0.129)
    """
    n = int(values.size)
    mean = float(values.mean())
    if n < 2:
        return {"value": mean, "low": None, "high": None, "std": None, "n": n}
    std = float(values.std(ddof=1))
    quantile = float(stats.t.ppf(1 - alpha / 2, n - 1))
    half = quantile * std * math.sqrt(1 / n + test_to_train)
    low, high = max(0.0, mean - half), min(1.0, mean + half)
    return {"value": mean, "low": low, "high": high, "std": std, "n": n}


def _pairs(values: FloatArray, n_folds: int, unit: str) -> list[PairSummary]:
    several = unit == "fold" and values.shape[1] > n_folds
    pairs: list[PairSummary] = []
    for i, (a, b) in enumerate(values.T):
        label = f"{unit} {i + 1}"
        if several:
            label = f"repeat {i // n_folds + 1}, fold {i % n_folds + 1}"
        pairs.append({"label": label, "a": float(a), "b": float(b)})
    return pairs


def _by_estimator(record: Comparison) -> list[EstimatorSummary]:
    if len(record.estimators) < 2:
        return []
    return [
        {
            "name": clean(name),
            "methods": [
                {
                    "method": method,
                    "label": LABELS[method],
                    "a": float(record.accuracy[method][0, i].mean()),
                    "b": float(record.accuracy[method][1, i].mean()),
                    "difference": _difference(record.by_estimator[name], method),
                }
                for method in METHODS
                if method in record.accuracy
            ],
        }
        for i, name in enumerate(record.estimators)
    ]


def _features(record: Comparison) -> list[FeatureSummary]:
    """Every feature chosen at least once, the most often chosen first."""
    counts: dict[int, dict[Side, dict[str, int]]] = {}
    for method, selected in record.selected.items():
        for i, side in enumerate(SIDES):
            for index, n in Counter(selected[i].ravel().tolist()).items():
                if index < 0:  # a selector that returned fewer than it was asked for
                    continue
                chosen = counts.setdefault(int(index), {"a": {}, "b": {}})
                chosen[side][method] = n
    features: list[FeatureSummary] = [
        {
            "index": index,
            "name": _feature_name(record, index),
            "a": chosen["a"],
            "b": chosen["b"],
        }
        for index, chosen in counts.items()
    ]
    leading = next((m for m in METHODS if m in record.selected), "in")
    return sorted(features, key=lambda f: (-_times_chosen(f, leading), f["index"]))


def _times_chosen(feature: FeatureSummary, method: str) -> int:
    return feature["a"].get(method, 0) + feature["b"].get(method, 0)


def _feature_name(record: Comparison, index: int) -> str:
    names = record.data.feature_names
    return clean(names[index]) if index < len(names) else f"column {index + 1}"


def _truth(record: Comparison) -> TruthSummary | None:
    verdict = record.verdicts.get("truth")
    if "truth" not in record.accuracy or verdict is None:
        return None
    outcome = record.truthfulness
    counts = {m: Counter(v) for m, v in record.set_verdicts.items() if v}
    winner: Winner = verdict.winner
    return {
        "n_sets": int(record.accuracy["truth"].shape[2]),
        "winner": winner,
        "verdicts": [
            {
                "method": method,
                "label": LABELS[method],
                "a": counts[method]["a"],
                "b": counts[method]["b"],
                "draw": counts[method]["draw"],
                "right": counts[method][winner],
            }
            for method in METHODS
            if method in counts
        ],
        "truthfulness": None
        if outcome is None
        else {
            "n_sets": outcome.only_in
            + outcome.only_out
            + outcome.both_right
            + outcome.both_wrong,
            "only_in": outcome.only_in,
            "only_out": outcome.only_out,
            "both_right": outcome.both_right,
            "both_wrong": outcome.both_wrong,
            "pvalue": finite(outcome.pvalue),
            "better": outcome.better,
        },
    }
