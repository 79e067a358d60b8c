"""From a store to findings, by the base of all studies of papers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical.experiments import (
    Check,
    InputError,
    Interval,
    Mean,
    Plan,
    Serial,
    average_means,
    decide,
    decide_all,
    decide_if_enough,
    parse_where,
    refuse_repeated,
    refuse_unknown,
    run_study,
)


class Counting(Grid):
    """Its finding is how many cells there are."""

    def findings(self, frame):
        check = Check("Cells", "open", "50", f"{len(frame)}", "none")
        return self.make_report(frame, [check], notes=["A note."])


def test_a_store_says_what_its_last_run_found(filled):
    study = Counting()

    report = study.report(filled)

    assert (report.study, report.question) == ("grid", study.question)
    assert report.checks[0].ours == "50"
    assert report.notes == ("A note.",)
    assert report.settings["cells"] == {
        "planned": 50,
        "ok": 50,
        "failed": 0,
        "pending": 0,
    }
    assert report.settings["n_units"] == 10
    assert report.settings == study.report(filled, GridSpec()).settings
    assert len(report.settings["cells sha256"]) == 64


def test_only_cells_of_the_specification_count(filled):
    smaller = GridSpec(n_units=3)
    report = Counting().report(filled, smaller)

    assert report.checks[0].ours == "15"
    assert Plan(Grid(), smaller).counts.planned == 15
    assert Counting().report(filled, GridSpec(seed=1)) is None


def test_failed_cells_are_noted(tmp_path):
    for n_failed, said in ((1, "1 cell failed and is"), (2, "2 cells failed and are")):
        study = Counting(poison=tuple((u, 0, "exception") for u in range(n_failed)))
        store = tmp_path / f"{n_failed}.sqlite"
        run_study(study, GridSpec(), store, executor=Serial())
        assert study.report(store).notes[1].startswith(said)


def test_a_store_of_another_study_is_told(filled):
    with pytest.raises(InputError, match="has no run of other"):
        Counting(name="other").report(filled)


def test_a_store_without_results_says_nothing(tmp_path):
    study, store = Counting(poison=((0, 0, "exception"),)), tmp_path / "s.sqlite"
    where = parse_where(["unit=0", "cell=0"])
    run_study(study, GridSpec(), store, executor=Serial(), where=where)
    assert study.report(store) is None


def test_without_more_a_study_has_nothing_to_say_beforehand(filled):
    assert Grid().notices(GridSpec()) == Grid().absences(filled) == ()
    assert Grid().count_stored(filled) == {None: 50}
    assert Grid().plan("smoke", 7) == GridSpec(seed=7)


def test_means_and_their_intervals():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    mean = Mean.from_values(values)
    half = 3.182446305 * np.std(values, ddof=1) / 2  # t with 3 degrees of freedom

    assert mean.interval == pytest.approx((2.5, 2.5 - half, 2.5 + half))
    same = mean.minus(mean)
    assert (same.value, same.df) == (0, pytest.approx(6))
    assert same.error == pytest.approx(np.sqrt(2) * mean.error)
    assert average_means([mean, mean]).error == pytest.approx(mean.error / np.sqrt(2))
    assert Mean.from_values(np.array([1.0])).interval.high == np.inf
    assert decide(Mean.from_values(np.array([1.0])).interval, 0, 2) == "open"


def test_intervals_decide_outcomes():
    assert decide(Interval(1.0, 0.5, 1.5), low=0) == "reproduced"
    assert decide(Interval(1.0, -0.5, 1.5), low=0) == "open"
    assert decide(Interval(1.0, 0.5, 1.5), -np.inf, 0) == "not reproduced"
    assert decide_if_enough(False, 3, 3) == "not reproduced"
    assert decide_all([]) == decide_all(["reproduced", "open"]) == "open"


def test_names_in_specifications():
    with pytest.raises(ValueError, match="'a' is named twice"):
        refuse_repeated(["b", "a", "a"])
    with pytest.raises(ValueError, match=r"no cat 'tmo'; did you mean 'tom'\? Use one"):
        refuse_unknown("cat", ["tmo"], ["tom", "kit"])
    assert refuse_repeated([1, 2]) is refuse_unknown("cat", [], []) is None


def test_values_that_do_not_vary_decide_nothing_at_a_bound():
    same = Mean.from_values(np.zeros(5)).interval
    assert decide(same, low=0.0) == decide(same, high=0.0) == "open"
    assert decide(same, low=-1.0) == "reproduced"
    assert decide(same, high=-1.0) == "not reproduced"
