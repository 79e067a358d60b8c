"""Targets of classes, numbers and survival: kinds, checks and messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from veridical._core.errors import InputError
from veridical._core.reading import read_table, read_target
from veridical._core.targets import Classes, Numbers, Survival

TIME = np.array([3.0, 5.5, 5.5, 8.0])
EVENT = np.array([True, False, True, True])


def _structured(names=("event", "time")):
    y = np.empty(4, dtype=[(names[0], bool), (names[1], float)])
    y[names[0]], y[names[1]] = EVENT, TIME
    return y


@pytest.mark.parametrize(
    "y",
    [
        _structured(),
        _structured(("cens", "days")),
        _structured()[["time", "event"]],
        pd.DataFrame({"time": TIME, "event": EVENT}),
        pd.DataFrame({"status": EVENT.astype(int), "t": TIME}),
        pl.DataFrame({"time": TIME, "event": EVENT}),
        np.column_stack([EVENT, TIME]),
        np.column_stack([TIME, EVENT]),
    ],
)
def test_every_form_of_survival_is_read_the_same(y):
    target = read_target(y, 4)
    assert isinstance(target, Survival)
    np.testing.assert_array_equal(target.time, TIME)
    np.testing.assert_array_equal(target.event, EVENT)
    assert target.labels.dtype.names == ("event", "time")


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([0.5, 1.0, 2.0], Numbers),
        ([0.0, 1.0, 2.0], Classes),  # whole and few: codes of classes
        (np.arange(42.0) // 2, Numbers),  # whole, many and rare: measurements
        (np.arange(400) // 10, Classes),
        (["a", "b"], Classes),
        ([True, False], Classes),
    ],
)
def test_the_values_decide_the_kind(y, kind):
    assert isinstance(read_target(y, len(y)), kind)


def test_whole_numbers_that_could_be_both_are_asked_about():
    days = np.arange(42) // 2
    with pytest.raises(InputError, match=r"astype\(float\).*astype\(str\)"):
        read_target(days, 42)
    assert read_target(days.astype(float), 42).kind == "numbers"
    assert read_target(days.astype(str), 42).kind == "classes"
    assert read_target(days, 42, kind="numbers").kind == "numbers"


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        (["low", "high"], "numbers", "must be numbers, but row 0.*'low'.*classifier"),
        ([1.0, 1.0], "numbers", r"is 1.0 in all 2 rows.*constant"),
        ([1.0, np.inf], "numbers", "infinite in row 1"),
        ([1.0, np.nan], "numbers", "missing in row 1"),
        ([1.0, 2.0, 3.0], "numbers", "2 rows but 3"),
        ([[1.0], [2.0], [3.0]], "survival", "one column|1 columns"),
        ([0.5, 1.5], "classes", "0.5 is not a whole"),
        (
            np.array([(True, 0.0), (False, 2.0)], "?,f8"),
            "auto",
            "positive.*0.0 in row 0",
        ),
        (np.array([(True, -1.0), (False, 2.0)], "?,f8"), "auto", "positive.*row 0"),
        (np.array([(True, np.nan), (False, 2.0)], "?,f8"), "auto", "missing in row 0"),
        (np.array([(False, 1.0), (False, 2.0)], "?,f8"), "auto", "no event.*coded 1"),
        (np.array([(True, 1.0), (True, 1.0)], "?,f8"), "auto", "All times"),
        (np.array([(1.0, 3.0), (2.0, 2.0)], "f8,f8"), "auto", "one must be an event"),
        (np.array([(1, 1, 1), (0, 0, 0)], "?,?,f8"), "auto", "3 columns"),
        (np.array([(True, 1.0)], "?,f8"), "auto", "2 rows but 1 times"),
    ],
)
def test_bad_targets_name_the_place_and_the_cure(y, kind, message):
    with pytest.raises(InputError, match=f"(?s){message}"):
        read_target(y, 2, kind=kind)


@pytest.mark.parametrize(
    ("died", "message"),
    [
        ([1, 0, 2, 1], r"'?2'? in row 2, .*recode it: 1 for the event that you study"),
        ([1, 0, -1, 1], "-1 in row 2"),
        ([1.0, np.nan, 0.0, 1.0], "event is missing in row 1 of X"),
        (["yes", "no", "lost", "lost"], r"'lost' in row 2, .*\(2 such rows\)"),
        (TIME, "must be 1 .the event was seen. or 0"),
    ],
)
def test_an_event_that_is_neither_seen_nor_censored(died, message):
    frame = pd.DataFrame({"days": TIME, "died": died})
    for y in (frame, pl.from_pandas(frame), frame[["died", "days"]]):
        with pytest.raises(InputError, match=message):
            read_target(y, 4)


@pytest.mark.parametrize("seen", ["yes", "TRUE", 1, 1.0, True, "1"])
def test_words_for_an_event(seen):
    other = {"yes": "no", "TRUE": "False", "1": "0"}.get(seen, type(seen)(0))
    died = pd.Series([seen if one else other for one in EVENT])
    for frame in ({"days": TIME, "died": died}, {"died": died, "days": TIME}):
        np.testing.assert_array_equal(read_target(pd.DataFrame(frame), 4).event, EVENT)


@pytest.mark.parametrize("y", [[1.5, 2.0, 4.0, 8.0], list("abab"), _structured()])
def test_taking_rows_is_taking_rows_of_the_labels(y):
    table = read_table(np.arange(8.0).reshape(4, 2), y)
    order = np.array([2, 0, 3, 1])
    permuted = table.permuted(order)
    assert (permuted.labels == table.labels[order]).all()
    np.testing.assert_array_equal(permuted.values, table.values)
    assert len(table.target.take(order[:2])) == 2
    assert not table.target.is_constant(slice(None))
    assert table.target.is_constant([0])
    assert table.summary().kind == table.kind
    assert table.sha256() != permuted.sha256()


def test_events_are_constant_if_no_pair_is_comparable():
    target = Survival(TIME, EVENT)
    assert target.is_constant([1])
    assert target.is_constant([3, 3])
    assert not target.is_constant([1, 2])  # censored when the other had the event
    assert Survival(TIME, ~EVENT).is_constant([0, 3])


def test_a_target_of_another_kind_is_refused_in_words():
    table = read_table(np.arange(4.0)[:, None], [0.1, 0.2, 0.3, 0.4], name="bp.csv")
    assert table.n_classes == 0
    with pytest.raises(InputError, match=r"target of bp.csv is numbers.*needs classes"):
        _ = table.y
    with pytest.raises(InputError, match="needs survival"):
        _ = table.as_survival
    np.testing.assert_array_equal(table.as_numbers.values, [0.1, 0.2, 0.3, 0.4])
