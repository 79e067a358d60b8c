"""The kernels of `veridical.kernels.cuda.columns` in numpy: slow and obvious."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

LARGEST = Fraction(np.finfo(float).max)


class NumpyColumns:
    """See `ColumnKernels`."""

    def __init__(self, X):
        self.X = np.asarray(X)

    def ranges(self, rows):
        X = self.X[rows].astype(float)
        missing = np.isnan(X)
        low = np.where(missing, np.inf, X).min(axis=0)
        high = np.where(missing, -np.inf, X).max(axis=0)
        return low, high, missing.sum(axis=0)

    def class_sums(self, rows, weight, ends, origin):
        n_classes, p = len(ends) - 1, self.X.shape[1]
        found = np.zeros((n_classes, 4, p))
        for k in range(n_classes):
            here = slice(ends[k], ends[k + 1])
            for j in range(p):
                x = self.X[rows[here], j].astype(float) - origin[j]
                both = [
                    (Fraction(float(v)), Fraction(float(w)))
                    for v, w in zip(x, weight[here], strict=True)
                ]
                for at, power in ((0, 1), (2, 2)):
                    total = sum((v**power * w for v, w in both), Fraction(0))
                    if abs(total) > LARGEST:
                        found[k, at, j] = np.inf
                        continue
                    high = float(total)
                    found[k, at, j] = high
                    found[k, at + 1, j] = float(total - Fraction(high))
        return found

    def column(self, j):
        return self.X[:, j].astype(float)

    def first_row(self):
        return self.X[0].astype(float)

    def centred(self, j, weight, total, mean):
        x = self.column(j) - mean
        return weight * (x - weight @ x / total)

    def upload(self, values):
        return values

    def multiply(self, weight, origin):
        return weight @ (self.X.astype(float) - origin)
