"""Data drawn from known distributions whose target is a number or a survival time.

======  ==================================================================
symbol  meaning
======  ==================================================================
x_j     feature j, standard normal (Friedman: uniform on (0, 1))
w_j     its weight, ``(j / n_relevant) ** 1.5`` for j = 1..n_relevant
g       what can be known of the target, with mean 0 and variance 1:
        ``sum_j w_j x_j`` over the relevant x_j, divided by its deviation
======  ==================================================================
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.targets import SURVIVAL_DTYPE
from veridical.datasets.synthetic import check_sizes, weigh_relevant

#: Nodes of the quadrature that finds the rate of censoring.
_NODES = 60


def make_linear_regression(
    n_samples: int = 125,
    n_features: int = 60,
    n_relevant: int = 10,
    *,
    r2: float = 0.5,
    tail_df: float = math.inf,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw numbers that depend on some features by a sum.

    ``y = sqrt(r2) g + sqrt(1 - r2) e`` with g of variance 1 and noise e of variance 1,
    so that no model can have an R² above `r2` on new samples.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_relevant : int, default=10
        The first ``n_relevant`` features are relevant, the last of them most.
    r2 : float, default=0.5
        Share of the variance of y that the features explain, from 0 to 1.
    tail_df : float, default=inf
        The noise has a t distribution with so many degrees of freedom, more than 2;
        infinity is the normal distribution, 3 has heavy tails.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return which features are relevant.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : array of shape (n_samples,)
        The numbers.
    relevant : int array
        The relevant features, in ascending order; only with ``return_relevant``.

    See Also
    --------
    make_friedman : Numbers that depend on features by a curved surface.
    make_random_numbers : Numbers that depend on no feature.

    Examples
    --------
    >>> from veridical.datasets import make_linear_regression
    >>> X, y, relevant = make_linear_regression(random_state=0, return_relevant=True)
    >>> X.shape, y.shape, relevant.tolist()
    ((125, 60), (125,), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    check_sizes(n_samples, n_features, n_relevant)
    if not 0 <= r2 <= 1:
        raise InputError(f"r2={r2!r} must be a share between 0 and 1.")
    if not tail_df > 2:
        raise InputError(f"tail_df={tail_df!r} must be more than 2.")
    rng = as_generator(random_state)
    X = rng.standard_normal((n_samples, n_features))
    noise = rng.standard_normal(n_samples)
    if math.isfinite(tail_df):
        spread = math.sqrt(tail_df / (tail_df - 2))
        noise = rng.standard_t(tail_df, n_samples) / spread
    y = math.sqrt(r2) * _signal(X, n_relevant) + math.sqrt(1 - r2) * noise
    return (X, y, np.arange(n_relevant)) if return_relevant else (X, y)


def make_friedman(
    n_samples: int = 125,
    n_features: int = 60,
    *,
    noise: float = 1.0,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw numbers that depend on five features by a curved surface.

    ``y = 10 sin(π x_1 x_2) + 20 (x_3 - 1/2)² + 10 x_4 + 5 x_5`` plus normal noise, with
    x uniform on the unit cube [1]_. Correlation sees x_3 hardly at all.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X; at least 5 features.
    noise : float, default=1.0
        Standard deviation of the noise; that of the surface is about 4.9.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return which features are relevant: the first five.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : array of shape (n_samples,)
        The numbers.
    relevant : int array of shape (5,)
        The relevant features; only with ``return_relevant``.

    References
    ----------
    .. [1] J. H. Friedman, "Multivariate adaptive regression splines", Annals of
       Statistics 19 (1991).

    Examples
    --------
    >>> from veridical.datasets import make_friedman
    >>> X, y = make_friedman(200, random_state=0)
    >>> X.shape, y.shape
    ((200, 60), (200,))
    """
    check_sizes(n_samples, n_features, 5)
    if not (np.isfinite(noise) and noise >= 0):
        raise InputError(f"noise={noise!r} must be a finite number, 0 or more.")
    rng = as_generator(random_state)
    X = rng.random((n_samples, n_features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + noise * rng.standard_normal(n_samples)
    return (X, y, np.arange(5)) if return_relevant else (X, y)


def make_random_numbers(
    n_samples: int = 50,
    n_features: int = 5000,
    *,
    tail_df: float = math.inf,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw features and numbers that are independent of each other.

    No regressor can have an R² above 0 on new samples; a protocol that shows one is
    biased.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    tail_df : float, default=inf
        Degrees of freedom of the t distribution of the numbers; infinity is normal.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return the relevant features, of which there are none.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : array of shape (n_samples,)
        The numbers.
    relevant : int array of shape (0,)
        Empty; only with ``return_relevant``.

    Examples
    --------
    >>> from veridical.datasets import make_random_numbers
    >>> X, y = make_random_numbers(random_state=0)
    >>> X.shape, y.shape
    ((50, 5000), (50,))
    """
    X, y = make_linear_regression(
        n_samples, n_features, 1, r2=0.0, tail_df=tail_df, random_state=random_state
    )
    return (X, y, np.empty(0, dtype=np.intp)) if return_relevant else (X, y)


def make_survival(
    n_samples: int = 200,
    n_features: int = 60,
    n_relevant: int = 10,
    *,
    strength: float = 1.0,
    censored: float = 0.3,
    shape: float = 1.5,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw survival times with censoring from a proportional hazards model.

    The hazard at time t is ``shape t^(shape - 1) exp(strength g)`` (Weibull times).
    Times of censoring are independent of everything, with a rate at which the wanted
    share of samples is censored.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_relevant : int, default=10
        The first ``n_relevant`` features are relevant, the last of them most.
    strength : float, default=1.0
        Standard deviation of the logarithm of the hazard ratio; 0 is no signal.
    censored : float, default=0.3
        Expected share of censored samples, from 0 to less than 1.
    shape : float, default=1.5
        Shape of the Weibull distribution; 1 is a constant hazard.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return which features are relevant.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : structured array of shape (n_samples,)
        Fields ``event`` (whether the event was seen) and ``time``, as scikit-survival
        takes them.
    relevant : int array
        The relevant features, in ascending order; only with ``return_relevant``.

    See Also
    --------
    make_random_survival : Times that depend on no feature.

    References
    ----------
    .. [1] R. Bender, T. Augustin & M. Blettner, "Generating survival times to simulate
       Cox proportional hazards models", Statistics in Medicine 24 (2005).

    Examples
    --------
    >>> from veridical.datasets import make_survival
    >>> X, y = make_survival(1000, censored=0.4, random_state=0)
    >>> X.shape, y.dtype.names, f"{1 - y['event'].mean():.1f}"
    ((1000, 60), ('event', 'time'), '0.4')
    """
    check_sizes(n_samples, n_features, n_relevant)
    if not 0 <= censored < 1:
        raise InputError(f"censored={censored!r} must be a share from 0 to below 1.")
    if not (np.isfinite(strength) and np.isfinite(shape) and shape > 0):
        raise InputError(
            f"strength={strength!r} and shape={shape!r} must be finite, and shape "
            "positive."
        )
    rng = as_generator(random_state)
    X = rng.standard_normal((n_samples, n_features))
    risk = strength * _signal(X, n_relevant)
    # On the scale of cumulative hazard both times are exponential.
    hazard = rng.exponential(size=n_samples) / np.exp(risk)
    limit = np.full(n_samples, np.inf)
    if censored:
        rate = censoring_rate(float(strength), float(censored))
        limit = rng.exponential(size=n_samples) / rate
    y: NDArray[Any] = np.empty(n_samples, dtype=SURVIVAL_DTYPE)
    y["event"] = hazard <= limit
    # No time is 0, which nothing could have happened before.
    y["time"] = np.maximum(np.minimum(hazard, limit), 1e-12) ** (1 / shape)
    return (X, y, np.arange(n_relevant)) if return_relevant else (X, y)


def make_random_survival(
    n_samples: int = 60,
    n_features: int = 2000,
    *,
    censored: float = 0.3,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw features and survival times that are independent of each other.

    No model can have a concordance other than 0.5 on new samples, but by chance.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    censored : float, default=0.3
        Expected share of censored samples.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return the relevant features, of which there are none.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : structured array of shape (n_samples,)
        Fields ``event`` and ``time``.
    relevant : int array of shape (0,)
        Empty; only with ``return_relevant``.

    Examples
    --------
    >>> from veridical.datasets import make_random_survival
    >>> X, y = make_random_survival(random_state=0)
    >>> X.shape, y.dtype.names
    ((60, 2000), ('event', 'time'))
    """
    X, y = make_survival(
        n_samples,
        n_features,
        1,
        strength=0.0,
        censored=censored,
        random_state=random_state,
    )
    return (X, y, np.empty(0, dtype=np.intp)) if return_relevant else (X, y)


def _signal(X: FloatArray, n_relevant: int) -> FloatArray:
    """Return g: the weighted sum of the relevant features, of variance 1."""
    w = weigh_relevant(n_relevant)
    return np.asarray(X[:, :n_relevant] @ w / np.linalg.norm(w))


@cache
def censoring_rate(strength: float, censored: float) -> float:
    """Find the rate of exponential censoring at which a share of samples is censored.

    A sample of risk r is censored with probability ``rate / (rate + exp(r))``; its mean
    over the normal risk, by quadrature, grows with the rate, so bisection finds it.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    low, high = -30.0, 30.0  # logarithms of the rate
    for _ in range(80):
        middle = (low + high) / 2
        share = weights @ (1 / (1 + np.exp(strength * nodes - middle)))
        low, high = (middle, high) if share < censored else (low, middle)
    return math.exp((low + high) / 2)
