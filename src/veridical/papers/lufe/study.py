"""Do unselected features help? The experiments of Taylor et al. (2016).

A selector keeps K words of a two-topic text task. Four kinds of classifiers: an SVM on
all words, an SVM on the selected words, LUFe (the selected words, with the unselected
ones as privileged information), and controls.

The same on gene expression, which the paper does not have: the largest class of a data
set against the rest, without the curve of shares.

A unit is one training fold with everything fitted on it. A cell records the accuracy
of one method on the test fold.

===============  =======  =====================================================
method           share    learns from
===============  =======  =====================================================
all              0        all words (k is 0)
rfe, anova       0        K selected words
lufe-rfe         1–100    these, with the best per cent of the unselected words
lufe-anova       100      the same with ANOVA F
lufe-rfe-random  100      these, with Gaussian noise instead of the unselected
rfe-augmented    1–100    K selected words and the best per cent of the others,
                          in training and in testing
===============  =======  =====================================================

References
----------
.. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning using
   unselected features (LUFe)", IJCAI 2016.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from veridical.datasets import available, load, locate, table_hash
from veridical.evaluation import Procedure, evaluate
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
from veridical.learning import LUFeCV
from veridical.papers.expression import DATA, get_arrays
from veridical.papers.lufe.figures import GENES, STAND_IN
from veridical.papers.lufe.findings import report
from veridical.papers.paper_data import refuse_other_data
from veridical.selection import SVMRFE, AnovaF, ExpressionFilter

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

SHARES = tuple(range(10, 101, 10))
#: Values of C and γ, as in the paper.
GRID = tuple(10.0**k for k in range(-3, 4))
#: Folds inside a training set, which choose C and γ.
INNER_FOLDS = 5
#: Share of all features that RFE drops in one round.
DROPPED_SHARE = 0.1

#: Tolerance of the solver of support vector machines.
SVC_TOLERANCE = 1e-7

#: Increase it when the computation of a method changes.
_VERSION = 2

Percent = Annotated[int, Field(ge=1, le=100)]


class LUFeSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    data : tuple of str
        Names of text tasks, and of gene tasks (``genes/…``).
    n_features : tuple of int
        Numbers K of selected words.
    shares : tuple of int
        Percentages of the unselected words, for the curve at the first K; an empty
        tuple leaves the curve out.
    n_repeats, n_folds : int
        Repetitions and folds of stratified cross-validation.
    """

    data: tuple[str, ...]
    n_features: tuple[PositiveInt, ...] = (300, 500)
    shares: tuple[Percent, ...] = SHARES
    n_repeats: PositiveInt = 10
    n_folds: Annotated[int, Field(ge=2)] = 10


#: Per scale: text tasks, gene tasks, K, shares, repeats.
_SCALES: dict[Scale, tuple[int | None, int | None, Any, Any, int]] = {
    "smoke": (3, 1, (300,), (), 1),
    "laptop": (10, None, (300,), SHARES, 1),
    "paper": (None, None, (300, 500), SHARES, 10),
}


class LUFeStudy(PaperStudy):
    """The study; see the module."""

    name = "lufe"
    question = "Do features that were not selected help to learn?"
    paper = (
        "J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, Learning "
        "using unselected features (LUFe), IJCAI 2016"
    )
    spec = LUFeSpec
    findings = report

    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Take some tasks, or all that are found."""
        n_tasks, n_genes, n_features, shares, n_repeats = _SCALES[scale]
        found = present()
        # Spread over the list, because neighbours are similar tasks.
        step = max(1, len(found) // n_tasks) if n_tasks else 1
        return {
            "data": found[::step][:n_tasks] + present_genes()[:n_genes],
            "n_features": n_features,
            "shares": shares,
            "n_repeats": n_repeats,
        }

    def notices(self, spec: LUFeSpec) -> tuple[str, ...]:
        """Say which texts are used."""
        texts = [name for name in spec.data if not name.startswith(GENES)]
        said = []
        if not texts:
            said.append(_TEXTS_NOT_FOUND)
        elif all(name.startswith(STAND_IN) for name in texts):
            said.append(
                "TechTC-300 was not found; tasks made from 20 Newsgroups are used "
                "instead, so published accuracies are not comparable."
            )
        if len(texts) < len(spec.data):
            said.append(
                "Gene expression, which the paper does not have, is reported "
                f"separately: {len(spec.data) - len(texts)} of {len(spec.data)} tasks."
            )
        return tuple(said)

    def units(self, spec: LUFeSpec) -> Iterator[Unit]:
        """Yield the first fold of every task, then the second, and so on.

        Gene tasks have no curve of shares.
        """
        digests = {name: get_task(name).digest for name in spec.data}
        recipes = {name: self._recipe(spec, digests[name]) for name in spec.data}
        kinds = {
            name: _list_methods(spec, curve=not name.startswith(GENES))
            for name in spec.data
        }
        for repeat, fold in product(range(spec.n_repeats), range(spec.n_folds)):
            for name in spec.data:
                at = {"data": name, "repeat": repeat, "fold": fold}
                cells = [
                    Cell({**at, "method": m, "k": k, "share": t}, recipes[name])
                    for m, k, t in kinds[name]
                ]
                settings = {
                    **at,
                    "seed": spec.seed,
                    "n_folds": spec.n_folds,
                    "digest": digests[name],
                }
                yield Unit(settings, cells)

    def _recipe(self, spec: LUFeSpec, digest: str) -> Recipe:
        return Recipe.from_details(
            self.name,
            spec.seed,
            data=digest,
            version=_VERSION,
            grid=list(GRID),
            inner_folds=INNER_FOLDS,
            rfe_step=DROPPED_SHARE,
            n_folds=spec.n_folds,
        )

    def run(self, unit: Unit) -> Iterator[Values]:
        """Split, standardise, select, fit, and measure accuracies."""
        settings = unit.settings
        digest = get_task(settings["data"]).digest
        refuse_other_data(settings["data"], digest, settings["digest"])
        with threadpool_limits(1, "blas"):
            trial = TrainTestFold.draw(settings)
            trial.sizes = tuple({cell.coordinates["k"] for cell in unit.cells} - {0})
            for cell in unit.cells:
                at = cell.coordinates
                yield trial.measure(at["method"], at["k"], at["share"])


def _list_methods(spec: LUFeSpec, *, curve: bool) -> list[tuple[str, int, int]]:
    """Return method, K and share of every cell of a unit."""
    kinds = [("all", 0, 0)]
    for k in spec.n_features:
        kinds += [("rfe", k, 0), ("lufe-rfe", k, 100), ("anova", k, 0)]
        kinds += [("lufe-anova", k, 100), ("lufe-rfe-random", k, 100)]
    first = spec.n_features[0] if spec.n_features else 0
    for share in spec.shares if curve else ():
        if share != 100:
            kinds.append(("lufe-rfe", first, share))
        kinds.append(("rfe-augmented", first, share))
    return kinds


# -- the tasks -----------------------------------------------------------------------

_FOLDER = "techtc/"
_TEXTS_NOT_FOUND = (
    "The text tasks were not found. Put the files of TechTC-300, or others with two "
    "classes of texts, as npz (CSR arrays data, indices, indptr, shape; y; "
    "feature_names) into a folder techtc inside the folder that VERIDICAL_DATA names."
)
#: Words with fewer letters are dropped, as in the paper.
LETTERS = 5
#: Gene tasks: the data sets of `veridical.papers.expression` with at least 20
#: samples on either side, and the colon data; the smallest first.
_GENE_FILES = {
    "colon": "colon",
    **{
        name: DATA[name].file
        for name in ("amlall", "mll", "srbc", "lung", "gcm", "pdl")
    },
}


def present() -> tuple[str, ...]:
    """Return the text tasks that are found: TechTC-300, or its replacements."""
    tasks = [name for name in available() if name.startswith(_FOLDER)]
    own = [name for name in tasks if not name.startswith(STAND_IN)]
    return tuple(own or tasks)


@dataclass(frozen=True, eq=False)
class BinaryTask:
    """A task with two classes: word counts and topics, or gene expression.

    Parameters
    ----------
    X : array of shape (n_texts, n_words)
        Word counts, or expression values.
    sign : array of shape (n_texts,)
        −1 for the first class, +1 for the second.
    digest : str
        SHA-256 of both.
    """

    X: FloatArray
    sign: FloatArray
    digest: str

    @classmethod
    def from_arrays(cls, X: FloatArray, sign: FloatArray) -> BinaryTask:
        """Make a task with the hash of its arrays."""
        X = np.ascontiguousarray(X)
        return cls(X, sign, table_hash(X, sign))


def present_genes() -> tuple[str, ...]:
    """Return the gene tasks whose files are found."""
    files = set(available())
    return tuple(GENES + name for name, file in _GENE_FILES.items() if file in files)


@lru_cache(maxsize=4)
def get_task(name: str) -> BinaryTask:
    """Read a task; words of fewer than five letters are dropped.

    Raises
    ------
    InputError
        If it is missing, or does not have two classes.
    """
    if name.startswith(GENES):
        return BinaryTask.from_arrays(*_read_genes(name.removeprefix(GENES)))
    if name not in available():
        raise InputError(_TEXTS_NOT_FOUND)
    table, y = load(name)
    X = np.asarray(table.toarray() if sparse.issparse(table) else table, dtype=float)
    words = _read_words(name)
    if words is not None:
        X = X[:, np.char.str_len(words) >= LETTERS]
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise InputError(
            f"{name} has {len(classes)} classes (the first are "
            f"{', '.join(map(repr, classes[:5].tolist()))}); a task of this study has "
            "two."
        )
    return BinaryTask.from_arrays(X, np.where(codes == 1, 1.0, -1.0))


def _read_words(name: str) -> NDArray[np.str_] | None:
    """Read the names of the features where an npz file has them."""
    found = locate(name)
    if found is None or found[0].suffix != ".npz":
        return None
    with np.load(found[0], allow_pickle=False) as arrays:
        return arrays.get("feature_names")


def _read_genes(name: str) -> tuple[FloatArray, FloatArray]:
    """Read a gene task: values, and +1 for the largest class, −1 for the rest.

    Values are logarithms, every array standardized to mean 0 and variance 1, and genes
    that hardly vary are dropped where the file has raw intensities: on all samples, but
    without their labels.
    """
    if name == "colon":
        raw, y = load("colon")
        whole = ExpressionFilter(
            low=None, high=None, min_fold=None, min_difference=None
        )
        X = whole.fit_transform(np.asarray(raw, dtype=np.float64))
        codes = np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
    else:
        arrays = get_arrays(name)
        X, codes = arrays.X, arrays.codes
    largest = int(np.bincount(codes).argmax())
    return X, np.where(codes == largest, 1.0, -1.0)


# -- the work of a unit --------------------------------------------------------------


class FirstFeatures(SelectorMixin, BaseEstimator):
    """Selects the first `k` features, which were selected before."""

    def __init__(self, k: int) -> None:
        self.k = k

    def fit(self, X: Any, y: Any = None) -> FirstFeatures:
        """Store the number of features."""
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return np.arange(self.n_features_in_) < self.k


def _accuracy(scores: FloatArray, sign: FloatArray) -> float:
    return float(np.mean(np.where(scores >= 0, 1.0, -1.0) == sign))


@dataclass(eq=False)
class TrainTestFold:
    """A training and a test fold, standardised by the training fold.

    The test fold is used only to measure the accuracy.

    Parameters
    ----------
    X, sign : arrays
        The training samples.
    X_test, sign_test : arrays
        The test samples.
    seed : int
        Seed of the inner folds and of the noise.
    sizes : tuple of int
        Numbers of selected features that are going to be asked for: their eliminations
        share what they can. Results do not depend on it.
    """

    X: FloatArray
    sign: FloatArray
    X_test: FloatArray
    sign_test: FloatArray
    seed: int
    sizes: tuple[int, ...] = ()
    _cache: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def draw(cls, settings: Mapping[str, Any]) -> TrainTestFold:
        """Read a task and split it; the folds are the same for all methods."""
        task = get_task(settings["data"])
        which = {"data": settings["data"], "repeat": settings["repeat"]}
        seed = derive_seed(settings["seed"], purpose="folds", **which)
        folds = StratifiedKFold(settings["n_folds"], shuffle=True, random_state=seed)
        train, test = list(folds.split(task.X, task.sign))[settings["fold"]]
        mean, spread = task.X[train].mean(axis=0), task.X[train].std(axis=0)
        varying = np.flatnonzero(spread > 0)
        # Ties are decided by index, so the order of the features is random.
        order = derive_seed(settings["seed"], purpose="columns", data=settings["data"])
        varying = varying[np.random.default_rng(order).permutation(varying.size)]
        X = (task.X[:, varying] - mean[varying]) / spread[varying]
        return cls(
            X[train],
            task.sign[train],
            X[test],
            task.sign[test],
            derive_seed(
                settings["seed"], purpose="inside", fold=settings["fold"], **which
            ),
        )

    def measure(self, method: str, k: int, share: int) -> Values:
        """Return the accuracy of a method on the test fold, and its parameters."""
        if method == "all":
            return self._measure_svm(np.arange(self.X.shape[1]))
        selected, rest, C = self.select("anova" if "anova" in method else "rfe", k)
        if method == "rfe":
            return self._measure_svm(selected, C)
        if method == "anova":
            return self._measure_svm(selected)
        some = rest[: share * rest.size // 100]
        if method == "rfe-augmented":
            return self._measure_svm(np.concatenate([selected, some]))
        if method == "lufe-rfe-random":
            return self._measure_lufe(selected, self.draw_noise(rest.size))
        return self._measure_lufe(selected, self.X[:, some])

    # -- shared results --------------------------------------------------------------

    def _cached(self, key: Any, make: Any) -> Any:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @property
    def inner(self) -> list[tuple[IntArray, IntArray]]:
        """Folds inside the training set, the same for all methods."""
        folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.seed)
        return self._cached("inner", lambda: list(folds.split(self.X, self.sign)))

    # -- selecting -------------------------------------------------------------------

    def select(self, kind: str, k: int) -> tuple[IntArray, IntArray, float]:
        """Return the selected features, the others best first, and the C of RFE."""
        make = self._anova if kind == "anova" else self._rfe
        return self._cached((kind, k), lambda: make(k))

    def _anova(self, k: int) -> tuple[IntArray, IntArray, float]:
        order = AnovaF(k, n_jobs=1).fit(self.X, self.sign).order_
        return order[:k], order[k:], 0.0

    def _rank_inside(self, k: int) -> list[list[IntArray]]:
        """Rank by RFE on the inner training sets, for every C; see `sizes`."""

        def rank() -> dict[int, list[list[IntArray]]]:
            sizes = sorted({k, *self.sizes})
            by_C = SVMRFE(step=DROPPED_SHARE, n_jobs=1).rank_grid(
                self.X,
                self.sign,
                [train for train, _ in self.inner],
                Cs=GRID,
                sizes=sizes,
            )
            return {one: [by[j] for by in by_C] for j, one in enumerate(sizes)}

        if k in self.sizes:
            return self._cached("ranks inside", rank)[k]
        return rank()[k]

    def _rfe(self, k: int) -> tuple[IntArray, IntArray, float]:
        """Choose the same C for the elimination and the classifier after it."""
        scores = self._score_costs(self.X, "linear", self._rank_inside(k), k)
        C = GRID[int(np.argmax(scores.mean(axis=1)))]
        order = (
            SVMRFE(k, step=DROPPED_SHARE, C=C, n_jobs=1).fit(self.X, self.sign).order_
        )
        return order[:k], order[k:], C

    # -- learning --------------------------------------------------------------------

    def _gram(self, columns: IntArray) -> FloatArray:
        return self.X[:, columns] @ self.X[:, columns].T

    def _score_costs(
        self,
        X: FloatArray,
        kernel: str,
        orders: list[list[IntArray]] | None = None,
        k: int = 0,
    ) -> FloatArray:
        """Measure the accuracy of an SVM for every C and on every inner fold.

        A solution with all multipliers below their bound C is that of every larger C;
        it is fitted again only if the first `k` features of the orders are others then.
        """
        scores = np.empty((len(GRID), len(self.inner)))
        todo = np.ones(len(self.inner), dtype=bool)
        features: list[Any] = [None] * todo.size
        for i, C in enumerate(GRID):
            scores[i] = scores[i - 1]
            for f, before in enumerate(features):
                features[f] = None if orders is None else np.sort(orders[i][f][:k])
                todo[f] |= not np.array_equal(features[f], before)
            if not todo.any():
                continue
            folds = np.flatnonzero(todo)
            procedure = Procedure(
                _make_svm(kernel, C),
                sizes=() if orders is None else (k,),
                orders=None if orders is None else [features[f] for f in folds],
            )
            (found,) = evaluate(
                [procedure],
                X,
                self.sign,
                [self.inner[f] for f in folds],
                apply=_measure_fit,
            )
            scores[i, folds] = [accuracy for accuracy, _ in found.applied]
            todo[folds] = [bounded for _, bounded in found.applied]
        return scores

    def _measure_svm(self, columns: IntArray, C: float | None = None) -> Values:
        """Fit a linear support vector machine, C chosen on the inner folds."""
        gram = self._gram(columns)
        if C is None:
            scores = self._score_costs(gram, "precomputed")
            C = GRID[int(np.argmax(scores.sum(axis=1)))]
        model = _make_svm("precomputed", C).fit(gram, self.sign)
        across = self.X_test[:, columns] @ self.X[:, columns].T
        accuracy = _accuracy(model.decision_function(across), self.sign_test)
        return {"accuracy": accuracy, "C": C}

    def _measure_lufe(self, selected: IntArray, unselected: FloatArray) -> Values:
        """Fit LUFe on features that were selected before."""
        both = np.hstack([self.X[:, selected], unselected])
        model = LUFeCV(
            FirstFeatures(selected.size), Cs=GRID, gammas=GRID, cv=self.inner
        )
        model.fit(both, self.sign)
        scores = self.X_test[:, selected] @ model.coef_[0] + model.intercept_[0]
        accuracy = _accuracy(scores, self.sign_test)
        chosen = {"C": model.C_, "gamma": model.gamma_, "gap": model.dual_gap_}
        return {"accuracy": accuracy, **chosen}

    def draw_noise(self, n_features: int) -> FloatArray:
        """Draw standardised Gaussian features to replace the unselected ones."""
        rng = np.random.default_rng([self.seed, n_features])
        drawn = rng.standard_normal((len(self.sign), n_features))
        return (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)


def _make_svm(kernel: str, C: float) -> SVC:
    """Make a support vector machine; Gram matrices are computed once for all C."""
    return SVC(kernel=kernel, C=C, tol=SVC_TOLERANCE)


def _measure_fit(model: SVC, X: FloatArray, sign: FloatArray) -> tuple[float, bool]:
    """Return the accuracy, and whether a multiplier is at its bound."""
    accuracy = float(np.mean(model.predict(X) == sign))
    return accuracy, bool(np.abs(model.dual_coef_).max() >= model.C)


STUDY = LUFeStudy()
