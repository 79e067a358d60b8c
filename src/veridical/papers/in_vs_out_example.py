"""The comparison paper's worked example: its Table 3, in our figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.numbers import number
from veridical.comparison.truthfulness import binomial_truthfulness
from veridical.experiments.findings import Check, Outcome, StudyTable
from veridical.papers.accuracy_figures import Mean, judge
from veridical.papers.in_vs_out_figures import ALPHA, TITLES, Block, Figures, Pair
from veridical.papers.in_vs_out_words import with_interval

SOURCE, N, SIZE, CLASSIFIER = "linear", 125, 20, "svm"
WHERE = f"SVM, {SOURCE} source, N = {N}, F = {SIZE}"
SIDES = ("fcbf", "relieff")

#: Mean accuracies as published, per cent; biases and imbalances follow from them.
PUBLISHED = {
    "out": {"fcbf": 81.56, "relieff": 86.19},
    "truth": {"fcbf": 80.58, "relieff": 84.36},
    "in": {"fcbf": 80.28, "relieff": 82.74},
}


@dataclass(frozen=True, eq=False)
class Example:
    """Accuracies of one N of the example, in per cent."""

    pair: Pair
    size: int
    classifier: int

    @classmethod
    def of(cls, block: Block) -> Example | None:
        """Find the example in a block; None where it is not there."""
        if SIZE not in block.sizes or CLASSIFIER not in block.classifiers:
            return None
        for pair in block.pairs():
            if pair.names == ("relieff", "fcbf"):
                size = block.sizes.index(SIZE)
                return cls(pair, size, block.classifiers.index(CLASSIFIER))
        return None

    @property
    def n_sets(self) -> int:
        """How many data sets there are."""
        return self.pair.block.n_sets

    def values(self, method: str, selector: str) -> FloatArray:
        """Accuracy of every data set, folds averaged."""
        block = self.pair.block
        place = (block.selectors.index(selector), self.size, self.classifier)
        if method == "truth":
            return 100 * block.truth[place]
        return 100 * block.folds[method][place].mean(axis=-1)

    def bias(self, method: str, selector: str) -> Mean:
        """Plain bias: what the folds say minus what is true, set by set."""
        return Mean.of(self.values(method, selector) - self.values("truth", selector))

    def gap(self, method: str) -> Mean:
        """ReliefF minus FCBF, set by set."""
        return Mean.of(self.values(method, "relieff") - self.values(method, "fcbf"))

    def imbalance(self, method: str) -> float:
        """Difference of the two plain biases, in size."""
        first, second = (self.bias(method, side).value for side in SIDES)
        return abs(first - second)


def find_examples(figures: Figures) -> dict[int, Example]:
    """The example at every N."""
    found = {block.n: Example.of(block) for block in figures.of_source(SOURCE)}
    return {n: example for n, example in found.items() if example is not None}


def published_bias(method: str, selector: str) -> float:
    """What Table 3 prints, in points."""
    return PUBLISHED[method][selector] - PUBLISHED["truth"][selector]


# -- checks --------------------------------------------------------------------------


def check_example(figures: Figures) -> Iterator[Check]:
    """The verdicts and biases of Table 3, and the gap that closes as N grows."""
    examples = find_examples(figures)
    yield _verdicts(examples.get(N))
    for method, sign in (("out", 1), ("in", -1)):
        yield _signs(examples.get(N), method, sign)
    yield _closing(examples)


def _verdicts(example: Example | None) -> Check:
    statement = f"Table 3. OUT sees that ReliefF is better, IN does not ({WHERE})"
    published = "TRUTH and OUT: ReliefF is better; IN: no difference"
    rule = (
        "TRUTH says that ReliefF is better, and OUT does on more data sets than IN "
        f"(exact binomial test, p < {ALPHA / 2})"
    )
    if example is None:
        return Check(statement, "open", published, "no data", rule)
    cell = (example.size, example.classifier)
    true = int(example.pair.true[cell])
    seen = {m: said[cell] == 1 for m, said in example.pair.said.items()}
    only = {
        "in": int((seen["in"] & ~seen["out"]).sum()),
        "out": int((seen["out"] & ~seen["in"]).sum()),
    }
    test = binomial_truthfulness(only["in"], only["out"], alpha=ALPHA)
    words = {1: "ReliefF", -1: "FCBF", 0: "neither"}
    ours = (
        f"TRUTH: {words[true]}; ReliefF better by OUT on {int(seen['out'].sum())} and "
        f"by IN on {int(seen['in'].sum())} of {example.n_sets} data sets, p = "
        f"{test.pvalue:.2g}"
    )
    outcome: Outcome = "open"
    if true == 1 and test.better == "out":
        outcome = "reproduced"
    elif true == -1 or test.better == "in" or example.n_sets >= 100:
        outcome = "not reproduced"
    return Check(statement, outcome, published, ours, rule)


def _signs(example: Example | None, method: str, sign: int) -> Check:
    word = "above" if sign > 0 else "below"
    statement = f"Table 3. The bias of {method.upper()} is {word} 0 for both ({WHERE})"
    published = ", ".join(
        f"{TITLES[side]} {number(published_bias(method, side), 2, signed=True)}"
        for side in SIDES
    )
    rule = f"the plain bias of both is {word} 0"
    if example is None:
        return Check(statement, "open", f"{published} points", "no data", rule)
    biases = {side: example.bias(method, side) for side in SIDES}
    outcomes = [
        judge(mean.interval, *((0, np.inf) if sign > 0 else (-np.inf, 0)))
        for mean in biases.values()
    ]
    outcome: Outcome = "open"
    if "not reproduced" in outcomes:
        outcome = "not reproduced"
    elif "open" not in outcomes:
        outcome = "reproduced"
    ours = ", ".join(f"{TITLES[s]} {_points(mean)}" for s, mean in biases.items())
    ours = f"{ours} points, {example.n_sets} sets"
    return Check(statement, outcome, f"{published} points", ours, rule)


def _closing(examples: dict[int, Example]) -> Check:
    statement = (
        f"The gap between ReliefF and FCBF under IN closes as N grows (SVM, {SOURCE} "
        f"source, F = {SIZE})"
    )
    published = "about 4 % at N = 125, 1 % at N = 1000 (but 2.5 % at 125 in Table 3)"
    rule = "the gap at the largest N is below that at N = 125"
    if N not in examples or max(examples) == N:
        return Check(statement, "open", published, "no data", rule)
    last = max(examples)
    near, far = examples[N].gap("in"), examples[last].gap("in")
    outcome = judge(near.minus(far).interval, low=0)
    ours = (
        f"{_points(near)} points at N = {N}, {_points(far)} at N = {last}; "
        f"{examples[N].n_sets} sets"
    )
    return Check(statement, outcome, published, ours, rule)


def _points(mean: Mean) -> str:
    return with_interval(mean).removesuffix(" %")


# -- the table -----------------------------------------------------------------------


def make_table_3(figures: Figures) -> StudyTable | None:
    """Table 3: ours beside the published figures."""
    example = find_examples(figures).get(N)
    if example is None:
        return None
    rows = [
        (
            f"{method.upper()}: mean accuracy, %",
            *_both(
                [Mean.of(example.values(method, side)).value for side in SIDES],
                [PUBLISHED[method][side] for side in SIDES],
                signed=False,
            ),
            "",
            "",
        )
        for method in ("out", "truth", "in")
    ]
    for method in ("out", "in"):
        theirs = [published_bias(method, side) for side in SIDES]
        ours = [example.bias(method, side).value for side in SIDES]
        rows.append(
            (
                f"{method.upper()}: bias, points",
                *_both(ours, theirs, signed=True),
                f"{example.imbalance(method):.2f}",
                f"{abs(theirs[0] - theirs[1]):.2f}",
            )
        )
    titles = [TITLES[side] for side in SIDES]
    header = ("", *(w for t in titles for w in (t, "published")))
    return StudyTable(
        f"Table 3: an example ({WHERE})",
        (*header, "Imbalance", "published"),
        tuple(rows),
        (
            f"Means over {example.n_sets} data sets. Bias: accuracy by the folds minus "
            "TRUTH. Imbalance: difference of the two biases.",
        ),
    )


def _both(ours: list[float], theirs: list[float], *, signed: bool) -> list[str]:
    pairs = zip(ours, theirs, strict=True)
    return [number(value, 2, signed=signed) for pair in pairs for value in pair]
