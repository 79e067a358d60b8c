"""IN and OUT on one data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from veridical import __version__
from veridical._records import SIDES, Comparison, InputError, IntArray, Side
from veridical.comparison import conclusions as say
from veridical.comparison.data import Data, read_data
from veridical.comparison.engine import (
    Design,
    Outcome,
    Progress,
    Workers,
    make_judges,
    ranking_parts,
    run_data_set,
)
from veridical.comparison.rankers import make_rankers, one_line
from veridical.comparison.significance import check_alpha
from veridical.comparison.splits import (
    Purpose,
    Splits,
    make_splits,
    refuse_small_classes,
    root_seed,
    seed_for,
)
from veridical.comparison.testing import check_fit, find_test
from veridical.datasets.wording import did_you_mean, listed


def compare(
    a: Any,
    b: Any,
    X: Any,
    y: Any,
    *,
    n_features: int,
    classifier: Any = "svm",
    methods: Iterable[str] = ("in", "out"),
    cv: Any = 10,
    test: str = "corrected-t",
    alpha: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    names: Mapping[Side, str] | None = None,
    data_name: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Which of two feature selectors is better on this data, and may I believe it?

    Both selectors return `n_features` features, a classifier learns from each set, and
    cross-validated accuracies are compared on the same folds: under IN the selection
    is repeated inside each training fold, under OUT it is made once on all the data,
    test cases included.

    Parameters
    ----------
    a, b : selector or str
        A selector of `veridical.selection`, any scikit-learn selector, or a name from
        ``veridical.selection.SELECTORS`` such as "relieff".
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        numpy, pandas, polars or scipy; may hold nominal columns and missing values
        where the selectors can use them.
    y : array-like of shape (n_samples,)
        Class labels, numbers or text.
    n_features : int
        How many features each selector must return.
    classifier : str, classifier or list of them, default="svm"
        "svm", "nb", "1nn", "tree" or scikit-learn classifiers. With several, verdicts
        rest on their mean accuracy and `by_classifier` has them one by one.
    methods : iterable of {"in", "out"}, default=("in", "out")
        Protocols to run.
    cv : int, str, scikit-learn splitter or list of (train, test), default=10
        A number means that many plain shuffled folds; "10x5" means ten repeats of five.
    test : str, default="corrected-t"
        How differences between folds are tested: "corrected-t", "paired-t",
        "five-by-two-t", "five-by-two-f", "repeated-cv-t", "sorted-runs-t" or
        "bayesian-correlated-t". What a test must know of the splits it is told by
        them, and one that is not made for `cv` is refused.
    alpha : float, default=0.05
        Significance level; intervals have confidence ``1 - alpha``.
    random_state : int, numpy random generator or None, default=None
        Decides the folds and everything else that is left to chance.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. The result does not depend on it.
    names : mapping of "a" and "b" to str, optional
        Display names of the selectors.
    data_name : str, optional
        Display name of the data.
    progress : callable, optional
        Called as ``progress(done, total)`` while the work goes on.

    Returns
    -------
    Comparison
        Verdicts, accuracies, selected features, optimism of OUT and a recommendation.

    Raises
    ------
    InputError
        For data or parameters that cannot give an honest answer.

    See Also
    --------
    truth : The same on a source that can be sampled for ever.

    Notes
    -----
    Selectors see the columns in a random order (decided by `random_state`), because
    ties go by index and an index must carry no information. Numeric data reach
    selectors and classifiers as arrays, mixed data as pandas data frames.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
    .. [2] C. Nadeau & Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest, chi2, f_classif
    >>> from veridical.comparison import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare(
    ...     SelectKBest(f_classif),
    ...     SelectKBest(chi2),
    ...     X,
    ...     y,
    ...     n_features=3,
    ...     classifier="1nn",
    ...     random_state=0,
    ...     names={"a": "ANOVA F", "b": "chi-squared"},
    ... )
    >>> result.verdicts["in"].winner
    'draw'
    """
    data = read_data(X, y)
    methods = check_methods(methods, ("in", "out"))
    test = find_test(test)
    check_alpha(alpha)
    root = root_seed(random_state)
    refuse_small_classes(cv, data)
    splits = make_splits(cv, data, seed_for(root, Purpose.FOLDS))
    check_fit(test, *splits.shape)
    design = Design(
        rankers=make_rankers(a, b, names, seed_for(root, Purpose.SELECTOR)),
        judges=make_judges(classifier, seed_for(root, Purpose.CLASSIFIER)),
        n_features=check_n_features(n_features, data.n_features),
        methods=methods,
    )
    workers = Workers(n_jobs, progress, _count_jobs(design, splits))
    columns = column_order(root, data.n_features)
    outcome = run_data_set(design, data, splits, columns, workers)
    settings = {
        **describe_design(design, alpha, root),
        "cross-validation": splits.description,
        "n_train": f"{np.mean(splits.geometry.n_train):g}",
        "n_test": f"{np.mean(splits.geometry.n_test):g}",
        "test": test,
    }
    return _conclude(design, data, splits, outcome, test, alpha, data_name, settings)


def _conclude(
    design: Design,
    data: Data,
    splits: Splits,
    outcome: Outcome,
    test: str,
    alpha: float,
    data_name: str | None,
    settings: Mapping[str, str],
) -> Comparison:
    accuracy = {
        method: values.reshape(*values.shape[:2], *splits.shape)
        for method, values in outcome.accuracy.items()
    }
    classifiers = tuple(judge.name for judge in design.judges)
    verdicts, by_classifier = say.give_verdicts(
        accuracy,
        classifiers,
        dict.fromkeys(accuracy, splits.geometry),
        dict.fromkeys(accuracy, test),
        alpha,
    )
    summary = data.summary(data_name or "data")
    names = {s: r.name for s, r in zip(SIDES, design.rankers, strict=True)}
    wording = say.Wording(names, alpha, summary.majority_share)
    optimism = say.measure_optimism(accuracy, splits.geometry, alpha)
    artefacts = say.find_artefacts(
        accuracy, optimism, summary.majority_share, splits.geometry, alpha
    )
    return Comparison(
        names=names,
        classifiers=classifiers,
        n_features=design.n_features,
        data=summary,
        accuracy=accuracy,
        selected=_by_repeat(outcome.chosen, splits),
        verdicts=verdicts,
        by_classifier=by_classifier,
        optimism=optimism,
        bias_imbalance=say.imbalance(accuracy),
        recommendation=say.recommend(verdicts, accuracy, artefacts, optimism, wording),
        settings=settings,
    )


def _by_repeat(chosen: Mapping[str, IntArray], splits: Splits) -> dict[str, IntArray]:
    """Arrange columns as (2, n_repeats, n_folds, n_features); OUT has one fold."""
    n_repeats, n_folds = splits.shape
    result = {}
    for method, picks in chosen.items():
        if method == "out":
            result[method] = np.repeat(picks[:, np.newaxis], n_repeats, axis=1)
        else:
            result[method] = picks.reshape(2, n_repeats, n_folds, -1)
    return result


def _count_jobs(design: Design, splits: Splits) -> int:
    sets = int("out" in design.methods) + len(splits) * ("in" in design.methods)
    placeholder = [np.arange(0)] * sets
    rankings = sum(len(ranking_parts(ranker, placeholder)) for ranker in design.rankers)
    return rankings + len(splits)


# -- shared with truth() -------------------------------------------------------------


def column_order(root: int, n_features: int, data_set: int = 0) -> IntArray:
    """Draw the order in which selectors see the columns of one data set."""
    seed = seed_for(root, Purpose.COLUMNS, data_set)
    return np.random.default_rng(seed).permutation(n_features)


def describe_design(design: Design, alpha: float, root: int) -> dict[str, str]:
    """What a reader needs to repeat the run, besides data and folds."""
    a, b = (one_line(ranker.selector) for ranker in design.rankers)
    judges = ", ".join(judge.description for judge in design.judges)
    return {
        "selector a": a,
        "selector b": b,
        "classifier": judges,
        "methods": ", ".join(design.methods),
        "alpha": f"{alpha:g}",
        "random_state": str(root),
        "veridical": __version__,
    }


def check_methods(methods: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Check which methods are asked for; they come back in their usual order."""
    asked = (methods,) if isinstance(methods, str) else tuple(methods)
    for method in asked:
        if method not in known:
            raise InputError(
                f"There is no method {method!r} here{did_you_mean(str(method), known)} "
                f"Use {listed(known)}."
            )
    if not asked:
        raise InputError(f"methods is empty; name at least one of {listed(known)}.")
    return tuple(method for method in known if method in asked)


def check_n_features(n_features: Any, available: int) -> int:
    """Check the number of features to return."""
    if isinstance(n_features, bool) or not isinstance(n_features, Integral):
        raise InputError(
            f"n_features must be a whole number, got {n_features!r}; use 1 to "
            f"{available}."
        )
    if not 1 <= int(n_features) <= available:
        raise InputError(
            f"n_features={n_features} is not possible: the data has {available} "
            f"column(s); use 1 to {available}."
        )
    return int(n_features)


def check_count(name: str, value: Any, least: int) -> None:
    """Check a number of things."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(
            f"{name} must be a whole number from {least} up, got {value!r}."
        )
