"""Conventions of scikit-learn: frames in and out, notebook display, grid search."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from tests.test_estimators import SURVIVAL, public_estimators, ready
from tests.test_persistence import Y, answer, outcome, suitable

from veridical.learning import CoxRidge
from veridical.selection import AnovaF, Correlation

pl = pytest.importorskip("polars")

NAMES = [f"gene {j}" for j in range(6)]

#: Values to try besides the default, by parameter; of a selector inside, an object.
VALUES = {
    "n_features_to_select": [3, 0.5, None],
    "n_features": [2],
    "selector": [AnovaF(2), Correlation(2)],
    "categorical_features": ["from_dtype", None],
    "n_jobs": [1],
    "n_samples": [10],
    "n_neighbors": [2],
    "threshold": [0.01],
    "alpha": [0.3, "auto"],
    "alphas": [(0.2, 0.6)],
    "relevance": ["all-classes", "one-vs-all"],
    "kernel": ["linear", "rbf"],
    "privileged_kernel": ["linear", "rbf"],
    "search": ["ranking", "backward"],
    "step": [2, 0.3],
    "C": [0.5],
    "Cs": [(0.1, 1.0)],
    "gammas": [(0.1, 1.0)],
    "gamma": [0.5],
    "privileged_gamma": [0.5],
    "cv": [2],
    "confidence": [0.1],
    "min_samples_leaf": [1],
    "random_state": [0, 1],
    "tol": [1e-3],
    "max_iter": [500],
    "prior": [(1.0, 4.0)],
    "unselected_fraction": [0.5],
    "covariates": [[0], [1, 3]],
    "unknown": ["estimate"],
    "numbers": ["mean", "knn"],
}
#: Of other parameters this test knows no further value than their default.


def problem(make):
    """An estimator that is quick, and data that suit it."""
    table, more = suitable(make.__name__)
    if more:  # how hard a case is; with noise the optimum is 0, where signs are moot
        hard = np.maximum(0, 1 - (2 * Y - 1) * (table[:, :2].sum(axis=1) - 1.2))
        more = {"X_privileged": np.column_stack([hard, table[:, 5]])}
    if make.__name__ == "LUFeCV":
        return make(Cs=(0.1, 1.0), gammas=(1.0,), cv=2), table, more
    return ready(make), table, more


def outcome_of(estimator):
    """What suits the estimator: classes, or survival times."""
    return outcome(type(estimator).__name__)


def learner_for(estimator):
    """What comes after a selector in a pipeline."""
    survival = type(estimator).__name__ in SURVIVAL
    return CoxRidge() if survival else GaussianNB()


def other_values(estimator, name):
    """Values for a parameter: those known, and always the default itself."""
    default = estimator.get_params(deep=False)[name]
    found = [default, *VALUES.get(name, [])]
    if isinstance(default, bool):
        found = [default, not default]
    elif name not in VALUES and isinstance(default, float):
        found.append(default * 0.9)
    return found


def parameters():
    for name, make in public_estimators().items():
        for parameter in inspect.signature(make).parameters:
            yield pytest.param(make, parameter, id=f"{name}-{parameter}")


def accepted(estimator, parameter, table, more):
    """Those of the values that the estimator accepts on these data."""
    good = []
    for value in other_values(estimator, parameter):
        try:
            clone(estimator).set_params(**{parameter: value}).fit(
                table, outcome_of(estimator), **more
            )
        except (ValueError, TypeError):
            continue
        good.append(value)
    return good


@pytest.mark.parametrize(("make", "parameter"), list(parameters()))
@pytest.mark.filterwarnings("ignore")
def test_grid_search_over_every_parameter(make, parameter):
    """The search tries each value, clones keep it, and the best one is put in place."""
    estimator, table, more = problem(make)
    values = accepted(estimator, parameter, table, more)
    assert values, f"not even the default of {parameter} is accepted"
    if parameter in VALUES:
        assert len(values) > 1 or values[0] in VALUES[parameter], parameter
    name, y = parameter, outcome_of(estimator)
    if not hasattr(estimator, "predict"):
        steps = [("it", estimator), ("learner", learner_for(estimator))]
        estimator, name = Pipeline(steps), f"it__{parameter}"
    search = GridSearchCV(estimator, {name: values}, cv=2, error_score="raise")
    search.fit(table, y, **more)
    assert len(search.cv_results_["params"]) == len(values)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_.get_params()[name]
    assert repr(best) == repr(search.best_params_[name])
    assert repr(clone(search.best_estimator_)) == repr(
        clone(clone(search.best_estimator_))
    )


@pytest.fixture(params=public_estimators().items(), ids=lambda item: item[0])
def case(request):
    return problem(request.param[1])


@pytest.mark.filterwarnings("ignore:n_features_to_select:UserWarning")
@pytest.mark.filterwarnings("ignore:.* has no (batch|covariates):UserWarning")
def test_pandas_and_polars_mean_the_same(case):
    estimator, table, more = case
    frames = [
        pd.DataFrame(table, columns=NAMES),
        pl.DataFrame(table, schema=NAMES),
    ]
    found = []
    for frame in frames:
        fitted = clone(estimator).fit(frame, outcome_of(estimator), **more)
        assert fitted.feature_names_in_.tolist() == NAMES
        found.append(answer(fitted, frame))
    np.testing.assert_array_equal(found[0], found[1])
    plain = clone(estimator).fit(table, outcome_of(estimator), **more)
    np.testing.assert_array_equal(found[0], answer(plain, table))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.filterwarnings("ignore:n_features_to_select:UserWarning")
@pytest.mark.filterwarnings("ignore:.* has no (batch|covariates):UserWarning")
def test_frames_come_back_as_asked_for(case, kind):
    estimator, table, more = case
    if not hasattr(estimator, "transform"):
        pytest.skip("it transforms nothing")
    frame = pd.DataFrame(table, columns=NAMES)
    chosen = clone(estimator).set_output(transform=kind)
    out = chosen.fit(frame, outcome_of(estimator), **more).transform(frame)
    assert type(out) is (pd.DataFrame if kind == "pandas" else pl.DataFrame)
    assert list(out.columns) == chosen.get_feature_names_out().tolist()
    plain = clone(estimator).fit(frame, outcome_of(estimator), **more)
    np.testing.assert_array_equal(out.to_numpy(), np.asarray(plain.transform(frame)))


@pytest.mark.filterwarnings("ignore:n_features_to_select:UserWarning")
@pytest.mark.filterwarnings("ignore:.* has no (batch|covariates):UserWarning")
def test_it_is_shown_in_a_notebook(case):
    estimator, table, more = case
    name = type(estimator).__name__
    for shown in (
        estimator,
        clone(estimator).fit(table, outcome_of(estimator), **more),
    ):
        html = shown._repr_html_()
        assert html.startswith("<style>")
        assert name in html
        assert eval(repr(type(shown)()), {name: type(shown)}) is not None
    pipeline = Pipeline([("it", estimator), ("learner", learner_for(estimator))])
    assert name in pipeline._repr_html_()


def test_warnings_are_for_users():
    """What is fitted here says nothing to programmers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        warnings.simplefilter("error", DeprecationWarning)
        AnovaF(2).fit(*(suitable("AnovaF")[0], Y))
