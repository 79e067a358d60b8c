"""When do unselected features help to learn? LUFe against what else could explain it.

    python -m benchmarks.truth.unselected [--folds 10] [--seconds 1500] [--only slack]

measures LUFe, its selector and controls, and writes ``unselected.csv`` (means over
folds, task by task) and the tables of ``docs/papers/where-they-hold.md``. Folds are
kept in ``benchmarks/.cache/unselected.csv`` as soon as they are measured, so that the
command can be ended at any time and goes on where it was; `--seconds` ends it after so
much processor time, and `--only` measures conditions that begin so. ``VERIDICAL_DATA``
must have the text tasks of the study ``lufe``.

Conditions, with the folds, the grid and the methods of the study:

=============== ======================================================================
texts           the 49 tasks of the study, 10 folds once, 300 words
own scale       the same, test folds standardized by their own means, as the published
                code does
noise 1, noise 3  every fourth task, with as many, or three times as many, words whose
                texts are permuted
60, 30 texts    every fourth task, with so many training samples
genes           the seven gene expression tasks, 300 genes
slack r         samples of a source whose slack is linear in unselected features; r is
                its correlation with the one that shows it (20 features, 80 training
                samples, 40 draws)
=============== ======================================================================

Beside the methods of the study there are controls with the same selected features:

============ =========================================================================
permuted     the unselected features of other samples
selected     the selected features, used twice
own          one privileged feature for each sample and no other: then no sample says
             anything about another, and the slacks have a plain quadratic penalty
fine grid    the SVM with 25 values of C from 10⁻⁵ to 10³, about as many as LUFe has
squared      the SVM with squared slacks
margins      margin transfer: margins of an SVM on the unselected features, on samples
             that it was not fitted on, are those that the selected ones have to reach
ridge        regression of the class
distilled    the same, of a mixture of the class and of what ridge regression on the
             unselected features says of samples that it was not fitted on
nested …     the selector, lufe and noise again, C and γ chosen on inner folds in which
             features are selected again (the study, as the paper, selects once before)
============ =========================================================================
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks import store
from benchmarks.measure import ROOT
from veridical.learning import LUFe, LUFeCV
from veridical.papers.lufe.study import (
    GRID,
    FirstFeatures,
    TrainTestFold,
    present,
    present_genes,
)
from veridical.selection import SVMRFE, AnovaF

HERE = Path(__file__).parent
FILE = HERE / "unselected.csv"
PAGE = ROOT / "docs" / "papers" / "where-they-hold.md"
FOLDS = ROOT / "benchmarks" / ".cache" / "unselected.csv"
COLUMNS = (
    "condition", "task", "fold", "selector", "method", "accuracy", "inside", "C",
    "gamma",
)  # fmt: skip
K = 300
#: Values of C, as many as make the choice as free as that of LUFe.
FINE = tuple(np.logspace(-5, 3, 25))
SQUARED = tuple(10.0**k for k in range(-5, 2))
RIDGES = tuple(10.0**k for k in range(-1, 6))
MIXTURES = (0.25, 0.5, 0.75, 1.0)
#: Of support vector machines, which differ by more where samples are not separable.
TOLERANCE = 1e-4
#: Least margin that a sample has to reach, as a share of the mean.
LEAST_MARGIN = 0.1
N_DRAWS, N_TRAIN, N_FRESH = 40, 80, 1000
CORRELATIONS = (0.0, 0.8, 1.0)
#: Mean slack of the source; the margin without slack is 1.
SLACK = 0.5

Fit = Callable[[Any, Any], Any]


class Found(NamedTuple):
    """Accuracy on the test samples and on the inner folds, and the parameters."""

    accuracy: float
    inside: float
    C: float
    gamma: float


class Trial:
    """Selected and unselected features of training samples, and selected of others."""

    def __init__(self, S: Any, U: Any, sign: Any, S_test: Any, sign_test: Any,
                 inner: Any, seed: int) -> None:  # fmt: skip
        self.S, self.U, self.sign, self.inner = S, U, sign, inner
        self.S_test, self.sign_test = S_test, sign_test
        self.gram, self.across = S @ S.T, S_test @ S.T
        self.rng = np.random.default_rng([seed, 24])

    def lufe(self, privileged: Any) -> Found:
        """Fit LUFe with some privileged features."""
        model = LUFeCV(
            FirstFeatures(self.S.shape[1]), Cs=GRID, gammas=GRID, cv=self.inner
        ).fit(np.hstack([self.S, privileged]), self.sign)
        scores = self.S_test @ model.coef_[0] + model.intercept_[0]
        return Found(self._hits(scores), model.best_score_, model.C_, model.gamma_)

    def _hits(self, scores: Any) -> float:
        return float(np.mean(np.where(scores >= 0, 1.0, -1.0) == self.sign_test))

    def tuned(self, values: Any, fit: Fit, gram: Any, across: Any) -> Found:
        """Choose a parameter on the inner folds; `fit` returns the decisions.

        ``fit(value, (gram, sign rows))`` gets the rows of the training samples.
        """
        inside = [
            np.mean(
                [
                    np.mean(
                        np.where(fit(v, train)(gram[np.ix_(test, train)]) >= 0, 1, -1)
                        == self.sign[test]
                    )
                    for train, test in self.inner
                ]
            )
            for v in values
        ]
        best = int(np.argmax(inside))
        whole = np.arange(len(self.sign))
        scores = fit(values[best], whole)(across)
        value = values[best]
        C = float(value if np.isscalar(value) else value[0])
        return Found(self._hits(scores), float(inside[best]), C, np.nan)

    def svm(self, costs: Any) -> Found:
        """Fit an ordinary SVM, C chosen: LUFe where nothing is unselected."""
        model = LUFeCV(
            FirstFeatures(self.S.shape[1]), Cs=costs, gammas=(1.0,), cv=self.inner
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*none is left unselected")
            model.fit(self.S, self.sign)
        scores = self.S_test @ model.coef_[0] + model.intercept_[0]
        return Found(self._hits(scores), model.best_score_, model.C_, np.nan)

    def nested(self, orders: list[Any], X: Any, privileged: Any) -> Found:
        """Choose C and γ on inner folds, in which features are selected again."""
        scores = np.zeros((len(GRID), len(GRID)))
        for (train, test), order in zip(self.inner, orders, strict=True):
            rows = np.concatenate([train, test])
            S = X[np.ix_(rows, order[:K])]
            U = X[np.ix_(rows, order[K:])] if privileged is None else privileged[rows]
            split = np.arange(train.size), np.arange(train.size, rows.size)
            model = LUFeCV(FirstFeatures(K), Cs=GRID, gammas=GRID, cv=[split])
            model.fit(np.hstack([S, U]), self.sign[rows])
            scores += model.scores_[:, :, 0] / len(orders)
        g, c = np.unravel_index(int(np.argmax(scores)), scores.shape)
        model = LUFe(FirstFeatures(K), C=GRID[c], gamma=GRID[g])
        unselected = self.U if privileged is None else privileged
        model.fit(np.hstack([self.S, unselected]), self.sign)
        decided = self.S_test @ model.coef_[0] + model.intercept_[0]
        return Found(self._hits(decided), float(scores.max()), GRID[c], GRID[g])

    def nested_svm(self, orders: list[Any], X: Any) -> Found:
        """Choose C on inner folds, in which features are selected again."""
        scores = np.zeros(len(GRID))
        for (train, test), order in zip(self.inner, orders, strict=True):
            S = X[:, order[:K]]
            G = S @ S.T
            for i, C in enumerate(GRID):
                model = SVC(kernel="precomputed", C=C, tol=TOLERANCE)
                model.fit(G[np.ix_(train, train)], self.sign[train])
                hits = model.predict(G[np.ix_(test, train)]) == self.sign[test]
                scores[i] += np.mean(hits) / len(orders)
                if np.abs(model.dual_coef_).max() < C:
                    scores[i + 1 :] += np.mean(hits) / len(orders)
                    break
        found = self.svm((GRID[int(np.argmax(scores))],))
        return found._replace(inside=float(scores.max()))

    def noise(self) -> Any:
        """Draw standardized noise in place of the unselected features."""
        noise = self.rng.standard_normal(self.U.shape)
        return (noise - noise.mean(axis=0)) / noise.std(axis=0)

    def squared(self) -> Found:
        """Fit an SVM with squared slacks: a ridge of 1/(2C) and no bounds."""

        def fit(C: float, rows: Any) -> Any:
            ridged = self.gram[np.ix_(rows, rows)] + np.eye(len(rows)) / (2 * C)
            model = SVC(kernel="precomputed", C=1e9, tol=TOLERANCE)
            return model.fit(ridged, self.sign[rows]).decision_function

        return self.tuned(SQUARED, fit, self.gram, self.across)

    def _outside(self, costs: Any, decide: Any) -> Any:
        """Return decisions on the unselected features, each from the other folds."""
        G = self.U @ self.U.T
        best, scores = -1.0, np.zeros(len(self.sign))
        for C in costs:
            one = np.zeros(len(self.sign))
            for train, test in self.inner:
                one[test] = decide(C, G, train, test)
            share = float(np.mean(np.sign(one) == self.sign))
            if share > best:
                best, scores = share, one
        return scores

    def margins(self) -> Found:
        """Transfer margins of the unselected features."""

        def decide(C: float, G: Any, train: Any, test: Any) -> Any:
            model = SVC(kernel="precomputed", C=C, tol=1e-5)
            model.fit(G[np.ix_(train, train)], self.sign[train])
            return model.decision_function(G[np.ix_(test, train)])

        wanted = self.sign * self._outside((1e-4, 1e-3, 1e-2), decide)
        mean = max(float(np.abs(wanted).mean()), 1e-12)
        wanted = np.maximum(wanted / mean, LEAST_MARGIN)
        wide = np.c_[self.S, np.ones(len(self.S))]
        wide_test = np.c_[self.S_test, np.ones(len(self.S_test))]
        scores = []
        costs = tuple(10.0**k for k in range(-5, 0))
        for C in costs:
            hits = [
                np.mean((wide[b] @ self._reach(C, wide, wanted, a) >= 0)
                        == (self.sign[b] > 0))
                for a, b in self.inner
            ]  # fmt: skip
            scores.append(np.mean(hits))
        best = int(np.argmax(scores))
        w = self._reach(costs[best], wide, wanted, np.arange(len(wanted)))
        accuracy = self._hits(wide_test @ w)
        return Found(accuracy, float(scores[best]), costs[best], np.nan)

    def _reach(self, C: float, wide: Any, wanted: Any, rows: Any) -> Any:
        """Fit weights whose margins should reach those wanted."""
        model = LinearSVC(loss="hinge", C=C, fit_intercept=False, max_iter=3000)
        scaled = wide[rows] / wanted[rows, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(scaled, self.sign[rows], sample_weight=wanted[rows])
        return model.coef_[0]

    def distilled(self, mixtures: Any) -> Found:
        """Fit ridge regression of the class mixed with what U says of it."""

        def decide(ridge: float, G: Any, train: Any, test: Any) -> Any:
            return G[np.ix_(test, train)] @ _ridge(G, self.sign, ridge, train)

        soft = np.zeros(len(self.sign))
        if any(mixtures):
            soft = np.tanh(self._outside(RIDGES, decide))

        def fit(value: tuple[float, float], rows: Any) -> Any:
            ridge, share = value
            target = (1 - share) * self.sign + share * soft
            a = _ridge(self.gram, target, ridge, rows)
            return lambda across: across @ a + (self.sign[rows].mean())

        values = [(ridge, share) for share in mixtures for ridge in RIDGES]
        return self.tuned(values, fit, self.gram, self.across)

    def methods(self, some: tuple[str, ...] | None = None) -> Iterator[tuple[str, Any]]:
        """Yield the name of every method, and what it finds."""
        n = len(self.sign)
        noise = self.noise()
        size = float(np.sqrt(np.einsum("ij,ij->", self.U, self.U) / n))
        every: dict[str, Callable[[], Found]] = {
            "selector": lambda: self.svm(GRID),
            "lufe": lambda: self.lufe(self.U),
            "noise": lambda: self.lufe(noise),
            "permuted": lambda: self.lufe(self.U[self.rng.permutation(n)]),
            "selected": lambda: self.lufe(self.S),
            "own": lambda: self.lufe(size * np.eye(n)),
            "fine grid": lambda: self.svm(FINE),
            "squared": self.squared,
            "margins": self.margins,
            "ridge": lambda: self.distilled((0.0,)),
            "distilled": lambda: self.distilled((0.0, *MIXTURES)),
        }
        for name, measure in every.items():
            if some is None or name in some:
                yield name, measure()


def _ridge(gram: Any, target: Any, ridge: float, rows: Any) -> Any:
    inside = gram[np.ix_(rows, rows)] + ridge * np.eye(len(rows))
    return np.linalg.solve(inside, target[rows] - target[rows].mean())


# -- conditions ----------------------------------------------------------------------

FEW = ("selector", "lufe", "noise", "own")


def draw(task: str, fold: int) -> TrainTestFold:
    """Draw a fold of the study."""
    return TrainTestFold.draw(
        {"data": task, "repeat": 0, "fold": fold, "seed": 0, "n_folds": 10}
    )


def more_noise(fold: TrainTestFold, times: int) -> TrainTestFold:
    """Add words that occur as often as the others, in texts drawn at random."""
    rng = np.random.default_rng([fold.seed, times])
    X, X_test = [fold.X], [fold.X_test]
    for _ in range(times):
        X.append(rng.permuted(fold.X, axis=0))
        X_test.append(rng.permuted(fold.X_test, axis=0))
    order = rng.permutation(fold.X.shape[1] * (times + 1))
    return TrainTestFold(
        np.hstack(X)[:, order], fold.sign, np.hstack(X_test)[:, order],
        fold.sign_test, fold.seed,
    )  # fmt: skip


def fewer_texts(fold: TrainTestFold, n: int) -> TrainTestFold:
    """Keep some training samples, half of either class, and standardize again."""
    rng = np.random.default_rng([fold.seed, n])
    rows = np.concatenate(
        [
            rng.permutation(np.flatnonzero(fold.sign == one))[: n // 2]
            for one in (-1.0, 1.0)
        ]
    )
    X = fold.X[rows]
    mean, spread = X.mean(axis=0), X.std(axis=0)
    varying = spread > 1e-9
    X = ((X - mean) / np.where(varying, spread, 1.0))[:, varying]
    X_test = ((fold.X_test - mean) / np.where(varying, spread, 1.0))[:, varying]
    return TrainTestFold(X, fold.sign[rows], X_test, fold.sign_test, fold.seed)


def own_scale(fold: TrainTestFold) -> Any:
    """Return the test samples, standardized by themselves."""
    spread = fold.X_test.std(axis=0)
    centred = fold.X_test - fold.X_test.mean(axis=0)
    return centred / np.where(spread > 1e-9, spread, 1.0)


def measure_fold(
    fold: TrainTestFold, some: tuple[str, ...] | None, selectors: tuple[str, ...]
) -> Iterator[tuple[str, str, Found]]:
    """Measure all features, and the methods with the features of each selector."""
    everything = np.arange(fold.X.shape[1])
    whole = Trial(
        fold.X, fold.X, fold.sign, fold.X_test, fold.sign_test, fold.inner, fold.seed
    )
    yield "", "all", whole.svm(GRID)
    for selector in selectors:
        chosen, _, C = fold.select(selector, K)
        rest = np.setdiff1d(everything, chosen)
        trial = Trial(
            fold.X[:, chosen], fold.X[:, rest], fold.sign, fold.X_test[:, chosen],
            fold.sign_test, fold.inner, fold.seed,
        )  # fmt: skip
        for method, found in trial.methods(some):
            if (selector, method) != ("rfe", "selector"):
                yield selector, method, found
        if selector == "rfe":  # which has chosen C for the elimination too
            measured = fold.measure("rfe", K, 0)
            yield (
                selector,
                "selector",
                Found(measured["accuracy"], np.nan, measured["C"], np.nan),
            )
        if some is not None:
            continue
        make: Any = AnovaF(K) if selector == "anova" else SVMRFE(K, step=0.1, C=C)
        orders = make.rank_many(fold.X, fold.sign, [train for train, _ in fold.inner])
        yield selector, "nested selector", trial.nested_svm(orders, fold.X)
        yield selector, "nested lufe", trial.nested(orders, fold.X, None)
        yield selector, "nested noise", trial.nested(orders, fold.X, trial.noise())


def measure_source(correlation: float, seed: int) -> Iterator[tuple[str, str, Found]]:
    """Measure the methods on a source whose slack is linear in unselected features."""
    rng = np.random.default_rng([seed, 7])
    n, k = N_TRAIN + N_FRESH, 20
    sign = rng.choice([-1.0, 1.0], size=n)
    slack, other = rng.exponential(SLACK, size=(2, n))
    S = rng.normal(size=(n, k))
    S[:, 0] = sign * (1 - slack)
    S = S @ np.linalg.qr(rng.normal(size=(k, k)))[0]
    shown = correlation * slack + np.sqrt(1 - correlation**2) * other
    U = np.c_[shown - shown.mean(), 0.1 * rng.normal(size=(n, 100))]
    a, b = slice(None, N_TRAIN), slice(N_TRAIN, None)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    inner = list(folds.split(S[a], sign[a]))
    trial = Trial(S[a], U[a], sign[a], S[b], sign[b], inner, seed)
    for method, found in trial.methods():
        yield "given", method, found


def units(n_folds: int) -> Iterator[tuple[str, str, int]]:
    """Yield condition, task and fold, so that any part of them is balanced."""
    texts, genes = present(), present_genes()
    for fold in range(n_folds):
        for number, task in enumerate(texts):
            yield "texts", task, fold
            if number % 4 == 0:
                for condition in ("60 texts", "30 texts", "noise 1", "noise 3"):
                    if condition != "noise 3" or fold < 5:
                        yield condition, task, fold
        for task in genes:
            yield "genes", task, fold
        if fold == 0:  # they take little time
            for number in range(N_DRAWS):
                for r in CORRELATIONS:
                    yield f"slack {r:g}", "source", number


def measure(
    condition: str, task: str, number: int
) -> Iterator[tuple[str, str, str, Found]]:
    """Measure a fold; `own scale` is measured with the fold of the texts."""
    both = ("rfe", "anova")
    if condition.startswith("slack"):
        for found in measure_source(float(condition.split()[1]), number):
            yield condition, *found
        return
    fold = draw(task, number)
    if condition.startswith("noise"):
        fold = more_noise(fold, int(condition.split()[1]))
    elif condition.endswith("texts") and condition != "texts":
        fold = fewer_texts(fold, int(condition.split()[0]))
    some = FEW if condition not in ("texts", "genes") else None
    for found in measure_fold(fold, some, both):
        yield condition, *found
    if condition == "texts":
        fold.X_test = own_scale(fold)
        for found in measure_fold(fold, ("selector", "lufe", "noise"), both):
            yield "own scale", *found


# -- files ---------------------------------------------------------------------------


def read_folds() -> pd.DataFrame:
    """Read what was measured; folds of which only a part was written are left out."""
    if not FOLDS.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    whole = FOLDS.read_text(encoding="utf-8").rpartition("\n")[0] + "\n"
    store.write(FOLDS, whole)
    found = pd.read_csv(FOLDS, keep_default_na=False)
    for name in COLUMNS[5:]:
        found[name] = pd.to_numeric(found[name], errors="coerce")
    found = found.drop_duplicates(list(COLUMNS[:5]), keep="last")
    keys = [found["condition"], found["task"], found["fold"]]
    n_rows = found.groupby(keys)["method"].transform("size")
    return found[n_rows == n_rows.groupby(found["condition"]).transform("max")]


def collect(n_folds: int, seconds: float, only: str = "") -> pd.DataFrame:
    """Measure what is missing, and return all folds."""
    FOLDS.parent.mkdir(exist_ok=True)
    before = read_folds()
    done = set(zip(before["condition"], before["task"], before["fold"], strict=True))
    if before.empty:
        FOLDS.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    began = time.process_time()
    with FOLDS.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for condition, task, fold in units(n_folds):
            if (condition, task, fold) in done or not condition.startswith(only):
                continue
            if time.process_time() - began > seconds:
                break
            for where, selector, method, found in measure(condition, task, fold):
                writer.writerow((where, task, fold, selector, method, *found))
            file.flush()
    return read_folds()


def summarize(folds: pd.DataFrame) -> pd.DataFrame:
    """Average over the folds of every task."""
    keys = ["condition", "task", "selector", "method"]
    grouped = folds.groupby(keys, sort=True)
    table = grouped[["accuracy", "inside"]].mean().round(5)
    table.insert(0, "folds", grouped.size())
    return table.reset_index()


# -- tables --------------------------------------------------------------------------

_NAMES = {
    "lufe": "LUFe: the unselected features",
    "noise": "noise in their place",
    "permuted": "the unselected ones of other samples",
    "selected": "the selected features again",
    "own": "one feature for each sample",
    "fine grid": "SVM, 25 values of C",
    "squared": "SVM, squared slacks",
    "margins": "margin transfer",
    "ridge": "ridge regression",
    "distilled": "ridge regression, distilled",
}
#: Below this accuracy of an SVM on all words a task is called hard, as in TechTC.
HARD = 0.75


def _pick(table: pd.DataFrame, condition: str, what: str = "accuracy") -> pd.DataFrame:
    """Return accuracies by task (rows) and selector, method (columns)."""
    part = table[table["condition"] == condition]
    return part.pivot(index="task", columns=["selector", "method"], values=what)


def _gain(first: Any, second: Any) -> str:
    """Write a mean difference in points, its 95 % interval, and the tasks with it."""
    points = 100 * (first - second).dropna().to_numpy()
    if points.size < 2:
        return "–"
    half = stats.t.ppf(0.975, points.size - 1) * points.std(ddof=1) / points.size**0.5
    mean, better = points.mean(), int((points > 1e-9).sum())
    return (
        f"{mean:+.1f} ({mean - half:+.1f} to {mean + half:+.1f}), "
        f"{better}:{int((points < -1e-9).sum())}"
    ).replace("-", "−")


def _row(cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def tabulate_order(table: pd.DataFrame) -> Iterator[str]:
    """Yield the table of what may make the order of the paper appear."""
    yield _row(
        ("condition", "tasks, folds of each", "all words, %", "RFE over all",
         "LUFe over RFE", "LUFe over all", "ANOVA over all", "LUFe over ANOVA",
         "LUFe over all")
    )  # fmt: skip
    yield "|" + "---|" * 9
    texts = _pick(table, "texts")
    fewer = sorted(set(table.loc[table["condition"] == "60 texts", "task"]))
    # By the inner folds: by test samples, a task would be hard by bad luck of this SVM.
    hard = texts.index[_pick(table, "texts", "inside")["", "all"] < HARD]
    for name, where, tasks in (
        ("as in the study", "texts", texts.index),
        ("all words below 75 % on inner folds", "texts", hard),
        ("test folds on their own scale", "own scale", texts.index),
        ("every fourth task", "texts", fewer),
        ("… 60 training texts", "60 texts", fewer),
        ("… 30 training texts", "30 texts", fewer),
        ("… as many noise words", "noise 1", fewer),
        ("… three times as many", "noise 3", fewer),
    ):
        one = _pick(table, where)
        one = one.loc[one.index.intersection(tasks)]
        if not len(one):
            continue
        here = table[(table["condition"] == where) & table["task"].isin(one.index)]
        least, most = here["folds"].min(), here["folds"].max()
        cells = [
            name,
            f"{len(one)}, {least}" + ("" if least == most else f" to {most}"),
            f"{100 * one['', 'all'].mean():.1f}",
        ]
        for selector in ("rfe", "anova"):
            whole, own = one["", "all"], one[selector, "selector"]
            lufe = one[selector, "lufe"]
            cells += [_gain(own, whole), _gain(lufe, own), _gain(lufe, whole)]
        yield _row(cells)


def tabulate_controls(table: pd.DataFrame) -> Iterator[str]:
    """Yield the table of gains over the selector, for every control."""
    parts = [
        ("texts, RFE", _pick(table, "texts"), "rfe"),
        ("texts, ANOVA", _pick(table, "texts"), "anova"),
        ("genes, RFE", _pick(table, "genes"), "rfe"),
        ("genes, ANOVA", _pick(table, "genes"), "anova"),
    ]
    parts = [part for part in parts if len(part[1])]
    yield _row(
        ["over an SVM on the selected features", *(name for name, _, _ in parts)]
    )
    yield "|" + "---|" * (len(parts) + 1)
    for method, name in _NAMES.items():
        cells = [_gain(one[s, method], one[s, "selector"]) for _, one, s in parts]
        yield _row([name, *cells])
    for method in ("lufe", "noise"):
        cells = [
            _gain(one[s, f"nested {method}"], one[s, "nested selector"])
            for _, one, s in parts
        ]
        yield _row(
            [f"{_NAMES[method]}; both with selection in the inner folds", *cells]
        )


def tabulate_slacks(folds: pd.DataFrame) -> Iterator[str]:
    """Yield the table of gains over an SVM where slacks are linear, over draws."""
    part = folds[folds["condition"].str.startswith("slack")]
    names = sorted(part["condition"].unique(), key=lambda one: float(one.split()[1]))
    yield _row(["correlation with the slack", *(one.split()[1] for one in names)])
    yield "|" + "---|" * (len(names) + 1)
    each = {
        one: part[part["condition"] == one].pivot(
            index="fold", columns="method", values="accuracy"
        )
        for one in names
    }
    yield _row(
        ["draws; accuracy of the SVM, %"]
        + [f"{len(t)}; {100 * t['selector'].mean():.1f}" for t in each.values()]
    )
    for method, name in _NAMES.items():
        yield _row(
            [name, *(_gain(one[method], one["selector"]) for one in each.values())]
        )


def tabulate_rule(folds: pd.DataFrame) -> Iterator[str]:
    """Yield the table of the rule: gains where it says yes, and where it says no.

    The rule sees training samples alone: LUFe is used where its accuracy on the inner
    folds is above that of LUFe with noise, which chooses among as many candidates. Test
    samples, of which the gains are, are not used for it.
    """
    yield _row(
        ("where", "the rule says", "folds", "LUFe over the selector, points",
         "LUFe over noise, points")
    )  # fmt: skip
    yield "|" + "---|" * 5
    for name, condition, selector, prefix in (
        ("texts, RFE", "texts", "rfe", "nested "),
        ("texts, ANOVA", "texts", "anova", "nested "),
        ("genes, RFE", "genes", "rfe", "nested "),
        ("genes, ANOVA", "genes", "anova", "nested "),
        *((f"slack, correlation {r:g}", f"slack {r:g}", "given", "")
          for r in CORRELATIONS),
    ):  # fmt: skip
        part = folds[
            (folds["condition"] == condition) & (folds["selector"] == selector)
        ]
        if part.empty:
            continue
        wide = part.pivot(
            index=["task", "fold"], columns="method", values=["accuracy", "inside"]
        )
        lufe, noise = f"{prefix}lufe", f"{prefix}noise"
        promise = wide["inside", lufe] - wide["inside", noise]
        gains = [
            wide["accuracy", lufe] - wide["accuracy", other]
            for other in (f"{prefix}selector", noise)
        ]
        for said, where in (("yes", promise > 1e-9), ("no", promise <= 1e-9)):
            if where.sum() > 1:
                yield _row(
                    (name, said, int(where.sum()), *(_mean(g[where]) for g in gains))
                )


def _mean(gains: Any) -> str:
    """Write a mean over folds in points, with its standard error."""
    return f"{100 * gains.mean():+.1f} ± {100 * gains.sem():.1f}".replace("-", "−")


def write_page(folds: pd.DataFrame, table: pd.DataFrame) -> None:
    """Replace the tables of the page."""
    for name, lines in (
        ("order", tabulate_order(table)),
        ("controls", tabulate_controls(table)),
        ("slacks", tabulate_slacks(folds)),
        ("rule", tabulate_rule(folds)),
    ):
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        store.write_between(PAGE, begin, end, "\n".join(lines))


def main() -> None:
    """Measure, and write the means and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with threadpool_limits(1, "blas"):
        folds = collect(options.folds, options.seconds, options.only)
    table = summarize(folds)
    table.to_csv(FILE, index=False)
    write_page(folds, table)


if __name__ == "__main__":
    main()
