"""The findings of the comparison paper as checks.

Its figures are those of the paper; where it speaks in words, or where its figures are
lost, the rule of a check says what we take it to mean. Intervals are over data sets,
which are independent; cells of the same data sets are not, so counts of cells come
without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from veridical._core.arrays import FloatArray
from veridical._core.numbers import number
from veridical._core.seeds import as_generator
from veridical.comparison.truthfulness import binomial_truthfulness
from veridical.experiments.findings import Check, Outcome, StudyReport
from veridical.papers.accuracy_figures import average, judge
from veridical.papers.in_vs_out_example import check_example
from veridical.papers.in_vs_out_figures import (
    CONTINUOUS,
    METHODS,
    Block,
    Figures,
    give_verdicts,
    jackknife,
    normalise,
)
from veridical.papers.in_vs_out_pictures import draw_pictures, make_tables
from veridical.papers.in_vs_out_truthfulness import check_truthfulness
from veridical.papers.in_vs_out_words import (
    ENOUGH_SETS,
    FEW_SETS,
    PAPER_SETS,
    if_enough,
    share,
    together,
    with_interval,
)

QUESTION = "Which protocol finds the better of two selectors, IN or OUT?"
PAPER = (
    "P. Refaeilzadeh, L. Tang & H. Liu, On comparison of feature selection algorithms, "
    "AAAI Workshop on Evaluation Methods for Machine Learning II, 2007"
)

#: With fewer sizes N a trend over them says too little.
_ENOUGH_SIZES = 5
#: How often data sets are paired at random to see the size of TRUTH's test.
_PAIRINGS = 20
#: The values of the binomial test that are known: IN alone right, OUT alone, p.
BINOMIAL = (
    (6, 0, 0.015625),
    (5, 0, 0.03125),
    (8, 1, 10 / 512),
    (7, 1, 9 / 256),
    (10, 2, 79 / 4096),
    (11, 3, 470 / 16384),
)


_signed = partial(number, digits=2, signed=True)


def report(study: str, frame: pd.DataFrame) -> StudyReport:
    """Make the report of the study from its cells.

    Parameters
    ----------
    study : str
        Its name.
    frame : DataFrame
        From `veridical.papers.in_vs_out.frame`.
    """
    figures = Figures.of(frame)
    checks = [
        *_biases(figures),
        *check_truthfulness(figures),
        *check_example(figures),
        *_spreads(figures),
        *check_soundness(figures),
    ]
    return StudyReport(
        study,
        QUESTION,
        PAPER,
        tuple(checks),
        tuple(make_tables(figures)),
        tuple(draw_pictures(figures)),
        tuple(_notes(figures)),
    )


# -- bias: A1, A2, A3 ----------------------------------------------------------------


def _biases(figures: Figures) -> Iterator[Check]:
    for source in CONTINUOUS:
        yield _signs(source, figures.of_source(source))
    yield _small_inside(figures.of_source("nonlinear"))
    for source in CONTINUOUS:
        yield _falling(source, figures.of_source(source))
    yield _largest(figures)


def _signs(source: str, blocks: list[Block]) -> Check:
    statement = f"A1. OUT is optimistic, IN pessimistic and less far off: {source}"
    published = "OUT above 0, IN below 0"
    rule = (
        "mean normalised bias over all cells: OUT > 0 and IN < 0; at N = 125 OUT is at "
        "least +0.5 %, IN between −5 % and +0.5 %, and OUT is further from 0"
    )
    smallest = next((block for block in blocks if block.n == 125), None)
    if smallest is None:
        return Check(statement, "open", published, "no data", rule)
    everywhere = {m: average(b.mean_biases[m] for b in blocks) for m in METHODS}
    here = smallest.mean_biases
    parts = (smallest.folds["out"], smallest.folds["in"], smallest.truth)
    further = jackknife(parts, _further)
    outcome = together(
        (
            judge(everywhere["out"].interval, low=0),
            judge(everywhere["in"].interval, high=0),
            judge(here["out"].interval, low=0.5),
            judge(here["in"].interval, -5, 0.5),
            judge(further.interval, low=0),
        )
    )
    ours = "; at N = 125 ".join(
        f"OUT {with_interval(found['out'])}, IN {with_interval(found['in'])}"
        for found in (everywhere, here)
    )
    ours = f"{ours}; {smallest.n_sets} sets"
    return Check(statement, outcome, published, ours, rule)


def _further(outside: FloatArray, inside: FloatArray, truth: FloatArray) -> float:
    """How much further from 0 the bias of OUT is."""
    return abs(normalise(outside, truth)) - abs(normalise(inside, truth))


def _small_inside(blocks: list[Block]) -> Check:
    statement = "A2. The bias of IN is small on the non-linear source"
    published = "below 1 % on average, at every N"
    rule = "the mean is within ±1.5 % at every N, and every cell within ±6 %"
    if not blocks:
        return Check(statement, "open", published, "no data", rule)
    means = {block.n: block.mean_biases["in"] for block in blocks}
    worst = max(means, key=lambda n: abs(means[n].value))
    cell = max((_cells(block, "in") for block in blocks), key=abs)
    n_sets = min(block.n_sets for block in blocks)
    outcome = together(
        (
            *(judge(mean.interval, -1.5, 1.5) for mean in means.values()),
            if_enough(abs(cell) < 6, n_sets, ENOUGH_SETS),
        )
    )
    ours = (
        f"largest mean {with_interval(means[worst])} at N = {worst}; largest cell "
        f"{_signed(cell)} %; {n_sets} sets"
    )
    return Check(statement, outcome, published, ours, rule)


def _cells(block: Block, method: str) -> float:
    """The cell of a block with the largest normalised bias, in per cent."""
    cells = 100 * block.normalised[method].mean(axis=-1)
    return float(cells.ravel()[np.abs(cells).argmax()])


def _falling(source: str, blocks: list[Block]) -> Check:
    statement = f"A3. The bias of OUT falls with N: {source}"
    published = "falls"
    rule = "rank correlation of the mean normalised bias with N is at most −0.7"
    if len(blocks) < 2:
        return Check(statement, "open", published, "no data", rule)
    means = [block.mean_biases["out"].value for block in blocks]
    rho = float(stats.spearmanr([b.n for b in blocks], means).statistic)
    n_sets = min(block.n_sets for block in blocks)
    enough = n_sets >= ENOUGH_SETS and len(blocks) >= _ENOUGH_SIZES
    outcome: Outcome = "open"
    if enough:
        outcome = "reproduced" if rho <= -0.7 else "not reproduced"
    ours = (
        f"{_signed(rho)} over {len(blocks)} sizes, from {_signed(means[0])} % at "
        f"N = {blocks[0].n} to {_signed(means[-1])} % at N = {blocks[-1].n}; {n_sets} "
        "sets"
    )
    return Check(statement, outcome, published, ours, rule)


def _largest(figures: Figures) -> Check:
    statement = "The largest bias of a cell: IN stays small, OUT does not"
    published = "IN never above 5 %, OUT up to 20 %"
    rule = "normalised bias: IN at most 5 % in size everywhere, OUT above 5 % somewhere"
    if not figures.blocks:
        return Check(statement, "open", published, "no data", rule)
    worst = {m: max((_cells(b, m) for b in figures.blocks), key=abs) for m in METHODS}
    holds = abs(worst["in"]) <= 5 < worst["out"]
    found = f"IN {_signed(worst['in'])} %, OUT {_signed(worst['out'])} %"
    ours = f"{found}; {figures.n_sets} sets"
    outcome = if_enough(holds, figures.n_sets, ENOUGH_SETS)
    return Check(statement, outcome, published, ours, rule)


# -- how much accuracies vary: A8 ----------------------------------------------------


def _spreads(figures: Figures) -> Iterator[Check]:
    statement = "A8. TRUTH varies least, and OUT no more than IN"
    published = "TRUTH less than IN, OUT like IN"
    rule = (
        "mean variance over the cells: that of TRUTH over data sets is below that of "
        "IN over folds, and OUT's is at most 1.05 times IN's"
    )
    if not figures.blocks:
        yield Check(statement, "open", published, "no data", rule)
        return
    variance = {m: _mean(_over_folds(b, m) for b in figures.blocks) for m in METHODS}
    truth = _mean(block.truth.var(axis=-1, ddof=1).mean() for block in figures.blocks)
    ratio = variance["out"] / variance["in"]
    holds = truth < variance["in"] and ratio <= 1.05
    ours = (
        f"standard deviations (root of the mean variance): TRUTH "
        f"{100 * np.sqrt(truth):.1f}, IN {100 * np.sqrt(variance['in']):.1f}, OUT "
        f"{100 * np.sqrt(variance['out']):.1f} points; OUT/IN {ratio:.3f}; "
        f"{figures.n_sets} sets"
    )
    outcome = if_enough(holds, figures.n_sets, FEW_SETS)
    yield Check(statement, outcome, published, ours, rule)


def _over_folds(block: Block, method: str) -> float:
    return float(block.folds[method].var(axis=-1, ddof=1).mean())


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# -- are the tests themselves sound? A10, A11, A12 -----------------------------------


def check_soundness(figures: Figures) -> Iterator[Check]:
    """Known values of the binomial test, and pairs of which the truth is known."""
    gaps = [abs(binomial_truthfulness(i, o).pvalue - p) for i, o, p in BINOMIAL]
    yield Check(
        "A10. The binomial test gives the values that can be counted by hand",
        if_enough(max(gaps) <= 1e-12, 1, 1),
        "–",
        f"largest difference {max(gaps):.1g}, {len(BINOMIAL)} values",
        "to 1e-12",
    )
    yield _itself(figures)
    yield _null(figures)


def _itself(figures: Figures) -> Check:
    """A11: a selector against itself."""
    n_verdicts = n_wrong = 0
    for block in figures.blocks:
        for i in range(len(block.selectors)):
            for values in (block.truth, *block.folds.values()):
                said = give_verdicts(values[i] - values[i])
                n_verdicts += said.size
                n_wrong += int(np.count_nonzero(said))
    outcome: Outcome = "open"
    if n_verdicts:
        outcome = "reproduced" if n_wrong == 0 else "not reproduced"
    return Check(
        "A11. A selector against itself always draws",
        outcome,
        "–",
        f"{n_wrong} of {n_verdicts} verdicts are no draw",
        "none",
    )


def _null(figures: Figures) -> Check:
    """A12: the same selector on other data sets is no better and no worse."""
    statement = "A12. TRUTH's test rejects as often as it should where nothing differs"
    published = "5 %"
    rule = (
        f"5 % ± 3 %, for each selector on half of the data sets against itself on the "
        f"others, {_PAIRINGS} times paired at random"
    )
    rng = as_generator(0)
    rejected: list[FloatArray] = []
    for block in figures.blocks:
        half = block.n_sets // 2
        if half < 2:
            continue
        # Cells share their data sets: a single pairing would say little, and all of
        # them the same.
        for _ in range(_PAIRINGS):
            one, other = rng.permutation(block.n_sets)[: 2 * half].reshape(2, -1)
            d = block.truth[..., one] - block.truth[..., other]
            rejected.append((give_verdicts(d) != 0).ravel())
    if not rejected:
        return Check(statement, "open", published, "no data", rule)
    hits = np.concatenate(rejected)
    ours = f"{share(int(hits.sum()), hits.size)} tests of {figures.n_sets // 2} pairs"
    holds = 0.02 <= hits.mean() <= 0.08
    outcome = if_enough(bool(holds), figures.n_sets, ENOUGH_SETS)
    return Check(statement, outcome, published, ours, rule)


def _notes(figures: Figures) -> Iterator[str]:
    n = figures.n_sets
    if n < PAPER_SETS:
        yield (
            f"The paper has {PAPER_SETS} data sets per source and size, these are {n}: "
            "findings that count cells stay open, because the tests see less."
        )
    if figures.n_left_out:
        yield (
            f"{figures.n_left_out} cells are left out: they failed, or others of the "
            "same data set are missing."
        )
    yield (
        "Normalised bias: fold accuracies minus true accuracy where Welch's test sees "
        "a difference, else 0, over the mean true accuracy. Its interval comes from "
        "leaving out a twentieth of the data sets at a time."
    )
    yield (
        "The generators of the two continuous sources are not printed in the paper; "
        "ours are calibrated to its Table 3. Its Table 2 is lost."
    )
