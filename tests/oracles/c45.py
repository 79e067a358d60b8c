"""C4.5 as the rules read: one recursion per rule, nothing shared, nothing fast.

A case is ``(values, label, weight)``; a value is a number, the index of a name, or
``None`` where it is missing. ``n_values[j]`` is the number of names of a nominal
column, 0 for a numeric one. A node is a dict; a leaf has no ``"children"``.
"""

from collections import Counter
from itertools import pairwise
from math import log2
from statistics import NormalDist

EPS = 1e-6


def fit(
    cases,
    n_values,
    n_classes,
    *,
    confidence=0.25,
    min_weight=2,
    collapse=True,
    prune=True,
    raising=True,
):
    rules = Rules(cases, n_values, n_classes, confidence, min_weight, raising)
    tree = rules.grow(cases)
    if collapse:
        rules.collapse(tree)
    if prune:
        rules.prune(tree)
    return tree


def total(cases):
    return sum(weight for _, _, weight in cases)


def class_weights(cases):
    result = Counter()
    for _, label, weight in cases:
        result[label] += weight
    return result


def errors(cases):
    return total(cases) - max(class_weights(cases).values(), default=0)


def entropy(weights):
    """In bits, times the sum of the weights."""
    weights = [w for w in weights if w >= EPS]
    return -sum(w * log2(w / sum(weights)) for w in weights)


def class_entropy(cases):
    return entropy(class_weights(cases).values())


def branch_of(test, case):
    """Which branch a case takes; None where the tested value is missing."""
    feature, threshold = test
    value = case[0][feature]
    if value is None:
        return None
    return value if threshold is None else int(value > threshold)


def split(test, n_branches, cases):
    """Cases per branch, and the share of each branch in the known weight."""
    known = [case for case in cases if branch_of(test, case) is not None]
    branches = [
        [case for case in known if branch_of(test, case) == b]
        for b in range(n_branches)
    ]
    if total(known) > EPS:
        shares = [total(branch) / total(known) for branch in branches]
    else:
        shares = [1 / n_branches] * n_branches
    for values, label, weight in cases:
        if values[test[0]] is None:
            for branch, share in zip(branches, shares, strict=True):
                if share > EPS:
                    branch.append((values, label, weight * share))
    return branches, shares


class Rules:
    def __init__(self, cases, n_values, n_classes, confidence, min_weight, raising):
        self.all = cases
        self.n_values = n_values
        self.n_classes = n_classes
        self.confidence = confidence
        self.min_weight = min_weight
        self.raising = raising

    # -- growing -----------------------------------------------------------------------

    def grow(self, cases):
        node = {"cases": cases}
        test = self.best_test(cases)
        if test is not None:
            n_branches = self.n_values[test[0]] or 2
            branches, node["shares"] = split(test, n_branches, cases)
            node["test"] = test
            node["children"] = [self.grow(branch) for branch in branches]
        return node

    def best_test(self, cases):
        if total(cases) < 2 * self.min_weight - EPS or errors(cases) < EPS:
            return None
        tests = [self.test_of(j, cases) for j in range(len(self.n_values))]
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

    def test_of(self, feature, cases):
        known = [case for case in cases if case[0][feature] is not None]
        if self.n_values[feature]:
            return self.nominal_test(feature, known, cases)
        return self.numeric_test(feature, known, cases)

    def judged(self, feature, threshold, branches, known, cases, penalty=0.0):
        gain = class_entropy(known) - sum(class_entropy(b) for b in branches)
        gain = gain / total(cases) - penalty
        unknown = total(cases) - total(known)
        info = entropy([*(total(b) for b in branches), unknown]) / total(cases)
        ratio = gain / info if info > EPS / total(cases) else 0
        return {
            "feature": feature,
            "threshold": threshold,
            "gain": gain,
            "ratio": ratio,
        }

    def nominal_test(self, feature, known, cases):
        branches = [
            [case for case in known if case[0][feature] == v]
            for v in range(self.n_values[feature])
        ]
        if sum(total(b) >= self.min_weight - EPS for b in branches) < 2:
            return None
        return self.judged(feature, None, branches, known, cases)

    def numeric_test(self, feature, known, cases):
        values = sorted(case[0][feature] for case in known)
        least = 0.1 * total(known) / self.n_classes
        least = min(max(least, self.min_weight), max(25, self.min_weight))
        column = [c[0][feature] for c in self.all if c[0][feature] is not None]
        gap = 1e-5 * min(1, max(column) - min(column)) if column else 0
        candidates = []
        for low, high in pairwise(values):
            if low + gap < high:
                branches = (
                    [case for case in known if case[0][feature] <= low],
                    [case for case in known if case[0][feature] > low],
                )
                if min(total(b) for b in branches) >= least - EPS:
                    candidates.append(((low + high) / 2, branches))
        if not candidates:
            return None
        penalty = log2(len(candidates)) / total(cases)
        best, most = None, 0
        for middle, branches in candidates:
            test = self.judged(feature, middle, branches, known, cases)
            if test["gain"] > most + EPS:
                most = test["gain"]
                best = (middle, branches)
        if best is None or most - penalty < EPS:
            return None
        middle, branches = best
        threshold = max(v for v in column if v <= middle + gap / 10)
        return self.judged(feature, threshold, branches, known, cases, penalty)

    # -- pruning -----------------------------------------------------------------------

    def training_errors(self, node):
        if "children" not in node:
            return errors(node["cases"])
        return sum(self.training_errors(child) for child in node["children"])

    def collapse(self, node):
        if "children" in node:
            if self.training_errors(node) >= errors(node["cases"]) - 1e-3:
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

    def leaf_estimate(self, cases):
        if total(cases) < EPS:
            return 0
        e = max(errors(cases), 0)
        return e + self.added(total(cases), e)

    def estimate(self, node, cases):
        """Errors expected of a subtree if these cases had come to it."""
        if "children" not in node:
            return self.leaf_estimate(cases)
        branches, _ = split(node["test"], len(node["children"]), cases)
        pairs = zip(node["children"], branches, strict=True)
        return sum(self.estimate(child, branch) for child, branch in pairs)

    def redistribute(self, node, cases):
        node["cases"] = cases
        if "children" in node:
            n_branches = len(node["children"])
            branches, node["shares"] = split(node["test"], n_branches, cases)
            for child, branch in zip(node["children"], branches, strict=True):
                self.redistribute(child, branch)

    def prune(self, node):
        if "children" not in node:
            return
        for child in node["children"]:
            self.prune(child)
        cases = node["cases"]
        weights = [total(child["cases"]) for child in node["children"]]
        largest = None
        for child, weight in zip(node["children"], weights, strict=True):
            if weight > max(weights) - EPS:
                largest = child
        leaf, tree = self.leaf_estimate(cases), self.estimate(node, cases)
        branch = self.estimate(largest, cases) if self.raising else float("inf")
        if leaf < tree + 0.1 + EPS and leaf < branch + 0.1 + EPS:
            make_leaf(node)
        elif branch < tree + 0.1 + EPS:
            make_leaf(node)
            node.update({k: v for k, v in largest.items() if k != "cases"})
            self.redistribute(node, cases)
            self.prune(node)


def make_leaf(node):
    for key in ("test", "shares", "children"):
        node.pop(key, None)


def probabilities(node, values, n_classes, parent=None):
    """Class shares of the leaves a case reaches."""
    cases = node["cases"] if total(node["cases"]) >= EPS else parent["cases"]
    if "children" not in node:
        weights = class_weights(cases)
        return [weights[k] / total(cases) for k in range(n_classes)]
    branch = branch_of(node["test"], (values, None, None))
    if branch is not None:
        return probabilities(node["children"][branch], values, n_classes, node)
    result = [0.0] * n_classes
    for child, share in zip(node["children"], node["shares"], strict=True):
        if share > 0:
            for k, p in enumerate(probabilities(child, values, n_classes, node)):
                result[k] += share * p
    return result
