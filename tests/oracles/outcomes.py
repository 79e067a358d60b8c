"""Selectors for numbers and survival times by brute force, mostly in exact arithmetic.

Columns as in :mod:`tests.oracles.selection`; a survival target is a list of pairs of an
event and a time.
"""

import math
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, nan, sqrt

import numpy as np
from tests.oracles.incremental import UnclearError
from tests.oracles.selection import differences, neighbour_shares

TIE = Fraction(1, 10**11)  # of a distance: samples are equally far


def exact(values):
    return [Fraction(v) for v in values]


def cross(a, b):
    """Sum of products of deviations from the means."""
    n = len(a)
    return sum(x * z for x, z in zip(a, b, strict=True)) - sum(a) * sum(b) / n


# -- straight lines ------------------------------------------------------------------


def line_ratio(x, z):
    """r² / (1 − r²); nan for a constant feature, inf for a straight line."""
    x, z = exact(x), exact(z)
    joint, spread = cross(x, z) ** 2, cross(x, x) * cross(z, z)
    if spread == 0:
        return nan
    return inf if joint == spread else joint / (spread - joint)


def line_f(x, z):
    ratio = line_ratio(x, z)
    return ratio if ratio in (inf,) or ratio != ratio else ratio * (len(z) - 2)


def correlation(x, z):
    ratio = line_ratio(x, z)
    if ratio != ratio:
        return 0.0
    return 1.0 if ratio == inf else sqrt(ratio / (1 + ratio))


def variance(x, y):
    x = exact(x)
    return cross(x, x) / len(x)


def bins(z, n_bins=4):
    """Number of the interval of each value, by the quantile in its middle."""
    found = []
    for v in z:
        below, same = sum(w < v for w in z), sum(w == v for w in z)
        quantile = (below + Fraction(same, 2)) / len(z)
        found.append(int(n_bins * quantile))
    return found


# -- kernel dependence ---------------------------------------------------------------


def standardized(x):
    x = np.array([float(v) for v in x])
    centred = x - x.mean()
    return centred / centred.std() if centred.std() > 1e-14 * np.abs(x).max() else 0 * x


def kernel_of(z, kernel):
    if kernel == "linear":
        return np.outer(z, z)
    return np.exp(-0.5 * (z[:, None] - z) ** 2)


def dependence(x, y, kernel):
    """Unbiased HSIC by its definition on kernel matrices."""
    K, L = (kernel_of(standardized(v), kernel) for v in (x, y))
    np.fill_diagonal(K, 0.0)
    np.fill_diagonal(L, 0.0)
    m = len(K)
    parts = np.sum(K * L), K.sum() * L.sum(), (K @ L).sum()
    whole = parts[0] + parts[1] / ((m - 1) * (m - 2)) - 2 * parts[2] / (m - 2)
    return whole / (m * (m - 3))


def dependence_scale(y, kernel):
    L = np.abs(kernel_of(standardized(y), kernel))
    m = len(L)
    return (L.sum() - np.trace(L)) / (m * (m - 3))


# -- neighbours ----------------------------------------------------------------------


def rank_shares(distance, others, k, decay):
    """Weights of the k nearest; equally far ones share the weights of their ranks."""
    if decay is None:
        return neighbour_shares(distance, others, k)
    k = min(k, len(others))
    by_rank = [exp(-(((r + 1) / decay) ** 2)) for r in range(k)]
    total = sum(by_rank)
    for near, far in pairwise(sorted(distance[j] for j in others)):
        if far * TIE / 100 < far - near < far * TIE * 100:
            raise UnclearError
    by_rank = [Fraction(w) / Fraction(total) for w in by_rank]
    shares, place, left = {}, 0, sorted(others, key=distance.get)
    while left:
        nearest = distance[left[0]]
        tied = [j for j in left if distance[j] <= nearest * (1 + TIE)]
        left = left[len(tied) :]
        part = sum(by_rank[place : place + len(tied)], Fraction(0))
        for j in tied:
            shares[j] = part / len(tied)
        place += len(tied)
        if place >= k:
            break
    return shares


def rrelieff(columns, tau, categorical, *, n_neighbors=10, decay=None):
    """RReliefF weights by the sums N_C, N_A and N_CA."""
    n, tau = len(tau), exact(tau)
    reach = max(tau) - min(tau)
    diff = [differences(x, is_n) for x, is_n in zip(columns, categorical, strict=True)]
    N_C, N_A, N_CA = Fraction(0), [Fraction(0)] * len(diff), [Fraction(0)] * len(diff)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        distance = {j: sum(d[i][j] for d in diff) for j in others}
        for j, w in rank_shares(distance, others, n_neighbors, decay).items():
            change = abs(tau[i] - tau[j]) / reach
            N_C += change * w
            for f, d in enumerate(diff):
                N_A[f] += d[i][j] * w
                N_CA[f] += change * d[i][j] * w
    first = [c / N_C if N_C else Fraction(0) for c in N_CA]
    rest = [
        (a - c) / (n - N_C) if n != N_C else 0 for a, c in zip(N_A, N_CA, strict=True)
    ]
    return [a - b for a, b in zip(first, rest, strict=True)]


def multisurf(columns, z, categorical, near_cases):
    """MultiSURF weights where hits are within one standard deviation of the target."""
    n, z = len(z), exact(z)
    variance = cross(z, z) / (n - 1)
    diff = [differences(x, is_n) for x, is_n in zip(columns, categorical, strict=True)]
    weights = [Fraction(0)] * len(columns)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        near = near_cases({j: sum(d[i][j] for d in diff) for j in others})
        gaps = {j: (z[i] - z[j]) ** 2 - variance for j in near}
        if any(abs(gap) < variance / 10**9 for gap in gaps.values()):
            raise UnclearError
        for is_hit, sign in ((True, -1), (False, 1)):
            part = [j for j in near if (gaps[j] < 0) == is_hit]
            for f, d in enumerate(diff):
                if part:
                    weights[f] += sign * sum(d[i][j] for j in part) / (n * len(part))
    return weights


# -- survival ------------------------------------------------------------------------


def quantiles(y):
    """Expected quantile of each time by the Kaplan–Meier curve."""
    alive, curve = Fraction(1), {}
    for t in sorted({time for _, time in y}):
        at_risk = sum(time >= t for _, time in y)
        before = alive
        alive *= 1 - Fraction(sum(e and time == t for e, time in y), at_risk)
        curve[t] = before, alive
    return [1 - (sum(curve[t]) if e else curve[t][1]) / 2 for e, t in y]


def cox(x, y):
    """χ² of the score test at coefficient 0, event by event."""
    U, V = cox_sums(x, y)
    return U**2 / V if V else nan


def cox_sums(x, y):
    """Score at coefficient 0 and its variance, event by event."""
    x, U, V = exact(x), Fraction(0), Fraction(0)
    for t in sorted({time for event, time in y if event}):
        risk = [i for i, (_, time) in enumerate(y) if time >= t]
        died = [i for i in risk if y[i] == (True, t)]
        for place in range(len(died)):
            weight = {i: Fraction(1) for i in risk}
            for i in died:
                weight[i] -= Fraction(place, len(died))
            size = sum(weight.values())
            mean = sum(w * x[i] for i, w in weight.items()) / size
            V += sum(w * x[i] ** 2 for i, w in weight.items()) / size - mean**2
            U -= mean
        U += sum(x[i] for i in died)
    return U, V


def concordance(x, y):
    """C, the larger of it and 1 − C; pair by pair."""
    found, pairs = Fraction(0), 0
    for (event, time), v in zip(y, x, strict=True):
        for (other_event, other_time), w in zip(y, x, strict=True):
            later = other_time > time or (other_time == time and not other_event)
            if event and later:
                pairs += 1
                found += 1 if v > w else Fraction(v == w, 2)
    C = found / pairs
    return max(C, 1 - C)


def neighbor_information(x, y, x_is_category, y_is_category, k=3):
    """Kraskov's and Ross's mutual information in bits, by loops over all pairs."""
    known = [i for i, one in enumerate(x) if one is not None]
    if len(known) < len(x):  # a missing value says nothing
        if not known:
            return 0.0
        parts = [x[i] for i in known], [y[i] for i in known]
        found = neighbor_information(*parts, x_is_category, y_is_category, k)
        return found * len(known) / len(x)
    x, y = [float(one) for one in x], list(y)
    if x_is_category or y_is_category:
        labels, values = (x, y) if x_is_category else (y, x)
        return _ross([float(one) for one in values], labels, k) / math.log(2)
    return _kraskov(x, [float(one) for one in y], k) / math.log(2)


def _digamma(n):
    return -0.5772156649015329 + math.fsum(1 / i for i in range(1, n))


def _nearer(values, i, radius):
    """Samples at a smaller distance in one variable, or equal, with itself."""
    return sum(
        one == values[i] or abs(one - values[i]) < radius * (1 - 1e-10)
        for one in values
    )


def _kraskov(x, y, k):
    n = len(x)
    k = min(k, n - 1)
    if k < 1 or len(set(x)) == 1 or len(set(y)) == 1:
        return 0.0
    largest = [max(map(abs, one)) for one in (x, y)]
    s_x, s_y = (
        float(np.std(np.array(one) / most)) * most
        for one, most in zip((x, y), largest, strict=True)
    )
    total = 0.0
    for i in range(n):
        distances = sorted(
            max(abs(x[i] - x[j]) / s_x, abs(y[i] - y[j]) / s_y)
            for j in range(n)
            if j != i
        )
        radius = distances[k - 1]
        total += _digamma(_nearer(x, i, radius * s_x))
        total += _digamma(_nearer(y, i, radius * s_y))
    return max(0.0, _digamma(n) + _digamma(k) - total / n)


def _ross(values, labels, k):
    used = [i for i, label in enumerate(labels) if labels.count(label) > 1]
    values, labels = [values[i] for i in used], [labels[i] for i in used]
    n = len(used)
    if n == 0 or len(set(values)) == 1:
        return 0.0
    total = 0.0
    for i in range(n):
        size = labels.count(labels[i])
        own = min(k, size - 1)
        distances = sorted(
            abs(values[i] - values[j])
            for j in range(n)
            if j != i and labels[j] == labels[i]
        )
        near = _nearer(values, i, distances[own - 1])
        total += _digamma(own) - _digamma(size) - _digamma(near)
    return max(0.0, _digamma(n) + total / n)
