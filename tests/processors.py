"""What every processor must compute alike; run as a program, it prints it as JSON.

    python tests/processors.py orders|named|learning [--large]

Orders of selectors, predictions and canonical exports are to agree byte for byte,
probabilities to the rounding of a few operations.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

import numba
import numpy as np
import pandas as pd
from sklearn.base import clone
from threadpoolctl import threadpool_info

from veridical._core.errors import InputError
from veridical.experiments import Serial, Store, export, run_study
from veridical.learning import (
    C45,
    DAGSVM,
    BiasCorrectedGaussianNB,
    BiasCorrectedNB,
    LUFe,
    LUFeCV,
    LUFeLogistic,
    NaiveBayes,
    SVMPlus,
    estimators_for,
    make_estimator,
)
from veridical.papers.in_vs_out import study as in_vs_out
from veridical.selection import SELECTORS, AnovaF

LEARNING = {
    "naive-bayes": NaiveBayes(),
    "c45": C45(),
    "dagsvm": DAGSVM(),
    "dagsvm-rbf": DAGSVM(kernel="rbf", standardize=True),
    "lufe": LUFe(AnovaF(4)),
    "lufe-cv": LUFeCV(AnovaF(4), Cs=(0.1, 1.0), gammas=(0.1, 1.0), cv=3),
    "lufe-logistic": LUFeLogistic(AnovaF(4)),
    "bias-corrected": BiasCorrectedNB(4),
    "bias-corrected-gaussian": BiasCorrectedGaussianNB(4),
}


def numeric(seed, n=60, p=12, n_classes=3):
    """Floats, a coarse grid, a constant, a copy, and a multiple of another column."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p)) + 0.7 * np.outer(y, rng.random(p) < 0.4)
    X[:, 2] = np.round(X[:, 2])
    X[:, 5] = 1.0
    X[:, 7] = X[:, 1]
    X[:, 9] = 3.0 * X[:, 0] + 0.1
    return X, y


def outliers(seed):
    """One value per column that is 10⁶ times too large."""
    X, y = numeric(seed, n=61, p=20, n_classes=4)
    rng = np.random.default_rng(seed + 1)
    X[rng.integers(0, 61, 20), np.arange(20)] *= 1e6
    return X, y


def mixed(seed, n=60):
    """Numbers and categorical features, values missing in both."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    words = np.array(["red", "green", "blue", "grey"])
    frame = {}
    for j in range(5):
        frame[f"x{j}"] = rng.normal(size=n) + (j < 2) * y
        kind = (rng.integers(0, 4, n) + (j < 2) * y) % 4
        frame[f"k{j}"] = words[kind].astype(object)
    table = pd.DataFrame(frame)
    for name in table.columns[::3]:
        table.loc[rng.random(n) < 0.15, name] = None
    for name in table.columns[1::2]:
        table[name] = table[name].astype("category")
    return table, y


def tables(large):
    yield "three-classes", numeric(0)
    yield "wide", numeric(1, n=40, p=80, n_classes=2)
    yield "outliers", outliers(2)
    yield "mixed", mixed(3)
    if large:
        for seed in range(4, 9):
            yield f"three-classes-{seed}", numeric(seed, n=150, p=30)
            yield f"wide-{seed}", numeric(seed, n=60, p=500, n_classes=2)
            yield f"outliers-{seed}", outliers(seed)
            yield f"mixed-{seed}", mixed(seed, n=200)


def take(X, rows):
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def attempt(work):
    """Give the result, or the kind of error where the method refuses the table."""
    try:
        return work()
    except InputError:
        return "refused"


def orders(large):
    """Orders of all selectors that can read a table."""
    for table, (X, y) in tables(large):
        for name, kind in SELECTORS.items():
            selector = kind(n_features_to_select=5)
            found = attempt(lambda s=selector, X=X, y=y: s.fit(X, y).order_.tolist())
            yield f"{table}/{name}", found


def predictions(learners, large):
    """Labels of the second half by what was learned from the first."""
    for table, (X, y) in tables(large):
        half = len(y) // 2
        train, test = np.arange(half), np.arange(half, len(y))
        given = take(X, train), y[train], take(X, test)
        for name, learner in learners.items():
            yield (
                f"{table}/{name}",
                attempt(lambda one=learner, g=given: learn(one, *g)),
            )


def learn(learner, X, y, X_test):
    fitted = clone(learner).fit(X, y)
    found = {"labels": fitted.predict(X_test).tolist()}
    if hasattr(fitted, "predict_proba"):
        found["probabilities"] = fitted.predict_proba(X_test).ravel().tolist()
    return found


def privileged(large):
    """SVM+ of all kinds: labels, and whether the duality gap is small."""
    for seed in range(20 if large else 4):
        rng = np.random.default_rng(seed)
        X, y = numeric(seed, n=40, p=10, n_classes=2)
        Z = rng.normal(size=(40, 60)) + np.outer(y, rng.random(60) < 0.3)
        single = [t.astype(np.float32) @ t.astype(np.float32).T for t in (X, Z)]
        for loss in ("hinge", "squared_hinge"):
            for kernel in ("linear", "rbf", "precomputed"):
                given = single if kernel == "precomputed" else [X, Z]
                machine = SVMPlus(
                    loss=loss, kernel=kernel, privileged_kernel=kernel, gamma=0.1
                ).fit(given[0], y, given[1])
                yield (
                    f"svm-plus-{seed}-{loss}-{kernel}",
                    [machine.predict(given[0]).tolist(), machine.dual_gap_ < 1e-8],
                )


def canonical_export(large):
    spec = in_vs_out.InVsOutSpec(
        sources=(
            in_vs_out.SourceGrid(source="linear", n=(40,), n_features=(3,)),
            in_vs_out.SourceGrid(source="monks-3", n=(40,), n_features=(2,)),
        ),
        selectors=(
            in_vs_out.SelectorChoice(name="relieff", selector="relieff"),
            in_vs_out.SelectorChoice(name="fcbf", selector="fcbf"),
        ),
        n_sets=5 if large else 1,
        n_folds=5,
    )
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "s.sqlite", Path(folder) / "out.csv"
        run_study(in_vs_out.STUDY, spec, path, executor=Serial())
        with Store(path) as store:
            export(store, out, canonical=True)
        return out.read_text()


def named(large):
    """Predictions of all learners that have a name."""
    yield from predictions(
        {name: make_estimator(name) for name in estimators_for("classes")}, large
    )


def learning(large):
    """Predictions of our own learners, and a study with them."""
    yield from predictions(LEARNING, large)
    yield from privileged(large)
    yield "export", canonical_export(large)


PARTS = {"orders": orders, "named": named, "learning": learning}


def setting():
    """What computes here: kinds of BLAS kernels, and numba's processor."""
    kinds = {one.get("architecture") for one in threadpool_info()} - {None}
    return {"blas": sorted(kinds), "numba": numba.config.CPU_NAME}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = dict(PARTS[sys.argv[1]]("--large" in sys.argv))
    json.dump({"setting": setting(), "found": found}, sys.stdout)
