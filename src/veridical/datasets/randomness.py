"""One way to turn whatever the user passes as ``random_state`` into a generator."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from veridical._records import InputError


def as_generator(random_state: Any) -> np.random.Generator:
    """Make a numpy Generator from None, a seed, a Generator or a RandomState.

    A Generator or RandomState moves on with every call, so two draws from the same
    one differ; the same seed always gives the same draw.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    is_seed = isinstance(random_state, numbers.Integral) and int(random_state) >= 0
    if random_state is None or is_seed:
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    raise InputError(
        f"random_state={random_state!r} cannot be used as a seed; pass a non-negative "
        "integer, None, a numpy Generator or a RandomState."
    )


def check_size(**sizes: int) -> None:
    """Refuse a count that is not a positive whole number, naming it."""
    for name, size in sizes.items():
        if not isinstance(size, numbers.Integral) or int(size) < 1:
            raise InputError(f"{name}={size!r} must be a whole number, 1 or more.")
