"""C4.5 decision trees for numeric and categorical features, with missing values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Categories, Features, encode
from veridical._core.errors import InputError
from veridical._core.reading import number_classes, read_samples, read_training
from veridical._core.scoring import Outputs
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.kernels.c45_grow import (
    Nodes,
    compact,
    grow,
    make_problem,
    predict_shares,
)
from veridical.kernels.c45_prune import collapse, prune_and_raise, prune_to_leaves
from veridical.learning.inputs import MixedFeatures, number_by_frequency
from veridical.learning.many import Orders, Predicted, PredictMany, Sizes
from veridical.learning.probability_classifiers import ProbabilityClassifier
from veridical.learning.tree import Tree, TreeWords, first_largest


class C45(PredictMany, MixedFeatures, ProbabilityClassifier):
    """Quinlan's C4.5 decision tree, by the rules of Weka's J48.

    A node tests one feature: a categorical one with a branch for each of its
    categories, a numeric one against a threshold. The test has the best gain ratio
    among those of at least average information gain [1]_. A sample whose tested value
    is missing goes down all branches, with the weight that each has among the samples
    whose value is known. The grown tree is pruned to where its pessimistic error
    estimate is least.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of the error estimate in pruning, in (0, 0.5]; smaller prunes more.
    min_samples_leaf : float, default=2
        Weight of samples that at least two branches of a test must have. A threshold
        must leave more on either side where many samples are at the node: a tenth of
        what they would be per class, but never more than 25.
    categorical_features : "from_dtype", None, bool mask, integer indices or names
        Which features are categorical. ``"from_dtype"`` takes the category, string and
        boolean columns of a data frame, and none of an array.
    prune : bool, default=True
        Whether to prune the tree.
    subtree_raising : bool, default=True
        Whether pruning may also put the largest branch of a node in the node's place,
        and send the samples of the other branches down that one. No effect without
        ``prune``.
    collapse : bool, default=True
        Whether to replace, before any pruning, subtrees that make no fewer errors on
        the training samples than a leaf.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    tree_ : Tree
        The tree as arrays: `feature`, `threshold`, `first_child`, `n_children`,
        `value`, `share`.
    n_leaves_ : int
        Number of leaves, those that no training sample reached included.
    n_nodes_ : int
        Number of nodes, leaves included; J48 calls it the size of the tree.
    categories_ : tuple of n_features arrays or None
        The categories of each categorical feature; None for a numeric one.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : CART: binary splits of numbers.
    NaiveBayes : For the same kind of tables.

    Notes
    -----
    Details follow J48 of Weka, with default options unless said otherwise: the gain of
    a threshold is reduced by log2(number of candidates) / n [2]_; a threshold is a
    value of the training data; ties go to the first feature. A threshold does not
    separate numbers that differ by less than 1e-5, or by less than 1e-5 of the range of
    their feature if that is below 1; J48 uses 1e-5 throughout and cannot split features
    of small numbers.

    Class probabilities are the class shares of a leaf, without Laplace correction, and
    those of its parent where no training sample reached the leaf. Of classes whose
    shares agree to a millionth, the first is predicted. A category that does not occur
    in training counts as missing.

    Sample weights count samples: 2 is the same as having the sample twice. Weights that
    sum to 1 therefore describe a single sample, and yield a leaf.

    Numeric features are sorted once, O(p n log n); growing then takes O(p n) per level
    of the tree. Memory is that of two copies of the table, more where missing values
    multiply the samples.

    References
    ----------
    .. [1] J. R. Quinlan, "C4.5: Programs for machine learning", Morgan Kaufmann, 1993.
    .. [2] J. R. Quinlan, "Improved use of continuous attributes in C4.5", Journal of
       Artificial Intelligence Research 4, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical.learning import C45
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> tree = C45().fit(X, load_iris().target_names[y])
    >>> tree.n_leaves_, tree.n_nodes_
    (5, 9)
    >>> print(tree.export_text())
    petal width (cm) <= 0.6: setosa (50)
    petal width (cm) > 0.6
    |   petal width (cm) <= 1.7
    |   |   petal length (cm) <= 4.9: versicolor (48/1)
    |   |   petal length (cm) > 4.9
    |   |   |   petal width (cm) <= 1.5: virginica (3)
    |   |   |   petal width (cm) > 1.5: versicolor (3/1)
    |   petal width (cm) > 1.7: virginica (46/1)
    """

    def __init__(
        self,
        confidence: float = 0.25,
        min_samples_leaf: float = 2,
        *,
        categorical_features: Any = "from_dtype",
        prune: bool = True,
        subtree_raising: bool = True,
        collapse: bool = True,
    ) -> None:
        self.confidence = confidence
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.collapse = collapse

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features; NaN or null is missing.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            How many samples each counts for; none negative. They should sum to about
            the number of samples: if they sum to 1, no split has enough of them.

        Returns
        -------
        C45
            The fitted classifier itself.
        """
        self._check_parameters()
        X, y, weights = read_training(
            self, X, y, sample_weight, self.categorical_features
        )
        self._warn_of_small_weights(weights)
        table = encode(X, self.categorical_features)
        self.classes_, codes = number_classes(y)
        self.categories_ = table.categories
        self.tree_ = self._grow(
            _by_feature(table.values),
            _number_of_categories(table.categories),
            codes,
            len(self.classes_),
            weights,
        )
        self.n_leaves_ = self.tree_.n_leaves
        self.n_nodes_ = self.tree_.n_nodes
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute the class shares of the leaves that each sample reaches.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        categorical = any(values is not None for values in self.categories_)
        X = read_samples(self, X, reset=False, categorical=categorical)
        table = encode(X, categories=self.categories_)
        n_categories = _number_of_categories(self.categories_)
        return class_shares(self.tree_, n_categories, _by_feature(table.values))

    def _most_probable(self, X: Any) -> IntArray:
        return first_largest(self.predict_proba(X))

    def export_text(self, max_depth: int | None = None) -> str:
        """Write the tree as text, one line per branch.

        Parameters
        ----------
        max_depth : int, optional
            Deepest level to show; subtrees below are written as ``...`` with the class
            that their root would predict.

        Returns
        -------
        str
            In parentheses after each leaf's class stand the weight of its training
            samples and, after a slash, of those among them that are of another class.
        """
        return self.tree_words().text(max_depth)

    def tree_words(self) -> TreeWords:
        """Return the tree with the names of its features, categories and classes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        return TreeWords(self.tree_, list(names), self.categories_, self.classes_)

    # -- learning --------------------------------------------------------------------

    def _warn_of_small_weights(self, weights: FloatArray) -> None:
        """Warn if the weights are too small for any split, as where they sum to 1."""
        total, least = float(weights.sum()), 2 * self.min_samples_leaf
        if total < least and weights.size >= 2 * least:
            warnings.warn(
                f"The weights of {weights.size} samples sum to {total:.3g}, but a "
                f"split needs {least:g} samples, so the tree is a single leaf. A "
                "weight is a number of samples; multiply the weights so that they sum "
                "to the number of samples.",
                stacklevel=3,
            )

    def _check_parameters(self) -> None:
        if not (isinstance(self.confidence, Real) and 0 < self.confidence <= 0.5):
            raise InputError(
                f"confidence={self.confidence!r} must be positive and at most 0.5; "
                "smaller values prune more, and prune=False does not prune."
            )
        least = self.min_samples_leaf
        if not (isinstance(least, Real) and 0 < least < np.inf):
            raise InputError(
                f"min_samples_leaf={least!r} must be a positive number of samples."
            )

    def _grow(
        self,
        values: FloatArray,
        n_categories: IntArray,
        codes: IntArray,
        n_classes: int,
        weights: FloatArray,
    ) -> Tree:
        """Grow and prune a tree; the rows of `values` are features."""
        problem = make_problem(
            values,
            n_categories,
            codes.astype(np.int32),
            n_classes,
            float(weights.sum()),
            float(self.min_samples_leaf),
        )
        nodes = grow(problem, weights)
        if self.collapse:
            collapse(nodes)
        if self.prune:
            confidence = float(self.confidence)
            z = float(ndtri(1 - confidence))
            if self.subtree_raising:
                prune_and_raise(problem, nodes, weights, confidence, z)
            else:
                prune_to_leaves(nodes, confidence, z)
        return Tree(*compact(nodes))

    # -- many training sets ----------------------------------------------------------

    def _predict_table(
        self,
        table: Table,
        splits: Sequence[Split],
        orders: Orders,
        sizes: Sizes,
        responses: Sequence[str] = (),
    ) -> Predicted | None:
        self._check_parameters()
        read = self._read_features(table, orders)
        if read is None:
            return None
        n_classes = table.n_classes if responses else None
        return self._predict_features(
            *read, table.y, splits, orders, sizes, n_classes=n_classes
        )

    def _predict_features(
        self,
        features: Features,
        declared: BoolArray,
        y: IntArray,
        splits: Sequence[Split],
        orders: Orders,
        sizes: Sizes,
        *,
        by_frequency: bool = False,
        n_classes: int | None = None,
    ) -> list[Any]:
        """Grow a tree for every split and size; encoding and checks are done once.

        Parameters
        ----------
        features : Features
            All samples.
        declared : bool array of shape (n_features,)
            Which features declare their categories; the others have those that occur
            in the training set.
        y : int array of shape (n_samples,)
            The classes.
        splits, orders, sizes
            As in `veridical.learning.many`.
        by_frequency : bool, default=False
            Whether a tie of classes goes to the more frequent one, rather than to the
            first.
        n_classes : int, optional
            Number of classes; with it the result is `Outputs` with class shares.
        """
        n_categories = _number_of_categories(features.categories)
        undeclared = features.categorical & ~declared
        every = np.arange(len(n_categories))
        whole = None
        if orders is None:
            whole = _by_feature(features.take(np.arange(len(y)), every))
        result: list[Any] = []
        for s, split in enumerate(splits):
            order = every if orders is None else orders[s]
            train, test = split
            if whole is None:
                known, asked = (_by_feature(features.take(r, order)) for r in split)
            else:
                known, asked = whole[:, train], whole[:, test]
            if by_frequency:
                _, labels, codes = number_by_frequency(y[train])
            else:
                labels, codes = number_classes(y[train])
            weights = np.ones(len(train))
            if not split.leaves_out and not np.isnan(known).any():
                # Counts are whole numbers: a sample drawn twice is one of weight 2.
                _, first, times = np.unique(
                    train, return_index=True, return_counts=True
                )
                known, codes = known[:, first], codes[first]
                weights = times.astype(np.float64)
            n_ordered = n_categories[order]
            for j in np.flatnonzero(undeclared[order]):
                n_ordered[j] = _recode(known[j], asked[j])
            found: list[Any] = []
            proba: list[FloatArray] = []
            for size in sizes or (order.size,):
                chosen = np.argsort(order[:size])
                n_chosen = n_ordered[chosen]
                tree = self._grow(
                    _take(known, chosen), n_chosen, codes, len(labels), weights
                )
                shares = class_shares(tree, n_chosen, _take(asked, chosen))
                found.append(labels[first_largest(shares)])
                if n_classes is not None:
                    proba.append(np.zeros((len(test), n_classes)))
                    proba[-1][:, labels] = shares
            named = np.array(found)
            result.append(Outputs(named, np.array(proba)) if proba else named)
        return result


def class_shares(tree: Tree, n_categories: IntArray, values: FloatArray) -> FloatArray:
    """Compute the class shares of the leaves each sample reaches, (n, n_classes).

    Parameters
    ----------
    tree : Tree
        The tree.
    n_categories : int array of shape (n_features,)
        Numbers of categories; 0 for a numeric feature.
    values : array of shape (n_features, n)
        The samples, one feature per row.
    """
    nodes = Nodes(
        tree.feature,
        tree.threshold,
        tree.first_child,
        tree.n_children,
        tree.value,
        tree.share,
    )
    return predict_shares(nodes, tree.probability, n_categories, values)


def _number_of_categories(categories: Categories) -> IntArray:
    """Count the categories of every feature; 0 for a numeric feature."""
    sizes = [0 if c is None else max(1, len(c)) for c in categories]
    return np.array(sizes, dtype=np.intp)


def _recode(known: FloatArray, asked: FloatArray) -> int:
    """Assign codes to the categories of the training set; others become missing.

    Both arrays are changed in place. Return the number of categories.
    """
    seen = np.unique(known[~np.isnan(known)])
    for column in (known, asked):
        places = np.searchsorted(seen, column)
        column[:] = np.where(np.isin(column, seen), places, np.nan)
    return max(1, seen.size)


def _by_feature(values: NDArray[Any]) -> FloatArray:
    # Writable, because compiled code would be compiled again for read-only memory.
    return np.require(values.T, np.float64, ["C", "W"])


def _take(values: FloatArray, chosen: IntArray) -> FloatArray:
    return np.ascontiguousarray(values[chosen])
