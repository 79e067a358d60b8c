"""Corrected naive Bayes where features are weak, sparse or rare.

``python -m benchmarks.truth.sparse_world`` draws every design 20 times, fits the
uncorrected model, the published correction and the correction that allows for null
features and unequal base rates, and measures each on 1000 new samples. It writes
``sparse_world.csv`` next to this file and prints it as a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from veridical.evaluation import calibration_table
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB

N_DRAWS, N_TESTS, N_KEPT = 20, 1000, 100

#: Parameters of the models, by name.
MODELS: dict[str, dict[str, Any]] = {
    "uncorrected": {"correct": False},
    "corrected": {},
    "null features": {"null_share": "estimate", "base_rates": "estimate"},
}

Drawn = tuple[Any, Any]


def _binary(rng: np.random.Generator, rates: Any, y: Any) -> Drawn:
    """Draw binary features from their rates in the two classes, of shape (2, p)."""
    return (rng.random((y.size, rates.shape[1])) < rates[y]).astype(np.int8), y


def _balanced(n: int) -> Any:
    return np.arange(n + N_TESTS) % 2


def dense(rng: np.random.Generator, n: int = 150, p: int = 3000) -> Drawn:
    """Draw from the published model: all features are weak, α = 300."""
    theta = rng.random(p)
    rates = rng.beta(300 * theta, 300 * (1 - theta), (2, p))
    return _binary(rng, rates, _balanced(n))


def sparse(
    rng: np.random.Generator, n: int = 150, n_null: int = 3000, gap: float = 0.4
) -> Drawn:
    """Draw 20 features whose rates differ by `gap`, among nulls."""
    rates = np.tile(rng.random(n_null + 20), (2, 1))
    rates[:, :20] = [[0.5 - gap / 2], [0.5 + gap / 2]]
    return _binary(rng, rates, _balanced(n))


def nothing(rng: np.random.Generator, n: int = 150, p: int = 3000) -> Drawn:
    """Draw nulls only."""
    return _binary(rng, np.tile(rng.random(p), (2, 1)), _balanced(n))


def rare(rng: np.random.Generator, alpha: float, n: int = 150, p: int = 3000) -> Drawn:
    """Draw features with base rates Beta(0.3, 3), and the classes by chance."""
    y = rng.integers(2, size=n + N_TESTS)
    theta = np.clip(rng.beta(0.3, 3, p), 1e-9, 1 - 1e-9)
    return _binary(rng, rng.beta(alpha * theta, alpha * (1 - theta), (2, p)), y)


def normal(rng: np.random.Generator, share: float, size: float) -> Drawn:
    """Draw 3000 normal features; the means of a share of them differ between classes.

    `size` is the standard deviation of the difference of means over that within.
    """
    y = _balanced(150)
    gaps = size * rng.normal(size=3000) * (np.arange(3000) < share * 3000)
    return rng.normal(size=(y.size, 3000)) + gaps * (y[:, None] - 0.5), y


#: Designs by name.
DESIGNS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "dense: all 3000 weak (α = 300)": dense,
    "sparse: 20 strong among 3000 nulls": sparse,
    "sparse: 20 moderate among 3000 nulls": lambda rng: sparse(rng, gap=0.3),
    "nothing: 3000 nulls": nothing,
    "rare: θ ~ Beta(0.3, 3), α = 300": lambda rng: rare(rng, 300),
    "rare: θ ~ Beta(0.3, 3), α = 100": lambda rng: rare(rng, 100),
    "normal, dense: all 3000 weak": lambda rng: normal(rng, 1.0, 0.15),
    "normal, sparse: 30 of 3000": lambda rng: normal(rng, 0.01, 1.0),
}


def measure(design: str, n_draws: int) -> list[dict[str, Any]]:
    """Return a row of means for every model on one design."""
    kind = BiasCorrectedGaussianNB if "normal" in design else BiasCorrectedNB
    found: dict[str, list[Any]] = {name: [] for name in MODELS}
    for seed in range(n_draws):
        X, y = DESIGNS[design](np.random.default_rng(seed))
        n = y.size - N_TESTS
        for name, options in MODELS.items():
            used = {k: v for k, v in options.items() if k in kind().get_params()}
            model = kind(N_KEPT, **used).fit(X[:n], y[:n])
            table = calibration_table(
                y[n:], log_probability=model.predict_log_proba(X[n:])
            )
            scores = (table.log_loss, table.squared_error, model.null_share_)
            found[name].append((table.error, table.expected_error, *scores))
    losses = {name: np.array(rows)[:, 2] for name, rows in found.items()}
    columns = ("error", "expected_error", "log_loss", "squared_error", "null_share")
    return [
        {
            "design": design,
            "model": name,
            "n_draws": n_draws,
            **dict(zip(columns, np.mean(rows, axis=0).round(4), strict=True)),
            "worse_than_uncorrected": int((losses[name] > losses["uncorrected"]).sum()),
        }
        for name, rows in found.items()
    ]


def as_markdown(table: pd.DataFrame) -> str:
    """Write the table of the documentation."""
    lines = [
        "| design | model | wrong | expects | log loss | Brier score | nulls |",
        "|---|---|---|---|---|---|---|",
    ]
    for design, rows in table.groupby("design", sort=False):
        for i, row in enumerate(rows.itertuples()):
            share = f"{100 * row.null_share:.0f} %" if row.null_share else ""
            lines.append(
                f"| {design if i == 0 else ''} | {row.model} | {100 * row.error:.1f} % "
                f"| {100 * row.expected_error:.1f} % | {row.log_loss:.3f} | "
                f"{row.squared_error:.3f} | {share} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure all designs, write the CSV file and print the table."""
    rows: list[dict[str, Any]] = []
    for design in DESIGNS:
        rows += measure(design, N_DRAWS)
        print(f"measured: {design}", file=sys.stderr)
    table = pd.DataFrame(rows)
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False)
    print(as_markdown(table))


if __name__ == "__main__":
    main()
