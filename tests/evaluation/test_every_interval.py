"""Beside every interval stands how often such intervals cover, or that nobody knows."""

from __future__ import annotations

import html
import re
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold

import veridical
from veridical import report
from veridical._core.splits import Validation
from veridical.evaluation import CrossValidation, Holdout, LeaveOut, RandomSubsampling
from veridical.evaluation.nested import nested_cv
from veridical.evaluation.trust import allows_claims, default_interval
from veridical.report.view import Rows, view

NOT_NEAR = "not measured in designs like this one"
#: What must stand in the brackets of an interval in a headline.
COVERED = re.compile(rf"measured coverage [\d.]+( to [\d.]+)? %|coverage {NOT_NEAR}")
#: A sentence below the figures that says the same.
SAID = re.compile(
    r"intervals covered the truth in [\d.]+( to [\d.]+)? % of data sets"
    r"|intervals cover the truth has not been measured in designs like this one"
)
CELL = re.compile(rf"[\d.]+( to [\d.]+)? %|{NOT_NEAR}")

FOLDS = (
    *(2, 3, 5, 7, 10, 15, 20, "2x5", "5x2", "3x10", "10x10", "4x7", "loo"),
    *(Holdout(), LeaveOut(2), RandomSubsampling(20), RandomSubsampling(5)),
    ShuffleSplit(8, test_size=0.3, random_state=0),
    StratifiedKFold(6, shuffle=True, random_state=0),
    CrossValidation(5, n_repeats=5),
    Validation(15),
)
GROUPED = (3, 5, 10, "2x5", GroupKFold(4))
SCORES = (
    *(None, "roc_auc", "balanced_accuracy", "f1", "sensitivity", "log_loss"),
    ["accuracy", "roc_auc", "log_loss"],
    ["balanced_accuracy", "accuracy"],
)


def draw(seed):
    """Draw a table, its groups or none, a way to split it and scores."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.choice([24, 60, 96])), int(rng.choice([6, 40]))
    groups = np.arange(n) // 4 if rng.random() < 0.3 else None
    y = np.arange(n) % 2 if groups is None else groups % 2
    y = np.where(rng.random(n) < 0.1, 1 - y, y)
    X = rng.normal(size=(n, p)) + rng.choice([0, 0.5, 2, 6]) * y[:, None]
    cv = FOLDS if groups is None else GROUPED
    return X, y, groups, cv[rng.integers(len(cv))], SCORES[rng.integers(len(SCORES))]


def check(record, coverage, interval_low):
    """Check the sentence, the claim and the page of a record."""
    belief, sentence = record.conclusion
    for bracket in re.findall(r"\(([^()]*interval [^()]*)\)", sentence):
        assert COVERED.search(bracket), sentence
    if belief == "yes":
        assert np.isfinite(interval_low)
        assert allows_claims(coverage), (sentence, coverage)
    if np.isfinite(interval_low):
        assert SAID.search(words(record))
    check_tables(record)


def words(record):
    """Return the text of a page without its tags, with single spaces."""
    text = html.unescape(re.sub(r"<[^>]*>", " ", report.page(record)))
    return " ".join(text.split())


def check_tables(record):
    """Check that tables of scores have a coverage, or no knowledge, per interval."""
    shown = view(record)
    blocks = [block for section in shown.sections for block in section.blocks]
    tables = [one for one in (*shown.tables, *blocks) if isinstance(one, Rows)]
    for one in tables:
        heads = [column.header for column in one.columns]
        interval = [i for i, head in enumerate(heads) if head.endswith("interval")]
        if not interval or "Kind" not in heads:
            continue  # no estimate of a score
        covered = heads.index("Measured coverage")
        for line in one.flat().rows:
            cells = [cell.text for cell in line.cells]
            if " to " in cells[interval[0]]:
                assert CELL.fullmatch(cells[covered]), cells


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def run(verb, seed, *more, **options):
    """Run a verb on what was drawn; None where it refuses such splits or scores."""
    X, y, groups, cv, scoring = draw(seed)
    try:
        return verb(
            *more, X, y, groups=groups, cv=cv, scoring=scoring, random_state=0,
            progress=False, **options,
        )  # fmt: skip
    except veridical.InputError:
        return None


@pytest.mark.parametrize("seed", range(120))
def test_estimates(seed):
    found = run(veridical.estimate, seed, ("nb", "1nn")[seed % 2])
    if found is None:
        return
    for one in (found, *found.others):
        kind = default_interval(one)
        low = np.nan if kind is None else one.intervals[kind][0]
        check(one, one.coverage.get(kind), low)


@pytest.mark.parametrize("seed", range(60))
def test_selections(seed):
    found = run(veridical.select, seed, "anova", estimator="nb", n_features_to_select=3)
    if found is not None:
        check(found, found.score_coverage, found.score.low)
        for one in found.scores:
            assert one.coverage is None or 0 < one.coverage.low < 1


@pytest.mark.parametrize("seed", range(16))
def test_audits(seed):
    found = run(veridical.audit, seed, "nb", n_permutations=19)
    if found is not None:
        check(found, found.coverage, found.score["in"].low)


@pytest.mark.parametrize("seed", range(30))
def test_comparisons(seed):
    selectors = ["anova", "correlation", "fcbf"][: 2 + seed % 2]
    found = run(
        veridical.compare, seed, selectors, estimator="nb", n_features_to_select=3
    )
    if found is None:
        return
    text = words(found)
    if any(np.isfinite(mean.low) for mean in found.means["in"]):
        assert SAID.search(text), text
    for pair in found.pairs["in"]:
        if np.isfinite(pair.verdict.test.interval[0]):
            assert "measured" in text


@pytest.mark.parametrize("n_folds", [4, 10])
def test_nested(n_folds):
    X, y = draw(0)[:2]
    found = nested_cv("nb", X, y, n_folds=n_folds, n_repeats=3, random_state=0)
    assert COVERED.search(found.conclusion.sentence)
    whole = veridical.estimate("nb", X, y, cv=n_folds, random_state=0).with_nested()
    check(whole, whole.coverage.get("nested"), whole.interval()[0])
