"""IN and OUT on one data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from veridical import __version__
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Progress, Workers
from veridical._core.reading import read_table
from veridical._core.repeating import repeatable
from veridical._core.seeds import Purpose, root_seed, seed_for
from veridical._core.table import Table
from veridical._core.text import did_you_mean, listed, one_line
from veridical.comparison import conclusions as say
from veridical.comparison.calibration import check_calibrated
from veridical.comparison.engine import (
    Design,
    Outcome,
    make_judges,
    ranking_parts,
    run_data_set,
)
from veridical.comparison.records import SIDES, Comparison, Side
from veridical.comparison.significance import check_alpha
from veridical.comparison.splits import Splits, make_splits, refuse_small_classes
from veridical.comparison.testing import check_fit, find_test
from veridical.comparison.verdicts import Court, Question, count_draws, measure_nulls
from veridical.evaluation.rankers import make_rankers


@repeatable
def compare(
    a: Any,
    b: Any,
    X: Any,
    y: Any,
    *,
    n_features: int | float,
    classifier: Any = "svm",
    methods: Iterable[str] = ("in", "out"),
    cv: Any = 10,
    test: Any = "corrected-t",
    alpha: float = 0.05,
    calibrated: bool | int = False,
    rope: float = 0.01,
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
    n_features : int or float
        How many features each selector must return: a number, or a share of all.
    classifier : str, classifier or list of them, default="svm"
        "svm", "nb", "1nn", "tree" or scikit-learn classifiers. With several, verdicts
        rest on their mean accuracy and `by_classifier` has them one by one.
    methods : iterable of {"in", "out"}, default=("in", "out")
        Protocols to run.
    cv : int, str, scikit-learn splitter or list of (train, test), default=10
        A number means that many plain shuffled folds; "10x5" means ten repeats of five.
    test : str or function, default="corrected-t"
        How differences between folds are tested: "corrected-t", "paired-t",
        "five-by-two-t", "five-by-two-f", "repeated-cv-t", "sorted-runs-t" or
        "bayesian-correlated-t", or the function, such as `corrected_resampled_t`. What
        a test must know of the splits it is told by them, and one that is not made for
        `cv` is refused.
    alpha : float, default=0.05
        Significance level; intervals have confidence ``1 - alpha``.
    calibrated : bool or int, default=False
        Take p-values and intervals from a measured null: 100 data sets like these, or
        as many as are asked for, on which each selector is compared with itself on two
        blocks of columns drawn alike. It costs as much as 200 comparisons.
    rope : float, default=0.01
        Region of practical equivalence of "bayesian-correlated-t": true differences up
        to this count as none.
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
    data = read_table(X, y)
    methods = check_methods(methods, ("in", "out"))
    test = find_test(test)
    check_alpha(alpha)
    root = root_seed(random_state)
    refuse_small_classes(cv, data)
    splits = make_splits(cv, data, seed_for(root, Purpose.FOLDS))
    check_fit(test, *splits.shape)
    n_draws = count_draws(calibrated, alpha)
    if n_draws:
        check_calibrated(test)
    design = Design(
        rankers=make_rankers(a, b, names, root),
        judges=make_judges(classifier, root),
        n_features=check_n_features(n_features, data.n_features),
        methods=methods,
    )
    workers = Workers(n_jobs, progress, count_jobs(design, splits) + n_draws)
    columns = column_order(root, data.n_features)
    outcome = run_data_set(design, data, splits, columns, workers)
    question = Question(test, float(alpha), float(rope))
    nulls = measure_nulls(design, data, splits, question, root, n_draws, workers)
    court = Court(question, splits.geometry, data.n_samples, nulls)
    settings = {
        **describe_design(design, alpha, root),
        **describe_splits(splits, question, n_draws),
        "table sha256": data.sha256(),
    }
    return _conclude(design, data, splits, outcome, court, data_name, settings)


def _conclude(
    design: Design,
    data: Table,
    splits: Splits,
    outcome: Outcome,
    court: Court,
    data_name: str | None,
    settings: Mapping[str, str],
) -> Comparison:
    accuracy = by_repeat_and_fold(outcome.accuracy, splits)
    classifiers = tuple(judge.name for judge in design.judges)
    verdicts, by_classifier = court.verdicts(accuracy, classifiers)
    summary = data.summary(data_name or "data")
    alpha = court.question.alpha
    names = {s: r.name for s, r in zip(SIDES, design.rankers, strict=True)}
    wording = say.Wording(names, alpha, summary.majority_share)
    optimism = say.measure_optimism(accuracy, splits.geometry, alpha)
    artefacts = say.find_artefacts(
        accuracy, optimism, summary.majority_share, splits.geometry, alpha
    )
    selected = chosen_by_repeat(outcome.chosen, splits)
    steady = say.measure_stability(
        {m: chosen for m, chosen in selected.items() if m == "in"},
        summary.n_features,
        alpha,
    )
    return Comparison(
        names=names,
        classifiers=classifiers,
        n_features=design.n_features,
        data=summary,
        accuracy=accuracy,
        selected=selected,
        verdicts=verdicts,
        by_classifier=by_classifier,
        optimism=optimism,
        bias_imbalance=say.imbalance(accuracy),
        recommendation=say.recommend(verdicts, accuracy, artefacts, optimism, wording),
        settings=settings,
        stability={m: dict(zip(SIDES, own, strict=True)) for m, own in steady.items()},
        seconds=dict(zip(SIDES, outcome.seconds.tolist(), strict=True)),
    )


# -- shared with compare_many() ------------------------------------------------------


def by_repeat_and_fold(
    accuracy: Mapping[str, FloatArray], splits: Splits
) -> dict[str, FloatArray]:
    """Arrange accuracies as (n_selectors, n_classifiers, n_repeats, n_folds)."""
    return {
        method: values.reshape(*values.shape[:2], *splits.shape)
        for method, values in accuracy.items()
    }


def chosen_by_repeat(
    chosen: Mapping[str, IntArray], splits: Splits
) -> dict[str, IntArray]:
    """Arrange columns as (n_selectors, n_repeats, n_folds, n_features).

    OUT, which chooses once, has one fold.
    """
    n_repeats, n_folds = splits.shape
    result = {}
    for method, picks in chosen.items():
        if method == "out":
            result[method] = np.repeat(picks[:, np.newaxis], n_repeats, axis=1)
        else:
            result[method] = picks.reshape(len(picks), n_repeats, n_folds, -1)
    return result


def count_jobs(design: Design, splits: Splits) -> int:
    """How many jobs a comparison on one data set takes."""
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
    pair = len(design.rankers) == len(SIDES)
    keys = SIDES if pair else range(1, len(design.rankers) + 1)
    judges = ", ".join(judge.description for judge in design.judges)
    return {
        **{
            f"selector {key}": one_line(ranker.selector)
            for key, ranker in zip(keys, design.rankers, strict=True)
        },
        "classifier": judges,
        "methods": ", ".join(design.methods),
        "alpha": f"{alpha:g}",
        "random_state": str(root),
        "veridical": __version__,
    }


def describe_splits(splits: Splits, question: Question, n_draws: int) -> dict[str, str]:
    """What a reader needs to repeat the folds and the test."""
    settings = {
        "cross-validation": splits.description,
        "n_train": f"{np.mean(splits.geometry.n_train):g}",
        "n_test": f"{np.mean(splits.geometry.n_test):g}",
        "test": question.test,
    }
    if question.test == "bayesian-correlated-t":
        settings["region of practical equivalence"] = f"{question.rope:g}"
    if n_draws:
        settings["calibrated"] = f"on {n_draws} pairs of data sets like the data"
    return settings


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
    """Check the number of features to return, or the share of them."""
    if isinstance(n_features, bool) or not isinstance(n_features, Real):
        raise InputError(
            f"n_features must be a whole number or a share in (0, 1], got "
            f"{n_features!r}; use 1 to {available}."
        )
    number: Any = n_features
    if isinstance(n_features, Integral) and not 1 <= number <= available:
        raise InputError(
            f"n_features={n_features} is not possible: the data has {available} "
            f"column(s); use 1 to {available}."
        )
    return int(n_features)
