"""A record made in Python tells the call that makes it again, and on which table."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, chi2

from veridical import auditing, comparison, evaluation
from veridical._core.hashing import table_hash
from veridical.datasets import make_linear
from veridical.selection import ReliefF

X, y = make_linear(60, random_state=0)


def again(record, **known):
    """Run what a record says."""
    imported, call = record.settings["call"].split("; ", 1)
    scope = {"X": X, "y": y, "np": np, "ReliefF": ReliefF, **known}
    exec(imported, scope)
    return eval(call, scope)


def test_the_call_gives_the_same_record():
    record = comparison.compare(
        [ReliefF(n_neighbors=np.int64(5)), "anova"],
        X,
        y,
        n_features_to_select=5,
        estimator=["nb", "1nn"],
        cv="2x5",
        n_jobs=1,
        name="mine",
    )
    call = record.settings["call"]
    assert call.startswith(
        "from veridical.comparison import compare; compare([ReliefF("
    )
    assert (
        "estimator=['nb', '1nn'], n_features_to_select=5, cv='2x5', random_state="
        in call
    )
    assert "mine" not in call
    assert "n_jobs" not in call
    assert again(record).to_frame().equals(record.to_frame())
    assert record.settings["table sha256"] == table_hash(X, y)
    assert "numpy" in record.settings["versions"]


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        (
            "compare",
            (["anova", "mrmr", "fcbf"], X, y),
            {"n_features_to_select": 4},
        ),
        ("estimate", ("nb", X, y), {"cv": "loo"}),
        ("audit", ("nb", X, y), {"selected": np.arange(4), "n_permutations": 19}),
        ("select", ("mrmr", X, y), {"n_features_to_select": 3, "estimator": "nb"}),
        (
            "truth",
            (["anova", "fcbf"], "linear"),
            {"n_features_to_select": 4, "n_train": 40, "n_sets": 2},
        ),
    ],
)
def test_every_record_has_its_call(name, arguments, options):
    rooms = (comparison, evaluation, auditing)
    verb = next(getattr(room, name) for room in rooms if hasattr(room, name))
    record = verb(*arguments, **options)
    assert f"import {name}; {name}(" in record.settings["call"]
    assert again(record).settings == record.settings
    if "X" in record.settings["call"]:
        assert record.settings["table sha256"] == table_hash(X, y)


def test_a_correction_has_its_call_too():
    record = evaluation.correction(X, y, n_features_to_select=5)
    assert again(record).settings == record.settings
    assert record.settings["table sha256"] == table_hash(X, y)


def test_what_cannot_be_written_goes_by_its_name():
    splits = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    positive = X - X.min()
    pair = [SelectKBest(chi2), "anova"]
    record = comparison.compare(pair, positive, y, n_features_to_select=3, cv=splits)
    assert (
        "compare(selectors, X, y, n_features_to_select=3, cv=cv, "
        in record.settings["call"]
    )
    same = again(record, selectors=pair, cv=splits, X=positive)
    assert same.to_frame().equals(record.to_frame())
