"""The study of bias from feature selection: its units, its findings, its page."""

import numpy as np
import pandas as pd
import pytest
from tests.report.markup import Page

from veridical.experiments import InputError, Serial, Store, run_study
from veridical.learning import BiasCorrectedNB
from veridical.papers import find_study
from veridical.papers.bias_corrected_bayes import study
from veridical.papers.bias_corrected_bayes.figures import CUT_OFFS, IMPLIED, KS, TABLE
from veridical.papers.bias_corrected_bayes.findings import count_bad_bins
from veridical.papers.bias_corrected_bayes.study import (
    STUDY,
    BiasCorrectedSpec,
    GeneSubset,
    SimulatedData,
)
from veridical.report import page


def small(**changes):
    given = {
        "n_sets": 2,
        "n_subsets": 0,
        "n_features": (1, 10),
        "n_columns": 300,
        "n_per_class": 20,
        "n_test": 100,
        **changes,
    }
    return BiasCorrectedSpec(**given)


@pytest.fixture
def made_up_colon(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(62, 2000)))
    y = np.array([1] * 40 + [0] * 22)
    X[:, ::20] *= np.exp(1.5 * y)[:, None]
    monkeypatch.setattr(study, "_read_colon", lambda: (X, y))
    monkeypatch.setattr(study, "available", lambda: ["colon"])
    study.colon_digest.cache_clear()
    yield X, y
    study.colon_digest.cache_clear()


@pytest.fixture
def no_colon(monkeypatch):
    monkeypatch.setattr(study, "available", list)
    study.colon_digest.cache_clear()
    yield
    study.colon_digest.cache_clear()


# -- the published figures -----------------------------------------------------------


@pytest.mark.parametrize("correct", [True, False])
def test_the_published_table_implies_its_error_rates(correct):
    """2000 samples; ones in the lower half and zeros in the upper half are errors."""
    n, p, y = np.array(TABLE[correct]).T
    assert n.sum() == 2000
    wrong = (n * np.where(np.arange(10) < 5, y, 1 - y)).sum() / 2000
    expected = (n * np.where(np.arange(10) < 5, p, 1 - p)).sum() / 2000
    assert (wrong, expected) == pytest.approx(IMPLIED[correct], abs=5e-4)
    assert tuple(CUT_OFFS) == KS


def test_bins_outside_their_interval_are_counted():
    good = np.array([[100.0] * 10, [50.0] * 10, [55.0] * 10])
    assert count_bad_bins(good) == 0
    bad = good.copy()
    bad[2, :3] = 80
    assert count_bad_bins(bad) == 3
    bad[0, 0] = 30  # too few samples to count
    assert count_bad_bins(bad) == 2


# -- the units -----------------------------------------------------------------------


def test_a_data_set_is_measured_as_the_classifier_says(no_colon):
    unit = next(STUDY.units(small()))
    values = list(STUDY.run(unit))
    trial = SimulatedData.draw(unit.settings)
    model = BiasCorrectedNB(10).fit(trial.X[:40], trial.y[:40])
    p = model.predict_proba(trial.X[40:])[:, 1]
    y = trial.y[40:]
    places = [c.coordinates for c in unit.cells]
    found = values[
        places.index(
            {
                "experiment": "simulation",
                "model": "corrected",
                "n_features": 10,
                "set": 0,
            }
        )
    ]
    assert found["error"] == np.mean((p >= 0.5) != y)
    assert found["expected"] == pytest.approx(np.minimum(p, 1 - p).mean())
    assert found["gamma"] == model.threshold_
    assert sum(found["bin_n"]) == 100
    assert sum(found["bin_y"]) == pytest.approx(y.sum())
    assert sum(found["bin_p"]) == pytest.approx(p.sum())
    assert found["alpha_low"] < found["alpha"] < found["alpha_high"]


def test_a_cell_does_not_depend_on_the_others_asked_for(made_up_colon):
    for unit in STUDY.units(small(n_sets=1, n_subsets=1)):
        together = list(STUDY.run(unit))
        for number in (0, len(unit.cells) - 1):
            assert list(STUDY.run(unit.only([number]))) == [together[number]]


def test_smaller_scales_are_parts_of_larger(made_up_colon):
    cells = {}
    for scale in ("smoke", "laptop"):
        units = STUDY.units(STUDY.plan(scale))
        cells[scale] = {
            (tuple(c.coordinates.items()), c.recipe) for u in units for c in u.cells
        }
    assert cells["smoke"] < cells["laptop"]


def test_genes_are_dealt_out_once(made_up_colon):
    X, _ = made_up_colon
    settings = {"seed": 0, "digest": study.colon_digest()}
    parts = [GeneSubset.draw({**settings, "set": s}).X for s in range(10)]
    firsts = np.concatenate([part[0] for part in parts])
    assert sorted(firsts) == sorted(X[0])
    with pytest.raises(InputError, match="not the file"):
        GeneSubset.draw({"seed": 0, "digest": "other", "set": 0})


def test_each_sample_is_left_out(made_up_colon):
    unit = next(STUDY.units(small(n_sets=0, n_subsets=1)))
    trial = GeneSubset.draw(unit.settings)
    found = next(STUDY.run(unit))
    logs = []
    for i in range(62):
        rest = np.delete(np.arange(62), i)
        cut = np.median(trial.X[rest], axis=0)
        binary = (cut < trial.X).astype(int)
        model = BiasCorrectedNB(5).fit(binary[rest], trial.y[rest])
        logs.append(model.predict_log_proba(binary[[i]])[0, trial.y[i]])
    assert found["amlp"] == pytest.approx(-np.mean(logs))


def test_without_the_colon_data_it_says_so(no_colon):
    spec = STUDY.plan("laptop")
    assert spec.n_subsets == 0
    (notice,) = STUDY.notices(spec)
    assert "colon.npz" in notice
    with pytest.raises(InputError, match="not found"):
        list(STUDY.units(small(n_sets=0, n_subsets=1)))


@pytest.mark.parametrize(
    ("change", "words"),
    [({"n_features": (3, 3)}, "twice"), ({"n_features": (300,)}, "not fewer than")],
)
def test_bad_specifications_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        small(**change)


def test_the_study_is_listed():
    assert find_study("bias-corrected-bayes") is STUDY


# -- findings ------------------------------------------------------------------------


def test_a_small_run_has_findings_and_a_page(tmp_path, made_up_colon):
    store = tmp_path / "s.sqlite"
    spec = small(n_subsets=1)
    done = run_study(STUDY, spec, store, executor=Serial())
    assert done.counts.ok == done.counts.planned == 2 * (1 + 4 + 1) + 4
    with Store(store) as opened:
        frame = opened.frame()
        found = STUDY.findings(frame)
    titles = [t.title for t in found.tables]
    assert titles == ["The simulation", "Time", "The colon data"]
    assert all(check.outcome == "open" for check in found.checks)
    assert len(frame.attrs["seconds"]) == len(frame)
    text = Page(page(found)).text
    assert "10, uncorrected" in text
    assert "nan" not in text.lower().split()


def made(n_sets=5, gap=0.0, naive_gap=0.07, alpha=300.0, bins=None):
    """A frame of 1000 features in which expected error rates are off by so much."""
    rows = []
    per_bin = {True: (50, 0.5, 0.5), False: (50, 0.5, 0.5)} if bins is None else bins
    for s in range(n_sets):
        for correct, off, a in ((True, gap, alpha), (False, naive_gap, 20.0)):
            n, p, y = per_bin[correct]
            row = {
                "experiment": "simulation",
                "model": "corrected" if correct else "uncorrected",
                "n_features": 1000,
                "set": s,
                "status": "ok",
                "gamma": 0.13 + 0.001 * s,
                "error": 0.09,
                "expected": 0.09 - off,
                "amlp": 0.2 if correct else 0.4,
                "mse": 0.06 if correct else 0.07,
                "alpha": a,
                "alpha_low": a / 2,
                "alpha_high": a * 2,
            }
            for i in range(10):
                row |= {f"bin_n_{i}": n, f"bin_p_{i}": n * p, f"bin_y_{i}": n * y}
            rows.append(row)
    return pd.DataFrame(rows)


def outcomes(frame):
    return {c.statement: c.outcome for c in STUDY.findings(frame).checks}


KNOWS = "1000 features: the corrected model predicts its error rate"
FEW = "1000 features: without correction it expects far too few errors"


def test_expected_and_observed_error_rates_decide():
    assert outcomes(made(gap=0.01))[KNOWS] == "reproduced"
    assert outcomes(made(gap=0.02))[KNOWS] == "not reproduced"
    assert outcomes(made(gap=-0.02))[KNOWS] == "not reproduced"
    assert outcomes(made(n_sets=3))[KNOWS] == "open"
    assert outcomes(made(naive_gap=0.03))[FEW] == "not reproduced"
    assert outcomes(made())[FEW] == "reproduced"


def test_alpha_and_calibration_decide():
    statement = "1000 features: the corrected model's α"
    assert outcomes(made())[statement] == "reproduced"
    assert outcomes(made(alpha=900))[statement] == "not reproduced"
    statement = "Calibration of the corrected model, 1000 features"
    assert outcomes(made())[statement] == "reproduced"
    off = {True: (100, 0.2, 0.6), False: (100, 0.5, 0.5)}
    assert outcomes(made(bins=off))[statement] == "not reproduced"


def test_average_log_probabilities_decide_the_finding():
    statement = "The correction never worsens the average minus log probability"
    frame = made()
    assert outcomes(frame)[statement] == "reproduced"
    frame.loc[frame["model"] == "corrected", "amlp"] = 0.5
    assert outcomes(frame)[statement] == "not reproduced"


def test_subsets_of_genes_decide():
    rows = [
        {
            "experiment": "colon",
            "model": model,
            "n_features": 5,
            "set": s,
            "status": "ok",
            "error": 0.2,
            "expected": 0.1,
            "amlp": 0.5 + (0.1 if (model == "corrected") == (s < lost) else 0.0),
            "mse": 0.1,
            "alpha": 5.0,
        }
        for lost in (3,)
        for s in range(10)
        for model in ("corrected", "uncorrected")
    ]
    statement = "Colon data: better minus log probability with the correction"
    frame = pd.DataFrame(rows)
    assert outcomes(frame)[statement] == "reproduced"
    assert outcomes(frame[frame["set"] < 6])[statement] == "open"
    swapped = frame["model"].map(
        {"corrected": "uncorrected", "uncorrected": "corrected"}
    )
    assert outcomes(frame.assign(model=swapped))[statement] == "not reproduced"


def test_failed_cells_are_told():
    frame = made()
    frame.loc[0, "status"] = "error"
    notes = " ".join(STUDY.findings(frame).notes)
    assert "1 cell failed and is left out" in notes
    assert "Not in this run: the colon data." in notes
