"""Two or more selectors on one data set, by IN and OUT."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.defaults import CONFIDENCE
from veridical._core.errors import InputError
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike, announce
from veridical._core.records import Interval, Setting
from veridical._core.repeating import repeatable
from veridical._core.scoring import (
    ACCURACY,
    Averaging,
    Score,
    ScoreInfo,
    read_scoring,
)
from veridical._core.seeds import Purpose, as_generator, root_seed, seed_for
from veridical._core.table import Table
from veridical._core.text import did_you_mean, listed
from veridical._core.types import (
    BatchLike,
    CovariatesLike,
    CVLike,
    EstimatorLike,
    GroupsLike,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    ScoringLike,
    SelectorLike,
    WeightsLike,
)
from veridical._core.version import __version__
from veridical.comparison import conclusions as say
from veridical.comparison.calibration import check_calibrated
from veridical.comparison.design import (
    Design,
    SetOutcome,
    read_learners,
    read_n_features,
    read_selectors,
    run_data_set,
)
from veridical.comparison.paired import (
    Halves,
    OneTestSet,
    check_one_test_set,
    score_halves,
)
from veridical.comparison.ranks import friedman
from veridical.comparison.records import Comparison, Friedman, TestResult
from veridical.comparison.significance import check_alpha
from veridical.comparison.splits import Splits, make_splits
from veridical.comparison.testing import (
    ON_ONE_TEST_SET,
    TESTS,
    check_fit,
    find_test,
)
from veridical.comparison.verdicts import (
    PairTester,
    SignificanceTest,
    count_draws,
    measure_nulls,
)
from veridical.evaluation.engine import count_jobs
from veridical.evaluation.estimating import describe_score
from veridical.evaluation.naming import read_cv
from veridical.evaluation.records import Coverage
from veridical.evaluation.situations import Situation, tail_weight
from veridical.evaluation.structured import (
    Structure,
    coverages_near,
    is_structured,
)
from veridical.evaluation.trust import coverage_of, default_interval
from veridical.evaluation.units import describe_weights
from veridical.preparation.blocks import describe_blocks

CORRECTIONS = ("holm", "bonferroni", "none")


@repeatable
def compare(
    selectors: Sequence[SelectorLike] | Mapping[str, SelectorLike],
    X: MatrixLike,
    y: LabelsLike,
    *,
    estimator: EstimatorLike | Sequence[EstimatorLike] | None = None,
    n_features_to_select: int | float | Literal["auto"] = "auto",
    methods: Iterable[str] = ("in", "out"),
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    batch: BatchLike = None,
    covariates: CovariatesLike = None,
    scoring: ScoringLike = None,
    cv: CVLike = 10,
    test: str | Callable[..., TestResult] = "corrected-t",
    alpha: float = 0.05,
    calibrated: bool | int = False,
    rope: float = 0.01,
    correction: str = "holm",
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Compare feature selectors by cross-validation, with significance tests.

    Every selector returns the same number of features, an estimator learns from each
    set, and cross-validated accuracies are compared on the same folds: under IN the
    selection is repeated inside each training fold, under OUT it is made once on all
    the data, test samples included. Every pair of selectors is tested; with three
    or more, p-values are adjusted for the number of pairs, and mean ranks over the
    folds are compared by Friedman's test with Nemenyi's critical difference.

    Parameters
    ----------
    selectors : sequence of selectors, or mapping of display name to selector
        Two or more. A selector is one of `veridical.selection`, any scikit-learn
        selector, a pipeline whose last step is one and whose other steps keep the
        features and their names, or a name from ``veridical.selection.SELECTORS`` such
        as "relieff".
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        numpy, pandas, polars or scipy; may hold categorical features and missing
        values where the selectors can use them.
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels (numbers or text), numbers, or events and times, as in
        `veridical.evaluation.estimate`.
    estimator : str, classifier, regressor, survival estimator, list of them or None
        A name from ``veridical.learning.ESTIMATORS`` such as "svm", "nb", "1nn" or
        "ridge", or estimators, all for one kind of target. With several, verdicts rest
        on their mean score and `by_estimator` has them one by one. None is "svm" for
        classes, "ridge" for numbers and "cox" for survival times.
    n_features_to_select : int, float or "auto", default="auto"
        Number of features that every selector must return, or a share of all in (0, 1];
        it replaces the number that a selector was made with. "auto" is the number that
        the selectors themselves were made with (an error if they differ); where none
        has one, as for names, it is 10, but at most half of the features.
    methods : iterable of {"in", "out"}, default=("in", "out")
        Protocols to run.
    groups, sample_weight : optional
        Samples that belong together, and weights of samples, as in
        `veridical.evaluation.estimate`.
    batch : column name or index, array-like, ComBat or None
        As in `veridical.evaluation.estimate`. Under OUT, selection sees features that
        were corrected on all samples.
    covariates : list of column names or indices, array-like, Residualize or None
        As in `veridical.evaluation.estimate`.
    scoring : str, callable, list or mapping of these, or None
        What counts, as in `veridical.evaluation.estimate`. Verdicts rest on the first
        score, per fold; the others are in `values`. None is accuracy for classes,
        R² for numbers and concordance for survival times. A loss is a positive number,
        and the selector with less is the better one.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        A number means that many shuffled folds, stratified by class, as in every verb;
        "10x5" means ten repeats of five. Every way to split is possible that gives two
        splits or more. The splits of a method are used: of the bootstrap, the samples
        outside each bootstrap sample are tested, and nothing is weighed as in
        `veridical.evaluation.estimate`.
    test : str or function, default="corrected-t"
        How differences between folds are tested: "corrected-t", "paired-t",
        "five-by-two-t", "five-by-two-f", "repeated-cv-t", "sorted-runs-t" or
        "bayesian-correlated-t", or the function, such as `corrected_resampled_t`. What
        a test must know of the splits is taken from them; a test that is not made for
        `cv` is an error. Bayesian tests, which have no p-value to adjust, are for two
        selectors. "conservative-z" repeats the comparison on ten pairs of disjoint
        halves of the samples, and takes about ten times as long. Beside every other
        test, `corrected` has the corrected t-test. With one split, such as
        ``cv=[(train, test)]``, two selectors are compared on one test set: "mcnemar"
        (accuracy), "delong" (area under the ROC curve of two classes) or "jackknife"
        (any score but medians and extremes, groups and weights).
    alpha : float, default=0.05
        Significance level; intervals have confidence ``1 - alpha``.
    calibrated : bool or int, default=False
        Take p-values and intervals from a measured null: 100 data sets like these, or
        the given number, on which each selector is compared with itself on two blocks
        of features drawn from the same distribution. For two selectors it takes as long
        as 200 comparisons; more pairs need more null data sets, and get them.
    rope : float, default=0.01
        Region of practical equivalence of "bayesian-correlated-t": true differences up
        to this count as none.
    correction : {"holm", "bonferroni", "none"}, default="holm"
        How p-values are adjusted for the number of pairs.
    random_state : int, numpy random generator or None, default=None
        Decides the folds and everything else that is random.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. The result does not depend on it.
    name : str, optional
        Display name of the data.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` while the work goes on. By default, work
        that takes more than two seconds tells its cost and its progress on standard
        error; False is silent.

    Returns
    -------
    Comparison
        Verdicts, accuracies, selected features, optimism of OUT, stability, times and
        a recommendation.

    Raises
    ------
    InputError
        For data or parameters that do not allow a valid result; also if there are fewer
        features than asked for, or a training set holds one class only.

    Warns
    -----
    UserWarning
        If a training set lacks a class (its samples count as errors there), a class has
        fewer samples than there are folds, or test samples are also training samples.

    See Also
    --------
    truth : The same for two selectors on a source that can be sampled without limit.
    friedman : The test on ranks, also for scores on several data sets.

    Notes
    -----
    Selectors see the features in a random order (decided by `random_state`), because
    ties are decided by index, which must carry no information. Selectors and estimators
    get numeric data as arrays, mixed data as pandas data frames.

    Friedman's test treats the folds as independent, which they are not; ``size`` in its
    result is its measured false-positive rate. Claims should rest on the pairs under
    IN.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
    .. [2] C. Nadeau & Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003).
    .. [3] J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
       Journal of Machine Learning Research 7 (2006).
    .. [4] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian Journal of Statistics 6 (1979).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest, chi2, f_classif
    >>> from veridical.comparison import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare(
    ...     {"ANOVA F": SelectKBest(f_classif), "chi-squared": SelectKBest(chi2)},
    ...     X,
    ...     y,
    ...     estimator="1nn",
    ...     n_features_to_select=3,
    ...     random_state=0,
    ... )
    >>> result.verdicts["in"].winner
    'draw'

    Three selectors, by name:

    >>> result = compare(
    ...     ["anova", "correlation", "information-gain"],
    ...     X,
    ...     y,
    ...     estimator="nb",
    ...     n_features_to_select=3,
    ...     random_state=0,
    ... )
    >>> result.names
    ('AnovaF', 'Correlation', 'InformationGain')
    >>> len(result.pairs["in"]), len(result.friedman["in"].mean_ranks)
    (3, 3)
    """
    root = root_seed(random_state)
    estimators, data = read_learners(
        estimator,
        X,
        y,
        root,
        groups=groups,
        sample_weight=sample_weight,
        batch=batch,
        covariates=covariates,
    )
    methods = check_methods(methods, ("in", "out"))
    check_alpha(alpha)
    named = read_selectors(selectors, root)
    name_of_test = find_test(test, further=True)
    chosen = SignificanceTest(name_of_test, float(alpha), float(rope))
    _check_correction(chosen.name, correction, len(named))
    scores = read_scoring(scoring, data.target)
    alone = chosen.name in ON_ONE_TEST_SET
    if alone:
        check_one_test_set(chosen.name, scores[0], data, len(named), len(estimators))
    splits = make_splits(cv, data, root, warn=True, alone=alone)
    if chosen.name in TESTS:
        check_fit(chosen.name, *splits.shape)
    n_pairs = math.comb(len(named), 2) if correction != "none" else 1
    n_draws = count_draws(calibrated, alpha, n_pairs)
    if n_draws:
        check_calibrated(chosen.name)
        _refuse_other_nulls(data)
    design = Design(
        selectors=named,
        estimators=estimators,
        n_features=read_n_features(n_features_to_select, named, data.n_features),
        methods=methods,
        scores=_other_scores(scores),
    )
    workers = Workers(n_jobs, progress)
    corrected = data.blocks is not None
    n_jobs_here = count_jobs(
        design.procedures(), splits.splits, workers, corrected=corrected
    )
    workers.total = n_jobs_here + n_draws
    # Each null data set is compared under both of its selectors.
    announce_fits(progress, design, len(splits), 1 + 2 * n_draws)
    columns = feature_order(root, data.n_features)
    outcome = run_data_set(design, data, splits, columns, workers, keep=alone)
    nulls = measure_nulls(design, data, splits, chosen, root, n_draws, workers)
    situation = Situation.from_summary(
        data.summary(name), design.n_features, "", np.nan
    )
    averaging: Averaging = "pooled" if len(splits) == 1 else "mean of folds"
    scorings = tuple(describe_score(one, data, averaging) for one in design.scores)
    lead = scorings[0] if scorings else ACCURACY
    method = read_cv(cv, data.n_samples, data.kind)
    further: Halves | OneTestSet | None = None
    if alone:
        further = OneTestSet(
            chosen.name,
            method,
            splits.splits[0],
            data,
            scores[0],
            lead,
            outcome.evaluations,
        )
    elif chosen.name == "conservative-z":
        further = score_halves(design, data, method, columns, lead, root, workers)
    tester = PairTester(
        chosen,
        splits.geometry,
        situation,
        nulls,
        lead,
        _structure(data, scorings, situation),
        tail_weight(data),
        further,
        tuple(one.name for one in estimators),
    )
    settings = {
        **describe_design(design, alpha, root),
        **_describe_splits(splits, chosen, n_draws),
        **describe_weights(data),
        **describe_blocks(data),
        **({"correction": correction} if len(named) > 2 else {}),
        **({"scoring": tuple(one.full_label for one in scorings)} if scorings else {}),
        "table sha256": data.sha256(),
    }
    return _conclude(
        design, data, splits, outcome, tester, correction, name, settings, scorings
    )


def _structure(
    data: Table, scorings: Sequence[ScoreInfo], situation: Situation
) -> Structure | None:
    """Describe groups, weights or another score, for which tests were measured apart.

    None for the accuracy of independent samples.
    """
    scoring = scorings[0] if scorings else ACCURACY
    if not is_structured(scoring, data):
        return None
    found = Structure.from_table(scoring.name, data, situation)
    # Nothing was measured with weights, so that nothing may be near.
    return found if data.weights is None else found._replace(group_size=math.nan)


def _other_scores(scores: tuple[Score, ...]) -> tuple[Score, ...]:
    """Return the scores; none where it is the accuracy alone, which is always known."""
    return () if [one.is_accuracy for one in scores] == [True] else scores


def _refuse_other_nulls(data: Table) -> None:
    """Raise if data sets like these cannot be drawn."""
    if data.blocks is not None:
        raise InputError(
            "calibrated draws data sets without batches and covariates; leave it out, "
            "or leave out batch and covariates."
        )


def _check_correction(test: str, correction: str, n_selectors: int) -> None:
    """Raise if the p-values cannot be adjusted for the number of pairs."""
    if correction not in CORRECTIONS:
        raise InputError(
            f"There is no correction {correction!r}"
            f"{did_you_mean(str(correction), CORRECTIONS)} Use {listed(CORRECTIONS)}."
        )
    if n_selectors > 2 and test in TESTS and not TESTS[test].calibrated:
        raise InputError(
            f"The test {test!r} has no p-value that could be adjusted for the number "
            "of pairs; use another, or compare two selectors."
        )


def _conclude(
    design: Design,
    data: Table,
    splits: Splits,
    outcome: SetOutcome,
    tester: PairTester,
    correction: str,
    name: str | None,
    settings: Mapping[str, Setting],
    scorings: tuple[ScoreInfo, ...] = (),
) -> Comparison:
    accuracy = _by_repeat_and_fold(outcome.accuracy, splits)
    values = {
        key: _by_repeat_and_fold(own, splits) for key, own in outcome.values.items()
    }
    leading = next(iter(values.values()), accuracy)
    scoring = tester.scoring
    selected = _chosen_by_repeat(outcome.chosen, splits)
    selectors = tuple(one.name for one in design.selectors)
    estimators = tuple(one.name for one in design.estimators)
    only = estimators[0] if len(estimators) == 1 else ""
    summary = data.summary(name)
    alpha, geometry = tester.test.alpha, splits.geometry
    optimism: tuple[Interval, ...] = ()
    if len(splits) > 1:
        largest = scoring.high - scoring.low
        optimism = say.measure_optimism(leading, geometry, alpha, largest)
    covered: Mapping[str, Coverage] = {}
    lead = _kind(splits, leading, scoring)
    if lead and len(splits) > 1:
        mean = float(leading["in"].mean())
        where = tester.situation._replace(estimator=only, accuracy=mean)
        if not is_structured(scoring, data):
            covered = coverage_of(splits.splits, where, 1 - alpha, lead)
        elif math.isclose(alpha, 1 - CONFIDENCE):
            covered = coverages_near(scoring.name, splits.splits, data, where, lead)
    record = Comparison(
        names=selectors,
        estimators=estimators,
        n_features_to_select=design.n_features,
        data=summary,
        accuracy=accuracy,
        selected=selected,
        pairs=tester.pairs(
            {m: own.mean(axis=1) for m, own in leading.items()},
            only,
            selectors,
            correction,
        ),
        by_estimator={
            one: tester.pairs(
                {m: own[:, e] for m, own in leading.items()},
                one,
                selectors,
                correction,
            )
            for e, one in enumerate(estimators)
        },
        optimism=optimism,
        bias_imbalance=say.bias_imbalance(leading),
        recommendation="",
        friedman={
            m: _test_ranks(tester, m, own.mean(axis=1), only)
            for m, own in leading.items()
            if len(selectors) > 2
        },
        stability=say.measure_stability(
            {m: chosen for m, chosen in selected.items() if m == "in"},
            summary.n_features,
            alpha,
        ),
        seconds=tuple(outcome.seconds.tolist()),
        correction=correction,
        coverage=covered.get(lead),
        optimism_coverage=(
            covered.get("optimism")
            if any(math.isfinite(gap.low) for gap in optimism)
            else None
        ),
        alpha=alpha,
        settings=settings,
        n_train=float(np.mean(geometry.n_train)),
        n_test=float(np.mean(geometry.n_test)),
        scorings=scorings,
        values=values,
        **_beside(tester, leading, only, selectors, correction),
    )
    return replace(record, recommendation=say.recommend(record))


def _beside(
    tester: PairTester,
    scores: Mapping[str, FloatArray],
    estimator: str,
    names: Sequence[str],
    correction: str,
) -> dict[str, Any]:
    """Return what stands beside the test: intervals of one test set, or another test.

    On several splits it is the corrected t-test, where that is not the test itself.
    """
    further = tester.further
    if isinstance(further, OneTestSet):
        if len(tester.estimators) > 1:
            return {"one_test_set": ""}
        made = further.intervals()
        kinds = [default_interval(one) or "" for own in made.values() for one in own]
        confidence = 1 - tester.test.alpha
        return {
            "one_test_set": next(filter(None, kinds), ""),
            "bounds": {
                method: tuple(
                    one.interval(confidence) if one.assumes else (math.nan, math.nan)
                    for one in own
                )
                for method, own in made.items()
            },
        }
    usual = replace(tester.test, name="corrected-t")
    if tester.test == usual or tester.nulls is not None:
        return {}
    other = replace(tester, test=usual, further=None)
    means = {m: own.mean(axis=1) for m, own in scores.items()}
    return {"corrected": other.pairs(means, estimator, names, correction)}


def _kind(splits: Splits, scores: Mapping[str, FloatArray], scoring: ScoreInfo) -> str:
    """Return the kind of interval of mean scores under IN; "" without IN."""
    if "in" not in scores:
        return ""
    means = scores["in"].mean(axis=1)
    tested = np.unique(np.concatenate([split.test for split in splits.splits]))
    flat = means.reshape(len(means), -1)
    if scoring.is_accuracy and say.uses_wilson(flat, tested.size):
        return "wilson"
    return "corrected-t"


def _test_ranks(
    tester: PairTester, method: str, values: FloatArray, estimator: str
) -> Friedman:
    """Apply Friedman's test to the splits, and look up its measured size."""
    scores = values.reshape(len(values), -1)
    size = tester.size("friedman", method, estimator, scores, len(values))
    found = friedman(tester.scoring.sign * scores, alpha=tester.test.alpha)
    return replace(found, size=size)


def _by_repeat_and_fold(
    accuracy: Mapping[str, FloatArray], splits: Splits
) -> dict[str, FloatArray]:
    """Arrange accuracies as (n_selectors, n_estimators, n_repeats, n_folds)."""
    return {
        method: values.reshape(*values.shape[:2], *splits.shape)
        for method, values in accuracy.items()
    }


def _chosen_by_repeat(
    chosen: Mapping[str, IntArray], splits: Splits
) -> dict[str, IntArray]:
    """Arrange features as (n_selectors, n_repeats, n_folds, n_features).

    OUT, which selects once, has one fold.
    """
    n_repeats, n_folds = splits.shape
    result = {}
    for method, orders in chosen.items():
        if method == "out":
            result[method] = np.repeat(orders[:, np.newaxis], n_repeats, axis=1)
        else:
            result[method] = orders.reshape(len(orders), n_repeats, n_folds, -1)
    return result


# -- shared with truth() -------------------------------------------------------------


def feature_order(root: int, n_features: int, data_set: int = 0) -> IntArray:
    """Draw the order in which selectors see the features of one data set."""
    seed = seed_for(root, Purpose.COLUMNS, data_set)
    return as_generator(seed).permutation(n_features)


def announce_fits(
    progress: ProgressLike, design: Design, n_splits: int, n_sets: int
) -> None:
    """Announce how many fits a comparison takes, estimator by estimator."""
    n_protocols, n_selectors = len(design.protocols), len(design.selectors)
    for one in design.estimators:
        announce(progress, one.what, n_sets, n_protocols, n_selectors, n_splits)


def describe_design(design: Design, alpha: float, root: int) -> dict[str, Setting]:
    """Return the settings needed to repeat the run, except data and folds."""
    return {
        **{
            f"selector {i}": one.description
            for i, one in enumerate(design.selectors, 1)
        },
        **_describe_sizes(design),
        "estimator": tuple(one.description for one in design.estimators),
        "methods": tuple(design.methods),
        "alpha": float(alpha),
        "random_state": root,
        "veridical": __version__,
    }


def _describe_sizes(design: Design) -> dict[str, Setting]:
    """Return the other numbers of features that selectors were made with."""
    own = [one.size for one in design.selectors if one.size is not None]
    if all(size == design.n_features for size in own):
        return {}
    return {"own features of selectors": tuple(dict.fromkeys(own))}


def _describe_splits(
    splits: Splits, test: SignificanceTest, n_draws: int
) -> dict[str, Setting]:
    """Return the settings needed to repeat the folds and the test."""
    settings: dict[str, Setting] = {
        "cross-validation": splits.description,
        "n_train": float(np.mean(splits.geometry.n_train)),
        "n_test": float(np.mean(splits.geometry.n_test)),
        "test": test.name,
    }
    if test.name == "bayesian-correlated-t":
        settings["region of practical equivalence"] = test.rope
    if n_draws:
        settings["calibration pairs"] = n_draws
    return settings


def check_methods(methods: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Check the methods and return them in their usual order."""
    asked = (methods,) if isinstance(methods, str) else tuple(methods)
    for method in asked:
        if method not in known:
            raise InputError(
                f"There is no method {method!r}{did_you_mean(str(method), known)} "
                f"Use {listed(known)}."
            )
    if not asked:
        raise InputError(f"methods is empty; pass at least one of {listed(known)}.")
    return tuple(method for method in known if method in asked)
