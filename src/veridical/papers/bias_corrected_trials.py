"""One simulated data set, or one subset of genes, and every model on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical.datasets import available, load, make_beta_bernoulli
from veridical.evaluation import calibration_table
from veridical.evaluation.records import CalibrationTable
from veridical.experiments import derive_seed
from veridical.experiments.study import Values
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB

#: Raise it when `make_beta_bernoulli` draws other cases than before.
SOURCE_VERSION = 1

#: Models of the colon experiment: class and whether it is corrected.
COLON_MODELS: dict[str, tuple[type, bool]] = {
    "corrected": (BiasCorrectedNB, True),
    "uncorrected": (BiasCorrectedNB, False),
    "gaussian": (BiasCorrectedGaussianNB, True),
    "gaussian-un": (BiasCorrectedGaussianNB, False),
}
_COLON, _N_GENES = "colon", 200


def _measures(found: CalibrationTable) -> dict[str, Any]:
    """Scores and bins as plain numbers; sums rather than means, which may not exist."""
    return {
        "error": found.error,
        "expected": found.expected_error,
        "amlp": found.log_loss,
        "mse": found.squared_error,
        "bin_n": [b.n for b in found.bins],
        "bin_p": [b.n * (b.predicted or 0.0) for b in found.bins],
        "bin_y": [b.n * (b.observed or 0.0) for b in found.bins],
    }


@dataclass(frozen=True, eq=False)
class Drawn:
    """A simulated data set: training cases first."""

    X: Any
    y: IntArray
    n_train: int

    @classmethod
    def of(cls, settings: Any) -> Drawn:
        """Draw it; the columns are exchangeable, so that none carries information."""
        seed = derive_seed(settings["seed"], purpose="draw", set=settings["set"])
        n_train = 2 * settings["n_per_class"]
        X, y = make_beta_bernoulli(
            n_train + settings["n_test"],
            settings["n_columns"],
            alpha=settings["alpha"],
            random_state=seed,
        )
        return cls(X, y, n_train)

    def measure(self, model: str, k: int) -> Values:
        """Learn and predict."""
        n = self.n_train
        if model == "data":
            ones = int(self.X.sum(dtype=np.int64))
            return {"cases": len(self.y), "ones": ones}
        fitted = BiasCorrectedNB(k, model == "corrected").fit(self.X[:n], self.y[:n])
        logs = fitted.predict_log_proba(self.X[n:])
        found = calibration_table(self.y[n:], log_probability=logs)
        low, high = _quantiles(fitted)
        return {
            "gamma": fitted.threshold_,
            **_measures(found),
            "alpha": fitted.alpha_,
            "alpha_low": low,
            "alpha_high": high,
        }


def _quantiles(fitted: Any) -> tuple[float, float]:
    """Bounds of 95 % of the posterior of α, between points of the grid in log α."""
    below = np.cumsum(fitted.alpha_posterior_) - 0.5 * fitted.alpha_posterior_
    logs = np.interp([0.025, 0.975], below, np.log(fitted.alpha_grid_))
    return float(np.exp(logs[0])), float(np.exp(logs[1]))


@lru_cache(maxsize=1)
def colon_digest() -> str | None:
    """SHA-256 of the colon data; None where they cannot be had."""
    if _COLON not in available():
        return None
    X, y = _read_colon()
    content = hashlib.sha256(np.ascontiguousarray(X).tobytes())
    content.update(y.tobytes())
    return content.hexdigest()


@lru_cache(maxsize=1)
def _read_colon() -> tuple[FloatArray, IntArray]:
    """Intensities, and 1 for a tumour."""
    X, y = load(_COLON)
    labels = np.asarray(y)
    classes, counts = np.unique(labels, return_counts=True)
    if X.shape != (62, 2000) or sorted(counts.tolist()) != [22, 40]:
        raise InputError(
            f"The colon data should be 62 cases (40 tumours) of 2000 genes; here are "
            f"{X.shape[0]} of {X.shape[1]}."
        )
    tumour = classes[np.argmax(counts)]
    return np.asarray(X, dtype=np.float64), (labels == tumour).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Subset:
    """200 genes of the colon data, one of ten that share no gene."""

    X: FloatArray
    y: IntArray

    @classmethod
    def of(cls, settings: Any) -> Subset:
        """Deal the genes out; every subset of a study comes from the same deal."""
        if colon_digest() != settings["digest"]:
            raise InputError(
                "The colon data are not those that the study was planned with; use "
                "the same file everywhere."
            )
        X, y = _read_colon()
        seed = derive_seed(settings["seed"], purpose="genes")
        order = as_generator(seed).permutation(X.shape[1])
        start = settings["set"] * _N_GENES
        return cls(X[:, order[start : start + _N_GENES]], y)

    def measure(self, model: str, k: int) -> Values:
        """Leave each case out; cut, select and learn anew from the others."""
        make, correct = COLON_MODELS[model]
        values = self.X if make is BiasCorrectedNB else np.log(self.X)
        n = len(self.y)
        logs, alphas = np.empty((n, 2)), np.empty(n)
        for i in range(n):
            rest = np.arange(n) != i
            fitted = make(k, correct).fit(values[rest], self.y[rest])
            logs[i] = fitted.predict_log_proba(values[[i]])[0]
            alphas[i] = fitted.alpha_
        found = calibration_table(self.y, log_probability=logs)
        return {**_measures(found), "alpha": float(np.exp(np.log(alphas).mean()))}
