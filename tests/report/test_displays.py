"""Every picture of a page is a display too, and shows the same numbers."""

from __future__ import annotations

import inspect
import warnings

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.report.all_records import KINDS
from tests.report.injection_payloads import PAYLOADS

from veridical._core.errors import InputError
from veridical._core.records import Interval
from veridical.report import displays, view
from veridical.report.view import Figure
from veridical.report.views.selection import make_curves as pictures_of_selection

#: Every picture of every page, and the display that draws it.
PICTURES = {
    ("comparison", "bands"): lambda r: displays.ComparisonDisplay.from_comparison(r),
    ("comparison", "bar"): lambda r: displays.FeaturesDisplay.from_comparison(r),
    ("comparison-truth", "bands"): lambda r: displays.ComparisonDisplay.from_comparison(
        r, method="truth"
    ),
    ("many", "distances"): lambda r: displays.CriticalDifferenceDisplay.from_comparison(
        r, method="out"
    ),
    ("estimates", "forest"): lambda r: displays.EstimatesDisplay.from_estimates(r),
    ("estimates-truth", "forest"): lambda r: displays.EstimatesDisplay.from_estimates(
        r
    ),
    ("audit", "lanes"): lambda r: displays.AuditDisplay.from_audit(r),
    ("audit", "parts"): lambda r: displays.DecompositionDisplay.from_audit(r),
    ("correction", "calibration"): lambda r: (
        displays.CalibrationDisplay.from_correction(r)
    ),
    ("selection", "accuracy"): lambda r: displays.SelectionDisplay.from_selection(r),
    ("selection", "paths"): lambda r: displays.CurvesDisplay.from_selection(r),
    ("sensitivity", "truths"): lambda r: displays.SensitivityDisplay.from_sensitivity(
        r
    ),
    ("study", "groups"): lambda r: displays.CurvesDisplay.from_study(r, which=1),
    ("study", "strip"): lambda r: displays.FindingsDisplay.from_study(r),
}


#: What the displays above draw.
DRAWS = {
    "bands": "Pairs",
    "bar": "Bars",
    "distances": "Ranks",
    "forest": "Intervals",
    "lanes": "Distribution",
    "parts": "Waterfall",
    "calibration": "Reliability",
    "accuracy": "Intervals",
    "paths": "Curves",
    "truths": "Intervals",
    "groups": "Curves",
    "strip": "Outcomes",
}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def records():
    return {name: KINDS[name]() for name, _ in PICTURES}


@pytest.mark.parametrize("picture", PICTURES, ids=" ".join)
def test_every_picture_is_drawn(picture, records):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = PICTURES[picture](records[picture[0]])
        shown.figure_.canvas.draw()
    assert shown.ax_.figure is shown.figure_
    assert shown.ax_.has_data() or shown.ax_.texts
    again = shown.plot()
    assert again is shown


@pytest.mark.parametrize("picture", PICTURES, ids=" ".join)
def test_names_are_names(picture):
    """Dollars are no mathematics, markup is text, and nothing is left out."""
    special = iter(["$x_", "_hidden", "\\frac{", "$$", "a\nb", *PAYLOADS] * 100)
    names = {}
    record = KINDS[picture[0]](lambda word: names.setdefault(word, next(special)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        PICTURES[picture](record).figure_.canvas.draw()


def test_a_display_for_every_picture_of_every_page():
    """What figures of a view show is drawn here too."""
    drawn = set()
    for name, make in KINDS.items():
        figures = [
            block
            for section in view(make()).sections
            for block in section.blocks
            if isinstance(block, Figure)
        ]
        for figure in figures:
            for panel in figure.panels:
                drawn.add((name.split("-")[0], type(panel.picture).__name__))
    known = {(name.split("-")[0], DRAWS[key]) for name, key in PICTURES}
    # Curves of an estimate are drawn by `plot` of the record.
    drawn -= {("estimates", "Curves")}
    alone = {"estimate", "calibration", "test", "friedman", "friedmans", "nested"}
    alone |= {"tests", "truthfulness", "bias", "choice", "discoveries", "studies"}
    assert {pair for pair in drawn if pair[0] not in alone} == known - {
        ("comparison", "Bars")  # in the table of features
    }


@pytest.mark.parametrize("name", displays.__all__)
def test_scikit_learns_convention(name):
    display = getattr(displays, name)
    assert name.endswith("Display")
    assert not issubclass(display, BaseEstimator)
    makers = [m for m in dir(display) if m.startswith("from_")]
    assert makers or name.startswith("Class")  # those three show figures of a paper
    where = "axes" if name == "CalibrationDisplay" else "ax"
    for method in ("plot", *makers):
        parameter = inspect.signature(getattr(display, method)).parameters[where]
        assert parameter.default is None
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY


def offsets(ax):
    """Where marks stand, as (x, y)."""
    return {
        (round(float(x), 9), round(float(y), 9))
        for line in ax.lines
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def test_a_picture_of_two_is_not_for_more_and_the_reverse(records):
    for display in (displays.ComparisonDisplay, displays.FeaturesDisplay):
        with pytest.raises(InputError, match="shows two selectors, and 5 were"):
            display.from_comparison(records["many"])
    with pytest.raises(InputError, match="three selectors or more"):
        displays.CriticalDifferenceDisplay.from_comparison(records["comparison"])


def test_the_numbers_are_those_of_the_record(records):
    record = records["comparison"]
    ax = displays.ComparisonDisplay.from_comparison(record, method="out").ax_
    scores = record.scores["out"]
    for row in range(2):
        assert {(round(v, 9), row) for v in scores[row]} <= offsets(ax)
        assert any(np.isclose(x, scores[row].mean()) for x, _ in offsets(ax))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["ReliefF", "FCBF"]

    many = records["many"]
    shown = displays.CriticalDifferenceDisplay.from_comparison(many, method="in")
    ranks = many.friedman["in"].mean_ranks
    assert shown.order_ == list(np.argsort(ranks, kind="stable"))
    assert {round(rank, 9) for rank in ranks} <= {x for x, _ in offsets(shown.ax_)}

    audit = records["audit"]
    ax = displays.AuditDisplay.from_audit(audit).ax_
    for null in audit.null.values():
        assert {round(float(v), 9) for v in null.accuracies} <= {
            x for x, _ in offsets(ax)
        }


def test_features_are_counted(records):
    record = records["comparison"]
    shown = displays.FeaturesDisplay.from_comparison(record, n_features=5)
    assert len(shown.features) == 5
    chosen = record.selected["in"]
    widths = [patch.get_width() for patch in shown.ax_.patches]
    for i, feature in enumerate(shown.features):
        for side in (0, 1):
            n = int((chosen[side] == feature["index"]).any(axis=-1).sum())
            assert widths[5 * side + i] == n


def test_axes_of_ones_own_and_looks(records):
    figure, (left, right) = plt.subplots(1, 2)
    first = displays.EstimatesDisplay.from_estimates(records["estimates"], ax=left)
    second = first.plot(ax=right, markersize=3)
    assert (second.ax_, second.figure_) == (right, figure)
    assert right.lines[0].get_markersize() == 3


def test_what_is_not_there_is_refused(records):
    with pytest.raises(InputError, match="no method 'truth'; it has in, out"):
        displays.ComparisonDisplay.from_comparison(
            records["comparison"], method="truth"
        )
    with pytest.raises(InputError, match="there are 3, counted from 0"):
        displays.CurvesDisplay.from_selection(records["selection"], which=3)
    with pytest.raises(InputError, match="no method 'truth'"):
        displays.CriticalDifferenceDisplay.from_comparison(
            records["many"], method="truth"
        )
    with pytest.raises(InputError, match="No selections by the method 'truth'"):
        displays.FeaturesDisplay.from_comparison(records["comparison"], method="truth")


def test_curves_show_intervals_and_unbounded_ones_do_not_fail(records):
    picture = pictures_of_selection(records["selection"])[0]
    from dataclasses import replace

    curve = replace(
        picture.curves[0],
        values=tuple(
            Interval(v.value, -np.inf, np.inf) for v in picture.curves[0].values
        ),
    )
    shown = displays.CurvesDisplay(replace(picture, curves=(curve,))).plot()
    shown.figure_.canvas.draw()
    assert np.isfinite(shown.ax_.get_ylim()).all()
