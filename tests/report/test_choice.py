"""The sentences about a choice among many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from veridical import choose, report
from veridical._core.records import Interval
from veridical.report.view import Rows


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    y = np.resize(["no", "yes"], 48)
    X = rng.normal(size=(48, 12))
    X[:, :3] += (y == "yes")[:, None]
    options = {"sizes": [1, 3], "estimators": ["nb"], "cv": 5, "random_state": 0}
    return choose(X, y, selectors=["anova"], correction="bbc", **options)


def say(found, *pvalues, **more):
    """Write the evidence where the winner has 3 features and these are the others."""
    winner = replace(found.winner, n_features=3, pvalue=1.0)
    others = [
        replace(winner, n_features=n, pvalue=p)
        for n, p in zip((1, 5), pvalues, strict=False)
    ]
    record = replace(found, found=(winner, *others), n_planned=0, **more)
    return report.to_json(record)["words"]["evidence"]


def test_which_smaller_candidate_is_like_the_best(found):
    said = say(found, 0.5, 0.01)
    assert "1 other candidate is not distinguishable from the best; of" in said
    assert "the one with the fewest features is naive Bayes on 1 feature by" in said
    said = say(found, 0.01, 0.5)
    assert (
        "from the best; of those within one standard error of it, none has fewer"
        in said
    )
    said = say(found, 0.01, 0.01)
    assert "All other candidates are distinguishably worse than the best. The" in said
    assert say(found).endswith("There was no other candidate.")


def test_a_difference_that_rounds_to_zero_is_not_said(found):
    info = replace(found.scoring, name="r2", percent=False)
    close = {"scoring": info, "naive_score": 0.67549, "score": 0.6745}
    assert "corrected for the choice it is 0.674, worse by 0.001." in say(
        found, **close
    )
    close["score"] = 0.67551
    assert "corrected for the choice it is 0.676. There" in say(found, **close)
    close["score"] = close["naive_score"]
    assert "corrected for the choice it is the same. " in say(found, **close)


def test_the_wide_interval_of_the_bootstrap_is_said(found):
    notes = report.to_json(found)["words"]["notes"]
    assert any(
        "which are few samples: it is wide (48 samples drawn" in n for n in notes
    )


def test_a_score_that_no_bootstrap_draw_changes_has_no_interval(found):
    best = replace(found.winner, score=Interval(1.0, 1.0, 1.0))
    record = replace(found, found=(best, *found.found[1:]))
    view = report.view(record)
    (cells,) = (
        block.rows[0].cells
        for section in view.sections
        for block in section.blocks
        if isinstance(block, Rows) and block.caption.startswith("Cross-validated with")
    )
    assert [cell.text for cell in cells][3:5] == ["100.0 %", "–"]
    why = "A candidate has no interval where every bootstrap draw gives it the same"
    said = [
        [note.startswith(why) for note in report.to_json(one)["words"]["notes"]]
        for one in (record, found)
    ]
    assert [sum(one) for one in said] == [1, 0]
