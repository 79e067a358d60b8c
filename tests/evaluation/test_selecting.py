"""Selecting and its accuracy: every step that uses labels is inside the folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, SelectPercentile

from veridical._core.errors import InputError
from veridical.datasets import load
from veridical.evaluation import CrossValidation, corrected_t, wilson
from veridical.evaluation.estimating import estimate
from veridical.evaluation.selecting import select
from veridical.learning import DAGSVM, ESTIMATORS
from veridical.selection import (
    FCBF,
    AnovaF,
    DifferentialPrioritization,
    selectors_for,
)


def problem(seed=0, n=60, p=30, n_classes=3, shift=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, :6] += shift * rng.normal(size=(n_classes, 6))[y]
    return X, np.array(["lo", "mid", "up"])[y]


def by_hand(selector, model, X, y, sizes, n_folds, seed):
    """Every fold, every size: fit the selector, fit the learner, predict."""
    named = np.empty((len(sizes), len(y)), dtype=object)
    for train, test in CrossValidation(n_folds).split(y, seed):
        order = clone(selector).fit(X[train], y[train]).order_
        for i, size in enumerate(sizes):
            columns = np.sort(order[:size])
            fitted = clone(model).fit(X[np.ix_(train, columns)], y[train])
            named[i, test] = fitted.predict(X[np.ix_(test, columns)])
    return named == y


@pytest.mark.parametrize(
    "selector",
    [
        AnovaF(7),
        DifferentialPrioritization(
            7, alpha="auto", n_splits=2, n_searched=8, random_state=5
        ),
    ],
    ids=["anova", "ddp with alpha chosen"],
)
@pytest.mark.parametrize(
    ("estimator", "sizes"), [(DAGSVM(), tuple(range(1, 8))), ("svm", (1, 2, 3, 5, 7))]
)
def test_accuracies_are_those_of_fitting_every_fold_by_hand(selector, estimator, sizes):
    X, y = problem()
    found = select(
        selector,
        X,
        y,
        estimator=estimator,
        n_features_to_select=7,
        cv=4,
        random_state=3,
    )
    assert found.sizes == sizes
    model = ESTIMATORS["svm"]() if estimator == "svm" else estimator
    right = by_hand(selector, model, X, y, found.sizes, 4, 3)
    np.testing.assert_allclose(found.size_accuracy, right.mean(axis=1))
    assert found.accuracy.value == pytest.approx(right[-1].mean())
    folds = [split.test for split in CrossValidation(4).split(y, 3)]
    low, high = corrected_t(np.array([right[-1][f].mean() for f in folds]), 1 / 3)
    assert found.interval == "corrected-t"
    assert found.accuracy[1:] == pytest.approx((max(low, 0), min(high, 1)))
    for one in found.classes:
        assert one.n_test == 20
        assert one.accuracy == pytest.approx(right[-1][y == one.name].mean())
    fitted = selector.fit(X, y)
    assert [f.index for f in found.features] == fitted.order_[:7].tolist()
    assert [f.name for f in found.features] == [f"x{j}" for j in fitted.order_[:7]]
    assert found.features[0].score == fitted.scores_[fitted.order_[0]]
    assert min(f.n_folds for f in found.features) >= 0
    assert max(f.n_folds for f in found.features) <= found.n_folds == 4


def test_random_labels_are_named_at_random():
    """Selected on all samples, such features would look good: here they do not."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 2000)), np.arange(80) % 2
    honest = select("anova", X, y, n_features_to_select=10)
    chosen = AnovaF(10).fit(X, y).transform(X)
    leaky = select("anova", chosen, y, n_features_to_select=10)
    assert honest.accuracy.low < 0.5 < honest.accuracy.high + 0.05
    assert leaky.accuracy.value > honest.accuracy.value + 0.2


@pytest.mark.parametrize("name", selectors_for("classes"))
def test_every_selector_selects_as_many_features_as_asked(name):
    X, y = problem(2, p=12)
    found = select(name, X, y, n_features_to_select=4, cv=3)
    assert len(found.features) == 4
    assert found.selector == name
    assert found.n_test == 60
    shares = [one.n_test / 60 for one in found.classes]
    total = sum(s * c.accuracy for s, c in zip(shares, found.classes, strict=True))
    assert total == pytest.approx(found.accuracy.value, abs=1e-12)


def test_alpha_is_chosen_in_every_fold():
    X, y = problem(3)
    selector = DifferentialPrioritization(alpha="auto", n_splits=2, n_searched=6)
    options = {"n_features_to_select": 5, "cv": 3, "random_state": 0}
    found = select(selector, X, y, **options)
    assert len(found.fold_alphas) == 3
    assert len(found.alphas) == len(found.alpha_accuracy) == 10
    assert 0 < found.alpha <= 1
    assert set(found.paths) == {"mean relevance", "antiredundancy"}
    assert len(found.paths["antiredundancy"]) == 5
    again = select(selector, X, y, n_jobs=2, **options)
    assert again == found


def test_categorical_features():
    X, y = load("monks-1")
    frame = pd.DataFrame(X)
    found = select("relieff", frame, y, n_features_to_select=3, cv=3)
    assert found.estimator == "svm"
    assert found.sizes == (1, 2, 3)
    with pytest.raises(InputError, match="dagsvm needs"):
        select("relieff", frame, y, n_features_to_select=3, estimator=DAGSVM())


def test_small_classes_and_fewer_features_than_asked_for_are_told():
    X, y = problem(4, n=9, p=6)
    with pytest.warns(UserWarning, match="fewer than the 9 folds"):
        found = select(AnovaF(100), X, y, cv=9)
    assert found.n_folds == 9
    assert len(found.features) == 6
    assert len(found.notes) == 2
    assert "all of them are selected" in found.notes[0]
    assert "so some folds lack it" in found.notes[1]


def test_more_features_than_there_are_cannot_be_asked_for():
    X, y = problem(4, n=30, p=6)
    with pytest.raises(InputError, match=r"n_features_to_select=7 is not .* 1 to 6"):
        select("anova", X, y, n_features_to_select=7)


def test_bad_input_is_named():
    X, y = problem()
    with pytest.raises(InputError, match="selects nothing"):
        select("anova", X, y, n_features_to_select=0)
    with pytest.raises(InputError, match="did you mean"):
        select("anovaa", X, y, n_features_to_select=3)
    with pytest.raises(InputError, match="does not select features"):
        select(3, X, y, n_features_to_select=3)
    with pytest.raises(InputError, match="no estimator 'cart'"):
        select("anova", X, y, n_features_to_select=3, estimator="cart")
    with pytest.raises(InputError, match="is not a way to split"):
        select("anova", X, y, cv=2.5)


@pytest.mark.parametrize("alpha", [0.5, "auto"])
@pytest.mark.parametrize("labels", ["ab", "abc", "aab", "aaab", "aaaaab"])
def test_a_training_set_of_one_class_is_refused_and_what_it_lacks_named(alpha, labels):
    X = np.random.default_rng(5).normal(size=(len(labels), 4))
    selector = DifferentialPrioritization(alpha=alpha)
    words = r"Class(es)? '[abc]' .*missing from the training set of split [12] of 2"
    with pytest.raises(InputError, match=words):
        select(selector, X, np.array(list(labels)), n_features_to_select=3, cv=2)


@pytest.mark.parametrize("alpha", [0.5, "auto"])
def test_holes_are_found_by_the_name_of_their_feature(alpha):
    X, y = problem()
    table = pd.DataFrame(X).add_prefix("gene ")
    table.iloc[3, 2] = np.nan
    with pytest.raises(InputError, match=r"missing values.*column 'gene 2'"):
        select(
            DifferentialPrioritization(alpha=alpha), table, y, n_features_to_select=3
        )


@pytest.mark.parametrize(
    ("selector", "wanted", "n"),
    [
        ("anova", "auto", 7),
        (AnovaF(5), "auto", 5),
        (AnovaF(0.25), "auto", 3),
        (AnovaF(None), "auto", 13),
        (AnovaF(5), 7, 7),
        (AnovaF(5), None, 13),
        (SelectKBest(k=4), "auto", 4),
        (SelectKBest(k="all"), "auto", 13),
        (SelectKBest(k=4), None, 13),
        (SelectPercentile(percentile=90), "auto", 11),
        (SelectPercentile(percentile=90), 10, 10),
        (SelectPercentile(percentile=90), None, 11),
    ],
    ids=str,
)
def test_the_selector_says_how_many_unless_the_caller_does(selector, wanted, n):
    X, y = load_wine(return_X_y=True)

    found = select(
        selector,
        X,
        y,
        n_features_to_select=wanted,
        estimator="nb",
        cv=3,
        random_state=0,
    )

    assert len(found.features) == n
    assert found.sizes[-1] == n


@pytest.mark.parametrize(("n", "wanted"), [(None, "auto"), (3, None)])
def test_none_is_all_that_the_selector_keeps(n, wanted):
    X, y = load_wine(return_X_y=True)
    kept = FCBF(None).fit(X, y).n_features_
    assert kept < X.shape[1]

    found = select(
        FCBF(n), X, y, n_features_to_select=wanted, estimator="nb", random_state=0
    )

    assert len(found.features) == kept


def test_settings_name_the_splits():
    X, y = load_wine(return_X_y=True)

    found = select("anova", X, y, estimator="nb", cv=3, random_state=0)

    told = found.settings["cross-validation"]
    assert told == "stratified 3-fold cross-validation"


def test_advice_on_text_names_no_parameter_that_the_verb_lacks():
    X = np.array([["a", 1.0], ["b", 2.0]] * 10, dtype=object)
    with pytest.raises(InputError, match="'a', which is not a number") as caught:
        select("anova", X, ["no", "yes"] * 10)
    assert "categorical_features" not in str(caught.value)


@pytest.mark.parametrize("repeats", [2, 5])
def test_repeats_do_not_make_more_samples(repeats):
    """A sample that is tested several times counts once in every interval."""
    X, y = problem(4, n_classes=2)
    once, many = (
        select(
            "anova", X, y, estimator="nb", scoring=["accuracy", "roc_auc"],
            n_features_to_select=3, cv=f"{n}x3", random_state=0,
        )
        for n in (1, repeats)
    )  # fmt: skip
    assert many.n_test == once.n_test == len(y)
    for one, other in zip(once.classes, many.classes, strict=True):
        size = (y == one.name).sum()
        assert (one.n_test, one.n_units) == (size, 0)
        assert (other.n_test, other.n_units, other.n_effective) == (size, size, size)
        low, high = wilson(other.accuracy, other.n_test)
        assert other.interval.low <= low < high <= other.interval.high
    assert many.class_predictions is not None
    bins = many.class_predictions.bins
    assert sum(one.n for one in bins) == repeats * len(y)
    for one in bins:
        assert one.n_units <= min(one.n, len(y))
    assert any(0 < one.n_units < one.n for one in bins)


def test_repeats_do_not_make_more_samples_of_numbers():
    """Repeats do not make the mean of a bin of samples better known."""
    X, _ = problem(5)
    y = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
    once, many = (
        estimate("ridge", X, y, cv=f"{n}x3", random_state=0).curves[0] for n in (1, 20)
    )
    assert "which count samples" in many.title
    assert "which count samples" not in once.title
    widths = [
        np.mean([one.high - one.low for one in found.curves[0].values])
        for found in (once, many)
    ]
    # Twenty times as many samples would make it narrower by a factor of 4.5.
    assert widths[1] > widths[0] / 3
