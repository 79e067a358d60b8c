"""The ridge Cox model against scikit-survival, and its limit cases."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from statsmodels.duration.hazard_regression import PHReg

from veridical._core.errors import InputError
from veridical.learning import CoxRidge, make_estimator

linear_model = pytest.importorskip("sksurv.linear_model")
metrics = pytest.importorskip("sksurv.metrics")


def survival(n=90, p=4, seed=0, *, ties=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    time = rng.exponential(np.exp(-X[:, 0]))
    limit = rng.exponential(2.0, n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= limit, np.minimum(time, limit)
    if ties:
        y["time"] = np.ceil(5 * y["time"])
    return X, y


@pytest.mark.parametrize("alpha", [0, 0.7, 20.0])
@pytest.mark.parametrize("ties", [False, True])
def test_coefficients_are_those_of_scikit_survival(alpha, ties):
    X, y = survival(ties=ties)
    other = linear_model.CoxPHSurvivalAnalysis(
        alpha=alpha, ties="efron", tol=1e-12, n_iter=500
    ).fit(X, y)
    model = CoxRidge(alpha, standardize=False).fit(X, y)
    # Theirs stops where the likelihood no longer changes, half the digits away.
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    found = metrics.concordance_index_censored(y["event"], y["time"], model.predict(X))
    assert model.score(X, y) == pytest.approx(found[0], abs=1e-10)


def test_survival_functions_are_those_of_scikit_survival_without_ties():
    X, y = survival(ties=False)
    other = linear_model.CoxPHSurvivalAnalysis(alpha=1.0, tol=1e-12, n_iter=500)
    other.fit(X, y)
    model = CoxRidge(1.0, standardize=False).fit(X, y)
    steps = model.predict_survival_function(X[:5])
    theirs = other.predict_survival_function(X[:5], return_array=True)
    mine = np.array([step(other.unique_times_) for step in steps])
    np.testing.assert_allclose(mine, theirs, rtol=1e-8)
    at_times = model.predict_survival_function(X[:5], return_array=True)
    assert at_times.shape == (5, model.unique_times_.size)
    assert (np.diff(at_times, axis=1) < 0).all()
    assert steps[0](0.0) == 1.0
    hazard = model.predict_cumulative_hazard_function(X[:5], return_array=True)
    np.testing.assert_allclose(np.exp(-hazard), at_times)
    assert model.predict_cumulative_hazard_function(X[:1])[0](0.0) == 0.0


def test_the_gradient_is_zero_with_more_features_than_samples():
    """By the definition: differences of the penalized likelihood, summed by loops."""
    X, y = survival(25, 60, 3)
    model = CoxRidge(2.0, standardize=False).fit(X, y)

    def objective(coef):
        r, value = np.exp(X @ coef), 0.0
        for t in np.unique(y["time"][y["event"]]):
            died = y["event"] & (y["time"] == t)
            for place in range(died.sum()):
                gone = place / died.sum() * r[died].sum()
                value -= np.log(r[y["time"] >= t].sum() - gone)
            value += (X @ coef)[died].sum()
        return value - coef @ coef

    best = objective(model.coef_)
    for j in range(0, 60, 7):
        for sign in (-1, 1):
            moved = model.coef_.copy()
            moved[j] += sign * 1e-3
            assert objective(moved) < best
    assert best + model.coef_ @ model.coef_ == pytest.approx(model.log_likelihood_)


def test_auto_penalty_is_the_number_of_features_and_scale_does_not_matter():
    X, y = survival()
    model = CoxRidge().fit(X, y)
    assert model.alpha_ == 4
    scaled = CoxRidge().fit(X * [1, 10, 1e3, 0.1] + 5, y)
    np.testing.assert_allclose(scaled.coef_ * [1, 10, 1e3, 0.1], model.coef_)


@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_order_of_samples_and_whole_weights(seed):
    X, y = survival(30, 3, seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, 30)
    order = np.repeat(np.arange(30), weight)
    rng.shuffle(order)
    weighted = CoxRidge().fit(X, y, weight)
    repeated = CoxRidge().fit(X[order], y[order])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    np.testing.assert_allclose(
        weighted.cum_baseline_hazard_, repeated.cum_baseline_hazard_, rtol=1e-6
    )


def test_frames_numbers_alone_and_constant_features():
    X, y = survival()
    y["event"] = True
    frame = pd.DataFrame({"died": y["event"], "days": y["time"]})
    whole = CoxRidge().fit(X, y).coef_
    assert np.array_equal(CoxRidge().fit(X, frame).coef_, whole)
    assert np.array_equal(CoxRidge().fit(X, y["time"]).coef_, whole)
    constant = CoxRidge(4.0).fit(np.c_[X, np.ones(len(X))], y)
    np.testing.assert_allclose(constant.coef_, np.append(whole, 0.0), atol=1e-12)


def test_bad_input_is_refused_in_words():
    X, y = survival()
    with pytest.raises(InputError, match="must be positive, but it is 0"):
        CoxRidge().fit(X, np.arange(90.0))
    none = y.copy()
    none["event"] = False
    with pytest.raises(InputError, match="no event"):
        CoxRidge().fit(X, none)
    with pytest.raises(InputError, match="90 rows but 80"):
        CoxRidge().fit(X, y[:80])
    with pytest.raises(InputError, match="alpha=-1"):
        CoxRidge(-1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        CoxRidge(max_iter=1).fit(X, y)


def test_the_named_estimator_reads_categories_and_missing_values():
    X, y = survival()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "a"] = np.nan
    frame["e"] = pd.Categorical(np.where(X[:, 1] > 0, "high", "low"))
    model = make_estimator("cox").fit(frame, y)
    risk = model.predict(frame)
    assert np.isfinite(risk).all()
    assert metrics.concordance_index_censored(y["event"], y["time"], risk)[0] > 0.7
    assert model.predict_survival_function(frame, return_array=True).shape == (
        90,
        model.unique_times_.size,
    )


@pytest.mark.filterwarnings("error")
def test_a_feature_in_the_order_of_the_events_raises_no_warning_of_numpy():
    """Without a penalty the coefficient has no limit; the likelihood has."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = CoxRidge(0).fit(X, np.exp(-5 * X[:, 0]))
    assert model.score(X, np.exp(-5 * X[:, 0])) == 1.0
    assert model.coef_[0] > 10
    assert CoxRidge().fit(X, np.exp(-5 * X[:, 0])).coef_[0] < 5


# -- strata ----------------------------------------------------------------------------


def _strata(n, seed=1):
    return np.random.default_rng(seed).choice(["north", "south", "west"], n)


@pytest.mark.parametrize("ties", [False, True])
def test_coefficients_with_strata_are_those_of_statsmodels(ties):
    X, y = survival(120, ties=ties)
    strata = _strata(120)
    y["time"] *= np.where(strata == "north", 3.0, 1.0)
    model = CoxRidge(0, standardize=False).fit(X, y, strata=strata)
    other = PHReg(y["time"], X, status=y["event"] * 1, ties="efron", strata=strata)
    np.testing.assert_allclose(model.coef_, other.fit(disp=0).params, rtol=1e-6)
    plain = CoxRidge(0, standardize=False).fit(X, y)
    assert np.abs(model.coef_ - plain.coef_).max() > 1e-3


def test_one_stratum_is_no_stratum_and_many_are_fits_side_by_side():
    X, y = survival()
    whole = CoxRidge(1.0).fit(X, y)
    one = CoxRidge(1.0).fit(X, y, strata=np.zeros(len(X)))
    np.testing.assert_array_equal(one.coef_, whole.coef_)
    assert one.log_likelihood_ == whole.log_likelihood_
    np.testing.assert_array_equal(
        one.predict_survival_function(X, True, strata=np.zeros(len(X))),
        whole.predict_survival_function(X, return_array=True),
    )
    # Without coefficients, every stratum has the hazard of its own samples.
    strata = _strata(len(X))
    flat = CoxRidge(1e12).fit(X, y, strata=strata)
    for name in np.unique(strata):
        own = strata == name
        alone = CoxRidge(1e12).fit(X[own], y[own])
        np.testing.assert_allclose(
            flat.baselines_[name](alone.unique_times_),
            alone.cum_baseline_hazard_,
            rtol=1e-6,
        )


def test_strata_are_checked():
    X, y = survival()
    strata = _strata(len(X))
    model = CoxRidge().fit(X, y, strata=strata)
    with pytest.raises(InputError, match="pass the strata of these samples"):
        model.predict_survival_function(X)
    with pytest.raises(InputError, match="'east', which fit did not see"):
        model.predict_survival_function(X[:2], strata=["east", "north"])
    with pytest.raises(InputError, match="strata has 3 labels, but X has 90"):
        CoxRidge().fit(X, y, strata=["a", "b", "c"])
    with pytest.raises(InputError, match="strata has no label in row 2"):
        CoxRidge().fit(X, y, strata=["a", "b", None] + ["a"] * 87)
    with pytest.raises(InputError, match="were not given in fit"):
        CoxRidge().fit(X, y).predict_survival_function(X, strata=strata)
    assert not hasattr(model.fit(X, y), "baselines_")
