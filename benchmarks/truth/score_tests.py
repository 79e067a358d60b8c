"""Measure the size of the tests of single features: `CoxScore` and `AnovaF`.

    python -m benchmarks.truth.score_tests

Features are independent of the outcome, so that every rejection is an error. Writes
``benchmarks/truth/score_tests.csv`` and the table of ``docs/selectors/cox-score.md``;
takes about a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import store
from benchmarks.truth.designs import write_rows
from veridical.selection import AnovaF, CoxScore

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "selectors" / "cox-score.md"
BEGIN, END = "<!-- sizes -->", "<!-- end of sizes -->"
N_OUTCOMES, N_FEATURES = 50, 1000
LEVELS = (0.05, 0.01, 0.001)

#: Features, by what they are called.
FEATURES: dict[str, Callable[..., Any]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "heavy tails (t, 3 degrees)": lambda rng, shape: rng.standard_t(3, size=shape),
    "0 or 1, 10 % ones": lambda rng, shape: (rng.random(shape) < 0.1) * 1.0,
}


def survival(rng: np.random.Generator, n: int, censored: float, ties: bool) -> Any:
    """Draw exponential times with a share of censored ones."""
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    time = rng.exponential(size=n)
    # Both exponential: the share of censored samples is the share of their rates.
    limit = rng.exponential((1.0 - censored) / censored, size=n)
    y["event"], y["time"] = time <= limit, np.minimum(time, limit)
    if ties:
        y["time"] = np.ceil(10 * y["time"])
    if not y["event"].any():
        y["event"][0] = True
    return y


def measure() -> Iterator[dict[str, Any]]:
    """Yield the rejection rates of every design."""
    for n, censored, name in product((20, 40, 100, 400), (0.1, 0.5, 0.8), FEATURES):
        rng = np.random.default_rng(
            [n, int(100 * censored), list(FEATURES).index(name)]
        )
        found = []
        for outcome in range(N_OUTCOMES):
            X = FEATURES[name](rng, (n, N_FEATURES))
            y = survival(rng, n, censored, ties=outcome % 2 == 1)
            fitted = CoxScore(1).fit(X, y)
            found.append(fitted.pvalues_[np.isfinite(fitted.pvalues_)])
        yield _row("CoxScore", n, f"{censored:.0%}", name, np.concatenate(found))
    for n, name in product((20, 40, 100, 400), FEATURES):
        rng = np.random.default_rng([n, 1, list(FEATURES).index(name)])
        found = []
        for _ in range(N_OUTCOMES):
            X = FEATURES[name](rng, (n, N_FEATURES))
            fitted = AnovaF(1).fit(X, rng.standard_t(3, size=n))
            found.append(fitted.pvalues_[np.isfinite(fitted.pvalues_)])
        yield _row("AnovaF", n, "", name, np.concatenate(found))


def _row(test: str, n: int, censored: str, name: str, pvalues: Any) -> dict[str, Any]:
    rates = {str(level): f"{(pvalues <= level).mean():.5f}" for level in LEVELS}
    return {"test": test, "n": n, "censored": censored, "features": name, **rates}


def table(rows: list[dict[str, Any]], when: str) -> str:
    """Return the rates of CoxScore as Markdown, with the number of features tested."""
    lines = [
        "| features | samples | censored | rejected at 5 % | at 1 % | at 0.1 % |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["test"] == "CoxScore":
            rates = [f"{100 * float(row[str(level)]):.2f} %" for level in LEVELS]
            cells = [row["features"], str(row["n"]), row["censored"], *rates]
            lines.append("| " + " | ".join(cells) + " |")
    count = f"{N_OUTCOMES * N_FEATURES:,}"
    note = f"Measured on {when}: {count} features per row, half of them on tied times."
    return "\n".join([*lines, "", note, ""])


def main() -> None:
    """Measure, and write the table and the page."""
    rows = list(measure())
    when = datetime.now(UTC).date().isoformat()
    store.write_between(PAGE, BEGIN, END, f"\n{table(rows, when)}")
    write_rows(HERE / "score_tests.csv", list(rows[0]), rows)


if __name__ == "__main__":
    main()
