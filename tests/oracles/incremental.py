"""Selectors that add one feature at a time, by brute force.

Columns and labels as in :mod:`tests.oracles.selection`.
"""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import fsum, inf, sqrt

from tests.oracles.selection import order_with_ties, pearson, sums_of_squares

EQUAL = 1e-10  # merits this close, relatively, are equal: the lowest index wins


class UnclearError(Exception):
    """Two merits are so near the tolerance that either choice would be right."""


class Groups:
    """A label per feature, and the features to keep with all of their groups."""

    def __init__(self, labels, keep=()):
        self.labels = list(labels)
        self.numbers = list(dict.fromkeys(labels))
        self.kept = [g for g in self.numbers if g in [labels[j] for j in keep]]
        self.free = [g for g in self.numbers if g not in self.kept]
        self.keep = self.join(self.kept)

    def join(self, groups):
        """All features of some groups, group by group."""
        return [j for g in groups for j, label in enumerate(self.labels) if label == g]

    def free_in(self, features):
        """The groups that are not kept, in the order in which they first occur."""
        found = dict.fromkeys(self.labels[j] for j in features)
        return [g for g in found if g in self.free]

    def arrange(self, order):
        """Kept features, then each group where its first feature stands."""
        return self.keep + self.join(self.free_in(order))


def incremental(relevance, merit, constant, n_searched=None, groups=None):
    """Start with nothing and add the feature of most merit, again and again.

    ``merit(chosen, j)`` is what feature j is worth beside those chosen so far.
    Constant features wait until all others are chosen. Features that are not searched
    follow by relevance. With groups, the search starts with the features to keep, and
    adds the whole group of the best feature.
    """
    groups = groups or Groups(range(len(relevance)))
    everyone, chosen = range(len(relevance)), list(groups.keep)
    n_groups = len(groups.free)
    while len(groups.free_in(chosen)) < min(n_searched or n_groups, n_groups):
        left = [j for j in everyone if j not in chosen]
        left = [j for j in left if not constant[j]] or left
        worth = {j: merit(chosen, j) for j in left}
        top = max(worth.values())
        gaps = {j: (top - w) / abs(top) if top else -w for j, w in worth.items()}
        if any(EQUAL / 1e3 < gap < EQUAL * 1e3 for gap in gaps.values()):
            raise UnclearError
        best = min(j for j, gap in gaps.items() if gap <= EQUAL)
        chosen += groups.join([groups.labels[best]])
    rest = order_with_ties(relevance, rtol=1e-12)
    return groups.arrange(chosen + [j for j in rest if j not in chosen])


def variance_ratio(x, y):
    """BSS/WSS; 0 for a constant feature, infinite if nothing varies within."""
    within, between = sums_of_squares(x, y)
    if between == 0:
        return Fraction(0)
    return between / within if within else inf


def capped(relevance):
    """Infinite relevance set to a thousand times the largest finite one."""
    finite = [r for r in relevance if r != inf]
    top = 1000 * max(finite, default=0) or 1
    return [top if r == inf else r for r in relevance]


def mrmr(columns, y, *, scheme="quotient", n_searched=None, groups=None, scores=None):
    """Relevance by mean correlation with the chosen, divided or subtracted.

    ``scores(columns, y)`` is the relevance where y is no classes.
    """
    n, k = len(y), len(set(y))
    ratio = [] if scores else [variance_ratio(x, y) for x in columns]
    if scores:
        scores = scores(columns, y)
    elif scheme == "quotient":
        scores = [r if r == inf else r * (n - k) / (k - 1) for r in ratio]
    else:
        scores = [1.0 if r == inf else sqrt(r / (1 + r)) for r in ratio]
    relevance = [float(r) for r in capped(scores)]
    similar = _similarities(columns)

    def merit(chosen, j):
        if not chosen:
            return relevance[j]
        mean = fsum(max(similar(i, j), 1e-3) for i in chosen) / len(chosen)
        if scheme == "difference":
            return relevance[j] - mean
        return 0.0 if mean >= 1 - 1e-12 else relevance[j] / mean

    constant = _constant(columns)
    return scores, incremental(relevance, merit, constant, n_searched, groups)


def prioritize(columns, y, *, alpha=0.5, n_searched=None, groups=None, scores=None):
    """Differential prioritization: the largest ``V^α U^(1 − α)`` of the whole set."""
    by_class = [] if scores else [variance_ratio(x, y) for x in columns]
    scores = scores(columns, y) if scores else by_class
    relevance = [float(r) for r in capped(scores)]
    similar = _similarities(columns)
    constant = _constant(columns)
    order = _prioritized(relevance, similar, constant, alpha, n_searched, groups)
    return scores, order


def prioritize_one_vs_all(columns, y, *, alpha=0.5, n_searched=None, groups=None):
    """One search per class against the rest; then the classes take turns."""
    groups = groups or Groups(range(len(columns)))
    similar = _similarities(columns)
    searches = []
    for label in set(y):
        binary = [c == label for c in y]
        relevance = capped([variance_ratio(x, binary) for x in columns])
        relevance = [float(r) for r in relevance]
        constant = _constant(columns)
        order = _prioritized(relevance, similar, constant, alpha, None, groups)
        turns = groups.free_in(order)
        strength = max(relevance[j] for j in groups.join(turns[:1]))
        searches.append((-strength, turns))
    strengths = sorted(-s for s, _ in searches)
    for low, high in pairwise(strengths):
        if low < high < low * (1 + 1e-6):
            raise UnclearError
    searches.sort()
    orders, taken = [order for _, order in searches], []
    while len(taken) < len(groups.free):
        for order in orders:
            fresh = [j for j in order if j not in taken]
            taken += fresh[:1]
    scores = [variance_ratio(x, y) for x in columns]
    if n_searched is not None:
        taken = taken[:n_searched]
    rest = order_with_ties(capped(scores), rtol=1e-12)
    return scores, groups.arrange(groups.join(taken) + rest)


def _prioritized(relevance, similar, constant, alpha, n_searched, groups=None):
    def merit(chosen, j):
        group = [*chosen, j]
        if not chosen:
            return relevance[j]
        V = fsum(relevance[i] for i in group) / len(group)
        U = (
            fsum(1 - similar(min(a, b), max(a, b)) for a in group for b in group)
            / len(group) ** 2
        )
        if alpha == 1:
            return V
        return V**alpha * U ** (1 - alpha) if 1e-12 / len(group) < U else 0.0

    return incremental(relevance, merit, constant, n_searched, groups)


def _constant(columns):
    return [len(set(x)) == 1 for x in columns]


def _similarities(columns):
    """``|R|`` of pairs, computed when asked for; 1 with itself, 0 with a constant."""

    @cache
    def similarity(i, j):
        if i > j:
            return similarity(j, i)
        return 1.0 if i == j else abs(pearson(columns[i], columns[j]))

    return similarity
