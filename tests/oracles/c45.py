"""C4.5 as the rules read: one recursion per rule, nothing shared, nothing fast.

A sample is ``(values, label, weight)``; a value is a number, the index of a name, or
``None`` where it is missing. ``n_values[j]`` is the number of names of a nominal
column, 0 for a numeric one. A node is a dict; a leaf has no ``"children"``.
"""

from collections import Counter
from itertools import pairwise
from math import log2
from statistics import NormalDist

EPS = 1e-6


def fit(
    samples,
    n_values,
    n_classes,
    *,
    confidence=0.25,
    min_weight=2,
    collapse=True,
    prune=True,
    raising=True,
):
    rules = Rules(samples, n_values, n_classes, confidence, min_weight, raising)
    tree = rules.grow(samples)
    if collapse:
        rules.collapse(tree)
    if prune:
        rules.prune(tree)
    return tree


def total(samples):
    return sum(weight for _, _, weight in samples)


def class_weights(samples):
    result = Counter()
    for _, label, weight in samples:
        result[label] += weight
    return result


def errors(samples):
    return total(samples) - max(class_weights(samples).values(), default=0)


def entropy(weights):
    """In bits, times the sum of the weights."""
    weights = [w for w in weights if w >= EPS]
    return -sum(w * log2(w / sum(weights)) for w in weights)


def class_entropy(samples):
    return entropy(class_weights(samples).values())


def branch_of(test, sample):
    """Which branch a sample takes; None where the tested value is missing."""
    feature, threshold = test
    value = sample[0][feature]
    if value is None:
        return None
    return value if threshold is None else int(value > threshold)


def split(test, n_branches, samples):
    """Samples per branch, and the share of each branch in the known weight."""
    known = [sample for sample in samples if branch_of(test, sample) is not None]
    branches = [
        [sample for sample in known if branch_of(test, sample) == b]
        for b in range(n_branches)
    ]
    if total(known) > EPS:
        shares = [total(branch) / total(known) for branch in branches]
    else:
        shares = [1 / n_branches] * n_branches
    for values, label, weight in samples:
        if values[test[0]] is None:
            for branch, share in zip(branches, shares, strict=True):
                if share > EPS:
                    branch.append((values, label, weight * share))
    return branches, shares


class Rules:
    def __init__(self, samples, n_values, n_classes, confidence, min_weight, raising):
        self.all = samples
        self.n_values = n_values
        self.n_classes = n_classes
        self.confidence = confidence
        self.min_weight = min_weight
        self.raising = raising

    # -- growing -----------------------------------------------------------------------

    def grow(self, samples):
        node = {"samples": samples}
        test = self.best_test(samples)
        if test is not None:
            n_branches = self.n_values[test[0]] or 2
            branches, node["shares"] = split(test, n_branches, samples)
            node["test"] = test
            node["children"] = [self.grow(branch) for branch in branches]
        return node

    def best_test(self, samples):
        if total(samples) < 2 * self.min_weight - EPS or errors(samples) < EPS:
            return None
        tests = [self.test_of(j, samples) for j in range(len(self.n_values))]
        valid = [test for test in tests if test is not None]
        few = [t for t in valid if not self.many_valued(t["feature"])]
        if all(self.many_valued(j) for j in range(len(self.n_values))):
            few = valid
        if not few:
            return None
        average = sum(test["gain"] for test in few) / len(few)
        best = None
        for test in valid:
            if test["gain"] >= average - 1e-3 and test["ratio"] > EPS + (
                best["ratio"] if best else 0
            ):
                best = test
        if best is None:
            return None
        return best["feature"], best["threshold"]

    def many_valued(self, feature):
        n = self.n_values[feature]
        return n > 0 and n >= 0.3 * total(self.all) - EPS

    def test_of(self, feature, samples):
        known = [sample for sample in samples if sample[0][feature] is not None]
        if self.n_values[feature]:
            return self.nominal_test(feature, known, samples)
        return self.numeric_test(feature, known, samples)

    def judged(self, feature, threshold, branches, known, samples, penalty=0.0):
        gain = class_entropy(known) - sum(class_entropy(b) for b in branches)
        gain = gain / total(samples) - penalty
        unknown = total(samples) - total(known)
        info = entropy([*(total(b) for b in branches), unknown]) / total(samples)
        ratio = gain / info if info > EPS / total(samples) else 0
        return {
            "feature": feature,
            "threshold": threshold,
            "gain": gain,
            "ratio": ratio,
        }

    def nominal_test(self, feature, known, samples):
        branches = [
            [sample for sample in known if sample[0][feature] == v]
            for v in range(self.n_values[feature])
        ]
        if sum(total(b) >= self.min_weight - EPS for b in branches) < 2:
            return None
        return self.judged(feature, None, branches, known, samples)

    def numeric_test(self, feature, known, samples):
        values = sorted(sample[0][feature] for sample in known)
        least = 0.1 * total(known) / self.n_classes
        least = min(max(least, self.min_weight), max(25, self.min_weight))
        column = [c[0][feature] for c in self.all if c[0][feature] is not None]
        gap = 1e-5 * min(1, max(column) - min(column)) if column else 0
        candidates = []
        for low, high in pairwise(values):
            if low + gap < high:
                branches = (
                    [sample for sample in known if sample[0][feature] <= low],
                    [sample for sample in known if sample[0][feature] > low],
                )
                if min(total(b) for b in branches) >= least - EPS:
                    candidates.append(((low + high) / 2, branches))
        if not candidates:
            return None
        penalty = log2(len(candidates)) / total(samples)
        best, most = None, 0
        for middle, branches in candidates:
            test = self.judged(feature, middle, branches, known, samples)
            if test["gain"] > most + EPS:
                most = test["gain"]
                best = (middle, branches)
        if best is None or most - penalty < EPS:
            return None
        middle, branches = best
        threshold = max(v for v in column if v <= middle + gap / 10)
        return self.judged(feature, threshold, branches, known, samples, penalty)

    # -- pruning -----------------------------------------------------------------------

    def training_errors(self, node):
        if "children" not in node:
            return errors(node["samples"])
        return sum(self.training_errors(child) for child in node["children"])

    def collapse(self, node):
        if "children" in node:
            if self.training_errors(node) >= errors(node["samples"]) - 1e-3:
                make_leaf(node)
            else:
                for child in node["children"]:
                    self.collapse(child)

    def added(self, n, e):
        if e < 1:
            base = n * (1 - self.confidence ** (1 / n))
            return base if e == 0 else base + e * (self.added(n, 1) - base)
        if e + 0.5 >= n:
            return max(n - e, 0)
        z = NormalDist().inv_cdf(1 - self.confidence)
        f = (e + 0.5) / n
        r = f + z * z / (2 * n) + z * (f / n - f * f / n + z * z / (4 * n * n)) ** 0.5
        return r / (1 + z * z / n) * n - e

    def leaf_estimate(self, samples):
        if total(samples) < EPS:
            return 0
        e = max(errors(samples), 0)
        return e + self.added(total(samples), e)

    def estimate(self, node, samples):
        """Errors expected of a subtree if these samples had come to it."""
        if "children" not in node:
            return self.leaf_estimate(samples)
        branches, _ = split(node["test"], len(node["children"]), samples)
        pairs = zip(node["children"], branches, strict=True)
        return sum(self.estimate(child, branch) for child, branch in pairs)

    def redistribute(self, node, samples):
        node["samples"] = samples
        if "children" in node:
            n_branches = len(node["children"])
            branches, node["shares"] = split(node["test"], n_branches, samples)
            for child, branch in zip(node["children"], branches, strict=True):
                self.redistribute(child, branch)

    def prune(self, node):
        if "children" not in node:
            return
        for child in node["children"]:
            self.prune(child)
        samples = node["samples"]
        weights = [total(child["samples"]) for child in node["children"]]
        largest = None
        for child, weight in zip(node["children"], weights, strict=True):
            if weight > max(weights) - EPS:
                largest = child
        leaf, tree = self.leaf_estimate(samples), self.estimate(node, samples)
        branch = self.estimate(largest, samples) if self.raising else float("inf")
        if leaf < tree + 0.1 + EPS and leaf < branch + 0.1 + EPS:
            make_leaf(node)
        elif branch < tree + 0.1 + EPS:
            make_leaf(node)
            node.update({k: v for k, v in largest.items() if k != "samples"})
            self.redistribute(node, samples)
            self.prune(node)


def make_leaf(node):
    for key in ("test", "shares", "children"):
        node.pop(key, None)


def probabilities(node, values, n_classes, parent=None):
    """Class shares of the leaves a sample reaches."""
    samples = node["samples"] if total(node["samples"]) >= EPS else parent["samples"]
    if "children" not in node:
        weights = class_weights(samples)
        return [weights[k] / total(samples) for k in range(n_classes)]
    branch = branch_of(node["test"], (values, None, None))
    if branch is not None:
        return probabilities(node["children"][branch], values, n_classes, node)
    result = [0.0] * n_classes
    for child, share in zip(node["children"], node["shares"], strict=True):
        if share > 0:
            for k, p in enumerate(probabilities(child, values, n_classes, node)):
                result[k] += share * p
    return result
