"""How to prioritize relevance against antiredundancy? Ooi, Chetty & Teng (2006).

On seven expression data sets with 3 to 14 classes, predictor sets of 2 to 100 genes are
selected by differential prioritization with ten exponents alpha, on ten splits, with
relevance taken for all classes at once and for each class against the rest. A DAGSVM
learns from every set.

A unit is one split with one kind of relevance. A cell records one alpha:

================  =========================================================
value             meaning
================  =========================================================
accuracy          share of correct predictions, averaged over sizes
curve             the same at every size
class_accuracy    by class, averaged over sizes; 0 where nothing was tested
class_tested      test samples of each class
class_features    of the largest set, how many are among as many genes that
                  separate each class best from the rest
mean_relevance    mean BSS/WSS of the largest set
mean_correlation  mean ``|R|`` over its pairs
================  =========================================================

What the paper leaves open: support vector machines are linear with C = 1 on genes
standardized over the training samples; splits are stratified; the size-averaged
accuracy is the mean over sizes; with relevance of each class against the rest, classes
take turns in giving genes, and one DAGSVM learns from all of them.

References
----------
.. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
   relevance and redundancy in correlation-based feature selection techniques for
   multiclass gene expression data", BMC Bioinformatics 7:320 (2006).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, field_validator

from veridical.evaluation import Evaluation, Procedure, evaluate
from veridical.experiments import (
    Cell,
    PaperStudy,
    Recipe,
    Scale,
    Spec,
    Unit,
    Values,
    derive_seed,
    refuse_unknown,
    stratified_split,
)
from veridical.learning import DAGSVM
from veridical.papers.differential_prioritization.findings import report
from veridical.papers.expression import DATA, FILES, get_arrays
from veridical.papers.paper_data import refuse_other_data
from veridical.selection import (
    DifferentialPrioritization,
    class_relevance,
    count_class_features,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

STUDIED_EXPONENTS = tuple(round(0.1 * k, 1) for k in range(1, 11))

Exponent = Annotated[float, Field(gt=0, le=1)]
RelevanceKind = Literal["all-classes", "one-vs-all"]


class DifferentialSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    data : tuple of str
        Names of `veridical.papers.expression.DATA`.
    relevance : tuple of str
        Of ``all-classes`` and ``one-vs-all``.
    alphas : tuple of float
        Exponents in (0, 1].
    n_splits : int
        Training and test splits of each data set.
    max_size : int
        Largest predictor set, 2 or more.
    """

    data: tuple[str, ...]
    relevance: tuple[RelevanceKind, ...] = ("all-classes", "one-vs-all")
    alphas: tuple[Exponent, ...] = STUDIED_EXPONENTS
    n_splits: PositiveInt = 10
    max_size: Annotated[int, Field(ge=2)] = 100

    @field_validator("data")
    @classmethod
    def _refuse_unknown(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        refuse_unknown("data set", given, DATA)
        return given


#: Per scale: data, splits, largest set.
_SCALES: dict[Scale, tuple[tuple[str, ...], int, int]] = {
    "smoke": (("nci60", "srbc", "amlall"), 2, 20),
    "laptop": (tuple(DATA), 5, 100),
    "paper": (tuple(DATA), 10, 100),
}


class DifferentialPrioritizationStudy(PaperStudy):
    """The study; see the module."""

    name = "differential-prioritization"
    question = (
        "How much should relevance count against antiredundancy, and for which class?"
    )
    paper = (
        "C. H. Ooi, M. Chetty & S. W. Teng, Differential prioritization between "
        "relevance and redundancy in correlation-based feature selection techniques "
        "for multiclass gene expression data, BMC Bioinformatics 7:320 (2006), and "
        "their later paper on the relevance of predictor sets to each class"
    )
    spec = DifferentialSpec
    findings = report

    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Leave out data sets that are not found; laptop cells are part of the paper's.

        Cells of the smoke scale are not: its predictor sets are smaller.
        """
        names, n_splits, max_size = _SCALES[scale]
        return {
            "data": FILES.present(names),
            "n_splits": n_splits,
            "max_size": max_size,
        }

    def notices(self, spec: DifferentialSpec) -> tuple[str, ...]:
        """Name the data sets of the paper that are not found."""
        return FILES.notices()

    def units(self, spec: DifferentialSpec) -> Iterator[Unit]:
        """Yield the first split of all data sets, then the second, and so on.

        So a run that is stopped early has all data sets equally often.
        """
        for split in range(spec.n_splits):
            for name in spec.data:
                for relevance in spec.relevance:
                    yield self._unit(spec, name, relevance, split)

    def _unit(
        self, spec: DifferentialSpec, name: str, relevance: str, split: int
    ) -> Unit:
        digest = get_arrays(name).digest
        recipe = Recipe.from_details(
            self.name,
            spec.seed,
            data=digest,
            max_size=spec.max_size,
            classifier="DAGSVM, linear, C=1, standardized",
        )
        settings = {
            "data": name,
            "digest": digest,
            "seed": spec.seed,
            "relevance": relevance,
            "split": split,
            "max_size": spec.max_size,
        }
        cells = [
            Cell(
                {"data": name, "relevance": relevance, "alpha": alpha, "split": split},
                recipe,
            )
            for alpha in spec.alphas
        ]
        return Unit(settings, cells)

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw the split, select with all alphas at once, fit at all sizes."""
        settings: Any = unit.settings
        digest = get_arrays(settings["data"]).digest
        refuse_other_data(settings["data"], digest, settings["digest"])
        trial = TrainTestSplit.draw(
            settings["data"], settings["seed"], settings["split"]
        )
        alphas = [cell.coordinates["alpha"] for cell in unit.cells]
        yield from trial.measure(settings["relevance"], alphas, settings["max_size"])


# -- what a unit does ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainTestSplit:
    """A stratified split, the same for both kinds of relevance.

    Parameters
    ----------
    X_train, X_test : arrays of shape (n, n_genes)
        Genes that are constant in training are left out.
    train, test : int arrays
        Classes of the samples.
    n_classes : int
        Number of classes.
    """

    X_train: FloatArray
    X_test: FloatArray
    train: IntArray
    test: IntArray
    n_classes: int

    @classmethod
    def draw(cls, name: str, seed: int, split: int) -> TrainTestSplit:
        """Draw the split; its seed does not depend on relevance or alpha."""
        arrays, row = get_arrays(name), DATA[name]
        rng = np.random.default_rng(
            derive_seed(seed, purpose="split", data=name, split=split)
        )
        train, test = stratified_split(arrays.codes, row.test_share, rng)
        # Ties are decided by index, so the order of the genes is random.
        genes = rng.permutation(arrays.X.shape[1])
        varies = np.ptp(arrays.X[np.ix_(train, genes)], axis=0) > 0
        genes = genes[varies]
        return cls(
            np.ascontiguousarray(arrays.X[np.ix_(train, genes)]),
            np.ascontiguousarray(arrays.X[np.ix_(test, genes)]),
            arrays.codes[train],
            arrays.codes[test],
            len(arrays.classes),
        )

    def measure(
        self, relevance: Any, alphas: Sequence[float], max_size: int
    ) -> Iterator[Values]:
        """Select with each alpha, fit at each size, and measure accuracies."""
        size = min(max_size, self.X_train.shape[1])
        selector = DifferentialPrioritization(
            size, relevance=relevance, n_searched=size, n_jobs=1
        )
        with warnings.catch_warnings():
            # Some genes are constant within the classes of a small training set.
            warnings.filterwarnings("ignore", message="Some features are constant")
            fitted = selector.path(self.X_train, self.train, alphas)
        by_class = class_relevance(self.X_train, self.train)
        orders = [one.order_[:size] for one in fitted]
        for one, order, found in zip(
            fitted, orders, self._evaluate(orders, size), strict=True
        ):
            yield {
                **self._accuracies(found.hits[0]),
                "class_features": count_class_features(by_class, order).tolist(),
                "mean_relevance": float(one.scores_[order].mean()),
                "mean_correlation": _mean_correlation(self.X_train[:, order]),
            }

    def _evaluate(self, orders: Sequence[IntArray], size: int) -> list[Evaluation]:
        """Predict the test samples with the leading genes of every order."""
        rows = np.arange(len(self.train) + len(self.test))
        sizes = tuple(range(min(2, size), size + 1))
        learner = DAGSVM(standardize=True)
        return evaluate(
            [Procedure(learner, sizes=sizes, orders=[order]) for order in orders],
            np.concatenate([self.X_train, self.X_test]),
            np.concatenate([self.train, self.test]),
            [(rows[: len(self.train)], rows[len(self.train) :])],
        )

    def _accuracies(self, right: NDArray[np.bool_]) -> dict[str, Any]:
        """Return accuracies by size, and by class averaged over sizes."""
        tested = np.bincount(self.test, minlength=self.n_classes)
        by_class = [
            float(right[:, self.test == k].mean()) if tested[k] else 0.0
            for k in range(self.n_classes)
        ]
        return {
            "accuracy": float(right.mean()),
            "curve": right.mean(axis=1).tolist(),
            "class_accuracy": by_class,
            "class_tested": tested.tolist(),
        }


def _mean_correlation(values: FloatArray) -> float:
    """Return the mean absolute correlation over all pairs of features."""
    p = values.shape[1]
    if p < 2:
        return 0.0
    R = np.abs(np.corrcoef(values.T))
    return float((R.sum() - p) / (p * (p - 1)))


STUDY = DifferentialPrioritizationStudy()
