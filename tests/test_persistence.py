"""A fitted estimator can be kept and read again: by pickle, and by skops without it."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.test_estimators import SURVIVAL, public_estimators, ready

import veridical.evaluation
import veridical.learning
import veridical.preparation
import veridical.selection

skops = pytest.importorskip("skops.io")

ROOMS = (
    veridical.selection,
    veridical.learning,
    veridical.preparation,
    veridical.evaluation,
)

RNG = np.random.default_rng(5)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 6)) + np.outer(Y, [1.5, 1.0, 0.5, 0, 0, 0])


def suitable(name):
    """Numbers, or zeros and ones for whoever wants these, and what else `fit` takes."""
    table = (X > 0.5).astype(float) if name == "BiasCorrectedNB" else X
    more = {"X_privileged": RNG.normal(size=(60, 3))} if name == "SVMPlus" else {}
    return table, more


def outcome(name):
    """Classes, or events and times for whoever needs these."""
    if name not in SURVIVAL:
        return Y
    found = np.empty(60, dtype=[("event", bool), ("time", float)])
    found["event"] = np.arange(60) % 3 > 0
    found["time"] = np.exp(0.5 * np.random.default_rng(1).normal(size=60) - Y)
    return found


def answer(estimator, table):
    if hasattr(estimator, "predict"):
        return estimator.predict(table)
    return np.asarray(estimator.transform(table))


@pytest.fixture(params=public_estimators().items(), ids=lambda item: item[0])
def fitted(request):
    name, make = request.param
    table, more = suitable(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ready(make).fit(table, outcome(name), **more), table


def test_pickle(fitted):
    estimator, table = fitted
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(answer(again, table), answer(estimator, table))


def test_skops(fitted):
    estimator, table = fitted
    content = skops.dumps(estimator)
    doubtful = skops.get_untrusted_types(data=content)
    ours = [name for name in doubtful if name.startswith("veridical.")]
    room = next(part for part in ROOMS if hasattr(part, type(estimator).__name__))
    assert f"{room.__name__}.{type(estimator).__name__}" in ours
    assert not [name for name in ours if "._" in name]
    known = {"fractions.Fraction", "numpy.dtype"}  # the latter in SimpleImputer
    assert set(doubtful) - set(ours) <= known
    again = skops.loads(content, trusted=doubtful)
    assert type(again) is type(estimator)
    np.testing.assert_array_equal(answer(again, table), answer(estimator, table))


def test_names_survive(fitted):
    estimator, table = fitted
    if not hasattr(estimator, "get_feature_names_out"):
        pytest.skip("it transforms nothing")
    frame = pd.DataFrame(table, columns=[f"gene {j}" for j in range(6)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        again = skops.loads(
            skops.dumps(estimator.fit(frame, outcome(type(estimator).__name__))),
            trusted=skops.get_untrusted_types(data=skops.dumps(estimator)),
        )
    assert again.feature_names_in_.tolist() == list(frame.columns)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_public_classes_are_known_by_the_package_they_are_imported_from(room):
    classes = [thing for thing in vars(room).values() if inspect.isclass(thing)]
    public = [thing for thing in classes if thing.__name__ in room.__all__]
    own = [one for one in public if not one.__module__.startswith("veridical._")]
    assert own
    for one in own:
        assert one.__module__ == room.__name__
        assert pickle.loads(pickle.dumps(one)) is one
