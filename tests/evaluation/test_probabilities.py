"""Tables of calibration, and what a correction changes on data."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import cross_val_predict

from veridical._core.errors import InputError
from veridical.datasets import make_beta_bernoulli
from veridical.evaluation import CrossValidation, calibration_table, correction
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
    for correct, table in ((True, found.corrected), (False, found.uncorrected)):
        model = BiasCorrectedNB(20, correct)
        p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
        assert table.error == pytest.approx(np.mean((p >= 0.5) != y))
        assert table.expected_error == pytest.approx(np.minimum(p, 1 - p).mean())
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


def test_the_verdict_says_what_may_be_believed():
    X, y = make_beta_bernoulli(150, 3000, random_state=2)
    good = correction(X, y, n_features_to_select=100, random_state=0)
    assert good.verdict.endswith("Believe the corrected probabilities.")
    # Copies of one feature: naive Bayes counts the same evidence ten times.
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    one = (rng.random(200) < 0.35 + 0.3 * y).astype(int)
    copies = np.column_stack([one] * 60)
    bad = correction(copies, y, n_features_to_select=40, random_state=0)
    assert "depend on each other" in bad.verdict
    assert bad.verdict.endswith("the expected error is too low.")


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
