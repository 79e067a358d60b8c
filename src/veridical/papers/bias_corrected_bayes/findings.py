"""The findings of the paper on bias from feature selection, as checks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical.experiments import (
    Check,
    Outcome,
    PaperStudy,
    StudyReport,
    decide_if_enough,
    format_count,
    format_interval,
    format_number,
)
from veridical.papers.bias_corrected_bayes.figures import (
    CUT_OFFS,
    IMPLIED,
    MODEL_NAMES,
    TIMES,
    ModelCells,
    draw_pictures,
    make_calibration,
    make_colon,
    make_measures,
    make_times,
    mean_interval,
    words,
)

#: Number of data sets; with fewer, findings are open.
_ENOUGH_SETS = 4
#: Features retained in the slides' calibration table.
_MOST = 1000


def report(study: PaperStudy, frame: pd.DataFrame) -> StudyReport:
    """Make the report of the study from its cells.

    Parameters
    ----------
    study : PaperStudy
        The study.
    frame : DataFrame
        Cells; see `veridical.papers.bias_corrected_bayes.study`.
    """
    figures = ModelCells.from_cells(frame)
    ks = figures.features()
    tables = [make_measures(figures)] if ks else []
    if _MOST in ks:
        tables.insert(0, make_calibration(figures, _MOST))
    tables += [t for t in (make_times(figures), make_colon(figures)) if t is not None]
    pictures, notes = draw_pictures(figures), _notes(figures)
    return study.make_report(frame, _checks(figures), tables, pictures, notes)


def _checks(figures: ModelCells) -> Iterator[Check]:
    yield from _check_expected_errors(figures)
    yield from _check_calibration(figures)
    yield from _check_scores(figures)
    yield from _check_estimated_alphas(figures)
    yield from _check_errors(figures)
    yield from _cut_offs(figures)
    yield from _check_times(figures)
    yield _check_colon(figures)


def _if_enough(holds: bool, n: int) -> Outcome:
    return decide_if_enough(holds, n, _ENOUGH_SETS)


def _count(k: int) -> str:
    return format_count(k, "feature")


def _points(values: NDArray[np.float64]) -> str:
    text = format_interval(*mean_interval(100 * values), 2, signed=True)
    return f"{text} points, {format_count(len(values), 'data set')}"


# -- error rates, expected and actual ------------------------------------------------


def _check_expected_errors(figures: ModelCells) -> Iterator[Check]:
    """Check expected error rates; those of the most features by a stricter bound."""
    for k in CUT_OFFS:
        gaps = {c: _gap(figures, k, c) for c in (True, False)}
        statement = f"{_count(k)}: the corrected model predicts its error rate"
        within = 1.5 if k == _MOST else 3.0
        rule = f"mean of actual − expected within ±{within:g} points"
        published = "close"
        if k == _MOST:
            error, expected = IMPLIED[True]
            published = f"{100 * (error - expected):+.2f} points, one data set"
        if not len(gaps[True]):
            yield Check.without_data(statement, published, rule)
            continue
        holds = abs(100 * gaps[True].mean()) <= within
        outcome = _if_enough(holds, len(gaps[True]))
        yield Check(statement, outcome, published, _points(gaps[True]), rule)
        statement = f"{_count(k)}: without correction it expects far too few errors"
        published = "far fewer"
        if k == _MOST:
            error, expected = IMPLIED[False]
            published = f"{100 * (error - expected):+.2f} points, one data set"
        outcome = _if_enough(100 * gaps[False].mean() > 5, len(gaps[False]))
        yield Check(
            statement,
            outcome,
            published,
            _points(gaps[False]),
            "mean of actual − expected above 5 points",
        )


def _gap(figures: ModelCells, k: int, correct: bool) -> NDArray[np.float64]:
    error, expected = (figures.get(k, correct, w) for w in ("error", "expected"))
    return error - expected


def _check_calibration(figures: ModelCells) -> Iterator[Check]:
    """Check that the corrected model is calibrated in every data set."""
    statement = f"Calibration of the corrected model, {_MOST} features"
    rule = (
        "in every data set, of the bins with 40 samples or more, at most two differ by "
        "more than 3 standard deviations + 0.06"
    )
    published = "10 of 10 bins"
    bins = figures.bins(_MOST, True) if _MOST in figures.features() else np.empty(0)
    if not len(bins):
        yield Check.without_data(statement, published, rule)
        return
    worst = max(count_bad_bins(one) for one in bins)
    ours = f"at most {worst} bins of a data set differ, {len(bins)} data sets"
    yield Check(statement, _if_enough(worst <= 2, len(bins)), published, ours, rule)
    statement = f"Uncorrected probabilities below 0.1 and above 0.9, {_MOST} features"
    n, p, y = figures.bins(_MOST, False).sum(axis=0)
    low, high = y[0] / n[0], y[9] / n[9]
    ours = (
        f"{100 * low:.1f} % instead of {100 * p[0] / n[0]:.1f} %, "
        f"{100 * high:.1f} % instead of {100 * p[9] / n[9]:.1f} %, "
        f"{len(bins)} data sets"
    )
    holds = low > 3 * p[0] / n[0] and 1 - high > 3 * (1 - p[9] / n[9])
    yield Check(
        statement,
        _if_enough(holds, len(bins)),
        "6.6 % instead of 0.4 %, 94.6 % instead of 99.5 %",
        ours,
        "wrong more than three times as often as predicted, at both ends",
    )


def count_bad_bins(bins: NDArray[np.float64]) -> int:
    """Count the bins of one data set, of shape (3, 10), that are not calibrated."""
    n, p, y = bins[:, bins[0] >= 40]
    predicted, actual = p / n, y / n
    sd = np.sqrt(predicted * (1 - predicted) / n)
    return int(np.sum(np.abs(predicted - actual) >= 3 * sd + 0.06))


# -- scores and α --------------------------------------------------------------------


def _check_scores(figures: ModelCells) -> Iterator[Check]:
    """Check that the correction makes no average score worse."""
    for what, title in (("amlp", "minus log probability"), ("mse", "squared error")):
        statement = f"The correction never worsens the average {title}"
        rule = "mean over data sets no larger, for every number of features"
        ks = figures.features()
        if not ks:
            yield Check.without_data(statement, "better", rule)
            continue
        pairs = {
            k: tuple(figures.get(k, c, what).mean() for c in (True, False)) for k in ks
        }
        ours = ", ".join(f"{k}: {a:.3f} against {b:.3f}" for k, (a, b) in pairs.items())
        n = min(len(figures.cells(k, True)) for k in ks)
        holds = all(a <= b for a, b in pairs.values())
        ours = f"{ours}; {n} data sets"
        yield Check(statement, _if_enough(holds, n), "better", ours, rule)


def _check_estimated_alphas(figures: ModelCells) -> Iterator[Check]:
    """Check that only the corrected model estimates α near the true value."""
    for k in (100, 1000):
        for correct, low, high in ((True, 200, 450), (False, 0, 40)):
            name = MODEL_NAMES[correct]
            statement = f"{k} features: the {name} model's α"
            published = "near the true 300" if correct else "far too small"
            rule = f"geometric mean between {low} and {high}"
            found = figures.get(k, correct, "alpha")
            if not len(found):
                yield Check.without_data(statement, published, rule)
                continue
            value = float(np.exp(np.log(found).mean()))
            ours = f"{value:.0f}, {len(found)} data sets"
            outcome = _if_enough(low <= value <= high, len(found))
            yield Check(statement, outcome, published, ours, rule)


def _check_errors(figures: ModelCells) -> Iterator[Check]:
    """Check the error rates that the printed table implies."""
    for correct, what, low, high in (
        (True, "error", 0.075, 0.110),
        (False, "expected", 0.02, 0.035),
    ):
        place = 0 if what == "error" else 1
        name = {"error": "error rate", "expected": "expected error rate"}[what]
        statement = f"{_MOST} features: {name} of the {MODEL_NAMES[correct]} model"
        rule = f"between {low:g} and {high:g} in every data set"
        published = f"{IMPLIED[correct][place]:.4f}"
        found = figures.get(_MOST, correct, what)
        if not len(found):
            yield Check.without_data(statement, published, rule)
            continue
        holds = bool(np.all((found >= low) & (found <= high)))
        ours = (
            f"{words(found)}, from {found.min():.4f} to {found.max():.4f} in "
            f"{len(found)} data sets"
        )
        yield Check(statement, _if_enough(holds, len(found)), published, ours, rule)


def _cut_offs(figures: ModelCells) -> Iterator[Check]:
    for k, published in CUT_OFFS.items():
        statement = f"{_count(k)}: the smallest correlation retained"
        rule = "within two standard deviations of a data set, and rounding, of our mean"
        found = figures.get(k, True, "gamma")
        if len(found) < 2:
            yield Check.without_data(statement, f"{published}", rule)
            continue
        sd = float(np.std(found, ddof=1))
        holds = abs(found.mean() - published) <= 2 * sd + 0.005
        ours = f"{found.mean():.3f}, SD {sd:.3f}, {len(found)} data sets"
        outcome = _if_enough(holds, len(found))
        yield Check(statement, outcome, f"{published}", ours, rule)


def _check_times(figures: ModelCells) -> Iterator[Check]:
    """Check how long a fit takes, and which share of it the correction takes."""
    ours = figures.time(_MOST, True)
    statement = f"{_MOST} features of 10000: time to fit and predict"
    rule = "at most 0.5 s"
    published = f"{TIMES[True][_MOST]:.0f}, presumably seconds"
    if ours is None:
        yield Check.without_data(statement, published, rule)
        return
    n = len(figures.cells(_MOST, True))
    text = f"{ours:.3f} s, median of {n}"
    yield Check(statement, _if_enough(ours <= 0.5, n), published, text, rule)
    plain = figures.time(_MOST, False)
    if plain is None:
        return
    yield Check(
        f"{_MOST} features: the additional time of the correction",
        _if_enough(ours <= 1.1 * plain, n),
        "+0.5 % of the time",
        f"{format_number(100 * (ours / plain - 1), 0, signed=True)} %, medians of {n}",
        "at most 10 % more time than without it",
    )


def _check_colon(figures: ModelCells) -> Check:
    """Check that the correction improves the log probability on the colon data."""
    statement = "Colon data: better minus log probability with the correction"
    published = "better"
    rule = "on at least 7 of 10 subsets of genes"
    cells = figures.colon
    by_model = {
        model: cells[cells["model"] == model].set_index("set")["amlp"].astype(float)
        for model in ("corrected", "uncorrected")
    }
    both = pd.concat(by_model.values(), axis=1, keys=by_model.keys()).dropna()
    if both.empty:
        return Check.without_data(statement, published, rule)
    wins = int((both["corrected"] < both["uncorrected"]).sum())
    ours = f"on {wins} of {len(both)}"
    return Check(
        statement, decide_if_enough(wins >= 7, len(both), 10), published, ours, rule
    )


# -- notes ---------------------------------------------------------------------------


def _notes(figures: ModelCells) -> Iterator[str]:
    yield (
        "The expected error rate is what a model predicts for itself: the mean "
        "probability of the class that it does not predict. Intervals are 95 % t "
        "intervals for means over independent simulated data sets."
    )
    yield (
        "The slides say 100 training cases; taken as 100 of each class, because only "
        "this gives their cut-offs and error rates."
    )
    if len(figures.cells(_MOST, True)) < _ENOUGH_SETS:
        yield f"Findings stay open below {_ENOUGH_SETS} simulated data sets."
    if figures.colon.empty:
        yield "Not in this run: the colon data."
