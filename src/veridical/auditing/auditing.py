"""``audit``: check whether an accuracy may be believed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from veridical._core.parallel import one_thread
from veridical._core.progress import ProgressLike
from veridical._core.records import Setting
from veridical._core.repeating import repeatable
from veridical._core.scoring import read_scoring
from veridical._core.seeds import Purpose, root_seed, seed_for, seeded
from veridical._core.splits import Split, describe_splits, split_table
from veridical._core.table import Table
from veridical._core.targets import TARGET_NAMES
from veridical._core.text import one_line
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
from veridical.auditing import (
    checks_choices,
    checks_design,
    checks_leaks,
    checks_samples,
    checks_values,
    nulls,
)
from veridical.auditing.codes import check_codes, in_words_of_outcomes, untested
from veridical.auditing.decomposing import decompose
from veridical.auditing.evidence import AuditEvidence, gather_evidence
from veridical.auditing.knowledge import read_knowledge
from veridical.auditing.preselection import count_permutations, read_procedure
from veridical.auditing.procedures import Audited
from veridical.auditing.records import SEVERITIES, Audit, Finding, Untested
from veridical.comparison.significance import check_alpha
from veridical.comparison.testing import find_test
from veridical.evaluation import Method, notes
from veridical.evaluation.arguments import label_of, read_estimator, read_problem
from veridical.evaluation.naming import read_cv
from veridical.evaluation.units import describe_weights
from veridical.preparation import ComBat, Residualize
from veridical.preparation.blocks import (
    describe_blocks,
    separate_known,
)

CHECKS: dict[str, Callable[[AuditEvidence], Finding | Untested | None]] = {
    "VD001": checks_leaks.selection_saw_the_test_fold,
    "VD002": checks_leaks.preprocessing_saw_all_data,
    "VD003": checks_leaks.copies_across_folds,
    "VD004": checks_design.folds_too_small,
    "VD005": checks_design.follows_the_majority,
    "VD006": checks_design.memoriser_in_632,
    "VD007": checks_leaks.tuned_on_the_reported_score,
    "VD008": checks_design.unstable_selection,
    "VD009": checks_design.class_imbalance,
    "VD010": checks_design.uncorrected_test,
    "VD011": checks_leaks.tested_on_training_samples,
    "VD012": checks_design.feature_gives_class_away,
    "VD013": checks_leaks.batches_corrected_on_all,
    "VD014": checks_leaks.samples_belong_together,
    "VD020": checks_values.encoded_by_the_class,
    "VD021": checks_samples.relatives_across_folds,
    "VD022": checks_samples.neighbours_in_time,
    "VD023": checks_samples.explained_by_batch,
    "VD024": checks_values.missing_values_tell_the_class,
    "VD025": checks_values.identifier_tells_the_class,
    "VD026": checks_values.imputed_by_the_class,
    "VD027": checks_samples.synthetic_samples,
    "VD028": checks_choices.best_of_several,
    "VD029": checks_choices.fitted_on_tested_samples,
    "VD030": checks_values.normalised_with_the_class,
    "VD031": checks_choices.tuned_to_the_test_samples,
    "VD032": checks_choices.removed_by_their_predictions,
}

#: Checks of the majority, of thresholds and of steps that treat each class by itself:
#: they need classes.
OF_CLASSES = frozenset(("VD005", "VD009", "VD026", "VD030", "VD031"))

#: Checks that look at values which a sparse matrix does not store.
OF_DENSE_FEATURES = frozenset(
    (
        *("VD002", "VD012", "VD013", "VD020", "VD021", "VD022"),
        *("VD025", "VD026", "VD027", "VD030"),
    )
)


@repeatable
def audit(
    estimator: EstimatorLike,
    X: MatrixLike,
    y: LabelsLike,
    *,
    selected: ArrayLike | None = None,
    selector: SelectorLike | None = None,
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    batch: BatchLike = None,
    covariates: CovariatesLike = None,
    scoring: ScoringLike = None,
    cv: CVLike = 10,
    test: str | None = None,
    n_permutations: int | None = None,
    alpha: float = 0.05,
    ignore: str | Iterable[str] = (),
    time: ArrayLike | None = None,
    n_tried: int | None = None,
    fitted_on: ArrayLike | str | None = None,
    n_removed: int | None = None,
    checks: str | Iterable[str] | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Audit:
    """Check whether a score is an artefact of how it was measured.

    Every step that uses labels is repeated inside each training fold (IN), and, for
    contrast, done once on all samples before the folds (OUT). The difference is the
    optimism of OUT. Both are repeated on permuted labels, selection included, which
    shows what the procedure reports where there is nothing to find. Coded checks then
    look for known mistakes.

    Parameters
    ----------
    estimator : classifier, regressor, survival estimator or str
        Any scikit-learn classifier, regressor or pipeline, an estimator of
        scikit-survival, or a name such as "svm" or "cox". It is cloned, never fitted
        itself, and decides the kind of target.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        All features that the selection could choose from.
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels (numbers or text), numbers, or events and times, as in
        `veridical.evaluation.estimate`. Permutations keep a time with its event.
    selected : list of feature names or indices, or bool mask, optional
        Features that were selected beforehand, on all samples. Then the accuracy under
        OUT is that of `estimator` on these features, and inside the folds the choice is
        repeated by `selector`.
    selector : selector or str, optional
        The selector that chose the features in `selected`. Without it several selectors
        are tried, and the one that agrees best with the features is used instead.
    groups, sample_weight : optional
        Samples that belong together, and weights of samples, as in
        `veridical.evaluation.estimate`.
    batch : column name or index, array-like of shape (n_samples,), ComBat or None
        The batch of every sample: a site, a scanner, a plate. A column of X is taken
        out of the features. Batches are not corrected, and checks use what is known:
        whether they were corrected before, on all samples, say. ``ComBat("site")`` is a
        part of the procedure: it corrects them on the training samples of every split,
        as in `veridical.evaluation.estimate`.
    covariates : list of column names or indices, array-like, Residualize or None
        Age, sex and the like, in the same way: columns of X are taken out of the
        features, and ``Residualize(["age"])`` subtracts their effect in every split.
    scoring : str, callable, list or mapping of these, or None
        What is measured, as in `veridical.evaluation.estimate`; None is accuracy,
        R² or concordance. The first of several leads: optimism, permuted labels and
        verdict are about it, and the others are in `others`. Checks of the design still
        use the accuracy.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        How accuracy is measured; a number means that many stratified folds. The splits
        of a method are used: of the bootstrap, the samples outside each bootstrap
        sample are tested, and nothing is weighted as in
        `veridical.evaluation.estimate`.
    test : str, optional
        The significance test over folds that you are going to report, e.g. "paired-t".
    n_permutations : int, optional
        Number of permutations of the labels; 100 by default, 20 where `estimator` is a
        search.
    alpha : float, default=0.05
        Significance level; intervals have confidence ``1 - alpha``.
    ignore : str or iterable of str, default=()
        Codes of findings to ignore, such as ``("VD008",)``; they are put in `muted`
        instead of `findings`.
    time : array-like of shape (n_samples,), optional
        When each sample was taken: dates, times or numbers. Without it the order of
        the rows is looked at.
    n_tried : int, optional
        Number of settings, seeds, subsets or other variants that were tried, the
        reported one included.
    fitted_on : "all", row numbers or mask of samples, optional
        Samples on which settings, features or preprocessing were fitted or tuned
        before.
    n_removed : int, optional
        Number of samples that were removed, as outliers or as wrongly labelled, after
        their predictions had been seen; 0 if none were.
    checks : str or iterable of str, optional
        Codes of the checks to run, by default all, and the decomposition of the score
        with them. What a check needs and was not said
        is in `untested`.
    random_state : int, numpy random generator or None, default=None
        Seed of the folds and of everything else that is random.
    n_jobs : int or None, default=None
        Number of processes. The result does not depend on it.
    name : str, optional
        Display name of the data.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` during the work. By default, work that takes
        more than two seconds reports its cost and progress on standard error; False
        reports nothing.

    Returns
    -------
    Audit
        Accuracies, optimism, accuracies on permuted labels, and findings, each with a
        code, a severity, evidence and a cure.

    Raises
    ------
    InputError
        For data or parameters that cannot give an honest answer; with a selector also
        if a training set has only one class.

    Warns
    -----
    UserWarning
        If a training set lacks a class (its samples count as errors there), a class has
        fewer samples than there are folds, or test samples are also training samples.

    See Also
    --------
    compare : Which of two selectors is better.
    veridical.evaluation.estimate : How accurate an estimator is, by one method.

    Notes
    -----
    A pipeline in which the selector is a step is honest: cross-validation repeats the
    selection inside each training fold. Features chosen before cross-validation are
    not, whatever chose them; pass all features as `X` and the chosen ones as
    `selected`. The interval of the accuracy under IN is the one that `estimate` gives
    for the same folds.

    References
    ----------
    .. [1] C. Ambroise & G. J. McLachlan, "Selection bias in gene extraction on the
       basis of microarray gene-expression data", PNAS 99 (2002).
    .. [2] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
    .. [3] M. Ojala & G. C. Garriga, "Permutation tests for studying classifier
       performance", Journal of Machine Learning Research 11 (2010).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from veridical.auditing import audit
    >>> from veridical.datasets import make_random_labels
    >>> from veridical.selection import AnovaF
    >>> X, y = make_random_labels(50, 1000, random_state=0)
    >>> best = AnovaF(20).fit(X, y).get_support(indices=True)
    >>> found = audit(GaussianNB(), X, y, selected=best, random_state=0)
    >>> [(finding.code, finding.severity) for finding in found.findings][0]
    ('VD001', 'error')
    >>> found.accuracy["out"].value > 0.8, 0.3 < found.accuracy["in"].value < 0.7
    (True, True)
    """
    root = root_seed(random_state)
    learner = seeded(read_estimator(estimator), root)
    structure: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight}
    if isinstance(X, Table):
        data = read_problem([learner], X, y, **structure)
    else:
        corrects = isinstance(batch, ComBat), isinstance(covariates, Residualize)
        X, batches, others = separate_known(
            X,
            None if corrects[0] else batch,
            None if corrects[1] else covariates,
            groups,
        )
        data = read_problem(
            [learner],
            X,
            y,
            batch=batch if corrects[0] else None,
            covariates=covariates if corrects[1] else None,
            **structure,
        )
        batch, covariates = batches, others
    if batch is None and data.blocks is not None:
        batch = getattr(data.blocks, "batch", None)
    X = data.source
    muted = check_codes(ignore)
    wanted = frozenset(CHECKS) if checks is None else check_codes(checks)
    known = read_knowledge(
        data.n_samples, time, batch, covariates, n_tried, fitted_on, n_removed
    )
    known = replace(known, grouped=groups is not None or data.groups is not None)
    check_alpha(alpha)
    test = None if test is None else find_test(test)
    method = read_cv(cv, data.n_samples, data.kind)
    n_drawn = count_permutations(n_permutations, learner)
    procedure, agreement = read_procedure(learner, X, data, selected, selector, root)
    scores = read_scoring(scoring, data.target)
    if not (len(scores) == 1 and scores[0].is_accuracy):
        procedure = replace(procedure, scores=scores)
    splits = split_table(method, data, root)
    if procedure.selector is not None:
        notes.refuse_training_of_one_class(data, splits)
    notes.warn_of_splits(
        method, data, splits, is_accuracy=data.kind == "classes", stacklevel=3
    )
    seed = seed_for(root, Purpose.PERMUTATIONS)
    permutations = nulls.LabelPermutations(method, seed, n_drawn)
    evidence = gather_evidence(
        procedure, agreement, selector, method, splits, permutations, test, alpha, root,
        n_jobs, progress, known,
    )  # fmt: skip
    impossible: dict[str, tuple[str, str]] = {}
    if sparse.issparse(data.values):
        needs = "dense features", "the features are a sparse matrix"
        impossible |= dict.fromkeys(wanted & OF_DENSE_FEATURES, needs)
    if data.kind != "classes":
        needs = "classes", f"the target is {TARGET_NAMES[data.kind]}"
        impossible |= dict.fromkeys(wanted & OF_CLASSES, needs)
    found, seconds = _run_checks(evidence, wanted - frozenset(impossible))
    if data.kind != "classes":
        found = [in_words_of_outcomes(one) for one in found]
    findings = sorted(
        (one for one in found if isinstance(one, Finding)),
        key=lambda finding: (SEVERITIES.index(finding.severity), finding.code),
    )
    return Audit(
        data=data.summary(name),
        estimator=label_of(estimator),
        accuracy=evidence.accuracy,
        interval=evidence.interval,
        coverage=evidence.coverage.get(evidence.interval),
        optimism_coverage=(
            evidence.coverage.get("optimism") if evidence.optimism_varies else None
        ),
        reported="out" if procedure.features is not None else "in",
        optimism=evidence.optimism,
        null=evidence.null,
        balanced_accuracy=evidence.balanced,
        findings=tuple(f for f in findings if f.code not in muted),
        muted=tuple(f for f in findings if f.code in muted),
        scoring=evidence.scoring,
        scores=evidence.score if procedure.scores else {},
        others=evidence.others,
        preselection=evidence.preselection,
        stability=evidence.stability,
        n_selected=evidence.n_selected,
        settings={
            **_settings(learner, procedure, method, splits, permutations, alpha, root),
            **describe_weights(data),
            **describe_blocks(data),
            "table sha256": data.sha256(),
        },
        alpha=float(alpha),
        decomposition=decompose(evidence, findings) if checks is None else None,
        untested=(
            *(one for one in found if isinstance(one, Untested)),
            *(untested(code, *impossible[code]) for code in sorted(impossible)),
        ),
        seconds=seconds,
    )


def _run_checks(
    evidence: AuditEvidence, wanted: frozenset[str]
) -> tuple[list[Finding | Untested], dict[str, float]]:
    """Run the checks that are wanted; return what they say, and their times."""
    found, seconds = [], {}
    for code, check in CHECKS.items():
        if code not in wanted:
            continue
        start = perf_counter()
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")
            said = check(evidence)
        seconds[code] = perf_counter() - start
        if said is not None:
            found.append(said)
    return found, seconds


def _settings(
    estimator: Any,
    procedure: Audited,
    method: Method,
    splits: Sequence[Split],
    permutations: nulls.LabelPermutations,
    alpha: float,
    root: int,
) -> dict[str, Setting]:
    """Return the settings that a reader needs to repeat the run."""
    chosen = {}
    if procedure.features is not None:
        chosen["selection inside folds"] = one_line(procedure.selector)
    return {
        "estimator": one_line(estimator),
        **chosen,
        "cross-validation": describe_splits(method, procedure.table),
        "n_train": float(np.mean([split.n_train for split in splits])),
        "n_test": float(np.mean([len(split.test) for split in splits])),
        "permutations of labels": permutations.n,
        **permutations.describe(procedure.table),
        "alpha": float(alpha),
        "random_state": root,
        "veridical": __version__,
    }
