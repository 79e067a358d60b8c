"""A score taken apart: what part of it is chance, signal, or the way it was measured.

The procedure is run again with one freedom removed at a time. Each part is the score
before minus the score after its freedom was removed, so that the parts and the chance
add up to the reported score; the signal is what remains.

| part       | what is removed                    | the run without it               |
|------------|------------------------------------|----------------------------------|
| selection  | features chosen on all samples     | chosen inside the folds          |
| choice     | the best of several tries          | an estimate, no run              |
| luck       | the folds and seeds of this run    | mean over other ones             |
| duplicates | copies on both sides of a split    | copies kept together             |
| groups     | near relatives on both sides       | groups kept whole                |
| order      | neighbours in time on both sides   | folds of consecutive samples     |
| batch      | the batch or covariates            | labels permuted within batches   |

A freedom is removed only if its check finds something to remove; its part is 0
otherwise. The checks of near relatives, order and batch are about classes: for numbers
and survival times their parts are 0.
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
from veridical._core.parallel import one_thread
from veridical._core.records import Interval
from veridical._core.seeds import Purpose, seed_for, seeded
from veridical._core.splits import Split, split_table
from veridical.auditing.checks_choices import expected_maximum, reported_null
from veridical.auditing.checks_samples import (
    BATCH_LEVEL,
    ORDER_Z,
    associate,
    blocked_splits,
    find_strata,
    order_likeness,
    whole_group_splits,
)
from veridical.auditing.clusters import find_clusters
from veridical.auditing.duplicates import find_copies
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.procedures import Audited, make_audited
from veridical.auditing.records import Decomposition, Part
from veridical.evaluation import CrossValidation

#: Number of runs with other folds and seeds, and with whole groups.
RUNS = 5
# Number of permutations of the labels within batches.
_WITHIN = 20


def decompose(e: AuditEvidence) -> Decomposition:
    """Take the reported score apart.

    Parameters
    ----------
    e : AuditEvidence
        The measurements of an audit.
    """
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        parts = _remove_freedoms(e)
    reported = e.score["out" if e.procedure.features is not None else "in"].value
    chance = _mean_interval(e.null["in"].accuracies, e.alpha)
    rest = reported - chance.value - sum(part.value for part in parts)
    signal = Part("signal", rest, *_signal_bounds(e, parts, rest))
    return Decomposition(
        reported, (Part("chance", *chance), signal, *parts), e.scoring, e.alpha
    )


def _remove_freedoms(e: AuditEvidence) -> list[Part]:
    again = _repeat(e)
    luck = _luck(e, again)
    choice = _choice(e, luck.value)
    parts = [_selection(e, choice), choice, luck]
    mean = float(again.mean())
    duplicates, groups = _find_groups(e)
    for name, found in (("duplicates", duplicates), ("groups", groups)):
        whole = None if found is None else _runs_with(e, _group_folds(e, found))
        parts.append(_difference(name, mean, again, whole, e.alpha))
        mean -= parts[-1].value
    if e.procedure.table.kind == "classes":
        return [*parts, _order(e, mean, again), _batch(e)]
    return [*parts, *(Part(name, 0.0, 0.0, 0.0) for name in ("order", "batch"))]


def _selection(e: AuditEvidence, choice: Part) -> Part:
    """Return the optimism of a selection on all samples.

    Where the user said how many subsets were tried, and not by which selector, what
    the choice among them explains is left out.
    """
    if e.procedure.features is None or e.optimism is None:
        return Part("selection", 0.0, 0.0, 0.0)
    chosen = e.preselection
    if chosen is None or chosen.given or not choice.value:
        return Part("selection", *e.optimism)
    return Part("selection", *(bound - choice.value for bound in e.optimism))


def _choice(e: AuditEvidence, luck: float) -> Part:
    """Estimate what the best of several tries gains; 0 without ``n_tried=``.

    At most what the score has above permuted labels, and without what was luck of the
    folds. The tries may be alike, so the interval begins at 0.
    """
    n_tried, sign = e.known.n_tried, e.scoring.sign
    if n_tried is None or n_tried == 1:
        return Part("choice", 0.0, 0.0, 0.0)
    reported, null = reported_null(e)
    most = max(0.0, sign * (reported - float(null.mean())))
    gain = min(float(null.std(ddof=1)) * expected_maximum(n_tried), most)
    if e.procedure.features is None:
        gain = max(0.0, gain - max(0.0, sign * luck))
    low, high = sorted((0.0, sign * gain))
    return Part("choice", sign * gain, low, high)


def _repeat(e: AuditEvidence) -> FloatArray:
    """Return the score under IN with other folds and seeds.

    Runs whose score is not defined are left out; with none left, nothing is luck.
    """
    p, method = e.procedure, _random_method(e)
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


def _luck(e: AuditEvidence, again: FloatArray) -> Part:
    """Return the score of these folds minus the mean over others."""
    value = e.score["in"].value - float(again.mean())
    half = _half_width(again, e.alpha)
    return Part("luck", value, value - half, value + half)


def _find_groups(e: AuditEvidence) -> tuple[IntArray | None, IntArray | None]:
    """Return groups of copies, and groups of near relatives."""
    table = e.procedure.table
    if table.groups is not None:
        return None, None
    copies = find_copies(table)
    duplicates = None
    pairs = copies.pairs[copies.nearness > 0] if copies.explained else copies.pairs
    if len(pairs):
        linked = sparse.coo_array(
            (np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])),
            shape=(table.n_samples, table.n_samples),
        )
        duplicates = connected_components(linked, directed=False)[1].astype(np.intp)
    clusters = find_clusters(table) if table.kind == "classes" else None
    if clusters is None or 4 * len(pairs) >= table.n_samples:
        return duplicates, None
    return duplicates, clusters.groups


def _group_folds(e: AuditEvidence, groups: IntArray) -> list[list[Split]]:
    made = [whole_group_splits(e, groups, r) for r in range(RUNS)]
    return [splits for splits in made if splits is not None]


def _runs_with(e: AuditEvidence, designs: Sequence[list[Split]]) -> FloatArray | None:
    """Return the scores under IN with other splits; None where there are none."""
    p = e.procedure
    scores = np.array([p.inside(p.unpermuted, splits).score for splits in designs])
    scores = scores[~np.isnan(scores)]
    return scores if scores.size else None


def _difference(
    name: str, before: float, again: FloatArray, after: FloatArray | None, alpha: float
) -> Part:
    """Return how much the score falls, with an interval over the repeated runs."""
    if after is None:
        return Part(name, 0.0, 0.0, 0.0)
    value = before - float(after.mean())
    half = math.hypot(_half_width(again, alpha), _half_width(after, alpha))
    return Part(name, value, value - half, value + half)


def _order(e: AuditEvidence, mean: float, again: FloatArray) -> Part:
    table, time = e.procedure.table, e.known.time
    nothing = Part("order", 0.0, 0.0, 0.0)
    if sparse.issparse(table.values) or table.n_samples < 20:
        return nothing
    order = np.arange(e.n_samples) if time is None else np.argsort(time, kind="stable")
    z = order_likeness(table, order, seed_for(e.seed, Purpose.ASSOCIATION, 3))
    if z < ORDER_Z:
        return nothing
    splits, _ = blocked_splits(table.y, order, min(10, max(2, len(e.splits))))
    return _difference("order", mean, again, _runs_with(e, [splits]), e.alpha)


def _batch(e: AuditEvidence) -> Part:
    """Return what labels permuted within batches reach above freely permuted ones."""
    strata, _ = find_strata(e)
    nothing = Part("batch", 0.0, 0.0, 0.0)
    if strata is None or associate(strata, e.procedure.table.y) > BATCH_LEVEL:
        return nothing
    within = e.scores_within(strata, _WITHIN, seed_for(e.seed, Purpose.PERMUTATIONS, 2))
    null = e.null["in"].accuracies
    value = float(within.mean() - null.mean())
    half = math.hypot(_half_width(within, e.alpha), _half_width(null, e.alpha))
    return Part("batch", value, value - half, value + half)


def _signal_bounds(
    e: AuditEvidence, parts: Sequence[Part], value: float
) -> tuple[float, float]:
    """Combine the interval of the score under IN with those of the removed parts."""
    inside = e.score["in"]
    halves = [(part.high - part.low) / 2 for part in parts if part.name != "selection"]
    half = math.sqrt(
        sum(one**2 for one in halves) + (max(inside.high - inside.low, 0.0) / 2) ** 2
    )
    return value - half, value + half


def _half_width(scores: FloatArray, alpha: float) -> float:
    """Return half the width of the t interval of a mean; 0 for a single value."""
    if scores.size < 2:
        return 0.0
    error = float(scores.std(ddof=1)) / math.sqrt(scores.size)
    return float(stats.t.ppf(1 - alpha / 2, scores.size - 1)) * error


def _mean_interval(scores: FloatArray, alpha: float) -> Interval:
    value, half = float(scores.mean()), _half_width(scores, alpha)
    return Interval(value, value - half, value + half)
