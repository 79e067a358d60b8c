"""The measurement of when unselected features help to learn."""

import numpy as np
import pytest
from benchmarks.truth import unselected
from benchmarks.truth.unselected import COLUMNS, GRID, Found, Trial
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC


@pytest.fixture
def trial():
    rng = np.random.default_rng(3)
    sign = np.where(np.arange(90) % 2, 1.0, -1.0)
    X = rng.normal(size=(90, 40))
    X[:, :3] += 0.5 * sign[:, None]
    S, U, train = X[:, :8], X[:, 8:], slice(None, 50)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    inner = list(folds.split(S[train], sign[train]))
    return Trial(S[train], U[train], sign[train], S[50:], sign[50:], inner, 0)


def test_the_svm_is_that_of_the_best_cost(trial):
    scores = [
        np.mean(
            [
                SVC(kernel="linear", C=C, tol=1e-9)
                .fit(trial.S[a], trial.sign[a])
                .score(trial.S[b], trial.sign[b])
                for a, b in trial.inner
            ]
        )
        for C in GRID
    ]
    found = trial.svm(GRID)
    best = int(np.argmax(scores))
    assert (found.C, found.inside) == (GRID[best], pytest.approx(scores[best]))
    model = SVC(kernel="linear", C=GRID[best], tol=1e-9).fit(trial.S, trial.sign)
    assert found.accuracy == model.score(trial.S_test, trial.sign_test)


def test_every_method_learns_and_none_sees_the_test_samples(trial):
    found = dict(trial.methods())
    assert set(found) >= {"lufe", "noise", "permuted", "own", "squared", "distilled"}
    assert all(0.5 < one.inside <= 1 for one in found.values())
    trial.rng = np.random.default_rng([0, 24])  # the same noise again
    trial.sign_test = -trial.sign_test
    for method, again in trial.methods():
        assert again.accuracy == pytest.approx(1 - found[method].accuracy)
        assert again.inside == found[method].inside


def test_transferred_margins_are_those_wanted(trial):
    """Separable and a large C: every sample reaches its own margin."""
    wide = np.c_[np.eye(50), np.ones(50)]
    wanted = np.linspace(0.5, 2.0, 50)
    w = trial._reach(1e3, wide, wanted, np.arange(50))
    assert (trial.sign * (wide @ w) > 0.98 * wanted).all()


def test_what_was_half_written_is_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(unselected, "FOLDS", tmp_path / "folds.csv")
    monkeypatch.setattr(
        unselected, "units", lambda n: [("slack 0", "source", k) for k in range(n)]
    )
    measured = []

    def measure(condition, task, fold):
        measured.append(fold)
        for method in ("selector", "lufe"):
            yield condition, "given", method, Found(0.5 + fold / 10, 0.5, 1.0, np.nan)

    monkeypatch.setattr(unselected, "measure", measure)
    whole = unselected.collect(3, np.inf)
    assert measured == [0, 1, 2]
    assert list(whole.columns) == list(COLUMNS)
    text = (tmp_path / "folds.csv").read_text()
    (tmp_path / "folds.csv").write_text(text[: text.rindex("source")])
    again = unselected.collect(3, np.inf)
    assert measured == [0, 1, 2, 2]
    columns = ["fold", "method", "accuracy"]
    assert again[columns].to_numpy().tolist() == whole[columns].to_numpy().tolist()
