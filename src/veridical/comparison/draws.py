"""Table sets drawn from a source, each from seeds of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.seeds import Purpose, seed_for
from veridical._core.table import Table
from veridical._core.text import did_you_mean, listed
from veridical.datasets import SOURCES


@dataclass(frozen=True)
class Lottery:
    """Draws the data sets of a source, each from seeds of its own."""

    source: Callable[..., Any]
    n_train: int
    n_test: int
    cv: Any
    root: int

    def draw(self, number: int) -> tuple[Table, int]:
        """Draw one data set: training rows first, then test rows; and how many train.

        Both are read together, so that a category has the same code in both.
        """
        seed = seed_for(self.root, Purpose.TRAINING_SET, number)
        X, y = self.source(self.n_train, random_state=seed)[:2]
        if self.n_test:
            seed = seed_for(self.root, Purpose.TEST_SET, number)
            draw_test = getattr(self.source, "test", self.source)
            X_test, y_test = draw_test(self.n_test, random_state=seed)[:2]
            X, y = _stack(X, X_test), np.concatenate([y, y_test])
        try:
            data = read_table(X, y)
        except InputError as error:
            raise InputError(f"Table set {number} of the source: {error}") from error
        n_train = data.n_samples - self.n_test
        if np.unique(data.y[:n_train]).size < 2:
            raise InputError(
                f"Table set {number} of the source has one class only; use a larger "
                "n_train."
            )
        return data, n_train


def _stack(first: Any, second: Any) -> Any:
    if sparse.issparse(first):
        return sparse.vstack([first, second])
    if hasattr(first, "columns"):
        frames = [nw.from_native(part, eager_only=True) for part in (first, second)]
        return nw.concat(frames).to_native()
    return np.concatenate([np.asarray(first), np.asarray(second)])


def find_source(source: Any) -> tuple[str, Callable[..., Any]]:
    """Find a source by its name, or take the function that was passed, with a name."""
    if isinstance(source, str):
        if source not in SOURCES:
            raise InputError(
                f"There is no source {source!r}{did_you_mean(source, SOURCES)} Use one "
                f"of {listed(SOURCES)}, or pass a function that draws X, y."
            )
        return source, SOURCES[source]
    if not callable(source):
        raise InputError(
            f"source must be a name or a function source(n_samples, random_state=...), "
            f"got {source!r}."
        )
    name = getattr(source, "name", None) or getattr(source, "__name__", None)
    return str(name or type(source).__name__), source
