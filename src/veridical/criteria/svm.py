"""Weights of features in linear support vector machines, as features are dropped."""

from __future__ import annotations

import copy
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.kernels.active_set import bound_signed
from veridical.kernels.columns import column_norms, cross_products, row_products
from veridical.kernels.duality import measure_svm
from veridical.kernels.elimination import drop_while_clear
from veridical.kernels.inverse import Inverse, state_equations
from veridical.kernels.products import Gram, Products, inner_products, take_samples
from veridical.kernels.svm import solve_svm
from veridical.kernels.svm_exact import add_features, exact_gram

#: Share of the features stored that are still there; below it they are copied and all
#: products are summed again.
COPY_SHARE = 0.9
#: Trace of the Gram matrix as a share of that after the last sum; below it products are
#: summed again, because the rounding errors of the dropped ones are no longer small.
RESUM_SHARE = 1e-3
#: Rounding error of a weight, as a share of the largest weight a feature could have.
WEIGHT_ROUNDING = 1e-11
#: Features among which the next ones to drop are looked for, and how many of them are
#: expected to be dropped before others have to be looked at.
POOL, EXPECTED = 1536, 192
#: Samples that may become free before the inverse has to be computed anew.
ROOM = 32
#: Features dropped at once, which make the attempt worth its time.
WORTHWHILE = 8
#: Rounds without an attempt to drop several features at once, after one that failed:
#: twice as many as the last time, and at most this many.
LONGEST_WAIT = 64


class _Problem(NamedTuple):
    """A support vector machine; see `veridical.kernels.svm`.

    `members` are its samples, by their rows in the training set.
    """

    members: IntArray
    sign: FloatArray
    target: FloatArray
    bound: FloatArray


def _take_features(X: Any, places: IntArray) -> Any:
    """Return some features; of a dense table by `take`, much faster than by index."""
    return X[:, places] if sparse.issparse(X) else X.take(places, axis=1)


class SVMWeights:
    """Squared weights of one-vs-one linear SVMs over a shrinking set of features.

    They are solved in the dual: dropping a feature subtracts its products from the Gram
    matrix, the multipliers start from their last values, and the weights are updated
    by the change of the multipliers alone. With many samples of few features there is
    no Gram matrix, and the features that are left are copied.

    Parameters
    ----------
    data : Table
        All the data.
    counts : array of shape (n,)
        How often each sample counts; its multipliers are bounded by C times that.
    C : float
        Cost of an error.

    Attributes
    ----------
    noise : array
        Bound of the rounding error of each of the last scores.
    spread : float
        Largest norm of a feature divided by the smallest that is not zero.
    gap : float
        Largest relative duality gap of the first support vector machines.
    """

    _G: Gram
    _norms: FloatArray
    _trace: float
    _exact_gram: FloatArray | None

    def __init__(self, data: Table, counts: FloatArray, C: float) -> None:
        rows = np.flatnonzero(counts)
        self._X = self._read(data, rows, counts[rows])
        self._features = np.arange(data.values.shape[1])
        self._present = np.ones(self._features.size, dtype=bool)
        self._sum_products()
        if not np.isfinite(self._trace):
            raise InputError(
                "The inner products of the rows of X overflow. Put the features on one "
                "scale first, "
                f"{for_users('as StandardScaler does', 'with --scale standard')}."
            )
        positive = self._norms[self._norms > 0]
        self.spread = float(positive.max() / positive.min()) if positive.size else 1.0
        self._unit_problems = self._state_problems(data, rows, counts[rows])
        self._problems = self._bound_by(C)
        self.noise, self.gap = np.zeros(0), -1.0
        self._multipliers = [np.zeros(one.sign.size) for one in self._problems]
        self._weights = [np.zeros(self._features.size) for _ in self._problems]
        self._wait = self._waited = 0

    def at_cost(self, C: float) -> Self:
        """Return a copy with another C, which drops features of its own from here."""
        other = copy.copy(self)
        other._problems = other._bound_by(C)
        # What the next rounds change in place.
        other._G, other._present = copy.copy(self._G), self._present.copy()
        other._weights = [weight.copy() for weight in self._weights]
        other._multipliers = list(self._multipliers)
        if self._exact_gram is not None:
            other._exact_gram = self._exact_gram.copy()
        return other

    def _bound_by(self, C: float) -> list[_Problem]:
        return [one._replace(bound=C * one.bound) for one in self._unit_problems]

    @property
    def is_bounded(self) -> bool:
        """Whether a sample's multiplier is at its bound.

        While none is, the support vector machines, and so the scores, are the same for
        every larger C.
        """
        return any(
            bool(np.any(a >= one.bound))
            for one, a in zip(self._problems, self._multipliers, strict=True)
        )

    def _read(self, data: Table, rows: IntArray, counts: FloatArray) -> Any:
        """Return the features of the training set, one row for each multiplier."""
        return data.values if rows.size == data.n_samples else data.values[rows]

    def _state_problems(
        self, data: Table, rows: IntArray, bound: FloatArray
    ) -> list[_Problem]:
        """Return the problem of each pair of classes, with bounds for C = 1."""
        y, problems = data.y[rows], []
        for first, second in combinations(np.unique(y), 2):
            members = np.flatnonzero((y == first) | (y == second))
            sign = np.where(y[members] == first, 1.0, -1.0)
            problems.append(_Problem(members, sign, sign, bound[members]))
        return problems

    def scores(self, kept: IntArray) -> FloatArray:
        """Return Σ w² over the pairs of classes, for the features still there."""
        self._keep_only(kept)
        total, self.noise = np.zeros(kept.size), np.zeros(kept.size)
        here = np.searchsorted(self._features, kept)
        for k, (members, sign, target, bound) in enumerate(self._problems):
            G = take_samples(self._G, members)
            exact = partial(self._exact_gram_of, members)
            start = self._multipliers[k]
            a = solve_svm(G, sign, bound, start, target=target, exact=exact).a
            change = np.zeros(self._X.shape[0])
            change[members] = sign * (a - start)
            self._multipliers[k] = a
            self._weights[k] += cross_products(self._X, change)
            weight = self._weights[k][here]
            total += weight**2
            # No weight is larger than the norm of the multipliers times that of the
            # feature; a tiny share of it is rounding.
            error = WEIGHT_ROUNDING * float(np.linalg.norm(a)) * self._norms[here]
            self.noise += (2.0 * np.abs(weight) + error) * error
        if self.gap < 0:
            self.gap = self._measure_gap()
        return total

    def drop_ahead(self, kept: IntArray, rtol: float) -> IntArray:
        """Return features that the next rounds drop, one in each, as far as is clear.

        Parameters
        ----------
        kept : int array
            The features still there, after at least one call of `scores`.
        rtol : float
            Relative difference of scores that are tied.

        Returns
        -------
        int array
            Places among `kept`, in the order in which they are dropped; none where the
            next round needs the scores of all features.
        """
        nothing = np.zeros(0, dtype=np.intp)
        if self.gap < 0 or kept.size < 2 or self._waited < self._wait:
            self._waited += 1
            return nothing
        self._waited, self._wait = 0, min(2 * self._wait + 1, LONGEST_WAIT)
        if self._exact_gram is not None or isinstance(self._G, Products):
            return nothing
        here = np.searchsorted(self._features, kept)
        gone = self._find_gone(here)
        pool, limits = self._choose_pool(here)
        problems = self._equations()
        dropped = drop_while_clear(
            np.ascontiguousarray(self._columns(here[pool])),
            self._norms[here[pool]],
            problems,
            np.ascontiguousarray(self._columns(gone).T),
            limits,
            rtol,
            WEIGHT_ROUNDING,
        )
        for k, (one, v) in enumerate(zip(self._problems, problems.v, strict=True)):
            self._multipliers[k] = one.sign * v[one.members]
            self._weights[k] = cross_products(self._X, v)
        places = pool[dropped]
        self._present[gone] = False
        self._present[here[places]] = False
        if len(dropped) >= WORTHWHILE:
            self._wait = 0
        return places

    def _equations(self) -> Inverse:
        """State the equations for the free multipliers of every problem."""
        shape = len(self._problems), self._X.shape[0]
        target, lower, upper, v = (np.zeros(shape) for _ in range(4))
        for k, (members, sign, wanted, bound) in enumerate(self._problems):
            target[k, members] = wanted
            lower[k, members], upper[k, members] = bound_signed(sign, bound)
            v[k, members] = sign * self._multipliers[k]
        return state_equations(self._G, target, lower, upper, v, ROOM)

    def _choose_pool(
        self, here: IntArray
    ) -> tuple[IntArray, tuple[float, float, float]]:
        """Choose features that may be dropped next, and find how long no other may be.

        Returns
        -------
        pool : int array
            Places among `here`.
        limits : tuple of float
            As `veridical.kernels.elimination.drop_while_clear` takes them.
        """
        if here.size <= POOL:
            return np.arange(here.size), (np.inf, np.inf, 0.0)
        norms = self._norms[here]
        size = np.sqrt(sum(weight[here] ** 2 for weight in self._weights))
        least = float(np.partition(size, EXPECTED)[EXPECTED])
        with np.errstate(divide="ignore"):
            reach = np.where(norms > 0, (size - least) / norms, -np.inf)
        order = np.argpartition(reach, POOL)
        rest = order[POOL:]
        limits = least, float(reach[rest].min()), float(norms[rest].max())
        return order[:POOL], limits

    def _exact_gram_of(self, members: IntArray) -> FloatArray:
        """Return the inner products of some samples, as high and low parts.

        They are kept where the products of all samples are kept too.
        """
        if isinstance(self._G, Products):
            return exact_gram(self._X[np.ix_(members, np.flatnonzero(self._present))])
        if self._exact_gram is None:
            self._exact_gram = exact_gram(self._X[:, np.flatnonzero(self._present)])
        return np.ascontiguousarray(self._exact_gram[:, members[:, None], members])

    def _measure_gap(self) -> float:
        """Return the largest relative duality gap of the support vector machines.

        Decisions are summed from the features, not from the products of the samples, in
        which small features are lost beside large ones.
        """
        largest = 0.0
        for a, w, (members, sign, target, bound) in zip(
            self._multipliers, self._weights, self._problems, strict=True
        ):
            bias_at_margin = target - row_products(self._X, w)[members]
            half = 0.5 * float(w @ w)
            _, _, gap = measure_svm(half, bias_at_margin, sign, target, a, bound)
            largest = max(largest, gap)
        return largest

    def _keep_only(self, kept: IntArray) -> None:
        if kept.size == self._features.size:
            return
        here = np.searchsorted(self._features, kept)
        if kept.size < COPY_SHARE * self._features.size or isinstance(
            self._G, Products
        ):
            self._recompute(kept, here)
            return
        gone = self._find_gone(here)
        if self._exact_gram is None:
            columns = self._columns(gone)
            self._G -= columns @ columns.T
        else:
            add_features(self._X[:, gone], -1.0, self._exact_gram)
            self._G = self._exact_gram[0].copy()
        self._present[gone] = False
        if self._G.trace() < RESUM_SHARE * self._trace:
            self._recompute(kept, here)

    def _find_gone(self, here: IntArray) -> IntArray:
        """Return the places of features not kept that are still in the products."""
        gone = self._present.copy()
        gone[here] = False
        return np.flatnonzero(gone)

    def _columns(self, places: IntArray) -> FloatArray:
        """Return some features as a dense table."""
        columns = _take_features(self._X, places)
        if sparse.issparse(columns):
            columns = columns.toarray()
        return np.asarray(columns, dtype=np.float64)

    def _recompute(self, kept: IntArray, here: IntArray) -> None:
        """Copy the features and sum all products again, without old rounding errors."""
        self._X = _take_features(self._X, here)
        self._features = kept
        self._present = np.ones(kept.size, dtype=bool)
        self._sum_products()
        for k, one in enumerate(self._problems):
            signed = np.zeros(self._X.shape[0])
            signed[one.members] = one.sign * self._multipliers[k]
            self._weights[k] = cross_products(self._X, signed)

    def _sum_products(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self._G = inner_products(self._X)
            self._norms = column_norms(self._X)
        self._trace = float(self._G.trace())
        self._exact_gram = None  # computed when it is needed


class SVRWeights(SVMWeights):
    """Squared weights of a linear support vector regression, for a target of numbers.

    The target is standardized over the training set, so that `C` and epsilon have the
    same meaning on every scale. The dual is that of a support vector machine with every
    sample twice, once for errors above and once for errors below.

    Parameters
    ----------
    data, counts, C
        As in :class:`SVMWeights`.
    epsilon : float
        Errors up to it, in standard deviations of the target, cost nothing.
    """

    def __init__(
        self, data: Table, counts: FloatArray, C: float, epsilon: float
    ) -> None:
        self._epsilon = epsilon
        super().__init__(data, counts, C)

    def _read(self, data: Table, rows: IntArray, counts: FloatArray) -> Any:
        X = super()._read(data, rows, counts)
        if sparse.issparse(X):
            return sparse.vstack([X, X], format="csc")
        # The multipliers balance, so means have no effect but rounding. A constant
        # feature is exactly 0 then.
        with np.errstate(over="ignore", invalid="ignore"):
            shifted = X.astype(np.float64) - X[0]
            shifted -= counts @ shifted / counts.sum()
        return np.vstack([shifted, shifted])

    def _state_problems(
        self, data: Table, rows: IntArray, bound: FloatArray
    ) -> list[_Problem]:
        y, weight = data.as_numbers.values[rows], bound / bound.sum()
        centred = y - weight @ y
        centred /= np.sqrt(weight @ centred**2)
        sign = np.repeat([1.0, -1.0], rows.size)
        target = np.tile(centred, 2) - self._epsilon * sign
        members = np.arange(2 * rows.size)
        return [_Problem(members, sign, target, np.tile(bound, 2))]
