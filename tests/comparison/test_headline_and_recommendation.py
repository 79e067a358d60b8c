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
from veridical._core.scoring import ACCURACY, read_scoring
from veridical.comparison import conclusions as say
from veridical.comparison.records import MeasuredSize, Verdict
from veridical.comparison.significance import Geometry
from veridical.comparison.testing import TESTS
from veridical.comparison.verdicts import PairTester, SignificanceTest
from veridical.evaluation.estimating import describe_score
from veridical.evaluation.situations import Situation
from veridical.evaluation.structured import Structure

RESAMPLINGS = ((1, 2), (1, 5), (1, 10), (5, 2), (10, 10))


#: What is compared: the accuracy of samples or groups, or another score.
KINDS = ("accuracy", "groups", "roc_auc", "balanced_accuracy", "log_loss", "f1")


def scoring_of(kind):
    """Describe a score of two classes."""
    if kind in ("accuracy", "groups"):
        return ACCURACY
    table = read_table(np.zeros((4, 1)), np.arange(4) % 2)
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
    accuracy = {}
    for method, more in (("in", 0.0), ("out", flattery)):
        values = level + more + gaps[:, None] + noise * rng.normal(size=n_splits)
        values = values + noise * rng.normal(size=(n_selectors, n_splits))
        values = np.round(np.clip(values, 0, 1) * n_test) / n_test
        accuracy[method] = values.reshape(n_selectors, 1, n_repeats, n_folds)
    if rng.random() < 0.1:
        del accuracy[rng.choice(["in", "out"])]
    names = tuple("ABCD"[:n_selectors])
    situation = Situation(n_samples, 60, 5, 2, 0.5, "", 0.5)
    scoring, structure = scoring_of(kind), None
    if not plain:
        size = 4 if kind == "groups" else 1
        n_units, score = n_samples // size, scoring.name
        structure = Structure(score, n_units, float(size), 20, 5, 0.5, "", 0.5)
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
    for seed in range(10_000, 10_100):
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
    # F1 was never measured: only a calibrated test may claim.
    assert (seen[True, False] > 0) == (calibrated or kind != "f1")


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
