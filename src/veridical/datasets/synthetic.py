"""Data drawn from known distributions.

======  =============================================================
symbol  meaning
======  =============================================================
x_j     feature j, uniform on (0, 1)
w_j     its weight, ``(j / n_relevant) ** 1.5`` for j = 1..n_relevant
g       the noise-free target, a weighted sum over the relevant x_j
======  =============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.validation import check_count

#: ``draw_median(10)``, stored because it takes a million draws.
MEDIAN_OF_TEN = 1.4763623772228855


def make_linear(
    n_samples: int = 125,
    n_features: int = 60,
    n_relevant: int = 10,
    *,
    noise: float = 0.10,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw from a two-class source with a linear boundary.

    With x uniform on the unit cube, ``g = sum_j w_j (x_j - 1/2)`` over the relevant
    features, ``w_j = (j / n_relevant) ** 1.5``, and the class is 1 where g plus noise
    is positive. The weights make some relevant features strong and some hardly
    visible; they were calibrated on the accuracies the paper [1]_ prints.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_relevant : int, default=10
        The first ``n_relevant`` features are relevant, the last of them most.
    noise : float, default=0.10
        Standard deviation of the Gaussian noise, as a share of that of g.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return which features are relevant.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : int array of shape (n_samples,)
        The class, 0 or 1, each with probability 1/2.
    relevant : int array
        The relevant features, in ascending order; only with ``return_relevant``.

    See Also
    --------
    make_nonlinear : The same, with a boundary that no linear classifier can follow.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang and H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II, 2007.

    Examples
    --------
    >>> from veridical.datasets import make_linear
    >>> X, y, relevant = make_linear(random_state=0, return_relevant=True)
    >>> X.shape, relevant.tolist()
    ((125, 60), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    w = weigh_relevant(n_relevant)
    spread = np.sqrt(np.sum(w**2) / 12)  # a uniform variable has variance 1/12
    return _make_continuous(
        lambda x: (x - 0.5) @ w,
        (n_samples, n_features, n_relevant),
        threshold=0.0,
        noise=(noise, spread),
        random_state=random_state,
        return_relevant=return_relevant,
    )


def make_nonlinear(
    n_samples: int = 125,
    n_features: int = 60,
    n_relevant: int = 10,
    *,
    noise: float = 0.10,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw from a two-class source whose classes differ in spread, not in mean.

    As :func:`make_linear`, but ``g = sum_j w_j (2 x_j - 1) ** 2`` and the class is 1
    where g plus noise exceeds the median of g. Every relevant feature has the same
    mean in both classes, so a linear classifier learns nothing, while a filter that
    cuts a feature into several intervals can see it.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_relevant : int, default=10
        The first ``n_relevant`` features are relevant, the last of them most.
    noise : float, default=0.10
        Standard deviation of the Gaussian noise, as a share of that of g.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return which features are relevant.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : int array of shape (n_samples,)
        The class, 0 or 1, each with probability about 1/2.
    relevant : int array
        The relevant features, in ascending order; only with ``return_relevant``.

    See Also
    --------
    make_linear : The same, with a linear boundary.

    Notes
    -----
    The median is that of a million draws with a fixed seed: stored for
    ``n_relevant=10``, otherwise drawn once per process.

    Examples
    --------
    >>> from veridical.datasets import make_nonlinear
    >>> X, y = make_nonlinear(n_samples=1000, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 60), [0, 1])
    """
    w = weigh_relevant(n_relevant)
    spread = np.sqrt(np.sum(w**2) * 4 / 45)  # the variance of (2x - 1)² is 1/5 - 1/9
    median = MEDIAN_OF_TEN if n_relevant == 10 else draw_median(n_relevant)
    return _make_continuous(
        lambda x: (2 * x - 1) ** 2 @ w,
        (n_samples, n_features, n_relevant),
        threshold=median,
        noise=(noise, spread),
        random_state=random_state,
        return_relevant=return_relevant,
    )


def make_random_labels(
    n_samples: int = 50,
    n_features: int = 5000,
    *,
    n_classes: int = 2,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw features and labels that are independent of each other.

    The features are independent and standard normal. No classifier can be better than
    chance; a protocol that shows a better accuracy is biased.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_classes : int, default=2
        The classes are as equal in size as can be, in random order.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return the relevant features, of which there are none.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : int array of shape (n_samples,)
        The class, ``0`` to ``n_classes - 1``.
    relevant : int array of shape (0,)
        Empty; only with ``return_relevant``.

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.datasets import make_random_labels
    >>> X, y = make_random_labels(n_classes=3, random_state=0)
    >>> X.shape, np.bincount(y)
    ((50, 5000), array([17, 17, 16]))
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_count("n_classes", n_classes)
    if n_classes < 2 or n_classes > n_samples:
        raise InputError(
            f"n_classes={n_classes} must lie between 2 and n_samples={n_samples}."
        )
    rng = as_generator(random_state)
    X = rng.standard_normal((n_samples, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return (X, y, np.empty(0, dtype=np.intp)) if return_relevant else (X, y)


def make_beta_bernoulli(
    n_samples: int = 200,
    n_features: int = 10000,
    *,
    alpha: float = 300.0,
    classes: Literal["equal", "drawn"] = "equal",
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw many binary features, each of them a little informative.

    The model of the bias-corrected naive Bayes classifier [1]_: feature j has an
    overall rate ``theta_j ~ U(0, 1)``, its rates in the two classes are independent
    draws from ``Beta(alpha theta_j, alpha (1 - theta_j))``, and its values are
    Bernoulli with the rate of the class. Large ``alpha`` makes features weak.

    Parameters
    ----------
    n_samples : int, default=200
        All samples share one set of rates. For a test set from the same source draw
        both at once and divide them: ``X[:200]`` to learn from, ``X[200:]`` to test on.
    n_features : int, default=10000
        Number of features.
    alpha : float, default=300
        How close the rates in the two classes are; larger is closer.
    classes : {"equal", "drawn"}, default="equal"
        "equal": the classes alternate, so that every even number of leading rows is
        balanced. "drawn": each class has probability 1/2, independently.
    random_state : int, Generator, RandomState or None
        The source of randomness.
    return_relevant : bool, default=False
        Also return the relevant features: all.

    Returns
    -------
    X : int8 array of shape (n_samples, n_features)
        The features, 0 or 1.
    y : int array of shape (n_samples,)
        The class, 0 or 1.
    relevant : int array of shape (n_features,)
        Every feature; only with ``return_relevant``.

    References
    ----------
    .. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
       selection with application to naive Bayes classification models", Bayesian
       Analysis 3(1), 2008, 171-196.

    Examples
    --------
    >>> from veridical.datasets import make_beta_bernoulli
    >>> X, y = make_beta_bernoulli(6, 4, alpha=1.0, random_state=0)
    >>> X.shape, y
    ((6, 4), array([0, 1, 0, 1, 0, 1]))
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    if not (np.isfinite(alpha) and alpha > 0):
        raise InputError(f"alpha={alpha!r} must be a positive number.")
    if classes not in ("equal", "drawn"):
        raise InputError(f"classes={classes!r} must be 'equal' or 'drawn'.")
    rng = as_generator(random_state)
    rates = draw_rates(n_features, alpha, rng)
    y = rng.integers(2, size=n_samples) if classes == "drawn" else None
    return draw_from_rates(
        rates, n_samples, y=y, random_state=rng, return_relevant=return_relevant
    )


def draw_rates(n_features: int, alpha: float, rng: np.random.Generator) -> FloatArray:
    """Draw how often each binary feature is 1 in either class."""
    theta = rng.random(n_features)
    return rng.beta(alpha * theta, alpha * (1 - theta), size=(2, n_features))


def draw_from_rates(
    rates: FloatArray,
    n_samples: int,
    *,
    y: IntArray | None = None,
    random_state: Any = None,
    return_relevant: bool = False,
) -> tuple[Any, ...]:
    """Draw samples whose features have these rates; by default classes alternate."""
    check_count("n_samples", n_samples)
    rng = as_generator(random_state)
    y = np.arange(n_samples) % 2 if y is None else y
    X = np.empty((n_samples, rates.shape[1]), dtype=np.int8)
    for i, label in enumerate(y):  # one row at a time: no float copy of X
        X[i] = rng.random(rates.shape[1]) < rates[label]
    return (X, y, np.arange(rates.shape[1])) if return_relevant else (X, y)


def check_sizes(n_samples: int, n_features: int, n_relevant: int) -> None:
    """Raise if a size is not positive, or more features are relevant than there are."""
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_count("n_relevant", n_relevant)
    if n_relevant > n_features:
        raise InputError(
            f"n_relevant={n_relevant} is more than n_features={n_features}."
        )


def weigh_relevant(n_relevant: int) -> FloatArray:
    """Return the weight of each relevant feature in g."""
    check_count("n_relevant", n_relevant)
    return (np.arange(1, n_relevant + 1) / n_relevant) ** 1.5


def _make_continuous(
    target: Callable[[FloatArray], FloatArray],
    sizes: tuple[int, int, int],
    *,
    threshold: float,
    noise: tuple[float, float],
    random_state: Any,
    return_relevant: bool,
) -> tuple[Any, ...]:
    n_samples, n_features, n_relevant = sizes
    check_sizes(n_samples, n_features, n_relevant)
    share, spread = noise
    if not (np.isfinite(share) and share >= 0):
        raise InputError(f"noise={share!r} must be a finite number, 0 or more.")
    rng = as_generator(random_state)
    X = rng.random((n_samples, n_features))
    error = share * spread * rng.standard_normal(n_samples)
    y = (target(X[:, :n_relevant]) + error > threshold).astype(np.int64)
    return (X, y, np.arange(n_relevant)) if return_relevant else (X, y)


@cache
def draw_median(n_relevant: int) -> float:
    """Compute the median of the nonlinear g over a million draws."""
    rng = as_generator(0)
    g = np.zeros(1_000_000)
    for weight in weigh_relevant(n_relevant):
        g += weight * (2 * rng.random(g.size) - 1) ** 2
    return float(np.median(g))
