"""Any score in select, compare and audit: values, direction, words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

import veridical
from veridical import report
from veridical._core.errors import InputError
from veridical._core.splits import CrossValidation
from veridical.selection import AnovaF, Correlation

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1], [35, 25])
X = RNG.normal(size=(60, 40))
X[:, :6] += 0.8 * Y[:, np.newaxis]
CV = 5


def fold_values(selector, k, scorer, seed=0):
    """Return a score per fold, of a selection inside the folds, by scikit-learn."""
    values = []
    for train, test in CrossValidation(CV).split(Y, seed):
        kept = (
            clone(selector).set_params(n_features_to_select=k).fit(X[train], Y[train])
        )
        model = GaussianNB().fit(kept.transform(X[train]), Y[train])
        values.append(scorer(model, kept.transform(X[test]), Y[test]))
    return np.array(values)


def test_select_equals_scikit_learn_at_every_size():
    found = veridical.select(
        AnovaF(), X, Y, estimator=GaussianNB(), n_features_to_select=5, cv=CV,
        scoring=["roc_auc", "accuracy", "log_loss"], random_state=0,
    )  # fmt: skip
    for size, one in zip(found.sizes, found.by_size, strict=True):
        wanted = fold_values(AnovaF(), size, get_scorer("roc_auc"))
        assert one.value == pytest.approx(wanted.mean())
    assert [one.scoring.name for one in found.scores] == [
        "roc_auc",
        "accuracy",
        "log_loss",
    ]
    assert found.score.value == found.size_scores[-1].value
    plain = veridical.select(
        AnovaF(), X, Y, estimator=GaussianNB(), n_features_to_select=5, cv=CV,
        random_state=0,
    )  # fmt: skip
    assert found.accuracy == plain.accuracy
    assert plain.score == plain.accuracy
    assert found.scores[1].score.value == plain.accuracy.value


def test_the_best_size_of_a_loss_is_that_with_the_least():
    found = veridical.select(
        AnovaF(), X, Y, estimator=GaussianNB(), n_features_to_select=8, cv=CV,
        scoring="log_loss", random_state=0,
    )  # fmt: skip
    values = [one.value for one in found.by_size]
    assert found.best_size == found.sizes[int(np.argmin(values))]
    assert found.best_size != found.sizes[int(np.argmax(values))]
    page = report.page(found)
    assert "log loss" in page
    assert "ess is better" in page


@pytest.mark.parametrize("scoring", ["roc_auc", "log_loss"])
def test_compare_tests_the_score_of_the_folds_and_less_loss_wins(scoring):
    class Worst(AnovaF):
        """Keep the features that say least."""

        def rank_table(self, table, train_sets, **more):
            found = super().rank_table(table, train_sets, **more)
            return [np.asarray(order)[::-1] for order in found]

    selectors = {"good": Correlation(), "bad": Worst()}
    found = veridical.compare(
        selectors, X, Y, estimator=GaussianNB(), n_features_to_select=4, cv="4x5",
        methods="in", scoring=[scoring, "accuracy"], random_state=0,
    )  # fmt: skip
    assert found.scoring.name == scoring
    mean = found.score["in"].mean(axis=(1, 2, 3))
    better = mean[0] < mean[1] if scoring == "log_loss" else mean[0] > mean[1]
    assert better
    verdict = found.verdicts["in"]
    assert verdict.mean_difference == pytest.approx(mean[0] - mean[1])
    assert verdict.winner == "a"
    assert found.pairs["in"][0].better == "good"
    assert verdict.test.size is None
    assert found.coverage is None
    assert found.conclusion.sentence.startswith("good ")
    assert found.scoring.label in report.page(found)
    assert list(found.to_frame().columns[5:7]) == [scoring, "accuracy"]
    plain = veridical.compare(
        selectors, X, Y, estimator=GaussianNB(), n_features_to_select=4, cv="4x5",
        methods="in", random_state=0,
    )  # fmt: skip
    np.testing.assert_array_equal(plain.accuracy["in"], found.accuracy["in"])
    np.testing.assert_array_equal(plain.accuracy["in"], found.values["accuracy"]["in"])


def test_folds_that_lack_a_class_cannot_be_compared():
    with pytest.raises(InputError, match="use fewer, stratified folds"):
        veridical.compare(
            ["anova", "correlation"], X, Y, estimator="nb", n_features_to_select=3,
            cv="loo", scoring="roc_auc", random_state=0,
        )  # fmt: skip


def test_audit_permutes_labels_for_the_score():
    part = X[:, 3:11]  # in the middle of what was measured
    found = veridical.audit(
        GaussianNB(), part, Y, cv=CV, scoring=["roc_auc", "sensitivity"],
        n_permutations=19, random_state=0,
    )  # fmt: skip
    values = [
        roc_auc_score(
            Y[test],
            GaussianNB().fit(part[train], Y[train]).predict_proba(part[test])[:, 1],
        )
        for train, test in CrossValidation(CV).split(Y, 0)
    ]
    assert found.score["in"].value == pytest.approx(np.mean(values))
    assert abs(found.null["in"].mean - 0.5) < 0.1
    assert found.null["in"].pvalue == pytest.approx(1 / 20)
    assert found.others[0].scoring.label == "sensitivity"
    assert "area under the ROC curve" in found.conclusion.sentence
    assert "area under the ROC curve" in found.coverage.conditions
    page = report.page(found)
    assert "guessing" in page


def test_of_a_loss_less_than_on_permuted_labels_is_significant():
    found = veridical.audit(
        GaussianNB(), X[:, :8], Y, cv=CV, scoring="log_loss", n_permutations=19,
        random_state=0,
    )  # fmt: skip
    proba, truth = [], []
    for train, test in CrossValidation(CV).split(Y, 0):
        model = GaussianNB().fit(X[train, :8], Y[train])
        proba.append(model.predict_proba(X[test, :8])[:, 1])
        truth.append(Y[test])
    wanted = log_loss(np.concatenate(truth), np.concatenate(proba))
    assert found.score["in"].value == pytest.approx(wanted)
    assert found.score["in"].value < found.null["in"].low
    assert found.null["in"].pvalue == pytest.approx(1 / 20)
