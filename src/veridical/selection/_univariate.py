"""Selectors that score features one by one."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import fdtrc

from veridical._core.devices import Device
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical._core.validation import check_count
from veridical.criteria import (
    AnovaRelevance,
    CorrelationRelevance,
    InformationRelevance,
    NeighborInformation,
    Relevance,
    VarianceRelevance,
)
from veridical.criteria.information import MdlCost
from veridical.kernels.trainsets import TrainSets
from veridical.selection._base import Cost, ScoreSelector
from veridical.selection._inputs import Abilities


class UnivariateSelector(ScoreSelector):
    """A selector that scores features one by one and has no other parameters."""

    scores_apart: ClassVar = True

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs


class SumsSelector(UnivariateSelector):
    """A selector whose scores follow from sums, which a GPU can take."""

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            keep=keep,
            feature_groups=feature_groups,
            n_jobs=n_jobs,
        )
        self.device = device


class AnovaF(SumsSelector):
    """Rank features by the F ratio of a one-way analysis of variance.

    Finds differences between class means, on any scale. For a target of numbers the F
    ratio is that of a straight line, which finds linear relations. Cost: one pass over
    X.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    keep : array-like or None, default=None
        Features that are always selected, beside `n_features_to_select` others: names,
        indices or a mask.
    feature_groups : array-like, mapping or None, default=None
        Features that are selected together or not at all: a label for each feature, or
        a mapping from names of groups to features. `n_features_to_select` counts
        groups then.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.
    device : {"cuda", "cpu"} or None, default=None
        Where to work: on the GPU, for which ``veridical[cuda]`` must be installed, on
        the processor, or where X is: arrays of CuPy and CUDA tensors of PyTorch are on
        the GPU. The result is the same, up to rounding of sums. Sparse features stay
        on the processor.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        F ratios; infinite for a feature that is constant within each class, NaN for a
        constant one (these come last).
    pvalues_ : ndarray of shape (n_features,)
        Their p-values under the usual normal assumptions.
    order_ : ndarray of shape (n_features,)
        Feature indices, best first; ties by index.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 is best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    classes_ : ndarray
        Class labels; only for a target of classes.
    n_features_in_ : int
        Number of features seen in `fit`.

    See Also
    --------
    Correlation : The same statistic on a scale from 0 to 1.
    CoxScore : The same for survival times.
    sklearn.feature_selection.f_classif : F ratios as a function.
    sklearn.feature_selection.f_regression : The same for a target of numbers.

    Notes
    -----
    Sample weights are frequency weights: their sum is the number of samples in the
    degrees of freedom. Other weights should be multiplied to sum to the number of
    samples; the order of the features does not depend on their scale.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical.selection import AnovaF
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> AnovaF(2).fit(X, y).get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    _abilities: ClassVar = Abilities(
        sparse=True, blocks=True, weights="any", targets=("classes", "numbers")
    )
    _cost: ClassVar = Cost("n p", power=0)

    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        return AnovaRelevance()

    def _keep(self, data: Table, sets: TrainSets) -> Self:
        super()._keep(data, sets)
        between = 1
        if data.kind == "classes":
            weight = sets.class_counts(data.y, data.n_classes)[0]
            between = int(np.count_nonzero(weight)) - 1
        left = sets.counts[0].sum() - between - 1
        self.pvalues_ = fdtrc(between, left, self.scores_)
        return self


class Correlation(SumsSelector):
    """Rank features by absolute correlation with the target.

    For a target of numbers, and with two classes, the score is ``|r|`` between feature
    and target. With more classes it is the mean of ``|r|`` with the indicator of each
    class, weighted by class shares. Cost: one pass over X.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    keep : array-like or None, default=None
        Features that are always selected, beside `n_features_to_select` others: names,
        indices or a mask.
    feature_groups : array-like, mapping or None, default=None
        Features that are selected together or not at all: a label for each feature, or
        a mapping from names of groups to features. `n_features_to_select` counts
        groups then.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.
    device : {"cuda", "cpu"} or None, default=None
        Where to work: on the GPU, for which ``veridical[cuda]`` must be installed, on
        the processor, or where X is: arrays of CuPy and CUDA tensors of PyTorch are on
        the GPU. The result is the same, up to rounding of sums. Sparse features stay
        on the processor.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute correlations, 0 for a constant feature.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    AnovaF : The same order with two classes, another weighting with more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from veridical.selection import Correlation
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> Correlation(1).fit(X, y).get_feature_names_out()
    array(['worst concave points'], dtype=object)
    """

    _abilities: ClassVar = Abilities(
        sparse=True, blocks=True, weights="any", targets=("classes", "numbers")
    )
    _cost: ClassVar = Cost("n p", power=0)

    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        return CorrelationRelevance()


class InformationGain(UnivariateSelector):
    """Rank features by their information gain about the target, in bits.

    Numeric features are first cut into intervals by Fayyad and Irani's rule [1]_, on
    the training data; a feature without a cut scores exactly 0. A target of numbers is
    cut into intervals of equal frequency on the training data, which are its classes.
    Finds any relation of one feature with the target, not only shifts of the mean. With
    ``estimate="neighbors"`` nothing is cut, and the information is estimated from
    distances to nearest neighbours [2]_ [3]_. Cost: one sort per feature.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    mdl_cost : {"cuts", "samples"}, default="cuts"
        What a cut point costs to write down: log2 of the number of candidate cuts (as
        Weka's evaluator) or of the number of samples less one (the original).
    target_bins : int, default=4
        A target of numbers is first cut into this many intervals with about the same
        number of training samples.
    estimate : {"intervals", "neighbors"}, default="intervals"
        How the information is estimated: from intervals of the values, or from the
        values themselves and distances to nearest neighbours, as
        ``sklearn.feature_selection.mutual_info_regression`` and
        ``mutual_info_classif`` do, but in bits and without random noise; ``mdl_cost``
        and ``target_bins`` do not matter then.
    n_neighbors : int, default=3
        Number of nearest neighbours.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which features are categorical: those with a categorical data type, none, or
        those given by a mask, indices or names.
    keep : array-like or None, default=None
        Features that are always selected, beside `n_features_to_select` others: names,
        indices or a mask.
    feature_groups : array-like, mapping or None, default=None
        Features that are selected together or not at all: a label for each feature, or
        a mapping from names of groups to features. `n_features_to_select` counts
        groups then.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Information gain in bits.
    estimate_ : str
        How it was estimated, in words.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    Notes
    -----
    Samples whose value is missing are distributed over all values of the feature in
    proportion to their shares; with ``estimate="neighbors"`` the information in the
    other samples is multiplied by their share. Sample weights must be whole numbers,
    because samples are counted.

    References
    ----------
    .. [1] U. M. Fayyad & K. B. Irani, "Multi-interval discretization of
       continuous-valued attributes for classification learning", IJCAI 1993.
    .. [2] A. Kraskov, H. Stögbauer & P. Grassberger, "Estimating mutual information",
       Physical Review E 69 (2004).
    .. [3] B. C. Ross, "Mutual information between discrete and continuous data sets",
       PLoS ONE 9 (2014).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical.selection import InformationGain
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationGain(2).fit(X, y).scores_.round(3)
    array([0.698, 0.386, 1.418, 1.378])
    """

    _abilities: ClassVar = Abilities(
        categorical=True,
        missing=True,
        sparse=True,
        blocks=True,
        weights="whole",
        targets=("classes", "numbers"),
    )
    _cost: ClassVar = Cost("n log n p", power=0)

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        mdl_cost: MdlCost = "cuts",
        target_bins: int = 4,
        estimate: Literal["intervals", "neighbors"] = "intervals",
        n_neighbors: int = 3,
        categorical_features: Any = "from_dtype",
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.mdl_cost = mdl_cost
        self.target_bins = target_bins
        self.estimate = estimate
        self.n_neighbors = n_neighbors
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs

    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        if self.estimate == "intervals":
            return InformationRelevance(self.mdl_cost, self.target_bins)
        if self.estimate != "neighbors":
            raise InputError(
                f"estimate={self.estimate!r} must be 'intervals' or 'neighbors'."
            )
        check_count("n_neighbors", self.n_neighbors)
        return NeighborInformation(self.n_neighbors)

    def _keep(self, data: Table, sets: TrainSets) -> Self:
        super()._keep(data, sets)
        if self.estimate == "neighbors":
            self.estimate_ = f"distances to {self.n_neighbors} nearest neighbours"
        else:
            self.estimate_ = "intervals by Fayyad and Irani's rule"
            if data.kind == "numbers":
                self.estimate_ += (
                    f", the target in {self.target_bins} intervals of equal frequency"
                )
        return self


class Variance(SumsSelector):
    """Rank features by their variance, whatever the target.

    An honest baseline: it sees no outcome, so that it cannot select what only seems to
    predict it. For gene expression it is hard to beat [1]_. Cost: one pass over X.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    keep : array-like or None, default=None
        Features that are always selected, beside `n_features_to_select` others: names,
        indices or a mask.
    feature_groups : array-like, mapping or None, default=None
        Features that are selected together or not at all: a label for each feature, or
        a mapping from names of groups to features. `n_features_to_select` counts
        groups then.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.
    device : {"cuda", "cpu"} or None, default=None
        Where to work: on the GPU, for which ``veridical[cuda]`` must be installed, on
        the processor, or where X is: arrays of CuPy and CUDA tensors of PyTorch are on
        the GPU. The result is the same, up to rounding of sums. Sparse features stay
        on the processor.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Variances: sums of squares about the mean divided by the number of samples.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    ExpressionFilter : Removes features with low values or little variation.
    sklearn.feature_selection.VarianceThreshold : Keeps features above a variance.

    Notes
    -----
    Features must be on one scale, as the expressions of genes on one array are: the
    variance of standardized features is the same for all. The target is read and
    checked, but has no effect.

    References
    ----------
    .. [1] A. Bommert, T. Welchowski, M. Schmid & J. Rahnenführer, "Benchmark of filter
       methods for feature selection in high-dimensional gene expression survival data",
       Briefings in Bioinformatics 23 (2022).

    Examples
    --------
    >>> from veridical.selection import Variance
    >>> Variance(1).fit([[1, 5], [2, 9], [3, 1]], [0, 1, 1]).scores_.round(2)
    array([ 0.67, 10.67])
    """

    _abilities: ClassVar = Abilities(
        sparse=True,
        blocks=True,
        device=True,
        weights="any",
        targets=("classes", "numbers", "survival"),
    )
    _cost: ClassVar = Cost("n p", power=0)
    _uses_target: ClassVar = False

    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        return VarianceRelevance()
