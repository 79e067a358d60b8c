"""The estimators that have a name, for every kind of target.

The most frequent class, which needs no features, is predicted for many splits at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from veridical._core.errors import InputError
from veridical._core.scoring import Outputs
from veridical._core.splits import Split, class_counts
from veridical._core.table import Table
from veridical._core.targets import Kind
from veridical._core.text import did_you_mean, one_line
from veridical.learning.c45 import C45
from veridical.learning.cox import CoxRidge
from veridical.learning.dagsvm import DAGSVM
from veridical.learning.linear_svm import LinearSVM
from veridical.learning.many import (
    Orders,
    Predicted,
    Sizes,
    register_predict_table,
)
from veridical.learning.naive_bayes import NaiveBayes
from veridical.learning.neighbours import NearestNeighbour
from veridical.learning.outcomes import one_hot
from veridical.learning.tabular import (
    TabularClassifier,
    TabularModel,
    TabularPredictor,
)

#: Height of indicators at which two different categories have distance 1.
ONE_APART = math.sqrt(0.5)


def _svm() -> TabularClassifier:
    return TabularClassifier(LinearSVM(C=1.0))


def _make_nearest_neighbour() -> TabularClassifier:
    return TabularClassifier(NearestNeighbour(), categorical_weight=ONE_APART)


def _dagsvm() -> DAGSVM:
    return DAGSVM(standardize=True)


def _logistic() -> TabularClassifier:
    return TabularClassifier(LogisticRegression(max_iter=1000))


def _majority() -> DummyClassifier:
    return DummyClassifier(strategy="most_frequent")


#: Penalties of "ridge" on standardized features; the best by leave-one-out is taken.
RIDGE_PENALTIES = tuple(10.0**k for k in range(-2, 6))


def _ridge() -> TabularPredictor:
    model = make_pipeline(StandardScaler(), RidgeCV(RIDGE_PENALTIES))
    return TabularPredictor(model, scale=False)


def _svr() -> TabularPredictor:
    model = TransformedTargetRegressor(
        SVR(kernel="linear"), transformer=StandardScaler()
    )
    return TabularPredictor(model)


def _tree() -> TabularPredictor:
    model = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    return TabularPredictor(model, scale=False)


def _neighbours() -> TabularPredictor:
    return TabularPredictor(KNeighborsRegressor(), categorical_weight=ONE_APART)


def _cox() -> TabularPredictor:
    return TabularPredictor(CoxRidge(), scale=False)


#: Estimators by name, each with the function that makes a new one.
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "svm": _svm,
    "nb": NaiveBayes,
    "1nn": _make_nearest_neighbour,
    "c45": C45,
    "dagsvm": _dagsvm,
    "logistic": _logistic,
    "majority": _majority,
    "ridge": _ridge,
    "svr": _svr,
    "tree": _tree,
    "knn": _neighbours,
    "mean": DummyRegressor,
    "cox": _cox,
}

#: The kind of target that each of them predicts, where it is not classes.
KINDS_OF_TARGET: dict[str, Kind] = {
    "ridge": "numbers",
    "svr": "numbers",
    "tree": "numbers",
    "knn": "numbers",
    "mean": "numbers",
    "cox": "survival",
}

#: The estimator that verbs use where nobody names one, by kind of target.
DEFAULT_ESTIMATORS: dict[Kind, str] = {
    "classes": "svm",
    "numbers": "ridge",
    "survival": "cox",
}

#: The same estimators, as people call them; reports use these names.
ESTIMATOR_NAMES = {
    "svm": "linear SVM",
    "nb": "naive Bayes",
    "1nn": "1-NN",
    "c45": "C4.5",
    "dagsvm": "DAGSVM",
    "logistic": "logistic regression",
    "majority": "majority class",
    "ridge": "ridge regression",
    "svr": "linear SVR",
    "tree": "regression tree",
    "knn": "5-NN",
    "mean": "mean",
    "cox": "ridge Cox model",
}


def estimator_name(estimator: Any) -> str:
    """Return what people call an estimator: its registered name, or its class.

    Examples
    --------
    >>> estimator_name(make_estimator("svm")), estimator_name(LogisticRegression())
    ('linear SVM', 'LogisticRegression')
    >>> estimator_name(TabularClassifier(LinearSVM(C=0.1)))
    'LinearSVM'
    """
    alike = {
        text: name for kind, text, name in _registered() if kind is type(estimator)
    }
    if alike and (registered := alike.get(one_line(estimator))):
        return registered
    if isinstance(estimator, TabularModel):
        return estimator_name(estimator.estimator)
    return type(estimator).__name__


@cache
def _registered() -> tuple[tuple[type, str, str], ...]:
    """Return the class, the parameters and the name of every registered estimator."""
    made = [(make(), ESTIMATOR_NAMES[name]) for name, make in ESTIMATORS.items()]
    return tuple((type(one), one_line(one), name) for one, name in made)


def estimators_for(kind: Kind) -> list[str]:
    """List the names of the estimators that predict a kind of target.

    Examples
    --------
    >>> estimators_for("survival")
    ['cox']
    """
    return [name for name in ESTIMATORS if KINDS_OF_TARGET.get(name, "classes") == kind]


def make_estimator(name: str) -> Any:
    """Make an estimator by its name.

    Parameters
    ----------
    name : str
        A key of ``veridical.learning.ESTIMATORS``. "svm": linear support vector
        machine, C = 1, inputs scaled to [0, 1] by the training minimum and maximum,
        indicators for categorical features. "nb": naive Bayes with normal densities for
        numeric and frequencies for categorical features. "1nn": nearest neighbour on
        scaled numbers, where two different categories have distance 1. "c45": C4.5,
        where a tie between classes goes to the first label. "dagsvm": a linear
        support vector machine per pair of classes on standardized features, evaluated
        along a directed graph; for numeric features without missing values only.
        "logistic": logistic regression, C = 1, with the inputs of "svm". "majority":
        the most frequent class, whatever the features.

        For targets of numbers: "ridge": ridge regression on standardized features, with
        the penalty that is best by leave-one-out on the training samples. "svr": linear
        support vector regression, C = 1 and epsilon = 0.1 in standard deviations of the
        target, with the inputs of "svm". "tree": a regression tree (CART) with at least
        5 samples in a leaf. "knn": the mean of the 5 nearest neighbours, with the
        inputs of "1nn". "mean": the mean of the training samples, whatever the
        features.

        For survival times: "cox": :class:`CoxRidge`.

    Returns
    -------
    estimator
        Unfitted. All but "dagsvm" take arrays or data frames with categorical features
        and missing values.

    Raises
    ------
    InputError
        If there is no such estimator.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from veridical.learning import make_estimator
    >>> make_estimator("1nn").fit([[0.0], [5.0]], ["a", "b"]).predict([[4.0]])
    array(['b'], dtype='<U1')
    """
    if isinstance(name, str) and name in ESTIMATORS:
        return ESTIMATORS[name]()
    raise InputError(
        f"There is no estimator {name!r}{did_you_mean(str(name), ESTIMATORS)} Use "
        f"one of {', '.join(map(repr, ESTIMATORS))}, or pass a scikit-learn estimator."
    )


@register_predict_table(DummyClassifier)
def _predict_majority(
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    orders: Orders,
    sizes: Sizes,
    responses: Sequence[str] = (),
) -> Predicted | None:
    """Predict the most frequent class; the first of them where they tie.

    Its probability is 1; for the strategy "prior", the share of every class.
    """
    if estimator.strategy not in ("most_frequent", "prior"):
        return None
    n_sizes = 1 if sizes is None else len(sizes)
    result: Predicted = []
    counts = class_counts(splits, table.y, table.n_classes)
    for split, own in zip(splits, counts, strict=True):
        codes = np.full((n_sizes, len(split.test)), own.argmax(), dtype=np.intp)
        if not responses:
            result.append(codes)
            continue
        proba = one_hot(codes, table.n_classes)
        if estimator.strategy == "prior":
            proba[...] = own / own.sum()
        result.append(Outputs(codes, proba))
    return result
