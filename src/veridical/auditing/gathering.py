"""Measure everything that the checks look at, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.parallel import one_thread
from veridical._core.progress import ProgressLike, announce
from veridical._core.records import Interval
from veridical._core.seeds import Purpose, seed_for
from veridical._core.splits import Split
from veridical.auditing import nulls
from veridical.auditing.association import chosen_by_labels
from veridical.auditing.evidence import Evidence
from veridical.auditing.procedures import Audited, Run, supports
from veridical.auditing.records import Preselection
from veridical.comparison.significance import corrected_resampled_t
from veridical.evaluation import Method
from veridical.evaluation.stability import stability


def gather(
    procedure: Audited,
    overlap: Mapping[str, int],
    selector: Any,
    method: Method,
    splits: Sequence[Split],
    orders: nulls.Orders,
    test: str | None,
    alpha: float,
    root: int,
    n_jobs: int | None,
    progress: ProgressLike,
) -> Evidence:
    """Measure everything once."""
    protocols = ("in", "out") if procedure.columns is not None else ("in",)
    announce(progress, procedure.whole, orders.n, len(splits), len(protocols))
    codes, data = procedure.table.y, procedure.table
    with one_thread():
        inside = procedure.inside(codes, splits)
        outside = None
        if procedure.columns is not None:
            outside = procedure.on_columns(procedure.columns, codes, splits)
        else:
            outside = (
                procedure.outside(codes, splits) if procedure.has_outside else None
            )
    random = nulls.null_accuracies(procedure, orders, protocols, n_jobs, progress)
    runs = {"in": inside} | ({} if outside is None else {"out": outside})
    null = {p: nulls.summarise(random[p], runs[p].accuracy) for p in protocols}
    n_test = np.unique(np.concatenate([split.test for split in splits])).size
    accuracy = {
        p: Interval(run.accuracy, float("nan"), float("nan")) for p, run in runs.items()
    }
    accuracy["in"] = nulls.interval(inside.accuracy, random["in"], n_test, alpha)
    recalls = _recalls(codes, splits, inside)
    steady, n_selected = _stability(procedure, inside, splits)
    preselection = None
    if procedure.columns is not None:
        preselection = Preselection(
            columns=tuple(int(j) for j in procedure.columns),
            selector=max(overlap, key=lambda name: overlap[name]),
            given=selector is not None,
            overlap=overlap,
            pvalue=chosen_by_labels(
                data, procedure.columns, seed_for(root, Purpose.ASSOCIATION)
            ),
        )
    return Evidence(
        procedure=procedure,
        method=method,
        splits=splits,
        inside=inside,
        outside=outside,
        accuracy=accuracy,
        optimism=_optimism(inside, outside, splits, alpha),
        null=null,
        preselection=preselection,
        stability=steady,
        n_selected=n_selected,
        balanced=float(np.mean(list(recalls.values()))),
        recalls=recalls,
        test=test,
        alpha=alpha,
        seed=root,
    )


def _optimism(
    inside: Run, outside: Run | None, splits: Sequence[Split], alpha: float
) -> Interval | None:
    """OUT minus IN over the same folds; reach by the corrected resampled t."""
    if outside is None:
        return None
    gap = outside.accuracy - inside.accuracy
    if len(splits) < 2:
        return Interval(gap, float("nan"), float("nan"))
    found = corrected_resampled_t(
        outside.hits,
        inside.hits,
        n_train=[split.n_train for split in splits],
        n_test=[len(split.test) for split in splits],
        alpha=alpha,
    )
    reach = (found.interval[1] - found.interval[0]) / 2
    if reach == 0:
        # All folds differ by the same, mostly by nothing. So many cases in which the
        # two could differ may have been missed (the rule of three).
        reach = 1 - alpha ** (1 / sum(len(split.test) for split in splits))
    return Interval(gap, gap - reach, gap + reach)


def _recalls(codes: IntArray, splits: Sequence[Split], run: Run) -> dict[int, float]:
    tested = codes[np.concatenate([split.test for split in splits])]
    right = np.concatenate(run.predicted) == tested
    return {int(k): float(right[tested == k].mean()) for k in np.unique(tested)}


def _stability(
    procedure: Audited, inside: Run, splits: Sequence[Split]
) -> tuple[Interval | None, float | None]:
    """Agreement of the folds' selections, and their mean size."""
    if procedure.selector is not None:
        sets = [chosen for chosen in inside.chosen if chosen is not None]
    else:
        sets = supports(procedure.whole, procedure.table, splits) or []
    if len(sets) < 2:
        return None, None
    size = float(np.mean([len(chosen) for chosen in sets]))
    return stability(sets, procedure.table.n_features), size
