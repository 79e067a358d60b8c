"""The accuracy paper's experiment in small: samples, estimates, and the truth."""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from veridical._core.encoding import encode
from veridical.datasets import load, make_random_labels
from veridical.evaluation import Bootstrap632, CrossValidation, estimate
from veridical.learning import NaiveBayes

#: Cases per sample, as in the paper's table 1.
SAMPLE = {
    "breast_cancer_wisconsin": 50,
    "kr_vs_kp": 900,
    "hypothyroid": 400,
    "mushroom": 800,
    "soybean_large": 100,
    "vehicle": 100,
    "rand": 100,
}
FOLDS = (2, 5, 10, 20)


@cache
def data(name: str, one_hot: bool):
    """Features as numbers, which of them are codes, and labels."""
    if name == "rand":
        X, y = make_random_labels(3000, n_features=20, random_state=0)
        return (X > 0).astype(float), np.full(20, not one_hot), y
    folder = os.environ.get("VERIDICAL_DATA")
    if not folder or not (Path(folder) / f"{name}.csv.gz").exists():
        pytest.skip(f"VERIDICAL_DATA holds no {name}")
    X, y = load(name)
    if one_hot and isinstance(X, pd.DataFrame):
        X = pd.get_dummies(X, dtype=float).to_numpy()
    table = encode(X)
    return table.values, table.nominal, np.asarray(y)


def learner(name: str, kind: str):
    if kind == "nb":
        nominal = data(name, False)[1]
        return NaiveBayes(nominal if nominal.any() else None)
    return DecisionTreeClassifier(
        criterion="entropy", ccp_alpha=0.01, min_samples_leaf=2, random_state=0
    )


def draw(name: str, kind: str, run: int):
    """One sample to estimate from, and the other cases to know the truth by."""
    X, _, y = data(name, kind == "tree")
    rows = np.random.default_rng([len(name), run]).permutation(len(y))
    mine, rest = rows[: SAMPLE[name]], rows[SAMPLE[name] :]
    return (X[mine], y[mine]), (X[rest], y[rest])


@cache
def truth(name: str, kind: str, n_runs: int) -> float:
    """Mean accuracy on the cases outside the sample."""
    scores = []
    for run in range(n_runs):
        (X, y), (X_rest, y_rest) = draw(name, kind, run)
        model = learner(name, kind).fit(X, y)
        scores.append(np.mean(model.predict(X_rest) == y_rest))
    return float(np.mean(scores))


@cache
def estimates(name: str, kind: str, n_runs: int, folds=FOLDS, n_samples=30):
    """What every method says, run by run: arrays of shape (n_runs,)."""
    methods = {
        (stratified, k): CrossValidation(k, stratified=stratified)
        for stratified in (True, False)
        for k in folds
    }
    found: dict = {key: [] for key in [*methods, "boot20", "boot"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes too small for the folds
        for run in range(n_runs):
            (X, y), _ = draw(name, kind, run)
            for key, method in methods.items():
                value = estimate(learner(name, kind), X, y, cv=method, random_state=run)
                found[key].append(value.value)
            boot = estimate(
                learner(name, kind),
                X,
                y,
                cv=Bootstrap632(n_samples),
                random_state=run,
            )
            found["boot20"].append(boot.scores[:20].mean())
            found["boot"].append(boot.value)
    return {key: np.array(values) for key, values in found.items()}
