"""Every script of the gallery runs, draws, and shows what its text says."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("plot_*.py"))


def leak_on_noise(found):
    outside, inside = (100 * np.mean(v, axis=1) for v in found["accuracy"].values())
    assert outside[0] == inside[0]  # nothing to select
    assert np.all(np.diff(outside) > 0)
    assert outside[-1] > 90
    assert np.all(np.abs(inside - 50) < 8)


def in_against_out(found):
    result = found["result"]
    mean = {m: scores.mean(axis=1) for m, scores in result.scores.items()}
    assert mean["in"][0] > mean["in"][1]  # IN puts the F ratio first
    assert mean["out"][0] < mean["out"][1]  # OUT puts mRMR first
    assert {verdict.winner for verdict in result.verdicts.values()} == {"draw"}
    assert all(gap.low > 0 for gap in result.optimism)


def audit(found):
    result = found["result"]
    assert "VD001" in result.codes
    assert result.preselection.selector == "anova"
    for method in ("in", "out"):  # in the midst of what random labels make
        assert result.null[method].pvalue > 0.05
    assert result.null["out"].low > result.null["in"].high


def what_a_p_value_is_worth(found):
    size = dict(zip(found["designs"], found["measured"], strict=True))
    assert 0.4 < size["paired-t", "10x10"].rate < 0.7
    assert size["corrected-t", "10x10"].rate < 0.15
    assert found["honest"].low < 0.05 < found["honest"].high


def sensitivity(found):
    frame = found["frame"]
    for side in "ab":
        assert np.all(frame[f"out_{side}"] > frame[f"truth_{side}"])
        gap = frame[f"in_{side}"] - frame[f"truth_{side}"]
        assert gap[0] < 0  # the weakest source
        assert np.all(np.abs(gap[1:]) < 0.03)
    true = frame["truth_a"] - frame["truth_b"]
    assert np.all((true > 0.035) & (true < 0.06))
    assert np.all(np.abs(frame["out_a"] - frame["out_b"]) < true / 2)
    assert set(frame["true_winner"]) == {"a"}
    assert frame["in_right"].sum() + frame["out_right"].sum() <= 3


def estimates_against_the_truth(found):
    resubstitution, b632, b632_plus, _, ten, two, _ = found["error"][
        "1 nearest neighbour"
    ]
    assert resubstitution.mean() > 30
    assert b632.mean() > 10 > abs(b632_plus.mean())
    assert b632.std() < ten.std()
    assert two.mean() < 0
    assert abs(found["error"]["naive Bayes"][4].mean()) < 4


def only_together(found):
    single, near = found["ranks"][:3], found["ranks"][3]
    assert np.all(single[:, 4] < 1.5)
    assert np.all(single[:, :2] > 3)
    assert set(np.argsort(near)[:3]) == {0, 1, 4}


def how_many_features(found):
    mean, band = found["mean"], found["band"]
    sizes = np.array(found["sizes"])
    best = mean.argmax()
    assert np.all(mean[sizes >= 10] > band[best, 0])
    assert np.all(mean[sizes < 3] < band[best, 0])


def stability(found):
    value = {name: s.value for name, s in found["stabilities"].items()}
    assert value["AnovaF"] > value["ReliefF"] > value["MRMR"] > 0
    anova = found["chosen"]["AnovaF"].reshape(6, 5).sum(axis=1)
    assert anova[1] > anova[[0, 2, 3]].max()  # one group of twins above all


def ddp_path(found):
    auto = found["auto"]
    assert 0.1 < auto.alpha_ < 1
    best = auto.alpha_accuracy_.max()
    assert best > auto.alpha_accuracy_[-1]
    assert best > auto.alpha_accuracy_[0]


def lufe(found):
    gain = np.diff(found["accuracy"], axis=1)
    assert found["better"].mean() > 0.8
    assert gain.mean() > 0
    assert found["same"].all()


def calibration_after_selection(found):
    X, y, test = found["X"], found["y"], found["test"]
    gap = {
        name: 1 - model.score(X[test], y[test]) - model.expected_error_rate(X[test])
        for name, model in found["models"].items()
    }
    assert abs(gap["corrected"]) < 0.05
    assert gap["not corrected"] > 0.15


def c45_beside_j48(found):
    assert found["ours"] == found["j48"]


def frames(found):
    kept = found["pipeline"][0].get_feature_names_out().tolist()
    assert kept == ["age", "smoker", "marker"]
    assert found["selector"].get_feature_names_out().tolist() == kept
    table = found["frame"]
    out = found["selector"].transform(table)
    assert out.schema == table.select(kept).schema


def grid_search(found):
    assert found["search"].best_score_ > 0.6
    assert abs(found["honest"] - 0.5) < 0.07


def study_from_toml(found):
    assert found["first"].counts.ok == found["first"].computed == 144
    assert found["again"].computed == 0
    assert (found["table"]["OUT"] > 0).all()
    assert (found["table"]["IN"] < 0).all()


CLAIMS = {
    f"plot_{claim.__name__}": claim
    for claim in (
        leak_on_noise,
        in_against_out,
        audit,
        what_a_p_value_is_worth,
        sensitivity,
        estimates_against_the_truth,
        only_together,
        how_many_features,
        stability,
        ddp_path,
        lufe,
        calibration_after_selection,
        c45_beside_j48,
        frames,
        grid_search,
        study_from_toml,
    )
}


def test_every_script_has_its_claims():
    assert {script.stem for script in SCRIPTS} == set(CLAIMS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_shows_what_its_text_says(script, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context({"backend": "Agg"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        import matplotlib.pyplot as plt

        plt.close("all")
        found = runpy.run_path(str(script))
        assert plt.get_fignums()
        plt.close("all")
    CLAIMS[script.stem](found)
    assert list(tmp_path.iterdir()) == []  # leaves nothing behind
