"""Selectors as the papers print them: plain loops, exact where exactness is cheap.

Nothing here is fast and nothing is shared with the library. A column is a list of
Python numbers in which ``None`` is a missing value; ``y`` is a list of labels. Scores
that are rational are returned as :class:`fractions.Fraction`.
"""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import exp, fsum, inf, isnan, log2, nan, sqrt

# -- from scores to an order ---------------------------------------------------------


def tied_groups(scores, *, rtol=0.0, atol=0.0):
    """Features from best to worst, those whose scores agree to rounding together."""
    known = [j for j, s in enumerate(scores) if not _is_nan(s)]
    known.sort(key=lambda j: scores[j], reverse=True)
    groups = []
    for j in known:
        if groups and _tied(scores[groups[-1][-1]], scores[j], rtol, atol):
            groups[-1].append(j)
        else:
            groups.append([j])
    unknown = [j for j, s in enumerate(scores) if _is_nan(s)]
    return [*groups, unknown] if unknown else groups


def order_with_ties(scores, *, rtol=0.0, atol=0.0):
    """Best first, ties by index, undefined scores last."""
    groups = tied_groups(scores, rtol=rtol, atol=atol)
    return [j for group in groups for j in sorted(group)]


def is_clear(scores, *, rtol=0.0, atol=0.0):
    """Say whether no two scores lie so near the tolerance that either order is right.

    A routine in double precision cannot be asked to tell 0.9e-12 from 1.1e-12.
    """
    known = sorted((s for s in scores if not _is_nan(s)), reverse=True)
    for high, low in pairwise(known):
        wide = _tied(high, low, 100 * rtol, 100 * atol)
        narrow = _tied(high, low, rtol / 100, atol / 100)
        if wide != narrow:
            return False
    return True


def _is_nan(score):
    return isinstance(score, float) and isnan(score)


def _tied(high, low, rtol, atol):
    if high == low:
        return True
    if inf in (high, -low):
        return False
    slack = Fraction(atol) + Fraction(rtol) * max(
        abs(Fraction(high)), abs(Fraction(low))
    )
    return Fraction(high) - Fraction(low) <= slack


# -- means and variances -------------------------------------------------------------


def sums_of_squares(x, y):
    """Sum of squares within classes and between class means, exactly."""
    x = [Fraction(v) for v in x]
    mean = sum(x) / len(x)
    within = between = Fraction(0)
    for label in set(y):
        members = [v for v, c in zip(x, y, strict=True) if c == label]
        centre = sum(members) / len(members)
        within += sum((v - centre) ** 2 for v in members)
        between += len(members) * (centre - mean) ** 2
    return within, between


def f_ratio(x, y):
    """F of a one-way analysis of variance, exactly."""
    within, between = sums_of_squares(x, y)
    n, k = len(y), len(set(y))
    if n == k:  # one sample per class: nothing is left to measure the spread with
        return nan
    if within == 0:
        return inf if between else nan
    return (between / (k - 1)) / (within / (n - k))


def pearson(x, z):
    """Correlation, 0 if either is constant; squared exactly, then rooted."""
    n, x, z = len(x), _whole(x), _whole(z)
    xz = n * sum(a * b for a, b in zip(x, z, strict=True)) - sum(x) * sum(z)
    xx = n * sum(a * a for a in x) - sum(x) ** 2
    zz = n * sum(b * b for b in z) - sum(z) ** 2
    if xx == 0 or zz == 0:
        return 0.0
    return (1 if xz > 0 else -1) * sqrt(Fraction(xz**2, xx * zz))


def _whole(x):
    """The same numbers times a power of two that makes them whole: nothing is lost."""
    x = [Fraction(v) for v in x]
    power = max(v.denominator for v in x)
    return [int(v * power) for v in x]


def class_correlation(x, y):
    """Mean of ``|r|`` with each class's indicator, weighted by class shares."""
    count = Counter(y)
    return fsum(
        count[label] / len(y) * abs(pearson(x, [int(c == label) for c in y]))
        for label in count
    )


# -- entropy -------------------------------------------------------------------------


def entropy(counts):
    """Entropy in bits of counts, whole or fractional."""
    total = sum(counts)
    return fsum(-float(c / total) * log2(c / total) for c in counts if c > 0)


def joint_table(a, b):
    """Weights of value pairs, as fractions; missing values spread by marginal shares.

    A sample that lacks one value is shared out over that feature's values, by how often
    they occur among all samples where it is known; a sample that lacks both, by how
    often the pairs occur.
    """
    pairs = Counter(zip(a, b, strict=True))
    share_a = _shares([v for v in a if v is not None])
    share_b = _shares([v for v in b if v is not None])
    share_ab = _shares(
        [p for p in zip(a, b, strict=True) if p[0] is not None and p[1] is not None]
    )
    table = Counter()
    for (u, v), count in pairs.items():
        if u is not None and v is not None:
            table[u, v] += count
        elif u is None and v is not None:
            for value, share in share_a.items():
                table[value, v] += count * share
        elif u is not None:
            for value, share in share_b.items():
                table[u, value] += count * share
        else:
            for pair, share in share_ab.items():
                table[pair] += count * share
    return table


def _shares(values):
    return {v: Fraction(c, len(values)) for v, c in Counter(values).items()}


def _entropies(a, b):
    table = joint_table(a, b)
    rows, columns = Counter(), Counter()
    for (u, v), weight in table.items():
        rows[u] += weight
        columns[v] += weight
    return [entropy(list(t.values())) if t else 0.0 for t in (rows, columns, table)]


def information_gain(a, y):
    """``H(Y) − H(Y|A)`` in bits."""
    h_a, h_y, h_both = _entropies(a, y)
    return h_a + h_y - h_both


def symmetrical_uncertainty(a, b):
    """``2 [H(A) + H(B) − H(A, B)] / [H(A) + H(B)]``, 0 if either says nothing."""
    h_a, h_b, h_both = _entropies(a, b)
    if h_a == 0 or h_b == 0:
        return 0.0
    return 2 * (h_a + h_b - h_both) / (h_a + h_b)


# -- Fayyad and Irani's discretisation -----------------------------------------------

TIE = 1e-9  # bits × samples by which a cut must be better than an earlier one


def mdl_cuts(x, y, cost="cuts"):
    """Cuts of a numeric column as pairs of the values they part, rising."""
    samples = sorted((v, str(c)) for v, c in zip(x, y, strict=True) if v is not None)
    return sorted(_split(samples, cost))


def _split(samples, cost):
    values = sorted({v for v, _ in samples})
    if len(values) < 2:
        return []
    n = len(samples)
    best, least = None, inf
    for low, high in pairwise(values):
        left = [c for v, c in samples if v <= low]
        right = [c for v, c in samples if v > low]
        spread = len(left) * _h(left) + len(right) * _h(right)
        if spread < least - TIE:
            best, least = (low, high, left, right), spread
    low, high, left, right = best
    every = [c for _, c in samples]
    gain = _h(every) - least / n
    k, k1, k2 = (len(set(labels)) for labels in (every, left, right))
    delta = log2(3**k - 2) - (k * _h(every) - k1 * _h(left) - k2 * _h(right))
    candidates = len(values) - 1 if cost == "cuts" else n - 1
    if gain <= 1e-12 or gain <= (log2(candidates) + delta) / n:
        return []
    return [
        (low, high),
        *_split(samples[: len(left)], cost),
        *_split(samples[len(left) :], cost),
    ]


def _h(labels):
    return entropy(list(Counter(labels).values()))


def intervals(x, cuts):
    """Number of the interval each value lies in; None if missing."""
    return [None if v is None else sum(v >= high for _, high in cuts) for v in x]


def coded(x, y, categorical, cost):
    """Values as information-theoretic selectors see them."""
    return list(x) if categorical else intervals(x, mdl_cuts(x, y, cost))


# -- FCBF ----------------------------------------------------------------------------


def fcbf(columns, y, categorical, *, threshold=0.0, cost="cuts", atol=1e-12, keep=()):
    """Scores, order and number of accepted features; those to keep come first."""
    codes = [
        coded(x, y, is_n, cost) for x, is_n in zip(columns, categorical, strict=True)
    ]
    score = [symmetrical_uncertainty(a, y) for a in codes]
    order = order_with_ties(score, atol=atol)
    order = [*keep, *(j for j in order if j not in keep)]
    waiting = [j for j in order if j in keep or score[j] > threshold + atol]
    rest = [j for j in order if j not in waiting]
    accepted, removed = [], []
    while waiting:
        leader = waiting.pop(0)
        accepted.append(leader)
        for q in [j for j in waiting if j not in keep]:
            if symmetrical_uncertainty(codes[leader], codes[q]) >= score[q] - 1e-8:
                waiting.remove(q)
                removed.append(q)
    removed.sort(key=order.index)
    return score, accepted + removed + rest, len(accepted)


# -- ReliefF -------------------------------------------------------------------------

NEAR = Fraction(1, 10**11)  # distances this close, relatively, are equal


def relieff(columns, y, categorical, *, n_neighbors=10):
    """ReliefF weights, exactly, every sample asked once."""
    n, classes = len(y), Counter(y)
    diff = [differences(x, is_n) for x, is_n in zip(columns, categorical, strict=True)]
    distance = [[sum(d[i][j] for d in diff) for j in range(n)] for i in range(n)]
    weights = [Fraction(0)] * len(columns)
    for i in range(n):
        for label, size in classes.items():
            others = [j for j in range(n) if j != i and y[j] == label]
            if not others:
                continue
            share = neighbour_shares(distance[i], others, n_neighbors)
            if label == y[i]:
                factor = Fraction(-1, n)
            else:
                factor = Fraction(size, n - classes[y[i]]) / n
            for j, part in share.items():
                for f, d in enumerate(diff):
                    weights[f] += factor * part * d[i][j]
    return weights


def neighbour_shares(distance, others, k):
    """Weight of each neighbour; those as far as the k-th share its place."""
    places = min(k, len(others))
    radius = sorted(distance[j] for j in others)[places - 1]
    inside = [j for j in others if distance[j] < radius * (1 - NEAR)]
    border = [j for j in others if abs(distance[j] - radius) <= radius * NEAR]
    share = {j: Fraction(1, places) for j in inside}
    for j in border:
        share[j] = Fraction(places - len(inside), len(border) * places)
    return share


def differences(x, categorical):
    """``diff`` of one column for all pairs of samples, missing values as in Weka."""
    known = [Fraction(v) for v in x if v is not None]
    low = min(known, default=Fraction(0))
    span = max(known, default=low) - low

    def diff(u, v):
        if categorical:
            if u is None or v is None:
                return 1 - Fraction(1, max(len(set(known)), 1))
            return Fraction(u != v)
        if span == 0:
            return Fraction(0)
        if u is None and v is None:
            return Fraction(1)
        if u is None or v is None:
            place = (Fraction(v if u is None else u) - low) / span
            return max(place, 1 - place)
        return abs(Fraction(u) - Fraction(v)) / span

    return [[diff(u, v) for v in x] for u in x]


# -- kernel dependence ---------------------------------------------------------------


def label_products(y):
    """Products of label vectors: 1/m_k for the own class k, 1/(m_k − m) for others."""
    m, size = len(y), Counter(y)
    vectors = [
        [Fraction(1, size[k]) if k == c else Fraction(1, size[k] - m) for k in size]
        for c in y
    ]
    return {
        (i, j): sum(a * b for a, b in zip(vectors[i], vectors[j], strict=True))
        for i in range(m)
        for j in range(m)
        if i != j
    }


def hsic_scale(y):
    """The criterion of a kernel that is ±1 as the labels want it."""
    m = len(y)
    return float(sum(map(abs, label_products(y).values())) / (m * (m - 3)))


def hsic(x, y, kernel="linear"):
    """Unbiased HSIC of a standardised feature and the class (Song et al. 2012).

    ``[tr(K̃L̃) + 1'K̃1 1'L̃1 / ((m−1)(m−2)) − 2 1'K̃L̃1 / (m−2)] / (m (m−3))``, where the
    tilde says that the diagonal is zero. Exact for the linear kernel.
    """
    m, x = len(y), [Fraction(v) for v in x]
    mean = sum(x) / m
    variance = sum((v - mean) ** 2 for v in x) / m

    def k(i, j):
        if kernel == "linear":
            return (x[i] - mean) * (x[j] - mean) / variance if variance else Fraction(0)
        return exp(-((x[i] - x[j]) ** 2) / variance / 2) if variance else 1.0

    L = label_products(y)
    K = {pair: k(*pair) for pair in L}
    row_K = [sum(K[i, j] for j in range(m) if j != i) for i in range(m)]
    row_L = [sum(L[i, j] for j in range(m) if j != i) for i in range(m)]
    trace = sum(K[pair] * L[pair] for pair in L)
    whole = sum(row_K) * sum(row_L) / ((m - 1) * (m - 2))
    mixed = sum(a * b for a, b in zip(row_K, row_L, strict=True))
    return (trace + whole - 2 * mixed / (m - 2)) / (m * (m - 3))
