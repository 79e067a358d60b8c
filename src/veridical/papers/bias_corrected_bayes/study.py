"""Does conditioning on what was discarded repair naive Bayes? Li, Zhang & Neal (2008).

In the simulation data are drawn from the model itself: 10000 weak binary features
(α = 300), of which the 1, 10, 100 or 1000 that correlate most with the class are
retained. Predicted probabilities of 2000 test samples are compared with the true
classes, with and without the correction. On the colon data, with genes cut at their
median, random subsets of 200 genes, of which 5 are retained, are evaluated by
leave-one-out, with the selection repeated every time.

A unit is one simulated data set, or one subset of genes. A cell records one model.

==========  ============  ====================================================
experiment  model         what is recorded
==========  ============  ====================================================
simulation  data          counts of the drawn data; nothing is fitted
simulation  corrected     probabilities of the test samples, conditioned on
                          what was discarded
simulation  uncorrected   the same, not conditioned
colon       corrected     leave-one-out probabilities, genes cut at the median
colon       uncorrected   the same, not conditioned
colon       gaussian      leave-one-out probabilities, log-intensities, corrected
colon       gaussian-un   the same, not conditioned
==========  ============  ====================================================

What the slides leave open: "100 training cases" are taken as 100 of each class, because
only this gives the printed cut-offs and error rates; genes are cut at the median of the
training samples, not of all; class sizes are fixed.

References
----------
.. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
   selection with application to naive Bayes classification models", Bayesian Analysis
   3(1), 2008, 171-196.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from veridical.datasets import available, load, make_beta_bernoulli, table_hash
from veridical.evaluation import (
    CalibrationTable,
    LeaveOut,
    Procedure,
    calibration_table,
    evaluate,
)
from veridical.experiments import (
    Cell,
    InputError,
    PaperStudy,
    Recipe,
    Scale,
    Spec,
    Unit,
    Values,
    derive_seed,
)
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB
from veridical.papers.bias_corrected_bayes.figures import KS
from veridical.papers.bias_corrected_bayes.findings import report
from veridical.papers.paper_data import refuse_other_data

#: Increase it when `make_beta_bernoulli` draws other samples than before.
SOURCE_VERSION = 1

#: Models of the colon experiment: class and whether it is corrected.
COLON_MODELS: dict[str, tuple[type, bool]] = {
    "corrected": (BiasCorrectedNB, True),
    "uncorrected": (BiasCorrectedNB, False),
    "gaussian": (BiasCorrectedGaussianNB, True),
    "gaussian-un": (BiasCorrectedGaussianNB, False),
}
_COLON, _N_GENES = "colon", 200

#: Simulated data sets and subsets of genes at each scale; smaller are parts of larger.
_SCALES: dict[Scale, tuple[int, int]] = {
    "smoke": (2, 1),
    "laptop": (20, 10),
    "paper": (100, 10),
}


class BiasCorrectedSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    n_sets : int
        Number of simulated data sets.
    n_subsets : int
        Number of random subsets of the genes of the colon data, at most 10; 0 leaves
        them out.
    n_features : tuple of int
        Numbers of retained features.
    n_columns : int
        Features of a simulated data set.
    n_per_class, n_test : int
        Training samples of each class, and test samples.
    alpha : float
        Similarity of the classes in the simulation.
    all_features : bool
        Whether to fit on all features as well, which needs no correction.
    """

    n_sets: NonNegativeInt
    n_subsets: Annotated[int, Field(ge=0, le=10)]
    n_features: tuple[PositiveInt, ...] = KS
    n_columns: PositiveInt = 10_000
    n_per_class: Annotated[int, Field(ge=2)] = 100
    n_test: Annotated[int, Field(ge=2)] = 2000
    alpha: PositiveFloat = 300.0
    all_features: bool = True

    @model_validator(mode="after")
    def _check(self) -> BiasCorrectedSpec:
        if max(self.n_features, default=0) >= self.n_columns:
            raise ValueError(
                f"{max(self.n_features)} features are not fewer than all "
                f"{self.n_columns}"
            )
        return self


class BiasCorrectedBayes(PaperStudy):
    """The study; see the module."""

    name = "bias-corrected-bayes"
    question = (
        "Are probabilities calibrated when a model accounts for the features that "
        "selection discarded?"
    )
    paper = (
        "L. Li, J. Zhang & R. M. Neal, A method for avoiding bias from feature "
        "selection with application to naive Bayes classification models, Bayesian "
        "Analysis 3(1), 2008"
    )
    spec = BiasCorrectedSpec
    findings = report

    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Leave out the colon data where they are not found."""
        n_sets, n_subsets = _SCALES[scale]
        found = colon_digest() is not None
        return {"n_sets": n_sets, "n_subsets": n_subsets if found else 0}

    def notices(self, spec: BiasCorrectedSpec) -> tuple[str, ...]:
        """Say that the colon data are not found."""
        if colon_digest() is not None:
            return ()
        return (
            "The colon data were not found. Put colon.npz (X, 62 samples of 2000 "
            "genes, and y) into a folder and name the folder in VERIDICAL_DATA.",
        )

    def units(self, spec: BiasCorrectedSpec) -> Iterator[Unit]:
        """Yield the simulated data sets, then the subsets of genes."""
        for number in range(spec.n_sets):
            yield self._simulation(spec, number)
        if spec.n_subsets and colon_digest() is None:
            raise InputError(*self.notices(spec))
        for number in range(spec.n_subsets):
            yield self._colon(spec, number)

    def _simulation(self, spec: BiasCorrectedSpec, number: int) -> Unit:
        settings: dict[str, Any] = {
            "experiment": "simulation",
            "seed": spec.seed,
            "set": number,
            "n_columns": spec.n_columns,
            "n_per_class": spec.n_per_class,
            "n_test": spec.n_test,
            "alpha": spec.alpha,
        }
        sizes = {k: settings[k] for k in ("n_columns", "n_per_class", "n_test")}
        recipe = Recipe.from_details(
            self.name, spec.seed, source=SOURCE_VERSION, alpha=spec.alpha, **sizes
        )
        wanted: list[tuple[str, int]] = [("data", 0)]
        wanted += [
            (model, k)
            for k in spec.n_features
            for model in ("corrected", "uncorrected")
        ]
        if spec.all_features:
            wanted.append(("uncorrected", spec.n_columns))
        cells = [
            Cell(_place("simulation", model, k, number), recipe) for model, k in wanted
        ]
        return Unit(settings, cells)

    def _colon(self, spec: BiasCorrectedSpec, number: int) -> Unit:
        digest = colon_digest()
        settings = {
            "experiment": "colon",
            "seed": spec.seed,
            "set": number,
            "digest": digest,
        }
        recipe = Recipe.from_details(self.name, spec.seed, data=digest)
        cells = [
            Cell(_place("colon", model, 5, number), recipe) for model in COLON_MODELS
        ]
        return Unit(settings, cells)

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw or read the data, fit, and measure the probabilities."""
        drawn: SimulatedData | GeneSubset
        if unit.settings["experiment"] == "simulation":
            drawn = SimulatedData.draw(unit.settings)
        else:
            drawn = GeneSubset.draw(unit.settings)
        for cell in unit.cells:
            place = cell.coordinates
            yield drawn.measure(place["model"], place["n_features"])


def _place(experiment: str, model: str, k: int, number: int) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "model": model,
        "n_features": k,
        "set": number,
    }


# -- the work of a unit --------------------------------------------------------------


def _measures(found: CalibrationTable) -> dict[str, Any]:
    """Return scores and bins as numbers; sums, because empty bins have no mean."""
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
class SimulatedData:
    """A simulated data set, training samples first."""

    X: Any
    y: NDArray[np.intp]
    n_train: int

    @classmethod
    def draw(cls, settings: Any) -> SimulatedData:
        """Draw the data; features are exchangeable, so their order is arbitrary."""
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
        """Fit, predict and return the scores."""
        n = self.n_train
        if model == "data":
            ones = int(self.X.sum(dtype=np.int64))
            return {"cases": len(self.y), "ones": ones}
        fitted = BiasCorrectedNB(k, model == "corrected").fit(self.X[:n], self.y[:n])
        logs = fitted.predict_log_proba(self.X[n:])
        found = calibration_table(self.y[n:], log_probability=logs)
        low, high = _posterior_bounds(fitted)
        return {
            "gamma": fitted.threshold_,
            **_measures(found),
            "alpha": fitted.alpha_,
            "alpha_low": low,
            "alpha_high": high,
        }


def _posterior_bounds(fitted: Any) -> tuple[float, float]:
    """Return bounds of 95 % of the posterior of α, interpolated in log α."""
    below = np.cumsum(fitted.alpha_posterior_) - 0.5 * fitted.alpha_posterior_
    logs = np.interp([0.025, 0.975], below, np.log(fitted.alpha_grid_))
    return float(np.exp(logs[0])), float(np.exp(logs[1]))


@lru_cache(maxsize=1)
def colon_digest() -> str | None:
    """Return the hash of the colon data; None where they are not found."""
    if _COLON not in available():
        return None
    return table_hash(*_read_colon())


@lru_cache(maxsize=1)
def _read_colon() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Read intensities, and 1 for a tumour."""
    X, y = load(_COLON)
    labels = np.asarray(y)
    classes, counts = np.unique(labels, return_counts=True)
    if X.shape != (62, 2000) or sorted(counts.tolist()) != [22, 40]:
        raise InputError(
            "The colon data should be 62 samples (40 tumours) of 2000 genes; the file "
            f"has {X.shape[0]} of {X.shape[1]}."
        )
    tumour = classes[np.argmax(counts)]
    return np.asarray(X, dtype=np.float64), (labels == tumour).astype(np.intp)


@dataclass(frozen=True, eq=False)
class GeneSubset:
    """One of ten disjoint subsets of 200 genes of the colon data."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]

    @classmethod
    def draw(cls, settings: Any) -> GeneSubset:
        """Draw a subset; all subsets come from one permutation of the genes."""
        refuse_other_data(_COLON, str(colon_digest()), settings["digest"])
        X, y = _read_colon()
        seed = derive_seed(settings["seed"], purpose="genes")
        order = np.random.default_rng(seed).permutation(X.shape[1])
        start = settings["set"] * _N_GENES
        return cls(X[:, order[start : start + _N_GENES]], y)

    def measure(self, model: str, k: int) -> Values:
        """Leave each sample out; cut, select and fit again on the others."""
        make, correct = COLON_MODELS[model]
        values = self.X if make is BiasCorrectedNB else np.log(self.X)
        (found,) = evaluate(
            [Procedure(make(k, correct))],
            values,
            self.y,
            LeaveOut(1).split(self.y),
            apply=_log_probability_and_alpha,
        )
        logs, alphas = map(np.array, zip(*found.applied, strict=True))
        table = calibration_table(self.y, log_probability=logs)
        return {**_measures(table), "alpha": float(np.exp(np.log(alphas).mean()))}


def _log_probability_and_alpha(
    fitted: Any, X: NDArray[np.float64], y: NDArray[np.intp]
) -> tuple[NDArray[np.float64], float]:
    """Return the log-probabilities of the sample left out, and the fitted α."""
    return fitted.predict_log_proba(X)[0], fitted.alpha_


STUDY = BiasCorrectedBayes()
