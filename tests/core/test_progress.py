"""Progress: a bar on a terminal, lines elsewhere, the cost beforehand."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from veridical._core import progress
from veridical._core.progress import (
    Pace,
    Reporter,
    add_compiling_time,
    announce,
    count_fits,
)
from veridical.auditing import audit
from veridical.datasets import make_linear
from veridical.evaluation import CrossValidation, LeaveOut, estimate, nested_cv, select
from veridical.learning.many import has_predict_table


class Terminal(io.StringIO):
    """A terminal that remembers what was written to it."""

    def isatty(self):
        return True

    @property
    def lines(self):
        """What is on the screen: what a carriage return overwrites is gone."""
        shown = []
        for text in self.getvalue().split("\n"):
            line = ""
            for part in text.split("\r"):
                line = part + line[len(part) :]
            shown.append(line.rstrip())
        return shown


@pytest.fixture
def clock(monkeypatch):
    """Seconds, to be set by hand."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_lines_come_every_ten_seconds_at_most(clock):
    file = io.StringIO()
    with Reporter("Working", file) as report:
        for done in range(1, 101):
            clock[0] += 1.0
            report(done, 100)

    lines = file.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0] == "Working: 10 of 100; about 1.5 min left"
    assert lines[-1] == "Working: 100 of 100; about 0 s left"


def test_short_work_is_silent_where_there_is_no_terminal(clock):
    file = io.StringIO()
    with Reporter("Working", file) as report:
        for done in range(1, 101):
            clock[0] += 0.05
            report(done, 100)

    assert file.getvalue() == ""


def test_a_bar_is_redrawn_in_its_place_and_goes_at_the_end(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    with Reporter("Working", screen) as report:
        clock[0] += 2.0
        report(1, 4)  # the first unit may have compiled: no forecast from it
        assert screen.lines == ["[#####---------------] Working: 1 of 4; 2 s so far"]
        clock[0] += 2.0
        report(2, 4)
        assert screen.lines == [
            "[##########----------] Working: 2 of 4; about 4 s left"
        ]
        drawn = screen.getvalue()
        report(3, 4)  # too soon
        assert screen.getvalue() == drawn
        report.say("a word")
    assert screen.lines == ["Working: a word", ""]


@pytest.mark.parametrize("columns", [20, 40])
def test_a_bar_keeps_to_one_line(columns, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = Terminal()
    Reporter("A long label that does not fit", screen)(1, 2)
    assert len(screen.getvalue()) == columns - 1


def test_long_compilation_is_named_once():
    stream = io.StringIO()
    add_compiling_time(5.0)  # nobody reports
    with Reporter("Selecting", stream) as reporter:
        add_compiling_time(0.6)
        assert stream.getvalue() == ""
        add_compiling_time(0.6)
        add_compiling_time(9.0)
    add_compiling_time(5.0)

    assert stream.getvalue().count("compiling for this computer") == 1
    assert reporter not in progress._ACTIVE


def test_a_dumb_terminal_gets_lines(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    screen = Terminal()
    with Reporter("Working", screen) as report:
        clock[0] += 20.0
        report(2, 4)
    assert screen.getvalue() == "Working: 2 of 4; about 20 s left\n"


def test_the_pace_is_the_recent_one(clock):
    pace = Pace(100)
    assert pace.rate is None
    assert pace.left(5) is None
    for i in range(1, 201):
        clock[0] += 1.0
        pace.mark(100 + i)
    for i in range(1, 2001):
        clock[0] += 0.1
        pace.mark(300 + i)
    assert pace.rate == pytest.approx(10.0, rel=0.05)
    assert pace.left(100) == pytest.approx(10.0, rel=0.05)


GRID = {"C": [1, 10], "kernel": ["rbf", "linear"]}


@pytest.mark.parametrize(
    ("estimator", "times", "n_fits", "words"),
    [
        (SVC(), (10,), 10, "about 10 fits of SVC: 10 fits"),
        (make_pipeline(StandardScaler(), SVC()), (2, 10), 20, "2 × 10 fits of SVC:"),
        (GridSearchCV(SVC(), GRID), (10,), 210, "(4 candidates × 5 folds each): 210"),
        (
            make_pipeline(StandardScaler(), GridSearchCV(SVC(), GRID, cv=KFold(3))),
            (20, 10, 1),
            2600,
            "20 × 10 fits of GridSearchCV (4 candidates × 3 folds each)",
        ),
        (
            RandomizedSearchCV(SVC(), GRID, n_iter=3, cv=2, refit=False),
            (10,),
            60,
            "(3 candidates × 2 folds each)",
        ),
    ],
)
def test_fits_are_counted(estimator, times, n_fits, words):
    counted, text = count_fits(estimator, *times)
    assert counted == n_fits
    assert words in text


def test_the_fits_of_a_search_are_as_many_as_counted():
    X, y = make_linear(60, random_state=0)
    fitted = []

    class Counting(GaussianNB):
        def fit(self, X, y):
            fitted.append(len(y))
            return super().fit(X, y)

    search = GridSearchCV(Counting(), {"var_smoothing": [1e-9, 1e-6, 1e-3]}, cv=4)
    estimate(search, X, y, cv=CrossValidation(5), random_state=0)
    assert len(fitted) == count_fits(search, 5)[0]


def test_the_cost_is_announced_where_it_is_high():
    file = io.StringIO()
    announce(Reporter("Working", file), SVC(), progress.MIN_FITS_ANNOUNCED - 1)
    announce(None, SVC(), 10**6)
    announce(lambda done, total: None, SVC(), 10**6)
    assert file.getvalue() == ""
    announce(Reporter("Working", file), SVC(), progress.MIN_FITS_ANNOUNCED)
    assert file.getvalue() == "Working: about 500 fits of SVC: 500 fits\n"


# ---- what the verbs report ------------------------------------------------------

X, Y = make_linear(60, random_state=0)


def check(told, total):
    """Progress goes up to the total, which stays the same; 20 steps are enough."""
    assert {one for _, one in told} == {total}
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1][0] == total


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbs_report_progress_and_find_the_same(n_jobs):
    told = []

    def note(done, total):
        told.append((done, total))

    tree = DecisionTreeClassifier(random_state=0)  # no fast way: a job per split
    for method, total in ((CrossValidation(5), 5), (LeaveOut(1), 20)):
        told.clear()
        found = estimate(
            tree, X, Y, cv=method, random_state=0, n_jobs=n_jobs, progress=note
        )
        silent = estimate(tree, X, Y, cv=method, random_state=0)
        assert np.array_equal(found.scores, silent.scores)
        check(told, total)
    told.clear()
    options = {"n_features_to_select": 3, "cv": 4, "random_state": 0}
    chosen = select("anova", X, Y, n_jobs=n_jobs, progress=note, **options)
    assert chosen.accuracy == select("anova", X, Y, **options).accuracy
    check(told, 5)  # one ranking for all folds, and the folds


def test_nested_cross_validation_and_audits_report_progress():
    told = []

    def note(done, total):
        told.append((done, total))

    tree = DecisionTreeClassifier(random_state=0)  # no fast way: a job per split
    nested_cv(tree, X, Y, n_folds=3, n_repeats=5, random_state=0, progress=note)
    check(told, 20)
    told.clear()
    estimate(GaussianNB(), X, Y, cv=6, random_state=0, scoring="f1", progress=note)
    check(told, 6 + has_predict_table(GaussianNB()))
    told.clear()
    majority = DummyClassifier(strategy="most_frequent")  # all folds at once
    estimate(majority, X, Y, cv=6, random_state=0, progress=note)
    check(told, 6 + has_predict_table(majority))
    told.clear()
    audit("nb", X, Y, n_permutations=19, random_state=0, progress=note)
    check(told, 19)


def test_an_audit_of_a_search_says_what_it_costs(monkeypatch):
    file = io.StringIO()
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2)
    audit(
        search, X, Y, cv=6, n_permutations=19, random_state=0,
        progress=Reporter("Auditing", file),
    )  # fmt: skip
    first = file.getvalue().splitlines()[0]
    assert first == (
        "Auditing: about 19 × 6 fits of GridSearchCV (2 candidates × 2 folds each): "
        "570 fits"
    )


@pytest.fixture
def impatient(monkeypatch):
    """All work is long."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "EVERY", 0.05)


class Slow(GaussianNB):
    """Takes its time."""

    def fit(self, X, y):
        time.sleep(0.03)
        return super().fit(X, y)


def test_long_work_is_reported_by_default(impatient, monkeypatch, capsys):
    monkeypatch.setattr(progress, "MIN_FITS_ANNOUNCED", 4)
    audit(Slow(), X, Y, cv=2, n_permutations=19, random_state=0)
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == "audit: about 19 × 2 fits of Slow: 38 fits"
    assert rest
    assert all(line.startswith("audit: ") for line in rest)
    estimate(Slow(), X, Y, cv=4, random_state=0)
    assert capsys.readouterr().err.startswith("estimate: about 4 fits of Slow: 4 fits")


def test_false_is_silent_and_so_is_short_work(impatient, monkeypatch, capsys):
    estimate(Slow(), X, Y, cv=3, random_state=0, progress=False)
    audit(Slow(), X, Y, cv=2, n_permutations=19, random_state=0, progress=False)
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    estimate(Slow(), X, Y, cv=3, random_state=0)
    assert capsys.readouterr().err == ""


def test_one_call_inside_another_does_not_report_twice(impatient, capsys):
    with progress.reporting(None, "outer"):
        estimate(Slow(), X, Y, cv=3, random_state=0)
    assert "estimate" not in capsys.readouterr().err


def test_a_single_long_job_is_not_silent(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    file = io.StringIO()
    with Reporter("Ranking", file) as report:
        report(1, 3)
        deadline = time.monotonic() + 20
        while file.getvalue().count("\n") < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
    lines = file.getvalue().splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("Ranking: 1 of 3") for line in lines)
    told = len(lines)
    time.sleep(0.2)
    assert len(file.getvalue().splitlines()) == told  # nothing after the end
