"""Comparisons made by hand, of every kind that a page must be able to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from veridical._core.records import DataSummary, Interval
from veridical.comparison import binomial_truthfulness
from veridical.comparison.records import Comparison, PairVerdict, TestResult, Verdict

N_FOLDS = 10
NAMES = ("ReliefF", "FCBF")


def t_test(a: Any, b: Any, factor: float, name: str = "corrected resampled t"):
    """The paired t-test with any correction, written out plainly."""
    d = np.asarray(a) - np.asarray(b)
    error = np.sqrt(factor * d.var(ddof=1))
    t = d.mean() / error if error else 0.0
    reach = stats.t.ppf(0.975, d.size - 1) * error
    return TestResult(
        name=name,
        statistic=float(t),
        pvalue=float(2 * stats.t.sf(abs(t), d.size - 1)),
        df=d.size - 1,
        mean_difference=float(d.mean()),
        interval=(float(d.mean() - reach), float(d.mean() + reach)),
        n=d.size,
        alpha=0.05,
        assumptions="The differences are normal.",
    )


def paired(test: TestResult, names: tuple[str, str]) -> tuple[PairVerdict]:
    """The verdict of a test on the only pair there is."""
    better = {"a": names[0], "b": names[1], "draw": None}[test.winner]
    return (PairVerdict(*names, better, test.pvalue, Verdict.from_test(test)),)


def folds(
    seed: int,
    mean: float,
    *,
    n_estimators: int = 1,
    n_repeats: int = 1,
    samples: int = 12,
):
    """Accuracies as folds give them: multiples of one over the number of samples."""
    rng = np.random.default_rng(seed)
    shape = (n_estimators, n_repeats, N_FOLDS)
    return rng.binomial(samples, mean, shape) / samples


def comparison(
    means: Mapping[str, tuple[float, float]],
    *,
    names: tuple[str, str] = NAMES,
    estimators: tuple[str, ...] = ("SVM",),
    feature_names: tuple[str, ...] | None = None,
    class_names: tuple[str, ...] = ("no", "yes"),
    data_name: str = "linear source",
    n_repeats: int = 1,
    seed: int = 0,
    samples: int = 12,
    **fields: Any,
) -> Comparison:
    """Build a record whose accuracies scatter about the given means."""
    n_columns = 60
    feature_names = feature_names or tuple(f"x{i}" for i in range(n_columns))
    options = {"n_estimators": len(estimators), "n_repeats": n_repeats}
    accuracy = {
        method: np.stack(
            [
                folds(seed + 10 * i + j, mean, samples=samples, **options)
                for i, mean in enumerate(pair)
            ]
        )
        for j, (method, pair) in enumerate(means.items())
    }
    rng = np.random.default_rng(seed)
    selected = {
        method: np.stack(
            [
                [
                    [
                        rng.choice(min(30, len(feature_names)), 5, replace=False)
                        for _ in range(N_FOLDS if method == "in" else 1)
                    ]
                    for _ in range(n_repeats)
                ]
                for _ in names
            ]
        )
        for method in means
    }
    ratio = 1 / (N_FOLDS - 1)
    total = N_FOLDS * n_repeats

    def tested(values: np.ndarray) -> tuple[PairVerdict]:
        test = t_test(values[0].ravel(), values[1].ravel(), 1 / total + ratio)
        return paired(test, names)

    optimism = []
    if {"in", "out"} <= means.keys():
        for i in range(2):
            gap = t_test(
                accuracy["out"][i].mean(axis=0).ravel(),
                accuracy["in"][i].mean(axis=0).ravel(),
                1 / total + ratio,
            )
            optimism.append(Interval(gap.mean_difference, *gap.interval))
    counts = dict(zip(class_names, (63, 62), strict=True))
    record = {
        "names": names,
        "estimators": estimators,
        "n_features_to_select": 5,
        "data": DataSummary(data_name, 125, len(feature_names), counts, feature_names),
        "accuracy": accuracy,
        "selected": selected,
        "pairs": {m: tested(v.mean(axis=1)) for m, v in accuracy.items()},
        "by_estimator": {
            name: {m: tested(v[:, i]) for m, v in accuracy.items()}
            for i, name in enumerate(estimators)
        },
        "optimism": tuple(optimism),
        "bias_imbalance": {"out": 0.013} if optimism else {},
        "recommendation": "Report the accuracy under IN.",
        "n_train": 112.5,
        "n_test": 12.5,
        "settings": {
            "cross-validation": "10 stratified folds",
            "test": "corrected-t",
            "n_train": "112.5",
            "n_test": "12.5",
            "seed": "0",
            "command": "veridical compare --seed 0",
        },
    }
    return Comparison(**{**record, **fields})


def honest(**options: Any) -> Comparison:
    """One selector clearly better, both well above chance, OUT a little higher."""
    return comparison({"in": (0.9, 0.7), "out": (0.93, 0.75)}, samples=100, **options)


def undecided(**options: Any) -> Comparison:
    """No difference to speak of."""
    return comparison({"in": (0.8, 0.8), "out": (0.84, 0.8)}, **options)


def random_labels(**options: Any) -> Comparison:
    """Labels that mean nothing: OUT far above chance, IN at it."""
    return comparison({"in": (0.5, 0.49), "out": (0.93, 0.95)}, **options)


def with_truth(
    n_sets: int = 100, winner_gap: float = 0.04, **options: Any
) -> Comparison:
    """A comparison on a source whose truth is known."""
    base = comparison({"in": (0.83, 0.8), "out": (0.86, 0.82)}, **options)
    rng = np.random.default_rng(1)
    shape = (2, len(base.estimators), n_sets, 1)
    values = rng.normal(0.8, 0.03, shape)
    values[0] += winner_gap
    flat = values.mean(axis=1)
    test = t_test(flat[0].ravel(), flat[1].ravel(), 1 / n_sets, "paired t")
    draws = rng.choice(["a", "draw", "b"], (2, n_sets), p=[0.3, 0.65, 0.05])
    return replace(
        base,
        accuracy={**base.accuracy, "truth": values},
        pairs={**base.pairs, "truth": paired(test, base.names)},
        bias_imbalance={"in": 0.0132, "out": 0.0085},
        set_verdicts={"in": tuple(draws[0]), "out": tuple(draws[1])},
        truthfulness=binomial_truthfulness(
            3, 11, both_right=12, both_wrong=n_sets - 26
        ),
    )
