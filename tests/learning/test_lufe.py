"""LUFe and LUFeCV: predictions need the selected features only."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.feature_selection import (
    RFE,
    SelectFpr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from veridical._core.errors import InputError
from veridical.learning import LUFe, LUFeCV, LUFeLogistic, SVMPlus
from veridical.learning.lufe import BestByAnova
from veridical.selection import AnovaF


def data(seed=0, n=60, p=150, signal=0.8):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, "no", "yes")
    X = rng.normal(size=(n, p))
    X[:, :8] += signal * (y == "yes")[:, None]
    return X, y


def test_it_is_svm_plus_on_the_two_parts():
    X, y = data()
    model = LUFe(SelectKBest(k=12), C=0.1, gamma=0.5).fit(X, y)
    support = SelectKBest(k=12).fit(X, y).get_support()
    np.testing.assert_array_equal(model.support_, support)
    plus = SVMPlus(C=0.1, gamma=0.5).fit(
        X[:, support], y, X_privileged=X[:, model.unselected_]
    )
    np.testing.assert_allclose(model.coef_, plus.coef_, atol=1e-9)
    np.testing.assert_allclose(model.privileged_coef_, plus.privileged_coef_, atol=1e-9)
    assert model.dual_gap_ < 1e-8
    assert set(model.unselected_) == set(np.flatnonzero(~support))


@pytest.mark.parametrize(
    "selector", [AnovaF(12), SelectKBest(k=12), RFE(SVC(kernel="linear"), step=0.2)]
)
def test_the_best_share_of_the_unselected(selector):
    X, y = data()
    model = LUFe(selector, unselected_fraction=0.3).fit(X, y)
    fitted = model.selector_
    if hasattr(fitted, "order_"):
        order = fitted.order_
    elif hasattr(fitted, "ranking_"):
        order = np.argsort(fitted.ranking_, kind="stable")
    else:
        order = np.argsort(-fitted.scores_, kind="stable")
    rest = [j for j in order if not model.support_[j]]
    assert list(model.unselected_) == rest[: int(0.3 * len(rest))]


def test_the_best_share_where_a_selector_orders_in_its_own_words():
    X, y = data()
    by_model = SelectFromModel(SVC(kernel="linear"), max_features=12)
    model = LUFe(by_model, unselected_fraction=0.3).fit(X, y)
    order = np.argsort(-np.abs(model.selector_.estimator_.coef_[0]), kind="stable")
    rest = [j for j in order if not model.support_[j]]
    assert list(model.unselected_) == rest[: int(0.3 * len(rest))]
    model = LUFe(VarianceThreshold(0.9), unselected_fraction=0.3).fit(X, y)
    order = np.argsort(-X.var(axis=0), kind="stable")
    rest = [j for j in order if not model.support_[j]]
    assert list(model.unselected_) == rest[: int(0.3 * len(rest))]


def test_prediction_touches_the_selected_features_only():
    """Statement B9 of the specification of LUFe."""
    X, y = data()
    model = LUFe(SelectKBest(k=12)).fit(X, y)
    scores = model.decision_function(X)
    spoiled = X.copy()
    spoiled[:, ~model.support_] = np.nan
    np.testing.assert_array_equal(model.decision_function(spoiled), scores)
    spoiled[0, np.flatnonzero(model.support_)[0]] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(spoiled)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_the_selected_features_is_enough(library):
    X, y = data()
    names = [f"word{j}" for j in range(X.shape[1])]
    frame = library(dict(zip(names, X.T, strict=True)))
    model = LUFe(SelectKBest(k=12)).fit(frame, y)
    wanted = [names[j] for j in np.flatnonzero(model.support_)]
    part = frame[wanted[::-1]]
    np.testing.assert_allclose(
        model.decision_function(part), model.decision_function(frame)
    )
    with pytest.raises(InputError, match=r"11 of these are missing: .+ more") as caught:
        model.predict(frame[wanted[:1]])
    assert len(str(caught.value)) < 500
    with pytest.raises(
        InputError, match="all of them are present, but there are others"
    ):
        model.predict(frame[names[:140]])
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :20])


def test_what_is_deployed_needs_nothing_of_ours():
    X, y = data()
    names = [f"word{j}" for j in range(X.shape[1])]
    model = LUFe(SelectKBest(k=12)).fit(pd.DataFrame(X, columns=names), y)
    plain = model.deploy()
    assert type(plain).__module__.startswith("sklearn.")
    assert b"veridical" not in pickle.dumps(plain)
    part = pd.DataFrame(X, columns=names)[list(plain.feature_names_in_)]
    np.testing.assert_array_equal(plain.predict(part), model.predict(part))
    np.testing.assert_allclose(
        plain.decision_function(part), model.decision_function(part)
    )
    three = np.array(["a", "b", "c"])[np.arange(60) % 3]
    many = LUFe(SelectKBest(k=12)).fit(X, three)
    np.testing.assert_array_equal(
        many.deploy().predict(X[:, many.support_]), many.predict(X)
    )


def test_nothing_unselected_is_an_ordinary_svm_with_a_warning():
    X, y = data(p=6)
    with pytest.warns(UserWarning, match="none is left"):
        model = LUFe(SelectKBest(k="all"), C=0.5).fit(X, y)
    theirs = SVC(kernel="linear", C=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    with pytest.warns(UserWarning, match="none is left"):
        choice = LUFeCV(SelectKBest(k="all"), Cs=[0.1, 1], n_jobs=1).fit(X, y)
    assert choice.scores_.shape == (7, 2, 5)


def test_the_default_selector_is_anova():
    X, y = data()
    X[:, 3] = 7.0
    theirs = np.nan_to_num(AnovaF(10).fit(X, y).scores_, nan=-np.inf)
    ours = BestByAnova().fit(X, y)
    np.testing.assert_array_equal(
        np.argsort(-ours.scores_, kind="stable")[:50],
        np.argsort(-theirs, kind="stable")[:50],
    )
    assert LUFe().fit(X, y).support_.sum() == 10


@pytest.mark.parametrize("outliers", [False, True])
def test_the_grid_is_a_loop_over_fits(outliers):
    """Also where outliers take the digits of Gram matrices."""
    X, y = data(1, signal=0.4)
    if outliers:
        X = X[:, :30]
        X[np.random.default_rng(0).integers(0, len(X), 30), np.arange(30)] *= 1e6
    Cs, gammas = [0.001, 0.03, 1.0], [0.01, 10.0]
    model = LUFeCV(SelectKBest(k=12), Cs=Cs, gammas=gammas, n_jobs=2).fit(X, y)
    support = model.support_
    for i, gamma in enumerate(gammas):
        for j, C in enumerate(Cs):
            folds = StratifiedKFold(5).split(X, y)
            for k, (train, test) in enumerate(folds):
                one = SVMPlus(C=C, gamma=gamma).fit(
                    X[train][:, support], y[train], X_privileged=X[train][:, ~support]
                )
                expected = np.mean(one.predict(X[test][:, support]) == y[test])
                assert model.scores_[i, j, k] == pytest.approx(expected)
    means = model.scores_.mean(axis=2)
    row, column = np.unravel_index(means.argmax(), means.shape)
    assert (model.gamma_, model.C_) == (gammas[row], Cs[column])
    final = LUFe(SelectKBest(k=12), C=model.C_, gamma=model.gamma_).fit(X, y)
    np.testing.assert_allclose(model.coef_, final.coef_, atol=1e-8)


def test_threads_and_seeds_do_not_matter():
    X, y = data(2)
    one = LUFeCV(SelectKBest(k=12), n_jobs=1).fit(X, y)
    two = LUFeCV(SelectKBest(k=12), n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_the_order_of_features_does_not_matter():
    """B10, through the selector."""
    X, y = data(3)
    places = np.random.default_rng(0).permutation(X.shape[1])
    one = LUFe(SelectKBest(k=12)).fit(X, y)
    other = LUFe(SelectKBest(k=12)).fit(X[:, places], y)
    np.testing.assert_allclose(
        other.decision_function(X[:, places]), one.decision_function(X), atol=1e-6
    )


def test_few_features_need_no_gram_matrices():
    """Matrices of 31 000² numbers would not fit."""
    X, y = data(n=31_000, p=9, signal=0.5)
    model = LUFe(SelectKBest(k=3)).fit(X, y)
    assert model.dual_gap_ < 1e-8
    X, y = data(n=60, p=9)
    few = LUFe(SelectKBest(k=3), C=0.1).fit(X, y)
    S, U = X[:, few.support_], X[:, few.unselected_]
    plus = SVMPlus(0.1, 1.0, "precomputed", "precomputed")
    plus.fit(S @ S.T, y, X_privileged=U @ U.T)
    np.testing.assert_allclose(few.coef_, plus.dual_coef_ @ S, atol=1e-6)
    np.testing.assert_allclose(few.intercept_, plus.intercept_, atol=1e-6)


def test_bad_input_is_named():
    X, y = data()
    with pytest.raises(InputError, match="'anova' is not a selector"):
        LUFe("anova").fit(X, y)
    with pytest.raises(InputError, match="unselected_fraction=0"):
        LUFe(unselected_fraction=0).fit(X, y)
    greedy = SequentialFeatureSelector(SVC(), n_features_to_select=1, cv=2)
    with pytest.raises(InputError, match="does not order the features"):
        LUFe(greedy, unselected_fraction=0.5).fit(X[:, :4], y)
    with pytest.raises(InputError, match="selected no feature"):
        LUFe(SelectFpr(alpha=0.0)).fit(X, y)
    with pytest.raises(InputError, match="Cs="):
        LUFeCV(Cs=[0, 1]).fit(X, y)
    with pytest.raises(InputError, match=r"gammas=1.0 must be a list"):
        LUFeCV(gammas=1.0).fit(X, y)
    with pytest.raises(InputError, match="no folds"):
        LUFeCV(cv=[]).fit(X, y)
    with pytest.raises(InputError, match="lacks one of the classes"):
        LUFeCV(cv=[(np.arange(0, 60, 2), np.arange(1, 60, 2))]).fit(X, y)
    noise = np.random.default_rng(0).normal(size=(60, 60))
    noise -= noise.mean(axis=0)
    with pytest.raises(InputError, match="privileged_bias=True"):
        LUFeCV(SelectKBest(k=2), privileged_bias=False, n_jobs=1).fit(noise, y)


@pytest.mark.slow
def test_unselected_features_that_tell_the_noise_help():
    """B13: each slack is a linear function of the unselected features."""
    gains = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n, n_train, k = 1000, 60, 20
        y = rng.choice([-1.0, 1.0], size=n)
        slack = rng.exponential(0.8, size=n)
        S = rng.normal(size=(n, k))
        S[:, 0] = y * (1 - slack)
        S = S @ np.linalg.qr(rng.normal(size=(k, k)))[0]
        U = np.c_[slack, 0.1 * rng.normal(size=(n, 100))]
        train, test = np.arange(n_train), np.arange(n_train, n)
        plus = SVMPlus(C=1.0, gamma=1.0).fit(S[train], y[train], X_privileged=U[train])
        plain = SVC(kernel="linear", C=1.0).fit(S[train], y[train])
        gains.append(
            np.mean(plus.predict(S[test]) == y[test]) - plain.score(S[test], y[test])
        )
    assert stats.ttest_1samp(gains, 0.0, alternative="greater").pvalue < 0.05


#: A smaller grid than the default one, which takes a minute for some checks.
GRID = {"Cs": (1.0,), "gammas": (0.1, 10.0), "cv": 2}


def _expected_to_fail(estimator):
    return {
        "check_estimators_nan_inf": "what stands in unselected columns does not matter",
        "check_classifiers_train": "one feature does not reach the accuracy asked for",
    }


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [LUFeCV(AnovaF(1), **GRID)], expected_failed_checks=_expected_to_fail
)
def test_with_one_selected_feature_the_contract_is_kept(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [LUFe(AnovaF(1)), LUFeLogistic(AnovaF(1))], expected_failed_checks=_expected_to_fail
)
def test_with_one_selected_feature_others_keep_the_contract_too(estimator, check):
    check(estimator)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("make", [LUFe, LUFeLogistic])
def test_a_sample_given_twice_is_a_sample_of_weight_two(make, convert):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 40)), np.arange(24) % 2
    X[:, 0] += y
    counts = rng.integers(0, 4, 24)
    rows = rng.permutation(np.repeat(np.arange(24), counts))
    model = make(AnovaF(1), gamma=0.001)
    once = clone(model).fit(convert(X), y, sample_weight=counts)
    again = clone(model).fit(convert(X[rows]), y[rows])
    np.testing.assert_allclose(once.coef_, again.coef_, rtol=1e-12)
    np.testing.assert_allclose(once.intercept_, again.intercept_, rtol=1e-12)
