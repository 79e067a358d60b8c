"""One training set with its test set and folds, the same for every selector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from veridical._core.arrays import IntArray
from veridical._core.seeds import as_generator, seeded
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.comparison.sources import SourceSampler, find_source
from veridical.comparison.splits import Splits, make_splits
from veridical.evaluation.engine import predict, rank
from veridical.experiments import derive_seed
from veridical.experiments.study import Values
from veridical.learning import C45, make_estimator
from veridical.learning.tabular import TabularClassifier
from veridical.selection import SELECTORS


class Trial:
    """One training set with its test set and folds.

    Parameters
    ----------
    data : Table
        Training rows first, then test rows. The columns are in an order drawn at
        random, so that an index, which decides ties, carries no information.
    n_train : int
        How many are training rows.
    splits : Splits
        Folds of the training rows.
    seed : int
        For selectors that use chance.
    """

    def __init__(self, data: Table, n_train: int, splits: Splits, seed: int) -> None:
        self.data = data
        self.n_train = n_train
        self.splits = splits
        self.seed = seed

    @classmethod
    def draw(cls, settings: Any) -> Trial:
        """Draw what a unit describes.

        Seeds depend on the source, N and the number of the set; that of the folds
        also on the resampling. None depends on a selector.
        """
        root, n, number = settings["seed"], settings["n"], settings["set"]
        data_set = {"source": settings["source"], "n": n}
        source = find_source(settings["source"])[1]
        sampler = SourceSampler(source, n, n, None, derive_seed(root, **data_set))
        data, n_train = sampler.draw(number)

        def seed(purpose: str, **more: Any) -> int:
            return derive_seed(root, purpose=purpose, **data_set, set=number, **more)

        folds = seed("folds", resampling="k-fold", k=settings["n_folds"], repeat=0)
        # The paper's folds are not stratified.
        cv = KFold(settings["n_folds"], shuffle=True)
        splits = make_splits(cv, data, folds, n_rows=n_train)
        columns = as_generator(seed("columns")).permutation(data.n_features)
        return cls(data.permute(columns), n_train, splits, seed("methods"))

    def rank(self, recipe: Any, n_features: int) -> IntArray:
        """Rank on all training rows, then on each training fold.

        Returns
        -------
        array of shape (1 + n_folds, n_features)
        """
        kind = recipe["selector"]["kind"]
        selector = SELECTORS[kind](**recipe["selector"]["parameters"])
        train_sets = [np.arange(self.n_train), *self.splits.train]
        seen = self.data.rows(slice(0, self.n_train))
        ranked = rank(seeded(selector, self.seed), seen, train_sets, n_features)
        return np.array([one.order for one in ranked])

    def judge(
        self, orders: IntArray, classifier: str, sizes: Sequence[int]
    ) -> dict[int, Values]:
        """Accuracies of a classifier on the first columns of the rankings.

        Parameters
        ----------
        orders : array of shape (1 + n_folds, n_features)
            What `rank` returned.
        classifier : str
            Its name.
        sizes : sequence of int
            How many of the columns to use.

        Returns
        -------
        mapping of size to values
            TRUTH, and the folds under IN and OUT.
        """
        n = self.data.n_samples
        rows = np.arange(n)
        folds = [
            Split(test, n, train)
            for train, test in zip(self.splits.train, self.splits.test, strict=True)
        ]
        splits = [Split(rows[self.n_train :], n, rows[: self.n_train]), *folds, *folds]
        found = predict(
            make_classifier(classifier),
            self.data,
            splits,
            [*orders, *[orders[0]] * len(folds)],
            tuple(sizes),
        )
        truth, *rest = (
            (codes == self.data.y[split.test]).mean(axis=1)
            for codes, split in zip(found, splits, strict=True)
        )
        inside, outside = rest[: len(folds)], rest[len(folds) :]
        return {
            size: {
                "truth": float(truth[i]),
                "in": [float(fold[i]) for fold in inside],
                "out": [float(fold[i]) for fold in outside],
            }
            for i, size in enumerate(sizes)
        }


def make_classifier(name: str) -> Any:
    """Make a classifier of the paper.

    "tree" is C4.5, where a tie between classes goes to the more frequent one, as in
    the paper's other classifiers; of "c45" it goes to the first label.
    """
    if name == "tree":
        return TabularClassifier(C45(), scale=False, categorical_weight=None)
    return make_estimator(name)
