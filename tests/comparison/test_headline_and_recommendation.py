"""Headline and recommendation never disagree, whatever was measured."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.report import records

from veridical._core.reading import read_table
from veridical._core.records import DataSummary
from veridical._core.scoring import ACCURACY, SCORES, read_scoring
from veridical.comparison import conclusions as say
from veridical.comparison.known_truth import with_truth
from veridical.comparison.ranks import friedman
from veridical.comparison.records import MeasuredSize, Sensitivity, Verdict
from veridical.comparison.sensitivity_analysis import recommend_on_sources
from veridical.comparison.significance import Geometry, paired_t
from veridical.comparison.testing import TESTS
from veridical.comparison.truthfulness import binomial_truthfulness
from veridical.comparison.verdicts import PairTester, SignificanceTest, pair_verdicts
from veridical.evaluation.estimating import describe_score
from veridical.evaluation.situations import Situation
from veridical.evaluation.structured import MEASURED_SCORES as MEASURED
from veridical.evaluation.structured import Structure

RESAMPLINGS = ((1, 2), (1, 5), (1, 10), (5, 2), (10, 10))


#: What is compared: the accuracy of samples or groups, or any other score.
KINDS = ("groups", *SCORES)
#: Measured scores of which few drawn comparisons may claim, so that more are drawn.
SELDOM = ("concordance_uno", "time_dependent_auc", "integrated_brier_score")
#: Losses that designs have as shares of that of guessing.
SHARES = ("mean_absolute_error", "root_mean_squared_error", "integrated_brier_score")
#: Targets of four samples, by kind.
TARGETS = {
    "classes": np.arange(4) % 2,
    "numbers": np.arange(4) / 4,
    "survival": np.array(
        [(True, 1.0), (True, 2.0), (False, 3.0), (True, 4.0)],
        dtype=[("event", bool), ("time", float)],
    ),
}


def scoring_of(kind):
    """Describe a score."""
    if kind in ("accuracy", "groups"):
        return ACCURACY
    table = read_table(np.zeros((4, 1)), TARGETS[SCORES[kind].kind])
    (score,) = read_scoring(kind, table.target)
    return describe_score(score, table, "mean of folds")


def calibrate_pairs(pairs, rng):
    """Let the p-values of all pairs come from a simulated null."""
    size = MeasuredSize(0.05, rng.uniform(0.01, 0.5), 0.01, 0.6, 200, "like yours")

    def calibrate(pair):
        test = replace(pair.verdict.test, calibrated=True, size=size)
        return pair._replace(verdict=Verdict.from_test(test))

    return {method: tuple(map(calibrate, own)) for method, own in pairs.items()}


def draw(seed, kind="accuracy", calibrated=False):
    """Draw a comparison: 2 to 4 selectors, any test, any size of the difference."""
    rng = np.random.default_rng(seed)
    plain = kind == "accuracy"
    n_repeats, n_folds = RESAMPLINGS[rng.integers(len(RESAMPLINGS))]
    fitting = [name for name, test in TESTS.items() if test.fits(n_repeats, n_folds)]
    if not plain and rng.random() < 0.7:  # where something was measured
        n_repeats, n_folds, fitting = 1, int(rng.choice([5, 10])), ["corrected-t"]
    test = SignificanceTest(str(rng.choice(fitting)), 0.05, 0.01)
    n_selectors = int(rng.integers(2, 5))
    n_samples = int(rng.choice([30, 60, 120] if plain else [60, 120, 200]))
    n_splits, n_test = n_repeats * n_folds, max(1, n_samples // n_folds)
    geometry = Geometry(
        (n_samples - n_test,) * n_splits, (n_test,) * n_splits, n_repeats, n_folds
    )
    level = rng.choice([0.4, 0.5, 0.6, 0.8, 1.0])
    gaps = rng.choice([0.0, 0.02, 0.1, 0.3]) * rng.normal(size=n_selectors)
    flattery = rng.choice([0.0, 0.05, 0.4])
    noise = rng.choice([0.0, 0.01, 0.05, 0.15])
    scoring, accuracy = scoring_of(kind), {}
    for method, more in (("in", 0.0), ("out", flattery)):
        values = level + more + gaps[:, None] + noise * rng.normal(size=n_splits)
        values = values + noise * rng.normal(size=(n_selectors, n_splits))
        values = np.round(np.clip(values, 0, 1) * n_test) / n_test
        if not scoring.greater_is_better:  # a loss, of which guessing has 0.5
            values = (1 - values) * 2 * (scoring.chance or 0.5)
        accuracy[method] = values.reshape(n_selectors, 1, n_repeats, n_folds)
    if rng.random() < 0.1:
        del accuracy[rng.choice(["in", "out"])]
    names = tuple("ABCD"[:n_selectors])
    situation = Situation(n_samples, 60, 5, 2, 0.5, "", 0.5)
    structure = None
    if not plain:
        size = 4 if kind == "groups" else 1
        n_units, score = n_samples // size, scoring.name
        structure = Structure(score, n_units, float(size), 40, 5, 0.5, "", 0.5)
        if score in SHARES:
            structure = structure._replace(unit=scoring.chance)
    tester = PairTester(test, geometry, situation, None, scoring, structure)
    scores = {method: values[:, 0] for method, values in accuracy.items()}
    pairs = tester.pairs(scores, "", names, "holm")
    if calibrated and TESTS[test.name].calibrated:
        pairs = calibrate_pairs(pairs, rng)
    share = rng.choice([0.5, 0.7])
    counts = {"no": round(share * n_samples), "yes": round((1 - share) * n_samples)}
    made = replace(
        records.comparison({"in": (0.6, 0.6), "out": (0.6, 0.6)}),
        names=names,
        data=DataSummary("drawn", n_samples, 60, counts, ()),
        accuracy=accuracy,
        scorings=() if scoring.is_accuracy else (scoring,),
        values={} if scoring.is_accuracy else {scoring.name: accuracy},
        selected={},
        pairs=pairs,
        by_estimator={"SVM": pairs},
        optimism=say.measure_optimism(accuracy, geometry, 0.05),
        coverage=None,
        n_train=float(geometry.n_train[0]),
        n_test=float(geometry.n_test[0]),
    )
    return replace(made, recommendation=say.recommend(made))


@pytest.mark.parametrize(
    "n_comparisons", [500, pytest.param(5000, marks=pytest.mark.slow)]
)
def test_they_agree_in_many_comparisons(n_comparisons):
    seen = Counter()
    for seed in range(n_comparisons):
        made = draw(seed)
        belief, sentence = made.conclusion
        seen[belief, len(made.names) > 2] += 1
        claims = "You may claim" in made.recommendation
        assert claims == (belief == "yes"), (seed, sentence, made.recommendation)
        assert ("you may believe it" in sentence) == claims
        assert "prefer" not in made.recommendation.replace("IN prefers", "")
        if belief in ("care", "no", "open"):
            assert "Do not claim" in made.recommendation
            assert not re.search(r"take [ABCD]:", made.recommendation)
    # The comparisons drawn reach every belief, for two selectors and for more.
    assert {belief for belief, _ in seen} == {"yes", "care", "open", "no"}
    assert min(seen[belief, many] for belief, many in seen) >= 5


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_they_agree_for_every_score_with_groups_and_calibrated(kind, calibrated):
    seen = Counter()
    n_drawn = 250 if kind in SELDOM and not calibrated else 100
    for seed in range(10_000, 10_000 + n_drawn):
        made = draw(seed, kind, calibrated)
        belief, sentence = made.conclusion
        claims = "You may claim" in made.recommendation
        assert claims == (belief == "yes"), (seed, sentence, made.recommendation)
        assert ("you may believe it" in sentence) == claims
        if not claims:
            assert "Do not claim" in made.recommendation
            assert not re.search(r"take [ABCD]:", made.recommendation)
        for pair in made.pairs.get("in", ()):
            size = pair.verdict.test.size
            if claims and pair.better and not pair.verdict.test.calibrated:
                assert size is not None
                assert size.near
                assert size.claim_level
        seen[claims, len(made.names) > 2] += 1
    assert seen[False, False]
    assert seen[False, True]
    # Most scores were never measured: only a calibrated test may claim.
    assert (seen[True, False] > 0) == (calibrated or kind in ("groups", *MEASURED))


def draw_truth(seed, here):
    """Draw what TRUTH finds on the source of a comparison of two selectors."""
    rng = np.random.default_rng(seed)
    n_sets = int(rng.integers(3, 40))
    values = 0.6 + rng.choice([0.001, 0.03]) * rng.normal(size=(2, 1, n_sets, 1))
    values[0] += rng.choice([-0.1, -0.01, 0.0, 0.01, 0.1])
    verdict = Verdict.from_test(paired_t(*values.reshape(2, -1)))
    pairs = pair_verdicts([verdict], here.names, "none")
    found = {m: tuple(rng.choice(["a", "b", "draw"], n_sets)) for m in ("in", "out")}
    truthfulness = say.count_truths(verdict.winner, found, 0.05)
    wording = say.Wording(here.names, 0.05, 0.5)
    return replace(
        here,
        accuracy={**here.accuracy, "truth": values},
        selected={"truth": np.zeros((2, n_sets, 1, 5), dtype=int)},
        pairs={"truth": pairs},
        by_estimator={"SVM": {"truth": pairs}},
        set_verdicts=found,
        truthfulness=truthfulness,
        optimism=(),
        stability={},
        recommendation=say.describe_truth(
            verdict, found, truthfulness, wording, n_sets
        ),
    )


def test_they_agree_where_the_truth_is_known():
    seen = Counter()
    drawn = (draw(20_000 + seed) for seed in range(300))
    pairs = [made for made in drawn if len(made.names) == 2]
    for seed in range(6 * len(pairs)):
        here = pairs[seed // 6]
        made = with_truth(here, draw_truth(seed, here))
        belief, sentence = made.conclusion
        # What the data alone advise stands in quotation marks.
        said = re.sub(r'"[^"]*"', "", made.recommendation)
        assert here.recommendation in made.recommendation
        assert "may claim" not in said
        assert not re.search(r"take [ABCD]", said)
        truth = re.search("[AB] is truly better", sentence)
        assert (truth is not None) == (belief == "known")
        assert truth is None or truth.group() in said
        claims = here.conclusion.belief == "yes"
        verdict = re.search("This claim is (right|wrong)|does not confirm", said)
        assert claims == (verdict is not None)
        if claims:
            better = {"a": "A", "b": "B"}[here.verdicts["in"].winner]
            same = truth is not None and truth.group()[0] == better
            outcome = "right" if same else "not" if truth is None else "wrong"
            assert outcome in verdict.group()
            seen[outcome] += 1
        seen[belief] += 1
    assert sum(seen[belief] for belief in ("known", "open")) >= 500
    assert min(seen[word] for word in ("right", "wrong", "not")) >= 3


def test_they_agree_on_which_method_finds_the_truth():
    advice = {
        "yes": "IN is the method to trust",
        "open": "use IN, which does not leak",
        "care": "OUT finds the truth about this pair more often|depends on how strong",
    }
    observed = next(made for made in map(draw, range(99)) if len(made.names) == 2)
    seen = Counter()
    for seed in range(250):
        rng = np.random.default_rng(seed)
        strengths = (0.5, 1.0, 1.5)[: rng.integers(1, 4)]
        likely = rng.dirichlet([0.5, 0.5])
        sources = []
        for i in range(len(strengths)):
            known = draw_truth(10 * seed + i, observed)
            right = rng.multinomial(30, [*(0.6 * likely), 0.2, 0.2])
            only = binomial_truthfulness(
                right[1], right[0], both_right=right[2], both_wrong=right[3]
            )
            sources.append(replace(known, truthfulness=only))
        made = Sensitivity(
            names=observed.names,
            data=observed.data,
            observed=observed,
            strengths=strengths,
            n_relevant=(5,) * len(strengths),
            sources=tuple(sources),
            recommendation=recommend_on_sources(observed, strengths, sources),
            recipe="",
        )
        belief, sentence = made.conclusion
        said = {
            one
            for one, words in advice.items()
            if re.search(words, made.recommendation)
        }
        assert said == {belief}, (seed, sentence, made.recommendation)
        assert ("depends on" in sentence) == ("depends on" in made.recommendation)
        seen[belief, "depends on" in sentence] += 1
    assert len(seen) == 4
    assert min(seen.values()) >= 5


def test_a_test_that_rejects_too_often_leads_to_no_claim():
    doubtful = [made for made in map(draw, range(300)) if made.conclusion[0] == "care"]
    reasons = Counter(
        reason
        for made in doubtful
        for reason in ("rejects too often", "better than always predicting")
        if reason in made.recommendation
    )
    assert min(reasons.values()) >= 3
    assert sum(reasons.values()) >= len(doubtful)


def test_the_tests_of_a_comparison_are_believed_no_more_than_it_is():
    """On accuracies of folds, the record of a test and of ranks has a conclusion too.

    A comparison may be doubted for another reason: that guessing is as good.
    """
    seen = Counter()
    for seed in range(40_000, 40_400):
        made = draw(seed)
        for pair in made.pairs.get("in", ()):
            test, doubt = pair.verdict.test, say.find_doubt(made, pair.verdict)
            belief, sentence = test.conclusion
            assert (belief == "open") == (test.winner == "draw")
            if belief == "yes":
                assert test.size.near
                assert say._error_probability(test, None) <= test.size.claim_level
                assert not doubt or "is shown to be better than" in doubt
            if belief == "care":
                assert "false-positive rate" in sentence or "rejects too" in sentence
                assert doubt
            seen[belief] += 1
    assert min(seen[belief] for belief in ("yes", "care", "open")) >= 20


def test_ranks_of_folds_prove_nothing():
    """Friedman's test rejects on 6 to 95 % of data sets with equal selectors."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 10)) + np.array([[0.0], [1.0], [5.0]])
    found = friedman(scores)
    assert found.pvalue < 0.01
    assert found.conclusion.belief == "yes"  # on data sets
    sizes = MeasuredSize(0.05, 0.12, 0.058, 0.261, 1000, "10 folds", claim_level=0.02)
    belief, sentence = replace(found, size=sizes).conclusion
    assert belief == "care"
    assert "5.8 to 26.1 % (measured; nominal 5 %)" in sentence
    assert replace(found, size=sizes, pvalue=0.2).conclusion.belief == "open"


def significant(n_selectors):
    """Find a comparison whose differences may be claimed, with a measured size."""
    return next(
        made
        for made in map(draw, range(2000))
        if len(made.names) == n_selectors
        and made.conclusion[0] == "yes"
        and all(pair.verdict.test.size for pair in made.pairs["in"])
        and all(pair.verdict.test.probabilities is None for pair in made.pairs["in"])
    )


def with_claim_level(made, level):
    """Let the measured sizes allow claims up to another p-value."""

    def allow(test):
        size = test.size._replace(claim_level=level)
        return Verdict.from_test(replace(test, size=size))

    pairs = tuple(
        pair._replace(verdict=allow(pair.verdict.test)) for pair in made.pairs["in"]
    )
    return replace(made, pairs=made.pairs | {"in": pairs})


@pytest.mark.parametrize("n_selectors", [2, 3])
def test_a_claim_takes_a_pvalue_at_which_the_size_holds(n_selectors):
    made = significant(n_selectors)
    largest = max(p.adjusted for p in made.pairs["in"] if p.better is not None)
    for level, belief, said in (
        (largest, "yes", "you may believe it"),
        (0.9 * largest, "care", f"p up to {0.9 * largest:.2g} may be claimed"),
        (0.0, "care", "believe the result only if the calibrated test agrees"),
    ):
        found = with_claim_level(made, level)
        assert found.conclusion[0] == belief
        assert said in found.conclusion[1]
        assert ("You may claim" in say.recommend(found)) == (belief == "yes")
