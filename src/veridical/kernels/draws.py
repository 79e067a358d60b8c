"""Random splits into training and test cases that keep the shares of the classes."""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import IntArray


def stratified_split(
    codes: IntArray, test_share: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw test cases from every class, at random.

    Parameters
    ----------
    codes : int array of shape (n,)
        Classes from 0 on.
    test_share : float
        Share of each class to test on, rounded; one case at least stays in training.
    rng : Generator
        Source of chance.

    Returns
    -------
    train, test : int arrays
        Row numbers, growing.
    """
    test = np.zeros(codes.size, dtype=bool)
    for k in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == k)
        n_test = min(int(test_share * members.size + 0.5), members.size - 1)
        if n_test > 0:
            test[rng.permutation(members)[:n_test]] = True
    return np.flatnonzero(~test), np.flatnonzero(test)
