"""Weights of features in linear support vector machines, as features are dropped."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.kernels.box import solve_box
from veridical.kernels.columns import column_norms, cross_products, gram, row_products
from veridical.kernels.duality import measure_svm, put_at_bounds
from veridical.kernels.elimination import drop_while_clear
from veridical.kernels.interior import center, factor
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
POOL, EXPECTED = 1024, 128
#: Samples that may become free before the inverse has to be computed anew.
ROOM = 32
#: Features dropped at once, which make the attempt worth its time.
WORTHWHILE = 8
#: Rounds without an attempt to drop several features at once, after one in vain: twice
#: as many as the last time, and at most so many.
LONGEST_WAIT = 64
#: Gaps at which interior points stop; the next one is tried where it is not yet clear
#: which multipliers are free.
SVR_GAPS = (1e-8, 1e-12)
#: Violation of the optimality conditions, in standard deviations of the target; below
#: it the multipliers are optimal.
SVR_VIOLATION = 1e-9
#: The same as `WEIGHT_ROUNDING`, for what support vector regression leaves of a weight.
SVR_ROUNDING = 1e-8


class _Equations(NamedTuple):
    """Problems as `veridical.kernels.elimination` takes them, over all samples."""

    sign: FloatArray
    bound: FloatArray
    signed: FloatArray
    free: IntArray
    n_free: IntArray
    inverse: FloatArray


class SVMWeights:
    """Squared weights of one-vs-one linear SVMs over a shrinking set of features.

    They are solved in the dual: dropping a feature subtracts its products from the Gram
    matrix, the multipliers start from their last values, and the weights are updated
    by the change of the multipliers alone.

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

    _G: FloatArray
    _norms: FloatArray
    _trace: float
    _exact_gram: FloatArray | None

    def __init__(self, data: Table, counts: FloatArray, C: float) -> None:
        rows = np.flatnonzero(counts)
        all_rows = rows.size == counts.size
        self._X: Any = data.values if all_rows else data.values[rows]
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
        self._problems = self._pairs_of_classes(data, rows, C * counts[rows])
        self.noise, self.gap = np.zeros(0), -1.0
        self._multipliers = [np.zeros(members.size) for members, _, _ in self._problems]
        self._weights = [np.zeros(self._features.size) for _ in self._problems]
        self._wait = self._waited = 0

    def _pairs_of_classes(
        self, data: Table, rows: IntArray, bound: FloatArray
    ) -> list[tuple[IntArray, FloatArray, FloatArray]]:
        """Return the samples of each pair of classes, their signs and bounds."""
        y, problems = data.y[rows], []
        for first, second in combinations(np.unique(y), 2):
            members = np.flatnonzero((y == first) | (y == second))
            sign = np.where(y[members] == first, 1.0, -1.0)
            problems.append((members, sign, bound[members]))
        return problems

    def scores(self, kept: IntArray) -> FloatArray:
        """Return Σ w² over the pairs of classes, for the features still there."""
        self._keep_only(kept)
        total, self.noise = np.zeros(kept.size), np.zeros(kept.size)
        here = np.searchsorted(self._features, kept)
        for k, (members, sign, bound) in enumerate(self._problems):
            G = self._G[np.ix_(members, members)]
            exact = partial(self._exact_gram_of, members)
            a = solve_svm(G, sign, bound, self._multipliers[k], exact=exact).a
            change = np.zeros(self._X.shape[0])
            change[members] = sign * (a - self._multipliers[k])
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
        self._keep_only(kept)
        self._waited, self._wait = 0, min(2 * self._wait + 1, LONGEST_WAIT)
        free = [
            np.flatnonzero((a > 0) & (a < bound))
            for a, (_, _, bound) in zip(self._multipliers, self._problems, strict=True)
        ]
        if self._exact_gram is not None or not min(map(len, free)):
            return nothing
        try:
            equations = self._invert(free)
        except np.linalg.LinAlgError:
            return nothing
        here = np.searchsorted(self._features, kept)
        pool, limits = self._choose_pool(here)
        P = self._X[:, here[pool]]
        P = P.toarray() if sparse.issparse(P) else P
        v = equations.signed
        dropped = drop_while_clear(
            np.ascontiguousarray(P, dtype=np.float64),
            self._norms[here[pool]],
            self._G,
            *equations,
            limits,
            rtol,
            WEIGHT_ROUNDING,
        )
        for k, (members, sign, _) in enumerate(self._problems):
            self._multipliers[k] = sign * v[k, members]
            self._weights[k] = cross_products(self._X, v[k])
        places = pool[dropped]
        self._present[here[places]] = False
        if len(dropped) >= WORTHWHILE:
            self._wait = 0
        return places

    def _invert(self, free: list[IntArray]) -> _Equations:
        """Invert the equations for the free multipliers of every problem."""
        n, q = len(self._G), len(free)
        room = max(map(len, free)) + ROOM
        made = _Equations(
            np.ones((q, n)),
            np.zeros((q, n)),
            np.zeros((q, n)),
            np.zeros((q, n), dtype=np.int64),
            np.array([len(one) for one in free]),
            np.zeros((q, room + 1, room + 1)),
        )
        for k, (members, sign, bound) in enumerate(self._problems):
            made.sign[k, members], made.bound[k, members] = sign, bound
            made.signed[k, members] = sign * self._multipliers[k]
            own, m = members[free[k]], len(free[k])
            system = np.ones((m + 1, m + 1))
            system[0, 0], system[1:, 1:] = 0.0, self._G[np.ix_(own, own)]
            made.free[k, :m] = own
            made.inverse[k, : m + 1, : m + 1] = np.linalg.inv(system)
        return made

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
        """Return the inner products of some samples, as high and low parts."""
        if self._exact_gram is None:
            self._exact_gram = exact_gram(self._X[:, np.flatnonzero(self._present)])
        return np.ascontiguousarray(self._exact_gram[:, members[:, None], members])

    def _measure_gap(self) -> float:
        """Return the largest relative duality gap of the support vector machines.

        Decisions are summed from the features, not from the products of the samples, in
        which small features are lost beside large ones.
        """
        largest = 0.0
        for a, w, (members, sign, bound) in zip(
            self._multipliers, self._weights, self._problems, strict=True
        ):
            bias_at_margin = sign - row_products(self._X, w)[members]
            half = 0.5 * float(w @ w)
            _, _, gap = measure_svm(half, bias_at_margin, sign, a, bound)
            largest = max(largest, gap)
        return largest

    def _keep_only(self, kept: IntArray) -> None:
        if kept.size == self._features.size:
            return
        here = np.searchsorted(self._features, kept)
        if kept.size < COPY_SHARE * self._features.size:
            self._recompute(kept, here)
            return
        present = np.zeros(self._features.size, dtype=bool)
        present[here] = True
        dropped = np.flatnonzero(self._present & ~present)
        if self._exact_gram is None:
            columns = self._X[:, dropped]
            columns = (
                columns.toarray()
                if sparse.issparse(columns)
                else columns.astype(np.float64)
            )
            self._G -= columns @ columns.T
        else:
            add_features(self._X[:, dropped], -1.0, self._exact_gram)
            self._G = self._exact_gram[0].copy()
        self._present = present
        if np.trace(self._G) < RESUM_SHARE * self._trace:
            self._recompute(kept, here)

    def _recompute(self, kept: IntArray, here: IntArray) -> None:
        """Copy the features and sum all products again, without old rounding errors."""
        self._X = self._X[:, here]
        self._features = kept
        self._present = np.ones(kept.size, dtype=bool)
        self._sum_products()
        for k, (members, sign, _) in enumerate(self._problems):
            signed = np.zeros(self._X.shape[0])
            signed[members] = sign * self._multipliers[k]
            self._weights[k] = cross_products(self._X, signed)

    def _sum_products(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self._G = gram(self._X)
            self._norms = column_norms(self._X)
        self._trace = float(np.trace(self._G))
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
        super().__init__(data, counts, C)
        rows = np.flatnonzero(counts)
        y, self._bound = data.as_numbers.values[rows], C * counts[rows]
        weight = counts[rows] / counts[rows].sum()
        if not sparse.issparse(self._X):
            # The multipliers balance, so means have no effect but rounding. A constant
            # feature is exactly 0 then.
            shifted = self._X.astype(np.float64) - self._X[0]
            self._X = shifted - weight @ shifted
            self._sum_products()
        centred = y - weight @ y
        self._target = centred / np.sqrt(weight @ centred**2)
        self._epsilon = epsilon
        self.gap = 0.0

    def _pairs_of_classes(
        self, data: Table, rows: IntArray, bound: FloatArray
    ) -> list[tuple[IntArray, FloatArray, FloatArray]]:
        return []

    def scores(self, kept: IntArray) -> FloatArray:
        """Return w² of the features still there."""
        self._keep_only(kept)
        here = np.searchsorted(self._features, kept)
        multipliers = self._solve()
        weight = cross_products(self._X, multipliers)[here]
        error = SVR_ROUNDING * float(np.linalg.norm(multipliers)) * self._norms[here]
        self.noise = (2.0 * np.abs(weight) + error) * error
        return weight**2

    def _solve(self) -> FloatArray:
        """Return the multipliers: interior points find which are free."""
        centred = center(self._G)
        size = float(np.diag(centred).mean())
        if not size > 0.0:
            return np.zeros(len(self._target))
        centred /= size
        n, bound = len(self._target), np.tile(self._bound * size, 2)
        sign = np.repeat([1.0, -1.0], n)
        cost = self._epsilon - sign * np.tile(self._target, 2)
        Z = np.tile(factor(centred)[0], (2, 1))
        for gap in SVR_GAPS:
            gram = np.tile(centred, (2, 2))
            found = solve_box(gram, Z, sign, bound, gap, cost)
            a = put_at_bounds(*found, bound)
            multipliers = (a[:n] - a[n:]) / size
            exact = self._polish(multipliers)
            if exact is not None:
                return exact
        return multipliers

    def _polish(self, multipliers: FloatArray) -> FloatArray | None:
        """Solve for the free multipliers; None if the solution is not optimal.

        Copies of a sample can share their multiplier in many ways; the smallest change
        is taken, and the weights are the same.
        """
        G, bound, epsilon = self._G, self._bound, self._epsilon
        size = np.abs(multipliers)
        free = np.flatnonzero((size > 0) & (size < bound * (1.0 - 1e-12)))
        if not free.size:
            return None
        sign = np.sign(multipliers)
        margin = self._target - epsilon * sign
        held = multipliers.copy()
        held[free] = 0.0
        system = np.ones((free.size + 1, free.size + 1))
        system[:-1, :-1], system[-1, -1] = G[np.ix_(free, free)], 0.0
        wanted = np.append(margin[free] - G[free] @ held, -held.sum())
        known = np.append(multipliers[free], 0.0)
        change = np.linalg.lstsq(system, wanted - system @ known, rcond=None)[0]
        found = held
        found[free] = (known + change)[:-1]
        error = self._target - G @ found - change[-1]
        inside = np.abs(found) <= bound * (1.0 + 1e-12)
        same_side = found * sign >= 0.0
        # Errors of samples at zero lie within epsilon, at a bound beyond it.
        violation = np.where(sign == 0, np.abs(error) - epsilon, epsilon - error * sign)
        violation[free] = np.abs(violation[free])
        fits = bool(
            inside.all() and same_side.all() and violation.max() < SVR_VIOLATION
        )
        return found if fits else None
