"""The three MONK's problems: six categorical features, a logical rule, known truth.

======  ==========================================  ======================
symbol  meaning                                     values
======  ==========================================  ======================
a1..a6  the attributes (``a[:, 0]`` .. ``a[:, 5]``)  1 .. 3, 3, 2, 3, 4, 2
======  ==========================================  ======================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.validation import check_count

Attributes = NDArray[np.int64]

#: Number of values of each attribute; their product is the 432 combinations.
_N_VALUES = (3, 3, 2, 3, 4, 2)


def _monk_1(a: Attributes) -> NDArray[np.bool_]:
    return (a[:, 0] == a[:, 1]) | (a[:, 4] == 1)


def _monk_2(a: Attributes) -> NDArray[np.bool_]:
    return (a == 1).sum(axis=1) == 2


def _monk_3(a: Attributes) -> NDArray[np.bool_]:
    return ((a[:, 4] == 3) & (a[:, 3] == 1)) | ((a[:, 4] != 4) & (a[:, 1] != 3))


RULES: dict[int, Callable[[Attributes], NDArray[np.bool_]]] = {
    1: _monk_1,
    2: _monk_2,
    3: _monk_3,
}
RELEVANT = {1: (0, 1, 4), 2: (0, 1, 2, 3, 4, 5), 3: (1, 3, 4)}
_LABEL_NOISE = {1: 0.0, 2: 0.0, 3: 0.05}


def make_monks(
    problem: Literal[1, 2, 3],
    n_samples: int = 432,
    *,
    noise: float | None = None,
    random_state: Any = None,
    return_relevant: bool = False,
    as_frame: bool = True,
) -> tuple[Any, ...]:
    """Draw from one of the three MONK's problems.

    The attributes are uniform and independent; the class is 1 where

    - problem 1: ``a1 = a2`` or ``a5 = 1``;
    - problem 2: exactly two of the six attributes equal 1;
    - problem 3: ``a5 = 3`` and ``a4 = 1``, or ``a5 != 4`` and ``a2 != 3``.

    Parameters
    ----------
    problem : 1, 2 or 3
        Which rule.
    n_samples : int, default=432
        Number of independent draws from the 432 combinations; repeats occur.
    noise : float in [0, 1], optional
        Each label is flipped with this probability, independently of the others, so
        the share of flipped labels varies around it. By default 0.05 for problem 3
        and 0 for the others. The attributes drawn do not depend on it.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return which features the rule uses.
    as_frame : bool, default=True
        A data frame with category columns ``a1`` to ``a6``; False gives an integer
        array, which does not show that the features are categorical.

    Returns
    -------
    X : DataFrame or int array of shape (n_samples, 6)
        The attributes.
    y : int array of shape (n_samples,)
        The class, 0 or 1.
    relevant : int array
        Features in the rule, in ascending order; only with ``return_relevant``.

    References
    ----------
    .. [1] S. Thrun et al., "The MONK's problems: a performance comparison of
       different learning algorithms", CMU-CS-91-197, 1991.

    Examples
    --------
    >>> from veridical.datasets import make_monks
    >>> X, y, relevant = make_monks(1, 100, random_state=0, return_relevant=True)
    >>> X.shape, X["a5"].cat.categories.tolist(), relevant.tolist()
    ((100, 6), [1, 2, 3, 4], [0, 1, 4])
    """
    if problem not in RULES:
        raise InputError(f"problem={problem!r} must be 1, 2 or 3.")
    check_count("n_samples", n_samples)
    noise = _LABEL_NOISE[problem] if noise is None else noise
    if not 0 <= noise <= 1:
        raise InputError(f"noise={noise!r} is a probability; it must lie in [0, 1].")
    rng = as_generator(random_state)
    cells = rng.integers(np.prod(_N_VALUES), size=n_samples)
    # Drawn even without noise, so that sets with and without it share their attributes.
    flipped = rng.random(n_samples) < noise
    attributes = np.column_stack(np.unravel_index(cells, _N_VALUES)).astype(np.int64)
    attributes += 1
    y = (RULES[problem](attributes) ^ flipped).astype(np.int64)
    X = _as_frame(attributes) if as_frame else attributes
    if return_relevant:
        relevant: IntArray = np.array(RELEVANT[problem], dtype=np.intp)
        return X, y, relevant
    return X, y


def _as_frame(attributes: Attributes) -> pd.DataFrame:
    return pd.DataFrame(
        {
            f"a{j + 1}": pd.Categorical(
                attributes[:, j], categories=np.arange(1, n_values + 1)
            )
            for j, n_values in enumerate(_N_VALUES)
        }
    )
