"""C4.5 decision trees for numeric and categorical features, with missing values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Features, encode
from veridical._core.errors import InputError
from veridical._core.reading import number_classes, read_samples, read_training
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.kernels.c45_grow import Nodes, compact, grow, make_problem, predict
from veridical.kernels.c45_prune import collapse, prune_and_raise, prune_to_leaves
from veridical.learning.many import Orders, Predicted, PredictMany, Sizes
from veridical.learning.reading import number_by_frequency, read_features
from veridical.learning.tree import Tree, TreeWords, first_largest


class C45(PredictMany, ClassifierMixin, BaseEstimator):
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
    value of the training data; ties go to the first column. Numbers that differ by less
    than 1e-5, or by less than 1e-5 of their column's range if that is below 1, are not
    told apart by a threshold; J48 uses 1e-5 throughout and is blind to columns of small
    numbers.

    Class probabilities are the class shares of a leaf, without Laplace correction, and
    those of its parent where no training sample reached the leaf. A value never seen in
    training counts as missing.

    Sample weights count samples: 2 is the same as having the sample twice. Weights that
    sum to 1 therefore describe a single sample, and yield a leaf.

    Numeric columns are sorted once, O(p n log n); growing then takes O(p n) per level
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

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
        columns, n_values = _by_column(table.values), self._n_values()
        self.tree_ = self._grow(columns, n_values, codes, len(self.classes_), weights)
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
        return class_shares(self.tree_, self._n_values(), _by_column(table.values))

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the most probable class; the first where they tie (to a millionth).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples,)
            A label of ``classes_`` per sample.
        """
        best = first_largest(self.predict_proba(X))
        return self.classes_[best]

    def export_text(self, max_depth: int | None = None) -> str:
        """Write the tree as text, one line per branch.

        Parameters
        ----------
        max_depth : int, optional
            How deep to go; subtrees below are shown as ``...`` with the class that
            their root would name.

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
                f"The weights of {weights.size} cases sum to {total:.3g}, but a split "
                f"needs {least:g} cases, so the tree is a single leaf. A weight counts "
                "cases; multiply them so that they sum to the number of cases.",
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
                f"min_samples_leaf={least!r} must be a positive number of cases."
            )

    def _n_values(self) -> NDArray[np.intp]:
        sizes = [0 if c is None else max(1, len(c)) for c in self.categories_]
        return np.array(sizes, dtype=np.intp)

    def _grow(
        self,
        columns: FloatArray,
        n_values: IntArray,
        codes: IntArray,
        n_classes: int,
        weights: FloatArray,
    ) -> Tree:
        """Grow and prune a tree; features are the rows of `columns`."""
        problem = make_problem(
            columns,
            n_values,
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
        self, table: Table, splits: Sequence[Split], orders: Orders, sizes: Sizes
    ) -> Predicted | None:
        self._check_parameters()
        read = read_features(self, table, orders)
        if read is None:
            return None
        return self._predict_features(*read, table.y, splits, orders, sizes)

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
    ) -> Predicted:
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
        """
        n_values = np.array(
            [0 if c is None else max(1, len(c)) for c in features.categories],
            dtype=np.intp,
        )
        undeclared = features.categorical & ~declared
        every = np.arange(len(n_values))
        whole = None
        if orders is None:
            whole = _by_column(features.take(np.arange(len(y)), every))
        result: Predicted = []
        for s, split in enumerate(splits):
            order = every if orders is None else orders[s]
            train, test = split
            if whole is None:
                known, asked = (_by_column(features.take(r, order)) for r in split)
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
            n_here = n_values[order]
            for j in np.flatnonzero(undeclared[order]):
                n_here[j] = _recode(known[j], asked[j])
            found = []
            for size in sizes or (order.size,):
                chosen = np.argsort(order[:size])
                n_chosen = n_here[chosen]
                tree = self._grow(
                    _take(known, chosen), n_chosen, codes, len(labels), weights
                )
                shares = class_shares(tree, n_chosen, _take(asked, chosen))
                found.append(labels[first_largest(shares)])
            result.append(np.array(found))
        return result


def class_shares(tree: Tree, n_values: IntArray, columns: FloatArray) -> FloatArray:
    """Compute the class shares of the leaves each sample reaches, (n, n_classes).

    Parameters
    ----------
    tree : Tree
        The tree.
    n_values : int array of shape (n_features,)
        Numbers of categories; 0 for a numeric feature.
    columns : array of shape (n_features, n)
        The samples, a feature per row.
    """
    nodes = Nodes(
        tree.feature,
        tree.threshold,
        tree.first_child,
        tree.n_children,
        tree.value,
        tree.share,
    )
    return predict(nodes, tree.probability, n_values, columns)


def _recode(known: FloatArray, asked: FloatArray) -> int:
    """Code the categories that occur in training; others become missing.

    Both arrays are changed in place. Returns the number of categories.
    """
    seen = np.unique(known[~np.isnan(known)])
    for column in (known, asked):
        places = np.searchsorted(seen, column)
        column[:] = np.where(np.isin(column, seen), places, np.nan)
    return max(1, seen.size)


def _by_column(values: NDArray[Any]) -> FloatArray:
    # Writable, too: compiled code would be compiled again for memory that is not.
    return np.require(values.T, np.float64, ["C", "W"])


def _take(columns: FloatArray, chosen: IntArray) -> FloatArray:
    return np.ascontiguousarray(columns[chosen])
