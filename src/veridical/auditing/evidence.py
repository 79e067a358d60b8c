"""The measurements that the checks of an audit use, each made once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import one_thread
from veridical._core.progress import ProgressLike, announce
from veridical._core.records import Interval
from veridical._core.scoring import ACCURACY, ScoreInfo, weighted_mean
from veridical._core.seeds import Purpose, as_generator, seed_for, stream
from veridical._core.splits import Split, count_units, split_table
from veridical._core.table import Table
from veridical._core.text import quote
from veridical.auditing import nulls
from veridical.auditing.agreement import Agreement
from veridical.auditing.association import (
    best_features_pvalue,
    chosen_by_labels,
    coarse_outcome,
)
from veridical.auditing.clusters import Clusters, find_clusters
from veridical.auditing.duplicates import Copies, find_copies
from veridical.auditing.kinship import order_likeness
from veridical.auditing.knowledge import Knowledge
from veridical.auditing.procedures import Audited, Run, make_audited, supports
from veridical.auditing.records import Null, Preselection
from veridical.comparison.significance import corrected_resampled_t
from veridical.comparison.testing import on_accuracies
from veridical.evaluation import Method
from veridical.evaluation.estimating import (
    accuracy_of_hits,
    describe_score,
    estimate_of_score,
    warn_once,
)
from veridical.evaluation.notes import LACKING
from veridical.evaluation.records import Coverage, ScoreResult
from veridical.evaluation.stability import stability
from veridical.evaluation.structured import is_structured
from veridical.evaluation.trust import coverage_of, default_interval

_THIRDS = ("lowest", "middle", "highest")


@dataclass(frozen=True, eq=False)
class AuditEvidence:
    """Measurements for the checks of an audit.

    Parameters
    ----------
    procedure : Audited
        The audited procedure, with its data.
    method : Method
        Method that splits the samples.
    splits : list of Split
        The splits of the true labels.
    inside : Run
        The run under IN.
    outside : Run or None
        The run under OUT.
    accuracy : mapping of "in" and "out" to Interval
        Accuracies of the two runs; that under "in" with its interval. Without classes,
        the leading score.
    scoring : ScoreInfo
        The leading score.
    score : mapping of "in" and "out" to Interval
        The leading score of the two runs; the accuracy unless another was asked for.
    others : tuple of ScoreResult
        Further scores under "in".
    interval : str
        The kind of that interval, "" if none is valid.
    coverage : mapping of str to Coverage
        How often intervals, by kind, have covered the truth in designs near this one.
    optimism : Interval or None
        "out" minus "in".
    null : mapping of "in" and "out" to Null
        Accuracies of the two on permuted labels.
    preselection : Preselection or None
        Features that were selected beforehand.
    stability : Interval or None
        Agreement of the feature sets of the folds.
    n_selected : float or None
        Mean size of the feature sets.
    balanced : float
        Balanced accuracy of the run under IN.
    recalls : mapping of int to float
        Share of correct predictions among the samples of each class.
    test : str or None
        The significance test that is going to be reported.
    alpha : float
        Significance level.
    seed : int
        Root seed.
    known : Knowledge
        What the user knows about the samples.
    """

    procedure: Audited
    method: Any
    splits: Sequence[Split]
    inside: Run
    outside: Run | None
    accuracy: Mapping[str, Interval]
    scoring: ScoreInfo
    score: Mapping[str, Interval]
    others: tuple[ScoreResult, ...]
    interval: str
    coverage: Mapping[str, Coverage]
    optimism: Interval | None
    null: Mapping[str, Null]
    preselection: Preselection | None
    stability: Interval | None
    n_selected: float | None
    balanced: float
    recalls: Mapping[int, float]
    test: str | None
    alpha: float
    seed: int
    known: Knowledge = field(default_factory=Knowledge)
    _within: dict[tuple[bytes, int, int], FloatArray] = field(
        default_factory=dict, repr=False
    )

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.procedure.table.n_samples

    # -- the outcome, in words that fit every kind of target ---------------------------

    @property
    def has_classes(self) -> bool:
        """Whether the target is classes."""
        return self.procedure.table.kind == "classes"

    @property
    def outcome(self) -> str:
        """What is predicted, in words."""
        return "class" if self.has_classes else "outcome"

    @cached_property
    def codes(self) -> IntArray:
        """The classes; of numbers and survival times, thirds of the samples."""
        return coarse_outcome(self.procedure.table)

    def name_part(self, code: int) -> str:
        """Name a class, or a third of the samples."""
        if self.has_classes:
            return f"class {quote(self.procedure.table.classes[code])}"
        if self.procedure.table.kind == "survival":
            risk = ("latest", "middle", "earliest")[code]
            return f"the third of the samples with the {risk} events"
        return f"the third of the samples with the {_THIRDS[code]} outcome"

    @property
    def measure(self) -> ScoreInfo:
        """The accuracy; without classes the leading score, as in `accuracy`."""
        return ACCURACY if self.has_classes else self.scoring

    def is_worse(self, value: float) -> bool:
        """Return whether a score is worse than the interval of `accuracy` allows.

        Where there is no interval, whether it is worse than the score itself.
        """
        honest, sign = self.accuracy["in"], self.measure.sign
        bound = honest.low if sign > 0 else honest.high
        return sign * value < sign * (bound if math.isfinite(bound) else honest.value)

    def compare_with(self, value: float) -> str:
        """Write another score beside that under IN: "0.41 instead of 0.62 (−0.21)"."""
        honest, measure = self.accuracy["in"].value, self.measure
        gap = measure.write_gap(value - honest)
        return f"{measure.write(value)} instead of {measure.write(honest)} ({gap})"

    @property
    def class_sizes(self) -> IntArray:
        """Number of samples of each class, in the order of the sorted labels."""
        return np.bincount(self.procedure.table.y)

    @property
    def majority(self) -> float:
        """Accuracy of always predicting the most frequent class."""
        return float(self.class_sizes.max() / self.n_samples)

    @property
    def above_chance(self) -> bool:
        """Whether the accuracy under IN is significantly above permuted labels."""
        return self.null["in"].pvalue <= self.alpha

    @property
    def optimism_varies(self) -> bool:
        """Whether the interval of the optimism is that of differing folds."""
        if self.optimism is None or self.outside is None:
            return False
        equal = np.array_equal(self.outside.hits, self.inside.hits)
        return bool(np.isfinite(self.optimism.low)) and not equal

    @property
    def leaves_one_out(self) -> bool:
        """Whether every test set is a single sample."""
        return all(len(split.test) == 1 for split in self.splits)

    # -- the samples: what several checks and the decomposition use -------------------

    @cached_property
    def copies(self) -> Copies:
        """Samples that are copies or near-copies."""
        return find_copies(self.procedure.table)

    @cached_property
    def clusters(self) -> Clusters | None:
        """Groups of near relatives."""
        return find_clusters(self.procedure.table)

    @cached_property
    def order(self) -> IntArray:
        """Samples in the order of time; of the rows, where the time was not said."""
        if self.known.time is None:
            return np.arange(self.n_samples)
        return np.argsort(self.known.time, kind="stable")

    @cached_property
    def likeness_in_order(self) -> float:
        """How alike samples are that follow each other, in standard errors."""
        seed = seed_for(self.seed, Purpose.ASSOCIATION, 3)
        return order_likeness(self.procedure.table, self.order, seed)

    # -- the procedure again, with one thing changed ----------------------------------

    def procedure_of(self, estimator: Any) -> Audited:
        """Make an audited procedure of another estimator, on the same samples."""
        return make_audited(estimator, self.procedure.table)

    def run_without(self, features: IntArray) -> Run | None:
        """Return the run under IN without some features; None where there is none.

        There is none if features were selected beforehand, or if the estimator needs
        the features that are left out.
        """
        p = self.procedure
        kept = np.setdiff1d(np.arange(p.table.n_features), features)
        if p.features is not None or not kept.size:
            return None
        try:
            part = make_audited(p.whole, p.table.take_columns(kept), p.scores)
            return part.inside(p.unpermuted, self.splits)
        except (InputError, IndexError, KeyError, TypeError, ValueError):
            return None

    def accuracy_without(self, features: IntArray) -> float | None:
        """Return the accuracy of `run_without`."""
        run = self.run_without(features)
        return None if run is None else run.accuracy

    def balanced_of(self, run: Run) -> float:
        """Return the balanced accuracy of a run with the splits of the audit."""
        recalls = _recalls(self.procedure.table, self.splits, run)
        return float(np.mean(list(recalls.values())))

    def scores_within(self, strata: IntArray, n: int, seed: int) -> FloatArray:
        """Return the leading score for labels that are permuted within strata.

        Features that were selected beforehand stay as they are. Scores that are not
        defined are left out. The same request is computed once.
        """
        key = strata.tobytes(), n, seed
        if key not in self._within:
            self._within[key] = self._scores_within(strata, n, seed)
        return self._within[key]

    def _scores_within(self, strata: IntArray, n: int, seed: int) -> FloatArray:
        orders = []
        for b in range(n):
            rng = as_generator(stream(seed, b))
            order = self.procedure.unpermuted
            for one in np.unique(strata):
                rows = np.flatnonzero(strata == one)
                order[rows] = rng.permutation(rows)
            orders.append(order)
        return self._scores_of(orders, seed)

    def scores_shifted(self, n: int, seed: int) -> FloatArray:
        """Return the leading score for outcomes that are shifted along `order`.

        They keep their runs, but belong to other samples; what is shifted beyond the
        end comes in at the beginning. Scores that are not defined are left out.
        """
        size = self.n_samples
        shifts = np.unique(np.linspace(0.1 * size, 0.9 * size, n).astype(np.intp))
        orders = []
        for shift in shifts:
            moved = self.procedure.unpermuted
            moved[self.order] = np.roll(self.order, -int(shift))
            orders.append(moved)
        return self._scores_of(orders, seed)

    def _scores_of(self, orders: Sequence[IntArray], seed: int) -> FloatArray:
        """Return the leading score for outcomes in other orders."""
        p = self.procedure
        fast = replace(p, scores=p.scores[:1])
        if p.features is None:
            fast = fast.prepare_permutations()
        scores = []
        for b, order in enumerate(orders):
            labels = p.table.target.take(order).strata
            splits = split_table(self.method, p.table, seed + b, labels)
            if p.features is None:
                scores.append(fast.inside(order, splits).score)
            else:
                scores.append(fast.on_features(p.features, order, splits).score)
        found = np.array(scores)
        return found[~np.isnan(found)]


def gather_evidence(
    procedure: Audited,
    agreement: Agreement | None,
    selector: Any,
    method: Method,
    splits: Sequence[Split],
    permutations: nulls.LabelPermutations,
    test: str | None,
    alpha: float,
    root: int,
    n_jobs: int | None,
    progress: ProgressLike,
    known: Knowledge,
) -> AuditEvidence:
    """Run the procedure on true and permuted labels, and measure what checks need."""
    protocols = ("in", "out") if procedure.features is not None else ("in",)
    announce(progress, procedure.whole, permutations.n, len(splits), len(protocols))
    order, data = procedure.unpermuted, procedure.table
    has_classes = data.kind == "classes"
    with one_thread():
        inside = procedure.inside(order, splits)
        outside = None
        if procedure.features is not None:
            outside = procedure.on_features(procedure.features, order, splits)
        elif procedure.has_outside:
            outside = procedure.outside(order, splits)
    permuted = nulls.null_accuracies(
        procedure, permutations, protocols, n_jobs, progress
    )
    runs = {"in": inside} | ({} if outside is None else {"out": outside})
    leading = procedure.scores[0] if procedure.scores else None
    scoring = ACCURACY
    if has_classes:
        counts = np.bincount(data.y, data.weights)
        scoring = replace(ACCURACY, chance=float(counts.max() / counts.sum()))
    if leading is not None:
        assert inside.found is not None
        averaging = inside.found.scored(leading).averaging
        scoring = describe_score(leading, data, averaging)
        warn_once(inside.found.scored(leading).warned)
        if np.isnan([run.score for run in runs.values()]).any():
            raise InputError(
                f"The {leading.label} is not defined on these test sets, which "
                f"{LACKING[leading.kind or 'classes']}; use larger or stratified test "
                "sets, or another scoring."
            )
    null = {
        p: nulls.summarise(permuted[p], runs[p].score, scoring.sign) for p in protocols
    }
    accuracy = {
        p: Interval(run.accuracy, float("nan"), float("nan")) for p, run in runs.items()
    }
    situation = procedure.situation(inside.accuracy)
    kind = None
    covered: Mapping[str, Coverage] = {}
    if has_classes:
        estimate = accuracy_of_hits(
            method,
            splits,
            [
                predicted == data.y[split.test]
                for predicted, split in zip(inside.predicted, splits, strict=True)
            ],
            situation,
            random_state=root,
            table=data,
        )
        kind = default_interval(estimate)
        if kind is not None:
            bounds = estimate.interval(1 - alpha, kind)
            accuracy["in"] = Interval(inside.accuracy, *bounds)
        if not is_structured(ACCURACY, data):
            covered = coverage_of(splits, situation, 1 - alpha, kind or "")
        elif np.isclose(alpha, 0.05):
            covered = estimate.coverage
    score: dict[str, Interval] = dict(accuracy)
    score_kind = kind or ""
    others: tuple[ScoreResult, ...] = ()
    if leading is not None and not leading.is_accuracy:
        first, *_ = results = _score_results(
            method, splits, inside, procedure, alpha, root
        )
        score = {
            p: Interval(run.score, float("nan"), float("nan"))
            for p, run in runs.items()
        }
        score["in"], score_kind = first.score, first.interval
        if not has_classes:
            accuracy = score
        covered = {} if first.coverage is None else {score_kind: first.coverage}
        others = tuple(results[1:])
    elif leading is not None:
        others = tuple(
            _score_results(method, splits, inside, procedure, alpha, root)[1:]
        )
    recalls = _recalls(data, splits, inside) if has_classes else {}
    stability_in, n_selected = _stability(procedure, inside, splits)
    preselection = None
    if procedure.features is not None and agreement is not None:
        preselection = Preselection(
            features=tuple(int(j) for j in procedure.features),
            selector=agreement.name,
            given=selector is not None,
            overlap=agreement.overlap,
            pvalue=agreement.pvalue,
            permuted=agreement.permuted,
            association_pvalue=chosen_by_labels(
                data.corrected(np.arange(len(data))),
                procedure.features,
                seed_for(root, Purpose.ASSOCIATION),
            ),
            signal_pvalue=best_features_pvalue(
                data, procedure.features.size, seed_for(root, Purpose.ASSOCIATION, 3)
            ),
        )
    return AuditEvidence(
        procedure=procedure,
        method=method,
        splits=splits,
        inside=inside,
        outside=outside,
        accuracy=accuracy,
        scoring=scoring,
        score=score,
        others=others,
        interval=score_kind,
        coverage=covered,
        optimism=_optimism(inside, outside, splits, alpha, scoring, data),
        null=null,
        preselection=preselection,
        stability=stability_in,
        n_selected=n_selected,
        balanced=float(np.mean(list(recalls.values()))) if recalls else math.nan,
        recalls=recalls,
        test=test,
        alpha=alpha,
        seed=root,
        known=known,
    )


def _score_results(
    method: Method,
    splits: Sequence[Split],
    run: Run,
    procedure: Audited,
    alpha: float,
    root: int,
) -> list[ScoreResult]:
    """Compute every score under IN, with its interval where one is valid."""
    assert run.found is not None
    results = []
    for score in procedure.scores:
        if score.is_accuracy:
            info = describe_score(score, procedure.table, "pooled")
            value = Interval(run.accuracy, float("nan"), float("nan"))
            results.append(ScoreResult(info, value))
            continue
        one = estimate_of_score(
            method,
            splits,
            run.found,
            score,
            procedure.table,
            random_state=root,
            situation=procedure.situation(np.nan),
        )
        kind = default_interval(one)
        bounds = (float("nan"),) * 2 if kind is None else one.interval(1 - alpha, kind)
        results.append(
            ScoreResult(
                one.scoring,
                Interval(one.value, *bounds),
                kind or "",
                one.coverage.get(kind or "") if np.isclose(alpha, 0.05) else None,
            )
        )
    return results


def _optimism(
    inside: Run,
    outside: Run | None,
    splits: Sequence[Split],
    alpha: float,
    scoring: ScoreInfo,
    data: Table,
) -> Interval | None:
    """Return OUT minus IN, with the interval of the corrected resampled t-test.

    The interval is NaN for fewer than three splits, and where all differ by the same;
    unless they do not differ at all, which bounds the share of samples on which the two
    may differ without having been seen (rule of three).
    """
    if outside is None:
        return None
    gap = outside.score - inside.score
    known = ~np.isnan(outside.scores) & ~np.isnan(inside.scores)
    if np.count_nonzero(known) < 2:
        return Interval(gap, float("nan"), float("nan"))
    splits = [split for split, there in zip(splits, known, strict=True) if there]
    if scoring.is_accuracy and np.array_equal(outside.hits, inside.hits):
        tested = np.unique(np.concatenate([split.test for split in splits]))
        units = tested if data.groups is None else np.unique(data.groups[tested])
        half_width = 1 - alpha ** (1 / units.size)
        return Interval(gap, gap - half_width, gap + half_width)
    n_train, n_test = count_units(splits, data.groups)
    found = on_accuracies(
        corrected_resampled_t(
            outside.scores[known],
            inside.scores[known],
            n_train=n_train.tolist(),
            n_test=n_test.tolist(),
            alpha=alpha,
        ),
        scoring.high - scoring.low,
    )
    half_width = (found.interval[1] - found.interval[0]) / 2
    return Interval(gap, gap - half_width, gap + half_width)


def _recalls(table: Table, splits: Sequence[Split], run: Run) -> dict[int, float]:
    rows = np.concatenate([split.test for split in splits])
    tested = table.y[rows]
    right = np.concatenate(run.predicted) == tested
    weights = np.ones(len(rows)) if table.weights is None else table.weights[rows]
    return {
        int(k): float(weighted_mean(right[tested == k], weights[tested == k]))
        for k in np.unique(tested)
    }


def _stability(
    procedure: Audited, inside: Run, splits: Sequence[Split]
) -> tuple[Interval | None, float | None]:
    """Return the agreement of the folds' feature sets, and their mean size."""
    if procedure.selector is not None:
        sets = [chosen for chosen in inside.chosen if chosen is not None]
    else:
        sets = supports(procedure.whole, procedure.table, splits) or []
    if len(sets) < 2:
        return None, None
    size = float(np.mean([len(chosen) for chosen in sets]))
    n_features = procedure.table.n_features
    return stability(sets, n_features, independent=False), size
