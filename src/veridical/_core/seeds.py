"""Seeds: all random numbers are derived from one number.

A stream of random numbers is named by its purpose and by a number (of a data set, of
a permutation), never by an estimator, a worker or the order of the work. So whatever
is compared is compared on the same folds, and any part can be repeated alone.

Every seed of the library is made here. Changing how would change the results of
studies that are stored already.
"""

from __future__ import annotations

import secrets
from enum import IntEnum
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from veridical._core.canonical import digest
from veridical._core.errors import InputError


class Purpose(IntEnum):
    """What a stream of random numbers is for."""

    FOLDS = 0
    COLUMNS = 1
    TRAINING_SET = 4
    TEST_SET = 5
    NULL = 6
    PERMUTATIONS = 7
    ASSOCIATION = 8
    HALVES = 9
    DISCOVERY = 20
    CHOICE = 30
    INNER_FOLDS = 31


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


def as_generator(random_state: Any) -> np.random.Generator:
    """Make a numpy Generator from None, a seed, a Generator or a RandomState.

    A Generator or RandomState moves on with every call, so two draws from the same
    one differ; the same seed always gives the same draw.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    return np.random.default_rng(root_seed(random_state))


def as_random_state(random_state: Any) -> np.random.RandomState:
    """Make a RandomState, so that draws are those of scikit-learn's estimators.

    None is numpy's global one; a RandomState is returned as it is.
    """
    if isinstance(random_state, np.random.Generator):
        random_state = root_seed(random_state)
    return check_random_state(random_state)


def seed_for(root: int, purpose: Purpose, number: int = 0) -> int:
    """Derive the seed of one purpose, for one data set or permutation."""
    return int(stream(root, purpose, number).generate_state(1)[0])


def stream(root: int, *numbers: int) -> np.random.SeedSequence:
    """Make the source of one stream of random numbers, named by whole numbers.

    Streams with different numbers are independent of each other.
    """
    return np.random.SeedSequence(root, spawn_key=tuple(map(int, numbers)))


def mixed_generator(*seeds: int) -> np.random.Generator:
    """Make a generator from several seeds; their order matters."""
    return np.random.default_rng(list(seeds))


def derive_seed(root: int, **what: Any) -> int:
    """Derive a seed from the root seed and from what it is for.

    Parameters
    ----------
    root : int
        The seed of the whole study.
    **what : JSON values
        Everything the stream of random numbers should depend on, and nothing else: a
        seed for folds names the data set, the resampling and the repeat but no
        selector, so that all selectors are evaluated on the same folds.

    Returns
    -------
    int
        At most 32 bits, which every random number generator takes.

    Examples
    --------
    >>> derive_seed(0, purpose="folds", n=125) == derive_seed(0, n=125, purpose="folds")
    True
    """
    words = np.frombuffer(digest(what), dtype=">u4")
    sequence = np.random.SeedSequence([root, *(int(word) for word in words)])
    return int(sequence.generate_state(1)[0])


def folds_generator(random_state: Any) -> np.random.Generator:
    """Make the generator of the splits of one table."""
    return as_generator(stream(root_seed(random_state), Purpose.FOLDS))


def seeded(estimator: Any, root: int) -> Any:
    """Copy an estimator and fill every ``random_state`` that is None.

    Parameters
    ----------
    estimator : estimator or other object
        An object without ``get_params`` is copied only.
    root : int
        The same number gives the same seeds in every verb.
    """
    copied = clone(estimator, safe=False)
    if not hasattr(copied, "get_params"):
        return copied
    open_seeds = sorted(
        name
        for name, value in copied.get_params(deep=True).items()
        if value is None and name.split("__")[-1] == "random_state"
    )
    words = stream(root, 1).generate_state(max(len(open_seeds), 1))
    return copied.set_params(
        **{name: int(word) for name, word in zip(open_seeds, words, strict=False)}
    )
