"""Tables of calibration, and what a correction changes on data."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import cross_val_predict

from veridical._core.errors import InputError
from veridical.datasets import make_beta_bernoulli
from veridical.evaluation import (
    CrossValidation,
    Dependence,
    ScoreDifference,
    calibration_table,
    correcting,
    correction,
)
from veridical.learning import BiasCorrectedNB


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    p, y = rng.random(500), rng.integers(2, size=500)
    found = calibration_table(y, p)
    assert found.log_loss == pytest.approx(log_loss(y, p))
    assert found.squared_error == pytest.approx(brier_score_loss(y, p))
    assert found.error == np.mean((p >= 0.5) != y)
    assert found.expected_error == pytest.approx(np.minimum(p, 1 - p).mean())
    logs = np.log(np.column_stack([1 - p, p]))
    again = calibration_table(y, log_probability=logs)
    assert again.log_loss == pytest.approx(found.log_loss)
    assert [b.n for b in again.bins] == [b.n for b in found.bins]


def test_bins_hold_their_upper_bound_and_the_first_also_zero():
    p = np.array([0.0, 0.1, 0.1000001, 0.2, 0.3, 0.7, 0.95, 1.0])
    y = np.array(list("nyynnyyy"))
    found = calibration_table(y, p)
    assert [b.n for b in found.bins] == [2, 2, 1, 0, 0, 0, 1, 0, 0, 2]
    assert found.positive == "y"
    first, empty = found.bins[0], found.bins[3]
    assert (first.predicted, first.observed) == (0.05, 0.5)
    assert (empty.predicted, empty.observed) == (None, None)
    assert sum(b.n for b in found.bins) == found.n == 8
    frame = found.to_frame()
    assert list(frame) == ["low", "high", "n", "predicted", "observed"]
    assert frame["high"].tolist() == [round(0.1 * i, 1) for i in range(1, 11)]


def test_extreme_probabilities_keep_their_digits():
    logs = np.array([[0.0, -800.0], [-800.0, 0.0]])
    right = calibration_table([0, 1], log_probability=logs)
    assert right.log_loss == 0
    assert right.expected_error == 0
    wrong = calibration_table([1, 0], log_probability=logs)
    assert 600 < wrong.log_loss < 800
    assert np.isfinite(calibration_table([0, 1], [1.0, 0.0]).log_loss)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 1, 2], [0.1, 0.2, 0.3]), "for two classes"),
        (([0, 1], [0.1, 1.2]), "from 0 to 1"),
        (([0, 1], [0.1, np.nan]), "from 0 to 1"),
        (([0, 1], [0.1]), "each of the 2 samples"),
        (([0, 1],), "either"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(InputError, match=words):
        calibration_table(*arguments)
    with pytest.raises(InputError, match="positive='x'"):
        calibration_table(["a", "b"], [0.1, 0.2], positive="x")


def test_a_correction_is_cross_validation_of_both_models():
    """Selection inside every training set; the same folds for both."""
    X, y = make_beta_bernoulli(60, 500, alpha=50, random_state=0)
    found = correction(X, y, n_features_to_select=20, cv=5, random_state=3)
    folds = [tuple(split) for split in CrossValidation(5).split(y, 3)]
    sparse = {"null_share": "estimate", "base_rates": "estimate"}
    losses = {}
    for kind, options in (
        ("corrected", {}),
        ("uncorrected", {"correct": False}),
        ("sparse", sparse),
    ):
        model, table = BiasCorrectedNB(20, **options), found.tables[kind]
        p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
        assert table.error == pytest.approx(np.mean((p >= 0.5) != y))
        assert table.expected_error == pytest.approx(np.minimum(p, 1 - p).mean())
        losses[kind] = -np.log(np.where(y == 1, p, 1 - p)), (y - p) ** 2
    for one in found.differences:
        for score, (a, b) in zip(
            ("log_loss", "squared_error"),
            zip(losses[one.first], losses[one.second], strict=True),
            strict=True,
        ):
            error = np.std(a - b, ddof=1) / np.sqrt(60)
            assert getattr(one, score) == pytest.approx(np.mean(a - b))
            assert getattr(one, f"{score}_se") == pytest.approx(error)
    whole = BiasCorrectedNB(20, **sparse).fit(X, y)
    assert (found.null_share, found.alphas["sparse"]) == (
        whole.null_share_,
        whole.alpha_,
    )
    assert found.model == "binary"
    assert found.threshold == BiasCorrectedNB(20).fit(X, y).threshold_
    assert found.alphas["corrected"] > found.alphas["uncorrected"]
    again = correction(X, y, n_features_to_select=20, cv=5, random_state=3)
    assert again == found


def test_the_model_fits_the_features():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    numbers = rng.normal(size=(40, 30))
    assert correction(numbers, y, random_state=0).model == "gaussian"
    assert correction(numbers, y, model="binary", random_state=0).model == "binary"
    sparse = csr_matrix((numbers > 0).astype(float))
    assert correction(sparse, y, random_state=0).model == "binary"
    frame = pd.DataFrame(numbers[:, :5]).add_prefix("g")
    frame["kind"] = pd.Categorical(rng.choice(["u", "v"], 40))
    named = correction(
        frame, np.where(y, "yes", "no"), n_features_to_select=3, random_state=0
    )
    assert named.model == "binary"
    assert named.data.classes == {"no": 20, "yes": 20}
    assert named.data.feature_names[-1] == "kind"


def sparse_world(seed, n=150, p=3000, n_strong=20):
    """Draw strong features among many without effect, all of them independent."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    rates = np.tile(rng.random(p), (2, 1))
    rates[:, :n_strong] = [[0.3], [0.7]]
    return (rng.random((n, p)) < rates[y]).astype(np.int8), y


def test_the_verdict_says_what_may_be_believed():
    X, y = make_beta_bernoulli(150, 3000, random_state=2)
    good = correction(X, y, n_features_to_select=100, random_state=0)
    assert good.verdict.endswith("Believe the corrected probabilities.")
    assert good.conclusion.belief == "yes"
    assert not good.dependence.is_shown
    # Copies of one feature: naive Bayes counts the same evidence ten times.
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    one = (rng.random(200) < 0.35 + 0.3 * y).astype(int)
    copies = np.column_stack([one] * 60)
    bad = correction(copies, y, n_features_to_select=40, random_state=0)
    assert bad.believed is None
    assert bad.conclusion.belief == "no"
    assert "an error rate that is too low. " in bad.verdict
    assert "depend on each other within classes: their sum varies 40.0" in bad.verdict


def test_null_features_are_not_blamed_on_dependence():
    """Strong features among nulls: the published correction expects too much error."""
    X, y = sparse_world(0)
    found = correction(X, y, n_features_to_select=100, cv=5, random_state=0)
    assert found.believed == "sparse"
    assert found.sparse.log_loss < found.corrected.log_loss - 0.1
    assert found.sparse.log_loss < found.uncorrected.log_loss
    assert found.corrected.expected_error > found.corrected.error + 0.05
    assert "depend on each other" not in found.verdict
    assert found.verdict.endswith(
        "Believe the probabilities of the correction that allows for null features."
    )
    assert found.null_share > 0.9
    assert "null features" in found.conclusion[1]


def test_harm_is_said():
    tables = {
        kind: calibration_table([0, 1, 1, 0] * 50, [p, 1 - p, 1 - p, p] * 50)
        for kind, p in (("corrected", 0.3), ("uncorrected", 0.01), ("sparse", 0.012))
    }
    harm = ScoreDifference("corrected", "uncorrected", 0.35, 0.01, 0.09, 0.01)
    same = ScoreDifference("sparse", "uncorrected", 0.01, 0.01, 0.0, 0.01)
    better = ScoreDifference("sparse", "corrected", -0.34, 0.01, -0.09, 0.01)
    differences = (harm, same, better)
    believed = correcting._believe(tables, differences)
    assert believed == "sparse"
    verdict = correcting._write_verdict(
        tables, differences, Dependence(9.0, 20), believed
    )
    assert "The published correction does harm here" in verdict
    assert "worse by 0.350 nats (standard error 0.010)" in verdict
    assert "depend on each other" not in verdict
    off = dict.fromkeys(tables, tables["corrected"])
    independent = correcting._advice(off, Dependence(1.0, 0.1), None)
    assert "an error rate that is too high. " in independent
    assert independent.endswith("there is no evidence for it here.")
    assert "varies 9.0 times" in correcting._advice(off, Dependence(9.0, 20), None)


def test_dependence_has_the_moments_of_all_permutations():
    """Against permutations of each feature within classes, drawn one by one."""
    rng = np.random.default_rng(1)
    y = np.arange(30) < 12
    values = rng.normal(size=(30, 6)) + y[:, None]
    values[:, 5] += 0.8 * values[:, 4]

    def inflation(values):
        means = np.stack([values[y == c].mean(axis=0) for c in (False, True)])
        r = (values - means[y.astype(int)]) * np.sign(means[1] - means[0])
        r /= np.sqrt((r**2).sum(axis=0))
        return (r.sum(axis=1) ** 2).sum() / (r**2).sum()

    drawn = []
    for _ in range(4000):
        mixed = values.copy()
        for j in range(6):
            for c in (False, True):
                mixed[y == c, j] = rng.permutation(values[y == c, j])
        drawn.append(inflation(mixed))
    found = correcting.measure_dependence(values, y)
    assert found.inflation == pytest.approx(inflation(values))
    assert np.mean(drawn) == pytest.approx(1.0, abs=0.02)
    z = (found.inflation - 1.0) / np.std(drawn)
    assert found.z == pytest.approx(z, rel=0.05)


def test_dependence_is_seldom_found_among_independent_features_after_selection():
    found = []
    for seed in range(40):
        X, y = sparse_world(seed, n=80, p=400)
        model = BiasCorrectedNB(40).fit(X, y)
        kept = X[:, model.support_].astype(float)
        found.append(correcting.measure_dependence(kept, y == 1).is_shown)
    assert sum(found) <= 2
    assert correcting.measure_dependence(np.ones((10, 3)), y[:10] == 1).z == 0
    assert correcting.measure_dependence(kept[:, :1], y == 1).inflation == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": np.arange(30) % 3}, "3 classes"),
        ({"model": "cubic"}, "model='cubic'"),
        ({"cv": 1}, "cv=1"),
        ({"y": np.arange(30) == 4}, "Class True is missing from the training set"),
    ],
)
def test_bad_questions_are_named(change, words):
    given = {"X": np.eye(30), "y": np.arange(30) % 2, **change}
    with pytest.raises(InputError, match=words):
        correction(**given)
