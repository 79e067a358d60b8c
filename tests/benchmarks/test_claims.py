"""Claims are counted by the rule that a comparison follows."""

import csv

import numpy as np
import pytest
from benchmarks.measure import ROOT
from benchmarks.truth import claims

from veridical import compare
from veridical._core.reading import read_table
from veridical.comparison.null_designs import NullDesign
from veridical.evaluation.situations import tail_weight
from veridical.selection import AnovaF


class Last(AnovaF):
    """Select the features with the smallest scores."""

    def _rank_by(self, relevance, scores):
        return super()._rank_by(relevance, -scores)


@pytest.mark.parametrize("tail_df", [np.inf, 2.0])
def test_the_rule_is_that_of_a_comparison(tail_df):
    claimed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        design = NullDesign(
            1, 10, "in", 80, "nb", n_columns=40, n_features_to_select=4, tail_df=tail_df
        )
        y = np.repeat([0, 1], design.class_sizes)
        X = (
            rng.normal(size=(80, 40))
            if np.isinf(tail_df)
            else rng.standard_t(2, (80, 40))
        )
        X[:, :4] += 0.25 * (seed % 6) * y[:, None]
        made = compare(
            [AnovaF(), Last()], X, y, n_features_to_select=4, estimator="nb",
            methods=("in",), random_state=seed, progress=False,
        )  # fmt: skip
        scores = np.asarray(made.score["in"]).reshape(2, -1)
        tails = tail_weight(read_table(X, y))
        level = claims.level_near(
            design, float(scores.mean()), tails, claims.rows_of(1, 10)
        )
        test = made.verdicts["in"].test
        said = "You may claim" in made.recommendation
        assert said == claims.may_claim(design, scores, test.pvalue, level)
        if level is not None:
            assert test.size.claim_level == level
        claimed += said
    assert (claimed > 2) == np.isinf(tail_df)


def test_a_design_is_above_only_beyond_chance():
    numbers = np.full(200, 500)
    chance = np.random.default_rng(0).binomial(500, 0.05, 200)
    assert claims.count_above(chance, numbers) == 0
    chance[3] = 50
    assert claims.count_above(chance, numbers) == 1


def test_unseen_designs_are_not_in_the_table():
    assert len(claims.unseen(40)) == 40
    assert not set(claims.unseen(40)) & set(claims.stored())


def test_the_page_has_what_was_counted():
    page = (ROOT / "docs" / "which-test.md").read_text(encoding="utf-8")
    assert claims.tabulate() in page


def test_no_design_is_above_the_level_beyond_chance():
    """Of equal selectors, in every design of the table that was measured."""
    with claims.TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "equal"]
    assert len(rows) >= 300
    for name in ("stored", "unseen"):
        own = [row for row in rows if row["designs"] == name]
        claimed, numbers = (
            np.array([int(row[key]) for row in own])
            for key in ("claimed", "n_simulations")
        )
        assert claims.count_above(claimed, numbers) == 0
        assert np.mean(claimed / numbers) < 0.02
