"""A score taken apart: what part of it is chance, signal, or the way it was measured.

The procedure is run again with one influence removed at a time. Each part is the score
before minus the score after its influence was removed, so that the parts and the chance
add up to the reported score; the signal is what remains.

| part       | what is removed                    | the run without it               |
|------------|------------------------------------|----------------------------------|
| selection  | features chosen on all samples     | chosen inside the folds          |
| choice     | the best of several tries          | an estimate; tuned in the folds  |
| removed    | samples that were left out         | they count as errors, no run     |
| fitted     | steps fitted on tested samples     | other samples; or a bound        |
| overlap    | test samples in training sets      | the same splits without them     |
| luck       | the folds and seeds of this run    | mean over other ones             |
| features   | features that reveal the class     | without them, or repaired        |
| duplicates | copies on both sides of a split    | copies kept together             |
| groups     | relatives on both sides            | groups or subjects kept whole    |
| order      | neighbours in time on both sides   | folds of consecutive samples     |
| batch      | the batch or covariates            | labels permuted within batches   |

An influence is removed only if its check finds something to remove; its part is 0
otherwise. From "luck" on each run keeps what was removed before. For numbers and
survival times the part of removed samples is 0: what they would change cannot be
computed. Where a step cannot be done again, because the samples or features before it
are not there, it may explain all that the score has above chance beside the other
parts: a batch correction with the class, settings that were tuned on all samples, and
a selection of which only the selected features are left.

Intervals of the runs (chance, overlap, luck, features, duplicates, groups, order,
batch) say how well the part is known on these samples: where they would lie with
unlimited runs. Those of selection and signal are about other samples, too. Choice,
removed samples and steps that cannot be done again are bounds, from nothing to all that
they may explain.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import one_thread
from veridical._core.records import Interval
from veridical._core.seeds import Purpose, seed_for, seeded
from veridical._core.splits import Split, split_table
from veridical.auditing.association import coarse_outcome
from veridical.auditing.checks_choices import (
    accuracy_with_removed,
    expected_maximum,
    reported_null,
)
from veridical.auditing.checks_samples import (
    BATCH_LEVEL,
    ORDER_Z,
    WITHIN,
    associate,
    blocked_splits,
    find_interpolated,
    find_strata,
    is_sorted_outcome,
    whole_group_splits,
)
from veridical.auditing.class_traces import impute_together, normalise_together
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.kinship import name_subjects, units_in_order
from veridical.auditing.procedures import Audited, Run, make_audited
from veridical.auditing.records import Decomposition, Finding, Part
from veridical.evaluation import CrossValidation
from veridical.evaluation.engine import replace_source
from veridical.evaluation.intervals import paired_shares

#: Number of runs with other folds and seeds, and with whole groups.
RUNS = 5


def decompose(e: AuditEvidence, findings: Sequence[Finding]) -> Decomposition:
    """Take the reported score apart.

    Parameters
    ----------
    e : AuditEvidence
        The measurements of an audit.
    findings : sequence of Finding
        What the checks found.
    """
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        parts, honest = _remove_influences(e, findings)
    reported = e.score["out" if e.procedure.features is not None else "in"].value
    chance = _mean_interval(e.null["in"].accuracies, e.alpha)
    rest = reported - chance.value - sum(part.value for part in parts)
    parts = _with_bound(e, findings, parts, rest)
    rest = reported - chance.value - sum(part.value for part in parts)
    signal = Part("signal", rest, *_signal_bounds(e, honest, parts, rest))
    return Decomposition(
        reported, (Part("chance", *chance), signal, *parts), e.scoring, e.alpha
    )


def _remove_influences(
    e: AuditEvidence, findings: Sequence[Finding]
) -> tuple[list[Part], Interval]:
    """Return the parts, and the interval of the score when all is removed.

    Where nothing is, it is that of the score under IN. Where SMOTE made samples, it is
    that of the work with them, whose samples count as if they were measured.
    """
    shown = [one for one in findings if one.severity != "note"]
    p, now = e.procedure, _rerun(e, e.procedure)
    overlap = _overlap(e)
    choice, luck = _choice(e, shown, _luck(e, overlap.value, now))
    parts = [_selection(e, choice), choice, _removed(e), _fitted(e, shown)]
    parts += [overlap, luck]
    honest = _without_revealing(e, shown)
    after = None if honest is None else _repeat_if_possible(e, honest)
    parts.append(part_between("features", now, after, e.alpha, _step(e)))
    if honest is not None and after is not None:
        p, now = honest, after
    design = _splits_apart(e)
    duplicates, groups = _find_groups(e)
    for name, found in (("duplicates", duplicates), ("groups", groups)):
        designs = [] if found is None else _group_folds(e, found)
        after = _runs_with(p, designs) if designs else None
        if name == "duplicates" and any(one.code == "VD027" for one in shown):
            after = _without_made(e, p)
        elif after is not None:
            design = designs[0]
        parts.append(part_between(name, now, after, e.alpha, _step(e)))
        now = now if after is None else after
    ordered = _ordered_folds(e)
    after = None if ordered is None else _runs_with(p, [ordered])
    parts.append(part_between("order", now, after, e.alpha, _step(e)))
    design = design if after is None else ordered
    interval = e.score["in"]
    if p is not e.procedure or design is not None:
        interval = _interval_of(p, design or e.splits, e.alpha, _step(e))
    return [*parts, _batch(e)], interval


def _interval_of(
    p: Audited, splits: Sequence[Split], alpha: float, step: float
) -> Interval:
    """Return the corrected t interval of the score of a procedure, over splits.

    Where the scores are equal it has the width of the rule of three.
    """
    run = p.inside(p.unpermuted, splits)
    scores = run.scores[~np.isnan(run.scores)]
    n_test = np.mean([len(split.test) for split in splits])
    n_train = np.mean([len(split.train) for split in splits])
    # (1 / S + n_test / n_train) in place of the 1 / S of independent scores
    wider = math.sqrt(1 + scores.size * n_test / n_train)
    half = max(wider * _half_width(scores, alpha), -math.log(alpha) * step)
    return Interval(run.score, run.score - half, run.score + half)


def _selection(e: AuditEvidence, choice: Part) -> Part:
    """Return the optimism of a selection on all samples.

    Where the user said how many subsets were tried, and not by which selector, what
    the choice among them explains is left out; and all of it, where no selector chooses
    these features.
    """
    nothing = Part("selection", 0.0, 0.0, 0.0)
    if e.procedure.features is None or e.optimism is None:
        return nothing
    chosen = e.preselection
    if chosen is None or chosen.given or not choice.value:
        return Part("selection", *e.optimism)
    if not chosen.agrees:
        return nothing
    return Part("selection", *(bound - choice.value for bound in e.optimism))


def _choice(
    e: AuditEvidence, shown: Sequence[Finding], luck: Part
) -> tuple[Part, Part]:
    """Estimate what the best of several tries gains; return it, and what luck is left.

    It is 0 without ``n_tried=`` and without a setting that is tuned to these samples.
    At most it is what the score has above permuted labels. A choice looks at the folds
    of this run, so that good luck of the folds belongs to it. The tries may be alike,
    so the interval begins at 0.
    """
    n_tried, sign = e.known.n_tried or 1, e.scoring.sign
    gain = 0.0
    if e.scoring.is_accuracy:
        tuned = [one.details["optimism"] for one in shown if one.code == "VD031"]
        gain = max([0.0, *tuned])
    if n_tried == 1 and not gain:
        return Part("choice", 0.0, 0.0, 0.0), luck
    if n_tried > 1:
        reported, null = reported_null(e)
        most = max(0.0, sign * (reported - float(null.mean())))
        spread = float(null.std(ddof=1))
        gain = max(gain, min(spread * expected_maximum(n_tried), most))
    if e.procedure.features is None and sign * luck.value > 0:
        gain = max(gain, sign * luck.value)
        luck = Part("luck", 0.0, 0.0, 0.0)
    low, high = sorted((0.0, sign * gain))
    return Part("choice", sign * gain, low, high), luck


def _removed(e: AuditEvidence) -> Part:
    """Return what samples that were removed would cost, if they were all errors."""
    if not e.known.n_removed or not e.scoring.is_accuracy:
        return Part("removed", 0.0, 0.0, 0.0)
    value = e.accuracy["in"].value - accuracy_with_removed(e)
    return Part("removed", value, 0.0, value)


def _fitted(e: AuditEvidence, shown: Sequence[Finding]) -> Part:
    """Return what samples on which something was fitted before add, beside others."""
    fitted = e.known.fitted_on
    if fitted is None or not _tests_others(e, shown):
        return Part("fitted", 0.0, 0.0, 0.0)
    tested = np.concatenate([split.test for split in e.splits])
    right = (np.concatenate(e.inside.predicted) == e.codes[tested]).astype(float)
    samples, place, times = np.unique(tested, return_inverse=True, return_counts=True)
    mean = np.bincount(place, right) / times  # a sample that is tested again is one
    half = _half_width_of_difference(
        mean[fitted[samples]], mean[~fitted[samples]], e.alpha
    )
    seen, unseen = right[fitted[tested]], right[~fitted[tested]]
    share, value = seen.size / right.size, float(seen.mean() - unseen.mean())
    low, high = value - half, value + half
    return Part("fitted", share * value, share * low, share * high)


def _tests_others(e: AuditEvidence, shown: Sequence[Finding]) -> bool:
    """Return whether VD029 compares with samples on which nothing was fitted."""
    counts = e.scoring.is_accuracy and e.procedure.table.weights is None
    return counts and any("accuracy_unseen" in one.details for one in shown)


def _with_bound(
    e: AuditEvidence, findings: Sequence[Finding], parts: list[Part], rest: float
) -> list[Part]:
    """Return the parts, with what a step may explain that cannot be done again."""
    shown = [one for one in findings if one.severity != "note"]
    severity = {one.code: one.severity for one in shown}
    tuned = "VD029" in severity and not _tests_others(e, shown)
    if "VD001" in severity and e.preselection is None:
        name = "selection"
    elif severity.get("VD013") == "error" or tuned:
        name = "fitted"
    else:
        return parts
    if e.scoring.sign * rest <= 0:
        return parts
    all_of_it = rest + next(part.value for part in parts if part.name == name)
    bound = Part(name, all_of_it, min(0.0, all_of_it), max(0.0, all_of_it))
    return [bound if part.name == name else part for part in parts]


def _splits_apart(e: AuditEvidence) -> list[Split] | None:
    """Return the same splits without test samples in training; None if unneeded."""
    if not any(split.overlaps for split in e.splits):
        return None
    apart = [
        Split(split.test, e.n_samples, split.train[~np.isin(split.train, split.test)])
        for split in e.splits
    ]
    codes = coarse_outcome(e.procedure.table)
    return apart if all(_can_learn(split, codes) for split in apart) else None


def _overlap(e: AuditEvidence) -> Part:
    """Return what test samples in the training sets of the same splits add."""
    p, apart = e.procedure, _splits_apart(e)
    if apart is None:
        return Part("overlap", 0.0, 0.0, 0.0)
    run = p.inside(p.unpermuted, apart)
    value = e.score["in"].value - run.score
    if e.scoring.is_accuracy and p.table.weights is None:
        low, high = _bounds_of_gain(e, run)
        return Part("overlap", value, min(low, value), max(high, value))
    by_split = e.inside.scores - run.scores
    half = _half_width(by_split[~np.isnan(by_split)], e.alpha)
    return Part("overlap", value, value - half, value + half)


def _bounds_of_gain(e: AuditEvidence, other: Run) -> tuple[float, float]:
    """Return the interval of what samples gain in accuracy against another run.

    It counts the samples that are right in one of the two runs only. The scores of few
    splits may all be equal, and their spread then says nothing.
    """
    tested = np.concatenate([split.test for split in e.splits])
    gain = np.concatenate(
        [
            (one == e.codes[split.test]).astype(float) - (two == e.codes[split.test])
            for one, two, split in zip(
                e.inside.predicted, other.predicted, e.splits, strict=True
            )
        ]
    )
    times = np.bincount(tested, minlength=e.n_samples)
    mean = np.bincount(tested, gain, e.n_samples)[times > 0] / times[times > 0]
    won, lost = np.maximum(mean, 0).sum(), np.maximum(-mean, 0).sum()
    return paired_shares(float(won), float(lost), mean.size, 1 - e.alpha)


def _can_learn(split: Split, codes: IntArray) -> bool:
    """Return whether the training set has every class."""
    return bool(np.unique(codes[split.train]).size == np.unique(codes).size)


# -- features that reveal the class --------------------------------------------------

# Findings about features that are left out.
_LEFT_OUT = ("VD012", "VD020", "VD024", "VD025")


def _without_revealing(e: AuditEvidence, shown: Sequence[Finding]) -> Audited | None:
    """Return the procedure without features that reveal the class; None if none does.

    Values that were imputed or normalised with the class are imputed or normalised
    again, without it.
    """
    p = e.procedure
    codes = {one.code for one in shown}
    if p.features is not None or not codes & {*_LEFT_OUT, "VD026", "VD030"}:
        return None
    table = p.table
    if codes & {"VD026", "VD030"}:
        if not isinstance(table.source, np.ndarray):
            return None
        values = table.values
        if "VD030" in codes:
            values = normalise_together(values)
        imputed = [j for one in shown if one.code == "VD026" for j in one.features]
        table = replace_source(table, impute_together(table, values, imputed))
    revealing = {j for one in shown if one.code in _LEFT_OUT for j in one.features}
    kept = np.setdiff1d(np.arange(table.n_features), sorted(revealing))
    if not kept.size:
        return None
    try:
        return make_audited(p.whole, table.take_columns(kept), p.scores)
    except _NEEDS_FEATURES:
        return None


# What an estimator raises that needs the features that are left out.
_NEEDS_FEATURES = (InputError, IndexError, KeyError, TypeError, ValueError)


def _repeat_if_possible(e: AuditEvidence, p: Audited) -> FloatArray | None:
    try:
        return _rerun(e, p)
    except _NEEDS_FEATURES:
        return None


# -- runs with other folds -----------------------------------------------------------


def _rerun(e: AuditEvidence, p: Audited) -> FloatArray:
    """Return the score under IN with other folds and seeds.

    Runs whose score is not defined are left out; with none left, nothing is luck.
    """
    method = _random_method(e)
    scores = []
    for r in range(RUNS):
        root = seed_for(e.seed, Purpose.FOLDS, 10 + r)
        splits = split_table(method, p.table, root)
        scores.append(_with_seed(p, root).inside(p.unpermuted, splits).score)
    found = np.array(scores)
    defined = found[~np.isnan(found)]
    return defined if defined.size else np.array([e.score["in"].value])


def _random_method(e: AuditEvidence) -> Any:
    """Return the method of the splits; for given folds, random ones of that number."""
    other = split_table(e.method, e.procedure.table, seed_for(e.seed, Purpose.FOLDS, 9))
    given = all(
        np.array_equal(one.test, two.test)
        for one, two in zip(e.splits, other, strict=False)
    )
    tested = np.concatenate([split.test for split in e.splits])
    is_partition = np.array_equal(np.sort(tested), np.arange(e.n_samples))
    if not given or not is_partition or len(e.splits) < 2 or e.leaves_one_out:
        return e.method
    return CrossValidation(len(e.splits))


def _with_seed(p: Audited, root: int) -> Audited:
    """Return the procedure with other random states, where it has any."""
    if p.features is not None or p.scores:
        return p
    named = [
        key for key in getattr(p.whole, "get_params", dict)() if "random_state" in key
    ]
    if not named:
        return p
    fresh = p.whole.__class__(**p.whole.get_params(deep=False))
    fresh.set_params(**dict.fromkeys(named))
    return make_audited(seeded(fresh, root), p.table)


def _luck(e: AuditEvidence, overlap: float, again: FloatArray) -> Part:
    """Return the score of these folds, without overlap, minus the mean over others."""
    value = e.score["in"].value - overlap - float(again.mean())
    half = max(_half_width(again, e.alpha), _least_half_width(again, e.alpha, _step(e)))
    return Part("luck", value, value - half, value + half)


def _find_groups(e: AuditEvidence) -> tuple[IntArray | None, IntArray | None]:
    """Return groups of copies, and groups of near relatives."""
    table = e.procedure.table
    if table.groups is not None:
        return None, None
    copies = e.copies
    duplicates = None
    pairs = copies.pairs[copies.nearness > 0] if copies.explained else copies.pairs
    if len(pairs):
        linked = sparse.coo_array(
            (np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])),
            shape=(table.n_samples, table.n_samples),
        )
        duplicates = connected_components(linked, directed=False)[1].astype(np.intp)
    subjects = name_subjects(table)
    if subjects is not None and not e.known.grouped:
        return duplicates, subjects.codes
    clusters = e.clusters
    if clusters is None or 4 * len(pairs) >= table.n_samples:
        return duplicates, None
    return duplicates, clusters.groups


def _group_folds(e: AuditEvidence, groups: IntArray) -> list[list[Split]]:
    made = [whole_group_splits(e, groups, r) for r in range(RUNS)]
    return [splits for splits in made if splits is not None]


def _runs_with(p: Audited, designs: Sequence[list[Split]]) -> FloatArray | None:
    """Return the scores under IN with other splits; None where there are none."""
    scores = np.array([p.inside(p.unpermuted, splits).score for splits in designs])
    scores = scores[~np.isnan(scores)]
    return scores if scores.size else None


def _without_made(e: AuditEvidence, p: Audited) -> FloatArray | None:
    """Return the scores of measured samples, with no sample made of them in training.

    Classes count as in the whole table, where made samples are tested, too.
    """
    made = find_interpolated(e.procedure.table)
    codes, n = coarse_outcome(p.table), e.n_samples
    is_made = np.zeros(n, dtype=bool)
    is_made[made[:, 0]] = True
    scores = []
    for r in range(RUNS):
        root = seed_for(e.seed, Purpose.FOLDS, 10 + r)
        splits = []
        for split in split_table(_random_method(e), p.table, root):
            test = split.test[~is_made[split.test]]
            children = made[np.isin(made[:, 1:], test).any(axis=1), 0]
            splits.append(Split(test, n, np.setdiff1d(split.train, children)))
        if not all(len(one.test) and _can_learn(one, codes) for one in splits):
            continue
        run = p.inside(p.unpermuted, splits)
        score = run.score
        if e.scoring.is_accuracy:
            tested = codes[np.concatenate([split.test for split in splits])]
            right = np.concatenate(run.predicted) == tested
            score = sum(
                np.mean(codes == k) * right[tested == k].mean()
                for k in np.unique(tested)
            )
        scores.append(score)
    found = np.array(scores)
    found = found[~np.isnan(found)]
    return found if found.size else None


def part_between(
    name: str,
    before: FloatArray,
    after: FloatArray | None,
    alpha: float,
    step: float = 0.0,
) -> Part:
    """Return how much the score falls, with Welch's interval over the runs.

    It is no narrower than runs allow whose scores have steps of that size.
    """
    if after is None:
        return Part(name, 0.0, 0.0, 0.0)
    value = float(before.mean() - after.mean())
    half = max(
        _half_width_of_difference(before, after, alpha),
        math.hypot(*(_least_half_width(x, alpha, step) for x in (before, after))),
    )
    return Part(name, value, value - half, value + half)


def _step(e: AuditEvidence) -> float:
    """Return by how much one sample changes the score; 0 where runs cannot differ."""
    if not e.scoring.is_accuracy or e.leaves_one_out:
        return 0.0
    return 1 / e.n_samples


def _least_half_width(scores: FloatArray, alpha: float, step: float) -> float:
    """Return how far the mean may be from scores that happen to be equal.

    Few runs may agree in every sample, although a sample is now and then predicted
    otherwise: if that happens λ times per run, none of R runs shows it with probability
    exp(−λ R), so that λ may be −log(α) / R (rule of three). A single run is compared
    with, and says nothing about its own variation.
    """
    return 0.0 if scores.size < 2 else -math.log(alpha) / scores.size * step


def _half_width_of_difference(one: FloatArray, two: FloatArray, alpha: float) -> float:
    """Return half the width of Welch's interval of a difference of means."""
    variances = [
        float(x.var(ddof=1)) / x.size if x.size > 1 else 0.0 for x in (one, two)
    ]
    total = sum(variances)
    if not total:
        return 0.0
    df = total**2 / sum(
        v**2 / (x.size - 1) for v, x in zip(variances, (one, two), strict=True) if v
    )
    return float(stats.t.ppf(1 - alpha / 2, df)) * math.sqrt(total)


def _ordered_folds(e: AuditEvidence) -> list[Split] | None:
    """Return folds of consecutive samples; None where neighbours are not alike."""
    table = e.procedure.table
    if sparse.issparse(table.values) or table.n_samples < 20:
        return None
    if e.likeness_in_order < ORDER_Z or is_sorted_outcome(e):
        return None
    units = units_in_order(table, e.order)
    return blocked_splits(e.codes, units, min(10, max(2, len(e.splits))))[0]


def _batch(e: AuditEvidence) -> Part:
    """Return what labels permuted within batches reach above freely permuted ones."""
    strata, _ = find_strata(e)
    nothing = Part("batch", 0.0, 0.0, 0.0)
    if strata is None or associate(strata, e.codes) > BATCH_LEVEL:
        return nothing
    within = e.scores_within(strata, WITHIN, seed_for(e.seed, Purpose.PERMUTATIONS, 2))
    null = e.null["in"].accuracies
    value = float(within.mean() - null.mean())
    half = _half_width_of_difference(within, null, e.alpha)
    return Part("batch", value, value - half, value + half)


def _signal_bounds(
    e: AuditEvidence, honest: Interval, parts: Sequence[Part], value: float
) -> tuple[float, float]:
    """Combine the interval of the honest score with those of the removed parts.

    That of the score has the luck of the folds in it, and is about the score without
    the optimism of a selection that could be repeated.
    """
    counted = {"luck"} | ({"selection"} if e.procedure.features is not None else set())
    removed = [part for part in parts if part.name not in counted]
    low = math.hypot(
        honest.value - honest.low, *(part.high - part.value for part in removed)
    )
    high = math.hypot(
        honest.high - honest.value, *(part.value - part.low for part in removed)
    )
    return value - low, value + high


def _half_width(scores: FloatArray, alpha: float) -> float:
    """Return half the width of the t interval of a mean; 0 for a single value."""
    if scores.size < 2:
        return 0.0
    error = float(scores.std(ddof=1)) / math.sqrt(scores.size)
    return float(stats.t.ppf(1 - alpha / 2, scores.size - 1)) * error


def _mean_interval(scores: FloatArray, alpha: float) -> Interval:
    value, half = float(scores.mean()), _half_width(scores, alpha)
    return Interval(value, value - half, value + half)
