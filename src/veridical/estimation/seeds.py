"""Seeds: what chance decides, from one number and for one purpose each.

Splits are drawn from a stream that knows nothing of the learner, so that learners
judged with the same seed are judged on the same cases.
"""

from __future__ import annotations

import secrets
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._records import InputError

_FOLDS, _LEARNER = 0, 1


def root_seed(random_state: Any) -> int:
    """Turn ``random_state`` into the one number that all others come from.

    Parameters
    ----------
    random_state : None, int, numpy Generator or RandomState
        None draws a fresh number, which records then show.
    """
    if random_state is None:
        return secrets.randbits(32)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint32))
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return int(random_state)
    raise InputError(
        f"random_state={random_state!r} cannot be used as a seed; pass a whole number "
        "from 0 up, None, or a numpy random generator."
    )


def folds_generator(random_state: Any) -> np.random.Generator:
    """Make the stream that decides the splits."""
    root = root_seed(random_state)
    return np.random.default_rng(np.random.SeedSequence(root, spawn_key=(_FOLDS,)))


def seeded(estimator: Any, root: int) -> Any:
    """Copy an estimator and fill every ``random_state`` that is None."""
    copied = clone(estimator)
    open_seeds = sorted(
        name
        for name, value in copied.get_params(deep=True).items()
        if value is None and name.split("__")[-1] == "random_state"
    )
    stream = np.random.SeedSequence(root, spawn_key=(_LEARNER,))
    words = stream.generate_state(max(len(open_seeds), 1))
    return copied.set_params(
        **{name: int(word) for name, word in zip(open_seeds, words, strict=False)}
    )
