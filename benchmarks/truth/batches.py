"""Batches corrected inside the folds, on all samples, and with the class on all.

``python -m benchmarks.truth.batches`` measures two things, and writes ``batches.csv``
and ``batches.md``:

- the accuracy of naive Bayes and of the linear SVM by ten-fold cross-validation, with
  ComBat in each of these places, beside the accuracy on 2000 new samples of the same
  batches;
- how often VD013 says the right thing. "Nothing" is right for features that were never
  corrected, with and without differences between batches.

Samples come from batches of random sizes, more or less associated with the class.
Features are normal, with correlation where it is given; batches shift them by normal
amounts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import store
from benchmarks.truth.designs import write_rows
from veridical import estimate
from veridical._core.reading import read_table
from veridical.auditing.batches import find_batch_trace
from veridical.learning import make_estimator
from veridical.preparation import ComBat

HERE = Path(__file__).parent
N_SETS, N_TRIALS, N_FRESH = 20, 40, 2000
ANSWERS = ("nothing", "with the class", "without the class", "one of the two")


class Source:
    """Samples of batches that differ, for one draw of the shifts."""

    def __init__(
        self, seed: int, p: int, batches: int, shift: float, rho: float, signal: float
    ) -> None:
        self.rng = np.random.default_rng([seed, p, batches])
        self.shifts = shift * self.rng.normal(size=(batches, p))
        self.rho, self.signal = rho, signal

    def draw(self, n: int, together: float) -> tuple[Any, Any, Any]:
        """Draw samples; with probability `together` the batch decides the class."""
        rng, (n_batches, p) = self.rng, self.shifts.shape
        batch = rng.integers(0, n_batches, n)
        y = np.where(rng.random(n) < together, batch % 2, rng.integers(0, 2, n))
        X = np.sqrt(1 - self.rho) * rng.normal(size=(n, p))
        X += np.sqrt(self.rho) * rng.normal(size=(n, 1))
        X += self.shifts[batch]
        X[:, :10] += self.signal * y[:, None]
        return X, y, batch


def accuracies(seed: int, together: float, signal: float, learner: str) -> Any:
    """Return accuracies on 80 samples of 200 features, two batches."""
    source = Source(seed, 200, 2, 1.0, 0.0, signal)
    X, y, batch = source.draw(80, together)
    new, truth, new_batch = source.draw(N_FRESH, together)
    quick: Any = {"random_state": seed, "progress": False}
    fitted = ComBat().fit(X, batch=batch)
    model = make_estimator(learner).fit(fitted.transform(X, batch=batch), y)
    fresh = model.predict(fitted.transform(new, batch=new_batch)) == truth
    plain = ComBat().fit_transform(X, batch=batch)
    protected = ComBat().fit_transform(X, batch=batch, covariates=y)
    return (
        fresh.mean(),
        estimate(learner, X, y, batch=batch, **quick).value,
        estimate(learner, plain, y, **quick).value,
        estimate(learner, protected, y, **quick).value,
    )


def answer(
    seed: int, n: int, p: int, batches: int, shift: float, rho: float, together: float,
    corrected: str,
) -> str:  # fmt: skip
    """Return what VD013 says of one data set."""
    X, y, batch = Source(seed, p, batches, shift, rho, 0.5).draw(n, together)
    if corrected != "nothing":
        kept = y if corrected == "with the class" else None
        X = ComBat().fit_transform(X, batch=batch, covariates=kept)
    found = find_batch_trace(read_table(X, y), batch, seed)
    return "nothing" if found is None else found.how


def designs() -> Iterator[tuple[Any, ...]]:
    """Yield the designs of the second part."""
    for n, p, batches, shift, rho in (
        (60, 100, 2, 1.0, 0.0),
        (60, 1000, 3, 1.0, 0.0),
        (100, 30, 2, 1.0, 0.0),
        (100, 300, 2, 0.3, 0.0),
        (100, 300, 4, 1.0, 0.5),
        (100, 300, 2, 0.0, 0.5),
        (200, 100, 5, 0.5, 0.2),
    ):
        for together in (0.0, 0.3, 0.5, 0.8):
            for corrected in ANSWERS[:3]:
                yield n, p, batches, shift, rho, together, corrected


def main() -> None:
    """Measure, and write the tables."""
    start = time.process_time()
    rows: list[dict[str, Any]] = []
    lines = [
        "| classifier | batch decides the class of | effect in 10 of 200 features | "
        "new samples | inside the folds | on all samples | on all, with the class |",
        "|---|---|---|---|---|---|---|",
    ]
    for learner in ("nb", "svm"):
        for together in (0.0, 0.5, 0.8):
            for signal in (0.0, 0.5, 1.0):
                found = np.array(
                    [
                        accuracies(s, together, signal, learner) for s in range(N_SETS)
                    ]
                )  # fmt: skip
                means = 100 * found.mean(axis=0)
                lines.append(
                    f"| {learner} | {together:.0%} | {signal:g} | "
                    + " | ".join(f"{mean:.1f} %" for mean in means)
                    + " |"
                )
                names = ("fresh", "inside", "all", "all with class")
                errors = 100 * found.std(axis=0, ddof=1) / np.sqrt(N_SETS)
                rows += [
                    {
                        "part": "accuracy", "design": f"{learner} {together} {signal}",
                        "what": name, "n": N_SETS, "value": round(mean, 2),
                        "error": round(error, 2),
                    }
                    for name, mean, error in zip(names, means, errors, strict=True)
                ]  # fmt: skip
                print(lines[-1], f"{time.process_time() - start:.0f} s", flush=True)
    lines += [
        "",
        "| samples × features, batches, shift, correlation | batch decides the class of"
        " | corrected | " + " | ".join(f'"{one}"' for one in ANSWERS) + " |",
        "|---|---|---|---|---|---|---|",
    ]
    for design in designs():
        n, p, batches, shift, rho, together, corrected = design
        counts = Counter(answer(s, *design) for s in range(N_TRIALS))
        where = f"{n} × {p}, {batches}, {shift:g}, {rho:g}"
        lines.append(
            f"| {where} | {together:.0%} | "
            f"{'not' if corrected == 'nothing' else corrected} | "
            + " | ".join(str(counts[one]) for one in ANSWERS)
            + " |"
        )
        rows += [
            {
                "part": "answer", "design": f"{where}, {together}, {corrected}",
                "what": one, "n": N_TRIALS, "value": counts[one], "error": "",
            }
            for one in ANSWERS
        ]  # fmt: skip
        print(lines[-1], f"{time.process_time() - start:.0f} s", flush=True)
    store.write(HERE / "batches.md", "\n".join(lines) + "\n")
    write_rows(HERE / "batches.csv", list(rows[0]), rows)


if __name__ == "__main__":
    main()
