"""The .632 bootstrap and its successor .632+.

======  =======================================================================
symbol  meaning
======  =======================================================================
ε0_i    accuracy of the classifier built on bootstrap sample i, on the samples not
        in it
acc_s   resubstitution accuracy of the classifier built on all samples
Err1    bootstrap error, the mean of 1 − ε0_i over the bootstrap samples
γ       no-information rate: the error if labels and features were independent,
        from the shares of classes and of predictions
Err1'   Err1, but γ where Err1 is worse than guessing and acc_s is not
R       relative overfitting rate: where Err1' lies between the resubstitution error
        (0) and γ (1)
ŵ       weight of Err1 in .632+, from 0.632 (R = 0) to 1 (R = 1)
======  =======================================================================

Both average over bootstrap samples, as Kohavi's .632 does. Efron and Tibshirani average
the errors of each sample over the bootstrap samples without it, then over all samples
(``leave_one_out_error``): the two differ by about 1/b for b bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import folds_generator
from veridical._core.splits import Split, Units, read_rows, refuse_divided_groups
from veridical._core.validation import check_count

#: Weight of the outside accuracy: share of distinct samples in a bootstrap sample.
OUTSIDE = 0.632


@dataclass(frozen=True)
class Bootstrap632:
    """Learn from bootstrap samples, test on the samples outside them.

    Parameters
    ----------
    n_samples : int, default=50
        Number of bootstrap samples. With the same seed, fewer are a prefix of more:
        ``scores[:10]`` are the terms of the estimate with 10 bootstrap samples. Where
        there are groups, each is a draw of whole groups.
    plus : bool, default=False
        Whether to weigh by the relative overfitting rate (.632+), which corrects .632
        for estimators that overfit.
    samples : sequence of int arrays, optional
        The row indices of each bootstrap sample, with repeats, instead of drawing them;
        `n_samples` is then their number, and no seed is used. Each must leave out a
        sample to test on.

    Notes
    -----
    Bootstrap sample i gives the accuracy ε0_i on the samples outside it, and all
    samples give the resubstitution accuracy acc_s. The estimate is the mean of the
    terms ``w ε0_i + (1 − w) acc_s``, which are the ``scores`` of the
    :class:`~veridical.evaluation.Estimate`: w is 0.632, or with `plus` the weight that
    grows from 0.632 to 1 with the relative overfitting rate R. At R = 0 .632+ is .632.
    Where the mean of ε0_i is worse than guessing (and acc_s is not), .632+ replaces it
    by the accuracy of guessing: the same amount is added to every term, so that their
    mean is still the estimate.

    References
    ----------
    .. [1] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", JASA 78, 1983.
    .. [2] B. Efron and R. Tibshirani, "Improvements on cross-validation: the .632+
       bootstrap method", JASA 92, 1997.
    """

    n_samples: int = 50
    plus: bool = False
    samples: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.samples is not None:
            rows = tuple(_as_rows(rows) for rows in self.samples)
            object.__setattr__(self, "samples", rows)
            object.__setattr__(self, "n_samples", len(rows))
        check_count("n_samples", self.n_samples, 1)

    def __repr__(self) -> str:
        if self.samples is None:
            return f"Bootstrap632(n_samples={self.n_samples}, plus={self.plus})"
        return f"Bootstrap632(plus={self.plus}, samples=<{self.n_samples} given>)"

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the rows of every bootstrap sample, and those outside it."""
        return self.draw(len(y), random_state, groups)[0]

    def draw(
        self, n: int, random_state: Any = None, groups: IntArray | None = None
    ) -> tuple[list[Split], int]:
        """Draw the bootstrap samples; return also how many were drawn again.

        One that holds every sample leaves nothing to test on, and is drawn again. Of
        samples that belong to groups, whole groups are drawn.
        """
        units = Units(n, groups)
        if units.n < 2:
            raise InputError(f"A bootstrap needs at least 2 {units.noun}.")
        if self.samples is not None:
            given = [_as_split(i, rows, n) for i, rows in enumerate(self.samples)]
            if groups is not None:
                for i, split in enumerate(given):
                    refuse_divided_groups(split, groups, f"samples[{i}]")
            return given, 0
        rng = folds_generator(random_state)
        splits: list[Split] = []
        n_drawn = 0
        while len(splits) < self.n_samples:
            drawn = np.sort(rng.integers(units.n, size=units.n))
            missed = np.flatnonzero(np.bincount(drawn, minlength=units.n) == 0)
            n_drawn += 1
            if missed.size:
                splits.append(units.split(missed, drawn))
        return splits, n_drawn - len(splits)

    @staticmethod
    def terms(
        outside: Any, resubstitution: float, weight: float = OUTSIDE
    ) -> FloatArray:
        """Weigh the outside score of each bootstrap sample with resubstitution.

        Parameters
        ----------
        outside : array of shape (n_samples,)
            Score of each bootstrap sample on the samples outside it.
        resubstitution : float
            Score on all samples of the estimator built on all samples.
        weight : float, default=0.632
            Weight of the outside scores.

        Returns
        -------
        array of shape (n_samples,)
            The terms, whose mean is the estimate.
        """
        return weight * np.asarray(outside) + (1 - weight) * resubstitution

    def describe(self) -> str:
        """Describe the method in words."""
        given = "given " * (self.samples is not None)
        drawn = f"{self.n_samples} {given}bootstrap samples"
        return f".632{'+' * self.plus} bootstrap, {drawn}"

    def describe_splits(self) -> str:
        """Describe the splits in words; only `estimate` adds resubstitution."""
        given = "given " * (self.samples is not None)
        return (
            f"{self.n_samples} {given}bootstrap samples, tested on the samples outside "
            "each"
        )


def _as_rows(given: Any) -> Any:
    """Return one given bootstrap sample as a tuple, which can be compared."""
    return tuple(given.tolist() if hasattr(given, "tolist") else given)


def _as_split(number: int, given: tuple[int, ...], n: int) -> Split:
    """Return the split of a given bootstrap sample."""
    rows = read_rows(given, n, f"samples[{number}]")
    missed = np.flatnonzero(np.bincount(rows, minlength=n) == 0)
    if not missed.size:
        raise InputError(
            f"samples[{number}] holds every sample, so that none is left to test on; "
            "leave it out or draw it again."
        )
    return Split(missed, n, rows)


def leave_one_out_error(rows: IntArray, hits: NDArray[np.bool_], n: int) -> float:
    """Average the errors of each sample, then over all samples.

    The errors of a sample are those by classifiers built on bootstrap samples without
    it; a sample that is in every bootstrap sample is left out of the average.

    Parameters
    ----------
    rows : int array
        The test samples of all bootstrap samples, one after the other.
    hits : bool array
        Whether the prediction was right.
    n : int
        Number of samples.
    """
    times = np.bincount(rows, minlength=n)
    errors = np.bincount(rows, weights=~hits, minlength=n)
    tested = times > 0
    return float(np.mean(errors[tested] / times[tested]))


def no_information_rate(
    codes: IntArray,
    predicted: IntArray,
    n_classes: int,
    weights: FloatArray | None = None,
) -> float:
    """Compute the error if labels and predictions were independent: Σ p_l (1 − q_l)."""
    total = len(codes) if weights is None else weights.sum()
    shares = np.bincount(codes, weights, minlength=n_classes) / total
    # A prediction of an unknown class (−1) is never right.
    known = predicted >= 0
    part = None if weights is None else weights[known]
    named = np.bincount(predicted[known], part, minlength=n_classes) / total
    return float(np.sum(shares * (1 - named)))


@dataclass(frozen=True)
class Plus:
    """The parts of .632+, as errors.

    `outside` is Err1'. `cut_in_part` is the error if Err1 is replaced by γ only in the
    difference between .632+ and .632.
    """

    error: float
    outside: float
    weight: float
    overfitting_rate: float
    capped: bool
    cut_in_part: float


def plus_error(resubstitution: float, outside: float, no_information: float) -> Plus:
    """Weigh resubstitution and outside error by the relative overfitting rate.

    Parameters
    ----------
    resubstitution : float
        Error on the training samples.
    outside : float
        Error outside the bootstrap samples, Err1.
    no_information : float
        The no-information rate γ.

    Returns
    -------
    Plus
        The error ``(1 - ŵ) err + ŵ Err1'``. Implementations differ where Err1 is worse
        than guessing: ours uses Err1' everywhere, others only in the difference between
        .632+ and .632; where Err1 is below γ the two agree. Where the resubstitution
        error is no better than guessing either, R is 0, Err1 is kept, and the error is
        that of .632.

    Examples
    --------
    An estimator that memorises random labels has learned nothing, as .632+ shows.

    >>> from veridical.evaluation.bootstrap import plus_error
    >>> plus_error(resubstitution=0.0, outside=0.5, no_information=0.5).error
    0.5
    """
    capped, rate = outside, 0.0
    if no_information > resubstitution:
        capped = min(outside, no_information)
    if capped > resubstitution and no_information > resubstitution:
        rate = (capped - resubstitution) / (no_information - resubstitution)
    weight = OUTSIDE / (1 - (1 - OUTSIDE) * rate)
    plain = (1 - OUTSIDE) * resubstitution + OUTSIDE * outside
    cut_in_part = plain + (weight - OUTSIDE) * (capped - resubstitution)
    error = (1 - weight) * resubstitution + weight * capped
    return Plus(error, capped, weight, rate, capped < outside, cut_in_part)
