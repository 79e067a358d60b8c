"""Every method with what it costs in theory, and a call that can be timed.

======  ================================================
symbol  meaning
======  ================================================
n       samples
p       features
K       classes
k       features selected, or searched for
f       folds, splits or samples of the resampling
======  ================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical import auditing, comparison, evaluation, learning, selection


@dataclass(frozen=True)
class Size:
    """A problem: numbers of samples, features and classes."""

    n: int
    p: int
    K: int = 2

    def doubled(self, symbol: str) -> Size:
        """Return the size with one number doubled."""
        changed = {"n": self.n, "p": self.p, "K": self.K}
        changed[symbol] *= 2
        return Size(**changed)


@dataclass(frozen=True)
class Method:
    """One row of the table.

    Parameters
    ----------
    name : str
        As it is imported, with the parameters that matter.
    cost : str
        Its time in theory, in the symbols of this module.
    call : callable
        What is timed: gets X and y.
    grows : str
        Symbols to double, one after the other; without any, the base alone is timed.
    """

    name: str
    cost: str
    call: Callable[[Any, Any], Any]
    grows: str = ""


@dataclass(frozen=True)
class Kind:
    """One table of the page."""

    name: str
    title: str
    words: str
    size: Size
    methods: tuple[Method, ...]
    binary: bool = False  # whether features are 0 and 1


def make_table(size: Size, *, binary: bool = False) -> tuple[Any, Any]:
    """Draw a table in which a tenth of the features are weakly informative."""
    rng = np.random.default_rng(0)
    y = np.arange(size.n) % size.K
    X = rng.normal(size=(size.n, size.p))
    telling = max(1, size.p // 10)
    X[:, :telling] += 0.7 * rng.normal(size=(size.K, telling))[y]
    return ((X > 0).astype(float) if binary else X), y


def _fits(estimator: Any) -> Callable[[Any, Any], Any]:
    return lambda X, y: clone(estimator).fit(X, y)


def _fits_times(estimator: Any) -> Callable[[Any, Any], Any]:
    """Fit on survival times, all events seen, in place of classes."""
    return lambda X, y: clone(estimator).fit(X, y + 1.0 + np.arange(len(y)) % 97)


def _privileged(X: Any, y: Any) -> Any:
    half = X.shape[1] // 2
    return learning.SVMPlus().fit(X[:, :half], y, X_privileged=X[:, half:])


#: Selectors with other parameters: what they cost, and what is doubled.
_VARIANTS: dict[str, tuple[Method, ...]] = {
    "ddp": (
        Method(
            "DifferentialPrioritization(alpha='auto')",
            "ten splits of ten searches, and a DAGSVM for each size",
            _fits(selection.DifferentialPrioritization(alpha="auto", random_state=0)),
        ),
    ),
    "hsic": (
        Method(
            "HSIC(kernel='rbf')", "n² p", _fits(selection.HSIC(kernel="rbf")), "npK"
        ),
    ),
    "svm-rfe": (
        Method(
            "SVMRFE(step=0.1)",
            "ten rounds: n² p once, then n² of what is dropped and n³",
            _fits(selection.SVMRFE(step=0.1)),
            "np",
        ),
    ),
}
_SLOW = {"svm-rfe"}  # timed at one size only


def _rows_of(name: str) -> tuple[Method, ...]:
    """Return the row of a registered selector, and those of its variants."""
    cls = selection.SELECTORS[name]
    grows = "" if name in _SLOW else "npK"
    fits = _fits if "classes" in cls._abilities.targets else _fits_times
    row = Method(f"{cls.__name__}()", cls._cost.time, fits(cls()), grows)
    return row, *_VARIANTS.get(name, ())


SELECTORS = (
    *(row for name in selection.SELECTORS for row in _rows_of(name)),
    Method("MDLDiscretizer()", "n log n p", _fits(selection.MDLDiscretizer()), "npK"),
    Method(
        "ExpressionFilter()",
        "n p",
        _fits(selection.ExpressionFilter(low=None, min_fold=None, min_difference=None)),
        "np",
    ),
)

_PANEL = selection.AnovaF(20)
LEARNERS = (
    Method(
        "C45()", "n log n p for each level of the tree", _fits(learning.C45()), "npK"
    ),
    Method("NaiveBayes()", "n p", _fits(learning.NaiveBayes()), "npK"),
    Method(
        "CoxRidge()",
        "Newton steps: n p² or, with more features than samples, n² p",
        _fits_times(learning.CoxRidge()),
        "np",
    ),
    Method(
        "DAGSVM()",
        "K(K − 1)/2 SVMs: n² p and n³ of two classes each",
        _fits(learning.DAGSVM()),
        "npK",
    ),
    Method("SVMPlus()", "n² p once, then n³ a step", _privileged, "np"),
    Method(
        "LUFe(AnovaF(20))",
        "the selector, n² p once, then n³ a step",
        _fits(learning.LUFe(_PANEL)),
        "np",
    ),
    Method(
        "LUFeCV(AnovaF(20))",
        "the selector, n² p once, then 245 problems of n³ steps",
        _fits(learning.LUFeCV(_PANEL, n_jobs=1)),
        "np",
    ),
    Method(
        "LUFeLogistic(AnovaF(20))",
        "the selector, n² p once, then n³ a Newton step",
        _fits(learning.LUFeLogistic(_PANEL)),
        "np",
    ),
)
BINARY = (
    Method(
        "BiasCorrectedNB(20)",
        "n p, then 61 n for each pattern of counts that is kept",
        _fits(learning.BiasCorrectedNB(20)),
        "np",
    ),
    Method(
        "BiasCorrectedGaussianNB(20)",
        "n p, then a grid for each column that is kept",
        _fits(learning.BiasCorrectedGaussianNB(20)),
        "np",
    ),
    Method("MedianBinarizer()", "n log n p", _fits(learning.MedianBinarizer()), "np"),
)


def _estimates(method: Any) -> Callable[[Any, Any], Any]:
    tree = learning.C45()
    return lambda X, y: evaluation.estimate(tree, X, y, cv=method, random_state=0)


ESTIMATES = (
    Method("Resubstitution()", "1 fit", _estimates(evaluation.Resubstitution()), "n"),
    Method("Holdout()", "1 fit", _estimates(evaluation.Holdout()), "n"),
    Method(
        "RandomSubsampling(20)",
        "20 fits",
        _estimates(evaluation.RandomSubsampling(20)),
        "n",
    ),
    Method(
        "CrossValidation(10)",
        "10 fits",
        _estimates(evaluation.CrossValidation(10)),
        "n",
    ),
    Method(
        "CrossValidation(10, n_repeats=10)",
        "100 fits",
        _estimates(evaluation.CrossValidation(10, n_repeats=10)),
        "n",
    ),
    Method(
        "PurgedKFold(10, gap=2)",
        "10 fits",
        _estimates(evaluation.PurgedKFold(10, gap=2)),
        "n",
    ),
    Method("LeaveOut(1)", "n fits", _estimates(evaluation.LeaveOut(1)), "n"),
    Method(
        "CompleteCV(2)", "n(n − 1)/2 fits", _estimates(evaluation.CompleteCV(2)), ""
    ),
    Method("Bootstrap632(50)", "51 fits", _estimates(evaluation.Bootstrap632(50)), "n"),
    Method(
        "Bootstrap632(50, plus=True)",
        "51 fits",
        _estimates(evaluation.Bootstrap632(50, plus=True)),
        "n",
    ),
    Method(
        "nested_cv(n_repeats=10)",
        "10 × 55 fits",
        lambda X, y: evaluation.nested_cv(
            learning.C45(), X, y, n_repeats=10, random_state=0
        ),
        "",
    ),
)

_PAIR = {"estimator": "svm", "n_features_to_select": 10, "random_state": 0}
_ONE = partial(comparison.compare, ["anova", "relieff"])
QUESTIONS = (
    Method(
        "compare",
        "f + 1 rankings of each selector, 4 f fits",
        lambda X, y: _ONE(X, y, **_PAIR),
        "np",
    ),
    Method(
        "compare, four selectors",
        "f + 1 rankings of each, 8 f fits",
        lambda X, y: comparison.compare(
            ["anova", "relieff", "fcbf", "mrmr"], X, y, **_PAIR
        ),
        "np",
    ),
    Method(
        "compare(calibrated=20)",
        "as 41 comparisons",
        lambda X, y: _ONE(X, y, **_PAIR, calibrated=20),
        "",
    ),
    Method(
        "sensitivity(n_sets=10)",
        "for each of 3 strengths 10 comparisons and truths",
        lambda X, y: comparison.sensitivity(
            ["anova", "relieff"], X, y, **_PAIR, n_sets=10
        ),
        "",
    ),
    Method(
        "truth(n_sets=10)",
        "10 comparisons, 20 fits more",
        lambda X, y: comparison.truth(
            ["anova", "relieff"], "linear", n_train=100, n_sets=10, **_PAIR
        ),
        "",
    ),
    Method(
        "select",
        "f + 1 rankings, f fits for each size",
        lambda X, y: evaluation.select(
            "mrmr", X, y, n_features_to_select=10, random_state=0
        ),
        "np",
    ),
    Method(
        "audit(n_permutations=20)",
        "21 times what is audited",
        lambda X, y: auditing.audit(
            "svm", X, y, selected=range(10), n_permutations=20, random_state=0
        ),
        "np",
    ),
)

_SCORES = np.random.default_rng(0).normal(0.8, 0.05, size=(2, 100))
_A, _B = _SCORES


def _tests(call: Callable[[], Any]) -> Callable[[Any, Any], Any]:
    return lambda X, y: call()


TESTS = (
    Method("paired_t", "f", _tests(lambda: comparison.paired_t(_A, _B))),
    Method(
        "corrected_resampled_t",
        "f",
        _tests(lambda: comparison.corrected_resampled_t(_A, _B, n_train=90, n_test=10)),
    ),
    Method(
        "five_by_two_t",
        "10",
        _tests(lambda: comparison.five_by_two_t(_A[:10], _B[:10])),
    ),
    Method(
        "five_by_two_f",
        "10",
        _tests(lambda: comparison.five_by_two_f(_A[:10], _B[:10])),
    ),
    Method("repeated_cv_t", "f", _tests(lambda: comparison.repeated_cv_t(_A, _B))),
    Method(
        "sorted_runs_t",
        "f log f",
        _tests(lambda: comparison.sorted_runs_t(_A, _B, n_repeats=10)),
    ),
    Method(
        "bayesian_correlated_t",
        "f",
        _tests(lambda: comparison.bayesian_correlated_t(_A, _B, n_train=90, n_test=10)),
    ),
    Method(
        "binomial_truthfulness",
        "1",
        _tests(lambda: comparison.binomial_truthfulness(12, 5)),
    ),
    Method("welch_bias", "f", _tests(lambda: comparison.welch_bias(_A, _B))),
    Method(
        "friedman",
        "f k log k",
        _tests(lambda: comparison.friedman(_SCORES.reshape(4, 50))),
    ),
    Method(
        "stability",
        "f k",
        _tests(
            lambda: comparison.stability(
                [range(i, i + 10) for i in range(10)], n_features=1000
            )
        ),
    ),
    Method(
        "calibrate(n_simulations=100)",
        "100 data sets, f small fits each",
        _tests(lambda: comparison.calibrate("corrected-t", n_simulations=100)),
    ),
)

KINDS = (
    Kind(
        "selectors",
        "Selectors",
        "Fitting on {size}; the ranking serves every number of features.",
        Size(200, 2000),
        SELECTORS,
    ),
    Kind(
        "learners",
        "Estimators",
        "Fitting on {size}, a numeric table.",
        Size(200, 1000),
        LEARNERS,
    ),
    Kind(
        "binary",
        "Estimators for features of 0 and 1",
        "Fitting on {size}.",
        Size(200, 2000),
        BINARY,
        binary=True,
    ),
    Kind(
        "estimates",
        "Estimates of accuracy",
        "Of C4.5 on {size}. Naive Bayes, nearest neighbours and the "
        "majority are [computed for all splits at once](estimating.md), without fits.",
        Size(100, 10),
        ESTIMATES,
    ),
    Kind(
        "questions",
        "Questions",
        "Whole answers on {size}: the F ratio and ReliefF with ten features and a "
        "linear SVM, ten folds, unless the name says otherwise.",
        Size(100, 500),
        QUESTIONS,
    ),
    Kind(
        "tests",
        "Significance tests",
        "Given the scores of f = 100 folds (ten for 5 × 2). Next to what makes the "
        "scores, they cost nothing.",
        Size(4, 2),
        TESTS,
    ),
)
