"""TRUTH: what is true on a source that can be sampled without limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Workers, serial
from veridical._core.progress import ProgressLike
from veridical._core.reading import read_table
from veridical._core.records import DataSummary, Interval, Setting
from veridical._core.repeating import repeatable
from veridical._core.scoring import ACCURACY, Score, ScoreInfo, read_scoring
from veridical._core.seeds import Purpose, root_seed, seed_for
from veridical._core.splits import describe_splits
from veridical._core.table import Table
from veridical._core.targets import Kind
from veridical._core.text import did_you_mean, listed
from veridical._core.types import (
    CVLike,
    EstimatorLike,
    RandomStateLike,
    ScoringLike,
    SelectorLike,
)
from veridical._core.validation import check_count
from veridical.comparison import conclusions as say
from veridical.comparison.comparing import (
    announce_fits,
    check_methods,
    describe_design,
    feature_order,
)
from veridical.comparison.design import (
    ComparedMethod,
    Design,
    SetOutcome,
    read_estimators,
    read_n_features,
    read_selectors,
    run_data_set,
)
from veridical.comparison.records import (
    Comparison,
    PairVerdict,
    TestResult,
    Verdict,
    Winner,
)
from veridical.comparison.significance import Geometry, check_alpha, paired_t
from veridical.comparison.splits import Splits, make_splits
from veridical.comparison.testing import (
    apply_test,
    check_fit,
    find_test,
    on_accuracies,
)
from veridical.comparison.verdicts import pair_verdicts
from veridical.datasets import SOURCES
from veridical.evaluation.engine import common_target
from veridical.evaluation.estimating import describe_score
from veridical.evaluation.naming import read_cv
from veridical.learning import DEFAULT_ESTIMATORS

SOURCE_METHODS = ("truth", "in", "out")


@repeatable
def truth(
    selectors: Sequence[SelectorLike] | Mapping[str, SelectorLike],
    source: str | Callable[..., tuple[Any, Any]],
    *,
    n_train: int,
    estimator: EstimatorLike | Sequence[EstimatorLike] | None = None,
    n_features_to_select: int | float | Literal["auto"] = "auto",
    n_sets: int = 100,
    n_test: int | None = None,
    methods: Iterable[str] = SOURCE_METHODS,
    scoring: ScoringLike = None,
    cv: CVLike = 10,
    test: str | Callable[..., TestResult] = "paired-t",
    alpha: float = 0.05,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Find which of two selectors is truly better, and how often IN and OUT find it.

    Many training sets are drawn from the source, each with an independent test set.
    TRUTH selects and learns on a whole training set and is tested on its test set; IN
    and OUT see the training set alone. TRUTH gives one verdict for all data
    sets, IN and OUT one for each, and those are compared with the true one.

    Parameters
    ----------
    selectors : sequence of selectors, or mapping of display name to selector
        Exactly two, as in `compare`.
    source : str or callable
        A name in ``veridical.datasets.SOURCES``, or a function
        ``source(n_samples, random_state=...)`` that returns ``X, y``. If it has a
        method ``test`` of the same kind, test sets are drawn from that.
    n_train : int
        Samples in a training set.
    estimator : str, estimator, list of them or None
        As in `compare`: None is the default of the kind of target.
    n_features_to_select : int, float or "auto", default="auto"
        Number of features that every selector must return, or a share of all in (0, 1];
        it replaces the number that a selector was made with. "auto" is the number that
        the selectors themselves were made with (an error if they differ); where none
        has one, as for names, it is 10, but at most half of the features.
    n_sets : int, default=100
        Number of data sets.
    n_test : int, optional
        Samples in a test set; as many as in a training set by default.
    methods : iterable of {"truth", "in", "out"}
        Protocols to run; all three by default.
    scoring : str, callable or None
        What counts, as in `compare`; None is accuracy, R² or concordance.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        Splits of IN and OUT, as in `compare`.
    test : str or function, default="paired-t"
        How IN and OUT test the folds of one data set, as in `compare`; the default is
        the paper's. The verdict of TRUTH is always a paired t-test, since its data sets
        are independent.
    alpha : float, default=0.05
        Significance level of all tests.
    random_state : int, numpy random generator or None, default=None
        Decides everything that is random. A data set depends on it and on the number of
        the set, but not on how many there are.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. The result does not depend on it.
    name : str, optional
        Display name of the source; its own name by default.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` after each data set. By default, work that
        takes more than two seconds tells its cost and its progress on standard error;
        False is silent.

    Returns
    -------
    Comparison
        ``verdicts`` holds "truth" alone; those of IN and OUT, one per data set, are in
        ``set_verdicts``, and how often they were right in ``truthfulness``.

    See Also
    --------
    compare : IN and OUT on one data set.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, chi2, f_classif
    >>> from veridical.comparison import truth
    >>> result = truth(
    ...     {"ANOVA F": SelectKBest(f_classif), "chi-squared": SelectKBest(chi2)},
    ...     "linear",
    ...     n_train=60,
    ...     estimator="1nn",
    ...     n_features_to_select=10,
    ...     n_sets=5,
    ...     random_state=0,
    ... )
    >>> result.accuracy["truth"].shape, len(result.set_verdicts["in"])
    ((2, 1, 5, 1), 5)
    """
    source_name, draw = find_source(source)
    methods = check_methods(methods, SOURCE_METHODS)
    test = find_test(test)
    check_alpha(alpha)
    check_count("n_sets", n_sets, 2)
    check_count("n_train", n_train, 2)
    n_test = n_train if n_test is None else n_test
    check_count("n_test", n_test, 1)
    root = root_seed(random_state)
    named = make_pair(selectors, root)
    given = () if estimator is None else read_estimators(estimator, root)
    kind = common_target([one.what for one in given])
    n_drawn = n_test if "truth" in methods else 0
    sampler = SourceSampler(draw, n_train, n_drawn, cv, root, kind or "auto")
    first, _ = sampler.draw(0)
    scores = read_one_score(scoring, first)
    folds: Sequence[Any] | Splits = ()
    if {"in", "out"} & set(methods):
        seed = seed_for(root, Purpose.FOLDS)
        where = "Data set 0 of the source: "
        folds = make_splits(cv, first, seed, n_rows=n_train, warn=True, where=where)
        check_fit(test, *folds.shape)
    design = Design(
        selectors=named,
        estimators=given or read_estimators(DEFAULT_ESTIMATORS[first.kind], root),
        n_features=read_n_features(n_features_to_select, named, first.n_features),
        methods=methods,
        scores=scores,
    )
    n_splits = len(folds) + ("truth" in methods)
    announce_fits(progress, design, n_splits, n_sets)
    workers = Workers(n_jobs, progress, n_sets)
    results = workers((_one_set, (design, sampler, number)) for number in range(n_sets))
    settings = {
        **describe_design(design, alpha, root),
        "cross-validation": _describe_cv(cv, first),
        **({"scoring": scores[0].label} if scores else {}),
        "n_sets": n_sets,
        "n_train": n_train,
        "n_test": n_test,
        "test": f"paired-t over data sets for TRUTH, {test} over folds for IN and OUT",
    }
    counts = [result.classes for result in results]
    summary = _summarize(first, name or source_name, n_train, counts)
    scorings = tuple(describe_score(one, first, "mean of folds") for one in scores)
    return _conclude(design, results, summary, test, alpha, settings, scorings)


def _describe_cv(cv: Any, table: Table) -> str:
    return f"{describe_splits(read_cv(cv, None, table.kind))} on each data set"


def read_one_score(scoring: ScoringLike, table: Table) -> tuple[Score, ...]:
    """Read the one score that the truth is about; nothing for the accuracy."""
    scores = read_scoring(scoring, table.target)
    if len(scores) > 1:
        raise InputError(
            f"scoring holds {len(scores)} scores, but only one can be compared with "
            "the truth; pass one."
        )
    return () if scores[0].is_accuracy else scores


def make_pair(
    selectors: Sequence[Any] | Mapping[str, Any], seed: int
) -> tuple[ComparedMethod, ...]:
    """Read two selectors; raise if there are more.

    Parameters
    ----------
    selectors : sequence, or mapping of display name to selector
        As in `compare`.
    seed : int
        Seed of selectors that have none of their own.
    """
    named = read_selectors(selectors, seed)
    if len(named) != 2:
        raise InputError(
            f"There are {len(named)} selectors, but only two can be compared with "
            "the truth; compare() takes more."
        )
    return named


# -- data sets drawn from a source ---------------------------------------------------


@dataclass(frozen=True)
class SourceSampler:
    """Draws the data sets of a source, each with its own seeds."""

    source: Callable[..., Any]
    n_train: int
    n_test: int
    cv: Any
    root: int
    kind: Kind | Literal["auto"] = "auto"

    def draw(self, number: int) -> tuple[Table, int]:
        """Draw one data set, training rows before test rows; count the training rows.

        Both are read together, so that a category has the same code in both.
        """
        seed = seed_for(self.root, Purpose.TRAINING_SET, number)
        X, y = self.source(self.n_train, random_state=seed)[:2]
        if self.n_test:
            seed = seed_for(self.root, Purpose.TEST_SET, number)
            draw_test = getattr(self.source, "test", self.source)
            X_test, y_test = draw_test(self.n_test, random_state=seed)[:2]
            X, y = _concatenate(X, X_test), np.concatenate([y, y_test])
        groups = getattr(self.source, "groups", None)
        if groups is not None and len(groups) == self.n_train:
            fresh = np.arange(len(y) - self.n_train) + len(y)  # each on its own
            groups = np.concatenate([groups, fresh])
        else:
            groups = None
        try:
            data = read_table(X, y, groups=groups, kind=self.kind)
        except InputError as error:
            raise InputError(f"Data set {number} of the source: {error}") from error
        n_train = data.n_samples - self.n_test
        if data.target.is_constant(slice(n_train)):
            what = {"classes": "one class", "numbers": "one number"}
            raise InputError(
                f"Data set {number} of the source has "
                f"{what.get(data.kind, 'no event to learn from')} only; use a larger "
                "n_train."
            )
        return data, n_train


def _concatenate(first: Any, second: Any) -> Any:
    if sparse.issparse(first):
        return sparse.vstack([first, second])
    if hasattr(first, "columns"):
        frames = [nw.from_native(part, eager_only=True) for part in (first, second)]
        return nw.concat(frames).to_native()
    return np.concatenate([np.asarray(first), np.asarray(second)])


def find_source(source: Any) -> tuple[str, Callable[..., Any]]:
    """Return the name of a source, and the function that draws from it."""
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


# -- one data set --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SetResult:
    """One data set: the outcome, its folds and the number of samples of each class."""

    outcome: SetOutcome
    geometry: Geometry | None
    classes: Mapping[str, int]


def _one_set(design: Design, sampler: SourceSampler, number: int) -> SetResult:
    data, n_train = sampler.draw(number)
    splits = None
    if {"in", "out"} & set(design.methods):
        seed = seed_for(sampler.root, Purpose.FOLDS, number)
        splits = make_splits(sampler.cv, data, seed, n_rows=n_train)
    columns = feature_order(sampler.root, data.n_features, number)
    outcome = run_data_set(design, data, splits, columns, serial, n_rows=n_train)
    classes = data.summary("").classes
    return SetResult(outcome, splits.geometry if splits else None, classes)


def _summarize(
    first: Table, name: str, n_train: int, counts: list[Mapping[str, int]]
) -> DataSummary:
    """Describe the source; its classes are counted over all data sets."""
    classes = {
        label: sum(count.get(label, 0) for count in counts)
        for label in sorted(set().union(*counts))
    }
    return replace(
        first.summary(name),
        n_samples=n_train,
        classes=classes,
        outcome="" if first.kind == "classes" else first.target.describe(),
    )


# -- all data sets -------------------------------------------------------------------


def _conclude(
    design: Design,
    results: list[SetResult],
    summary: DataSummary,
    test: str,
    alpha: float,
    settings: Mapping[str, Setting],
    scorings: tuple[ScoreInfo, ...] = (),
) -> Comparison:
    outcomes = [result.outcome for result in results]
    accuracy = {
        m: np.stack([outcome.accuracy[m] for outcome in outcomes], axis=2)
        for m in design.methods
    }
    values = {
        one.name: {
            m: np.stack([outcome.values[one.name][m] for outcome in outcomes], axis=2)
            for m in design.methods
        }
        for one in design.scores
    }
    score = next(iter(values.values()), accuracy)
    info = scorings[0] if scorings else ACCURACY
    selected = {
        m: np.stack([outcome.chosen[m] for outcome in outcomes], axis=1)
        for m in design.methods
    }
    seconds = np.sum([outcome.seconds for outcome in outcomes], axis=0).tolist()
    names = tuple(one.name for one in design.selectors)
    estimators = tuple(one.name for one in design.estimators)
    pairs: dict[str, tuple[PairVerdict, ...]] = {}
    by_estimator: dict[str, dict[str, tuple[PairVerdict, ...]]] = {
        one: {} for one in estimators
    }
    if "truth" in score:
        true = score["truth"]
        pairs["truth"] = _true_pairs(true.mean(axis=1), names, alpha, info)
        for e, one in enumerate(estimators):
            by_estimator[one]["truth"] = _true_pairs(true[:, e], names, alpha, info)
    record = Comparison(
        names=names,
        estimators=estimators,
        n_features_to_select=design.n_features,
        data=summary,
        accuracy=accuracy,
        selected=selected,
        pairs=pairs,
        by_estimator=by_estimator,
        optimism=_optimism(score, alpha, info),
        bias_imbalance=say.bias_imbalance(score),
        recommendation="",
        set_verdicts={
            m: _set_verdicts(score[m], results, test, alpha, info)
            for m in design.methods
            if m != "truth"
        },
        stability=_stability(selected, summary.n_features, alpha),
        seconds=tuple(seconds),
        alpha=float(alpha),
        settings=settings,
        independent_repeats=True,
        scorings=scorings,
        values=values,
    )
    return _with_truthfulness(record)


def _true_pairs(
    scores: FloatArray, names: Sequence[str], alpha: float, info: ScoreInfo
) -> tuple[PairVerdict, ...]:
    """Test the scores of TRUTH, (2, n_sets, 1).

    Its data sets are independent, so the paired t-test is right.
    """
    found = paired_t(*scores.reshape(2, -1), alpha=alpha)
    found = replace(found, greater_is_better=info.greater_is_better)
    test = on_accuracies(found, info.high - info.low)
    return pair_verdicts([Verdict.from_test(test)], names, "none")


def _stability(
    selected: Mapping[str, IntArray], n_features: int, alpha: float
) -> dict[str, tuple[Interval, ...]]:
    """Measure stability over data sets, for OUT, which selects as TRUTH does."""
    method = next((m for m in ("truth", "out") if m in selected), None)
    if method is None:
        return {}
    return say.measure_stability({method: selected[method]}, n_features, alpha)


def _with_truthfulness(record: Comparison) -> Comparison:
    """Add the comparison of the verdicts with the true one."""
    if "truth" not in record.pairs:
        return replace(
            record,
            recommendation="TRUTH was not run, so the better selector is not known.",
        )
    true, found = record.verdicts["truth"], record.set_verdicts
    truthfulness = None
    if {"in", "out"} <= set(found):
        truthfulness = say.count_truths(true.winner, found, record.alpha)
    scoring = record.scoring
    wording = say.Wording(record.names, record.alpha, scoring.chance, scoring)
    n_sets = record.accuracy["truth"].shape[2]
    return replace(
        record,
        truthfulness=truthfulness,
        recommendation=say.describe_truth(true, found, truthfulness, wording, n_sets),
    )


def _set_verdicts(
    scores: FloatArray,
    results: list[SetResult],
    test: str,
    alpha: float,
    info: ScoreInfo,
) -> tuple[Winner, ...]:
    a, b = scores.mean(axis=1)
    return tuple(
        apply_test(test, a[i], b[i], result.geometry, alpha, scoring=info).winner
        for i, result in enumerate(results)
        if result.geometry is not None
    )


def _optimism(
    accuracy: Mapping[str, FloatArray], alpha: float, info: ScoreInfo
) -> tuple[Interval, ...]:
    """Compute OUT minus IN over data sets, which are independent, with a t interval."""
    if not {"in", "out"} <= set(accuracy):
        return ()
    result = []
    for inside, outside in zip(accuracy["in"], accuracy["out"], strict=True):
        test = on_accuracies(
            paired_t(outside.mean(axis=(0, 2)), inside.mean(axis=(0, 2)), alpha=alpha),
            info.high - info.low,
        )
        result.append(Interval(test.mean_difference, *test.interval))
    return tuple(result)


# -- with IN and OUT on one data set -------------------------------------------------


def with_truth(comparison: Comparison, truth_comparison: Comparison) -> Comparison:
    """Add what is known of a source to a comparison on data drawn from it.

    Parameters
    ----------
    comparison : Comparison
        From `compare`, on data drawn from a source.
    truth_comparison : Comparison
        From `truth`, with the same selectors, estimators and number of features.

    Returns
    -------
    Comparison
        The first, with TRUTH's accuracies and verdict and the truthfulness of IN and
        OUT over the data sets of the source. The bias imbalance is that of this one
        data set against TRUTH, as the accuracies in the record show.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, chi2, f_classif
    >>> from veridical.comparison import compare, truth, with_truth
    >>> from veridical.datasets import make_linear
    >>> X, y = make_linear(60, random_state=1)
    >>> pair = {"ANOVA F": SelectKBest(f_classif), "chi-squared": SelectKBest(chi2)}
    >>> common = {"estimator": "1nn", "n_features_to_select": 5, "random_state": 0}
    >>> both = with_truth(
    ...     compare(pair, X, y, **common),
    ...     truth(pair, "linear", n_train=60, n_sets=4, **common),
    ... )
    >>> sorted(both.verdicts)
    ['in', 'out', 'truth']
    """
    for what in ("estimators", "n_features_to_select", "names"):
        one, other = (getattr(r, what) for r in (comparison, truth_comparison))
        if one != other:
            raise InputError(
                f"The two comparisons differ in {what} ({one!r} and {other!r}); TRUTH "
                "can only be added to a comparison of the same selectors with the same "
                "settings. Compare once more with equal settings."
            )
    if "truth" not in truth_comparison.pairs:
        raise InputError(
            "The second comparison has no TRUTH; run truth() with that method."
        )
    accuracy = {**comparison.accuracy, "truth": truth_comparison.accuracy["truth"]}
    extra: dict[str, Any] = {
        key: value
        for key, value in truth_comparison.settings.items()
        if comparison.settings.get(key) != value
    }
    return replace(
        comparison,
        accuracy=accuracy,
        selected={
            **comparison.selected,
            "truth": truth_comparison.selected["truth"],
        },
        pairs={**comparison.pairs, "truth": truth_comparison.pairs["truth"]},
        by_estimator={
            name: {
                **comparison.by_estimator[name],
                "truth": truth_comparison.by_estimator[name]["truth"],
            }
            for name in comparison.estimators
        },
        bias_imbalance=say.bias_imbalance(accuracy),
        recommendation=say.advise_beside_truth(comparison, truth_comparison),
        set_verdicts=truth_comparison.set_verdicts,
        truthfulness=truth_comparison.truthfulness,
        settings={**comparison.settings, "truth": extra},
        stability={**comparison.stability, **truth_comparison.stability},
    )
