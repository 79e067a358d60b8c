"""Long fits can be watched through scikit-learn's callbacks."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.datasets import make_linear
from veridical.selection import MRMR, SELECTORS, SVMRFE, DifferentialPrioritization
from veridical.selection._base import ReportsProgress

WATCHED = [cls for cls in SELECTORS.values() if issubclass(cls, ReportsProgress)]


class Counter:
    """The smallest callback: counts the steps it sees begin and end."""

    def __init__(self):
        self.begun, self.ended, self.announced = 0, 0, None

    def setup(self, estimator, context):
        self.announced = context.max_subtasks

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self.begun += context.task_name == "step"

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.ended += context.task_name == "step"

    def teardown(self, estimator, context):
        self.torn_down = True


@pytest.mark.parametrize(
    ("selector", "known"),
    [
        *((cls(), True) for cls in WATCHED),
        (MRMR(n_searched=7, n_features_to_select=3), True),
        (DifferentialPrioritization(5, n_searched=12), True),
        (DifferentialPrioritization(5, n_searched=12, relevance="one-vs-all"), False),
        (SVMRFE(5, step=4), True),
    ],
    ids=repr,
)
def test_steps_are_reported_and_change_nothing(selector, known):
    X, y = make_linear(60, random_state=0)
    plain = selector.fit(X, y).order_
    counter = Counter()
    watched = selector.set_callbacks(counter).fit(X, y)
    np.testing.assert_array_equal(watched.order_, plain)
    assert counter.begun == counter.ended > 0
    assert counter.torn_down
    if known:
        assert counter.announced == counter.ended
    else:
        assert counter.announced is None
