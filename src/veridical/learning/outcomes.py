"""Which kind of target an estimator learns, and its predictions as numbers.

An estimator of this library may say what it learns by ``_targets``, a tuple of kinds;
for others scikit-learn's tags decide, and the base class of scikit-survival's.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.scoring import Outputs, last_step
from veridical._core.survival_scores import kaplan_meier, score_times
from veridical._core.table import Table
from veridical._core.targets import Kind, Numbers, Survival


def target_of(estimator: Any) -> Kind | None:
    """Return the kind of target that an estimator learns; None where it is not known.

    Parameters
    ----------
    estimator : estimator
        Of this library, of scikit-learn or of scikit-survival; of a pipeline the last
        step decides, of a search for parameters the estimator in it.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> target_of(make_pipeline(StandardScaler(), Ridge()))
    'numbers'
    """
    last = last_step(estimator)
    targets = getattr(last, "_targets", None)
    if targets is not None and len(targets) == 1:
        kind: Kind = targets[0]
        return kind
    if _is_survival(last):
        return "survival"
    if is_classifier(last):
        return "classes"
    return "numbers" if is_regressor(last) else None


def _is_survival(estimator: Any) -> bool:
    names = {kind.__name__ for kind in type(estimator).__mro__}
    return "SurvivalAnalysisMixin" in names or hasattr(
        estimator, "predict_survival_function"
    )


def predict_values(model: Any, X: Any, table: Table) -> Any:
    """Return the predicted classes as codes, the numbers, or the risks.

    Parameters
    ----------
    model : estimator
        Fitted. A survival estimator that predicts times, as some of scikit-survival do
        (their ``_predict_risk_score`` is False), has minus the time as risk.
    X : array-like or data frame
        The samples.
    table : Table
        The table that the model was fitted on.

    Returns
    -------
    array of shape (n_samples,)
        Class codes, −1 for a predicted label that is not a class of the table; numbers;
        or risks.
    """
    predicted = model.predict(X)
    if table.kind == "classes":
        return table.as_classes.encode(predicted)
    values = np.asarray(predicted, dtype=np.float64).reshape(len(predicted), -1)[:, 0]
    if table.kind == "survival" and not predicts_risk(model):
        return -values
    return values


def predicts_risk(estimator: Any) -> bool:
    """Return whether greater predictions of an estimator mean earlier events."""
    return bool(getattr(last_step(estimator), "_predict_risk_score", True))


def survival_at(model: Any, X: Any, times: FloatArray) -> FloatArray:
    """Return the predicted probabilities to be without the event at some times.

    Parameters
    ----------
    model : estimator
        Fitted; its ``predict_survival_function(X)``, or that of the last step of a
        pipeline or of the best estimator of a search, returns a step function per
        sample, as scikit-survival's do, or it takes ``times`` and returns an array.
    X : array-like or data frame
        The samples.
    times : array of shape (n_times,)
        The times; beyond those of the training samples the nearest known is used.

    Returns
    -------
    array of shape (n_samples, n_times)
        The probabilities.
    """
    while not hasattr(model, "predict_survival_function"):
        # Pipelines and searches of scikit-learn pass on other methods, but not this.
        if isinstance(model, Pipeline):
            X = model[:-1].transform(X) if len(model) > 1 else X
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    ask = model.predict_survival_function
    if "times" in inspect.signature(ask).parameters:
        return np.asarray(ask(X, times=times), dtype=np.float64)
    return np.array([_at(one, times) for one in ask(X)])


def _at(curve: Any, times: FloatArray) -> FloatArray:
    """Evaluate a step function.

    Those of scikit-survival refuse times beyond their domain, and return a number for
    an array of one time.
    """
    domain = getattr(curve, "domain", (-np.inf, np.inf))
    found = np.asarray(curve(np.clip(times, *domain)), dtype=np.float64)
    return found.reshape(times.shape)


def constant_values(table: Table, train: IntArray, shape: tuple[int, ...]) -> Any:
    """Predict all that there is to learn where a training set has a constant target.

    Parameters
    ----------
    table : Table
        All samples.
    train : int array
        Training rows, whose target is constant.
    shape : tuple of int
        Shape of the predictions.

    Returns
    -------
    array
        The one class, the one number, or the same risk for all.
    """
    if table.kind == "classes":
        return np.full(shape, table.y[train[0]], dtype=np.intp)
    if isinstance(table.target, Numbers):
        return np.full(shape, table.target.values[train[0]])
    return np.zeros(shape)


def constant_outputs(
    codes: Any, table: Table, train: IntArray, responses: Sequence[str]
) -> Outputs:
    """Answer with certainty where a training set has a constant target.

    Parameters
    ----------
    codes : array of shape (..., n_test)
        From `constant_values`.
    table, train
        As in `constant_values`.
    responses : sequence of str
        What is asked for beside predictions.
    """
    proba = decision = None
    if isinstance(table.target, Survival):
        if responses:
            learned = table.target.take(train)
            counts = None if table.weights is None else table.weights[train]
            alive = kaplan_meier(learned.time, learned.event, counts)(
                times_of(table, train)
            )
            proba = np.broadcast_to(alive, (*codes.shape, alive.size)).copy()
        return Outputs(codes, proba)
    if "predict_proba" in responses:
        proba = one_hot(codes, table.n_classes)
    if "decision_function" in responses:
        decision = np.zeros((*codes.shape, table.n_classes))
        decision = decision[..., 0] if table.n_classes == 2 else decision
    return Outputs(codes, proba, decision)


def times_of(table: Table, train: IntArray) -> FloatArray:
    """Return the times at which survival probabilities of a split are asked for."""
    counts = None if table.weights is None else table.weights[train]
    return score_times(table.as_survival.take(train), counts)


def one_hot(codes: IntArray, n_classes: int) -> FloatArray:
    """Return probability 1 for the predicted classes, shape (..., n_classes)."""
    return (codes[..., np.newaxis] == np.arange(n_classes)).astype(np.float64)
