"""The checks for single mechanisms: what they find, and where they find nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import TargetEncoder

from veridical import audit
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.auditing import CODES
from veridical.auditing.auditing import OF_DENSE_FEATURES
from veridical.auditing.checks_choices import expected_maximum
from veridical.auditing.checks_samples import (
    blocked_splits,
    find_interpolated,
)
from veridical.auditing.checks_values import find_identifier_features
from veridical.auditing.class_traces import (
    find_class_imputed,
    find_target_encoded,
    is_normalised_by_class,
)
from veridical.auditing.clusters import _share_z, find_clusters
from veridical.auditing.kinship import order_likeness, units_in_order
from veridical.auditing.knowledge import read_knowledge
from veridical.leakbench import CONTROLS, MECHANISMS

FEW = {"n_permutations": 19, "random_state": 0, "progress": False}


def found_by(mechanism, dose=None, source="noise", number=1):
    leaky = MECHANISMS[mechanism].draw(source, number, dose).leaky
    return audit(leaky.estimator, leaky.X, leaky.y, cv=leaky.cv, **leaky.known, **FEW)


def noise(n=60, p=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2), rng


# ---- every mechanism that has a check ------------------------------------------------

#: Where a note, or nothing, is all that can be said.
WEAK = {"scaling", "selection-hidden"}


def test_codes_of_mechanisms_exist():
    for mechanism in MECHANISMS.values():
        assert set(mechanism.codes) <= set(CODES), mechanism.name


@pytest.mark.in_part(4)
@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - WEAK))
def test_a_mechanism_is_found(name):
    found = found_by(name)
    flagged = {f.code for f in found.findings if f.severity != "note"}
    assert flagged & set(MECHANISMS[name].codes), found
    for f in found.findings:
        assert f.evidence.endswith(".")
        assert "nan" not in f.evidence
        assert np.isfinite(list(f.details.values())).all()


@pytest.mark.in_part(4)
@pytest.mark.parametrize("name", sorted(set(CONTROLS) - {"unbalanced"}))
def test_honest_work_is_not_flagged(name):
    scenario = CONTROLS[name].draw("correlated", 3)
    found = audit(
        scenario.estimator, scenario.X, scenario.y, cv=scenario.cv, **scenario.known,
        **FEW,
    )  # fmt: skip
    assert found.clean, found


# ---- what the user knows -------------------------------------------------------------


def test_a_check_that_cannot_decide_says_what_it_needs():
    X, y, rng = noise()
    found = audit(GaussianNB(), X, y, **FEW)
    needs = {one.code: one.needs for one in found.untested}
    assert needs == {
        "VD013": "batch=",
        "VD014": "groups=",
        "VD022": "time=",
        "VD023": "batch= or covariates=",
        "VD028": "n_tried=",
        "VD029": "fitted_on=",
        "VD032": "n_removed=",
    }
    assert str(found.untested[4]).startswith("VD028 not testable without n_tried=: ")

    told = audit(
        GaussianNB(), X, y, batch=rng.integers(2, size=60), n_tried=1, fitted_on=[],
        n_removed=0, time=np.arange(60), groups=np.arange(60), **FEW,
    )  # fmt: skip
    assert told.untested == ()
    assert told.codes == found.codes == ()


def test_a_check_says_that_it_cannot_read_these_features():
    X, y, rng = noise()
    X[rng.random(X.shape) < 0.5] = 0
    found = audit(LogisticRegression(), sparse.csr_matrix(X), y, **FEW)
    needs = {one.code: one.needs for one in found.untested}
    dense = {code for code, said in needs.items() if said == "dense features"}
    assert dense == OF_DENSE_FEATURES
    assert not dense & found.seconds.keys()

    frame = pd.DataFrame(X).assign(kind=pd.Categorical(np.arange(60) % 5))
    found = audit("nb", frame, y, checks="VD021", **FEW)
    assert [one.code for one in found.untested] == ["VD021"]


def test_features_that_may_have_been_selected_are_not_testable():
    X, y, _ = noise()
    strong = X + np.linspace(1.0, 3.0, 8) * y[:, None]
    found = audit(GaussianNB(), strong, y, checks="VD001", **FEW)
    assert found.findings == ()
    assert [str(one)[:44] for one in found.untested] == [
        "VD001 not testable without selected=: whethe"
    ]
    assert audit(GaussianNB(), X, y, checks="VD001", **FEW).untested == ()


def test_removed_samples_count_as_errors():
    X, y, _ = noise()
    X[:, 0] += 2.0 * y
    honest = audit(GaussianNB(), X, y, n_removed=0, checks="VD032", **FEW)
    assert honest.findings == ()
    assert honest.untested == ()
    for n_removed, severity in ((1, "note"), (4, "warning"), (60, "error")):
        (found,) = audit(
            GaussianNB(), X, y, n_removed=n_removed, checks="VD032", **FEW
        ).findings
        assert found.severity == severity
        right = honest.accuracy["in"].value * 60
        least = found.details["accuracy_with_removed"]
        assert least == pytest.approx(right / (60 + n_removed))
        assert f"of {60 + n_removed}" in found.evidence


@pytest.mark.parametrize("given", [-1, 1.5, True, "3"])
def test_a_number_of_removed_samples_must_be_a_count(given):
    X, y, _ = noise()
    with pytest.raises(InputError, match=r"n_removed=.* from 0 up: how many samples"):
        audit(GaussianNB(), X, y, n_removed=given, **FEW)


def test_a_code_of_the_class_with_errors_is_found_beside_strong_features():
    X, y, rng = noise(n=80)
    X += 2.0 * y[:, None]
    code = np.where(rng.random(80) < 0.05, 1 - y, y)
    (found,) = audit(
        GaussianNB(), np.column_stack([X, code]), y, checks="VD012", **FEW
    ).findings
    assert (found.severity, found.features) == ("warning", (8,))
    binary = (X > 1).astype(float)  # a feature like all others
    many = audit(
        GaussianNB(), np.column_stack([binary, code]), y, checks="VD012", **FEW
    )
    assert many.clean


def test_031_a_threshold_that_few_are_as_good_as_is_a_note():
    """Thresholds decided before, that happen to be the best, are no warning."""
    X, y, _ = noise(90)
    X[:, 0] += 1.5 * y
    splits = list(StratifiedKFold(5).split(X, y))
    learner = LogisticRegression()
    scores = cross_val_predict(learner, X, y, cv=splits, method="predict_proba")[:, 1]
    places = np.unique(scores)
    right = ((scores >= places[:, None]) == y).sum(axis=1)
    k = int(right.argmax())
    assert right[k] > np.delete(right, k).max()
    for share, severity in ((0.4, "note"), (0.5, "warning")):
        between = (1 - share) * places[k - 1] + share * places[k]
        fixed = FixedThresholdClassifier(learner, threshold=float(between))
        found = audit(fixed, X, y, cv=splits, checks="VD031", **FEW)
        assert [(one.code, one.severity) for one in found.findings] == [
            ("VD031", severity)
        ]


def test_shares_of_exchangeable_spacings_are_standard_normal():
    """With twice the variance of independent samples, z varies half as much."""
    rng = np.random.default_rng(0)
    z = np.array([_share_z(rng.exponential(size=(200, 8))) for _ in range(300)])
    assert abs(z.mean()) < 0.05
    np.testing.assert_allclose(z.std(axis=0), 0.5**0.5, rtol=0.15)
    far = rng.exponential(size=(200, 8)) * np.r_[1, 1, 3, 1, 1, 1, 1, 1]
    assert _share_z(far).argmax() == 2
    assert _share_z(far)[2] > 5
    assert not _share_z(np.zeros((5, 8))).any()


def test_a_usual_threshold_is_not_taken_for_a_tuned_one():
    for number in range(3):
        leaky = MECHANISMS["threshold"].draw("signal", number).leaky
        usual = leaky.estimator.set_params(threshold=0.5)
        found = audit(usual, leaky.X, leaky.y, cv=leaky.cv, checks="VD031", **FEW)
        assert found.findings == ()


def test_only_the_wanted_checks_run():
    X, y, _ = noise()
    found = audit(GaussianNB(), X, y, checks=["VD003", "VD020"], **FEW)
    assert list(found.seconds) == ["VD003", "VD020"]
    assert found.untested == ()
    with pytest.raises(InputError, match="no finding 'VD1'"):
        audit(GaussianNB(), X, y, checks="VD1", **FEW)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"time": [1, 2]}, "time has 2 values, but X has 60 samples"),
        ({"time": [np.nan] * 60}, "time contains missing values"),
        ({"batch": ["a"] * 60}, "one value for all samples"),
        ({"batch": range(60)}, "60 values for 60 samples"),
        ({"batch": [None] + ["a"] * 59}, "batch contains missing values"),
        ({"covariates": np.full((60, 2), np.nan)}, "covariates contain missing"),
        ({"n_tried": 0}, "whole number from 1 up"),
        ({"n_tried": 2.5}, "whole number from 1 up"),
        ({"fitted_on": "some"}, '"all", row numbers or a mask'),
        ({"fitted_on": [60]}, "row numbers from 0 to 59"),
        ({"fitted_on": [True] * 3}, "fitted_on has 3 values"),
    ],
)
def test_wrong_knowledge_is_refused(said, words):
    with pytest.raises(InputError, match=words):
        read_knowledge(60, **said)


def test_knowledge_is_read_in_the_forms_that_users_have():
    days = pd.date_range("2020-01-01", periods=4)
    read = read_knowledge(
        4, time=days[::-1], batch=list("abab"), fitted_on="all",
        covariates=pd.DataFrame({"age": [1, 2, 3, 4], "sex": list("mfmf")}),
    )  # fmt: skip
    assert (np.diff(read.time) < 0).all()
    assert read.batch.tolist() == [0, 1, 0, 1]
    assert read.covariates.shape == (4, 3)
    assert read.fitted_on.all()


# ---- VD020 ---------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", [0.0, 5.0, "auto"])
def test_020_encodings_of_scikit_learn_are_recognised(smooth):
    X, y, rng = noise(80)
    kinds = rng.integers(20, size=(80, 1))
    encoder = TargetEncoder(smooth=smooth, target_type="binary").fit(kinds, y)
    coded = np.column_stack([X, encoder.transform(kinds)])
    found = find_target_encoded(read_table(coded, y))
    assert [one.feature for one in found] == [8]
    scaled = np.column_stack([X, 3 * encoder.transform(kinds) - 1])
    if smooth == 0.0:
        assert [one.feature for one in find_target_encoded(read_table(scaled, y))] == [
            8
        ]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 12))
def test_020_ordinary_features_of_few_values_are_not(seed, n_values):
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(60, 40)).astype(float)
    y = (X[:, 0] + rng.normal(size=60) > n_values / 2).astype(int)
    y[:2] = 0, 1
    assert find_target_encoded(read_table(X, y)) == []


def test_020_an_encoding_is_found_after_samples_were_added_or_left_out():
    rng = np.random.default_rng(8)
    found = []
    for _ in range(20):
        y, town = rng.permutation(np.arange(160) % 2), rng.integers(25, size=160)
        share = np.array([y[town == t].mean() for t in town])
        rows = np.r_[rng.permutation(160)[:154], :4]
        X = np.column_stack([rng.normal(size=160), share])[rows]
        found += find_target_encoded(read_table(X, y[rows]))
    assert len(found) >= 18
    assert not any(one.is_exact for one in found)
    assert {one.feature for one in found} == {1}


@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_020_true_probabilities_and_shares_of_other_samples_are_not(rate):
    rng = np.random.default_rng(9)
    for _ in range(100):
        truth = np.clip(rng.beta(8 * rate, 8 * (1 - rate), size=25), 0.01, 0.99)
        town, other = rng.integers(25, size=(2, 160))
        y, before = (rng.random(160) < truth[t] for t in (town, other))
        y[:2] = False, True
        share = np.array([before[other == t].mean() if t in other else 0 for t in town])
        known = np.column_stack([truth[town], np.round(truth[town], 2), share])
        assert find_target_encoded(read_table(known, y.astype(int))) == []


# ---- VD021 ---------------------------------------------------------------------------


def test_021_groups_are_recovered_and_whole_groups_are_not_reported():
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(25), 4))
    X = rng.normal(size=(25, 60))[patient] + 0.5 * rng.normal(size=(100, 60))
    y = (np.arange(25) % 2)[patient]
    clusters = find_clusters(read_table(X, y))
    assert clusters.n_relatives == 3
    same = clusters.groups[:, None] == clusters.groups
    assert np.array_equal(same, patient[:, None] == patient)
    found = audit(GaussianNB(), X, y, cv=5, **FEW)
    assert "VD021" in found.codes
    whole = list(GroupKFold(5).split(X, y, patient))
    assert "VD021" not in audit(GaussianNB(), X, y, cv=whole, **FEW).codes


# ---- VD022 ---------------------------------------------------------------------------


def test_022_likeness_needs_an_order():
    X, y, rng = noise(80, 10)
    walk = np.cumsum(rng.normal(size=(80, 10)), axis=0)
    for values, least, most in ((X, -4, 4), (walk, 8, np.inf)):
        assert least < order_likeness(read_table(values, y), np.arange(80), 0) < most
    shuffled = rng.permutation(80)
    assert order_likeness(read_table(walk[shuffled], y), np.arange(80), 0) < 4
    back = np.argsort(shuffled)
    assert order_likeness(read_table(walk[shuffled], y), back, 0) > 8


def test_022_time_may_be_given_and_blocks_are_not_reported():
    leaky = MECHANISMS["time-order"].draw("noise", 2).leaky
    rows = np.random.default_rng(0).permutation(len(leaky.y))
    X, y = leaky.X[rows], leaky.y[rows]
    known = audit(leaky.estimator, X, y, cv=5, time=rows, **FEW)
    assert "VD022" in known.codes
    assert "VD022" not in audit(leaky.estimator, X, y, cv=5, **FEW).codes
    blocks = KFold(5)
    assert (
        "VD022" not in audit(leaky.estimator, leaky.X, leaky.y, cv=blocks, **FEW).codes
    )


def test_022_runs_of_the_outcome_that_a_drift_predicts_by_chance():
    severe, predicted = {"runs": 0, "no runs": 0}, {"runs": 0, "no runs": 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        drift = np.cumsum(rng.normal(size=(60, 30)), axis=0)
        drift /= drift.std(axis=0)
        X = drift + rng.normal(size=(60, 30))
        runs = np.repeat(rng.permutation(np.arange(4) % 2), 15)
        for name, y in (("runs", runs), ("no runs", rng.permutation(runs))):
            found = audit(GaussianNB(), X, y, cv=5, checks=["VD022"], **FEW)
            for one in found.findings:
                severe[name] += one.severity != "note"
                predicted[name] += "shifted" in one.details
    assert severe["runs"] >= 11
    assert predicted["runs"] >= 1
    assert predicted["no runs"] == 0


@given(st.integers(2, 6), st.integers(0, 1000))
def test_022_blocks_test_every_sample_once(n_folds, seed):
    rng = np.random.default_rng(seed)
    codes, order = np.sort(np.arange(40) % 2), rng.permutation(40)
    for one in (codes, codes[rng.permutation(40)]):
        splits, _ = blocked_splits(one, order[:, np.newaxis], n_folds)
        tested = np.concatenate([split.test for split in splits])
        assert sorted(tested.tolist()) == list(range(40))


@pytest.mark.parametrize("size", [2, 6])
def test_022_groups_are_not_divided(size):
    """Samples of one group follow each other; no fold divides them."""
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(24), size)
    ill = rng.permutation(np.arange(24) % 2)
    X = rng.normal(size=(24, 8))[patient] + 0.3 * rng.normal(size=(24 * size, 8))
    options = {"groups": patient, "cv": 6, "checks": "VD022", **FEW}
    assert "VD022" not in audit("nb", X, ill[patient], **options).codes
    # A walk of the groups themselves is found, and its folds are of whole groups.
    walk = np.cumsum(rng.normal(size=(24, 8)), axis=0)[patient]
    table = read_table(walk, np.repeat(np.arange(4) % 2, 6)[patient], groups=patient)
    assert order_likeness(table, np.arange(len(patient)), 0) > 4
    units = units_in_order(table, np.arange(len(patient)))
    splits, how = blocked_splits(table.y, units, 5)
    assert how.startswith("consecutive groups")
    for split in splits:
        assert not set(patient[split.test]) & set(patient[split.train])


# ---- VD023, VD030 --------------------------------------------------------------------


def test_023_covariates_are_treated_as_batches():
    X, y, rng = noise(100)
    age = 50 + 10 * y + 5 * rng.normal(size=100)
    X += 0.2 * age[:, None]
    found = audit(GaussianNB(), X, y, cv=5, covariates=age[:, None], **FEW)
    finding = next(f for f in found.findings if f.code == "VD023")
    assert finding.severity in ("error", "warning")
    assert "stratum of the covariates" in finding.evidence


def test_030_normalisation_of_all_samples_is_not_reported():
    X, y, _ = noise(20, 10)
    reference = np.sort(X, axis=1).mean(axis=0)
    ranks = np.argsort(np.argsort(X, axis=1), axis=1)
    assert not is_normalised_by_class(read_table(reference[ranks], y))
    assert is_normalised_by_class(read_table(reference[ranks] + y[:, None], y))


# ---- VD024–VD029 ---------------------------------------------------------------------


def test_025_ranks_are_no_identifiers():
    X, y, _ = noise(60, 12)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    assert not find_identifier_features(read_table(ranks, y)).size
    numbered = np.column_stack([X, np.arange(60)])
    assert find_identifier_features(read_table(numbered, y)).tolist() == [12]
    named = pd.DataFrame(np.round(100 * X), columns=[f"x{j}" for j in range(12)])
    named = named.rename(columns={"x3": "visit date"})
    assert find_identifier_features(read_table(named, y)).tolist() == [3]


def test_026_means_of_all_samples_are_not_those_of_a_class():
    X, y, rng = noise(60, 10)
    gone = rng.random(X.shape) < 0.1
    for by_class, expected in ((False, 0), (True, 10)):
        filled = np.where(gone, np.nan, X)
        for k in (0, 1):
            own = y == k
            part = filled[own] if by_class else filled
            filled_in = np.broadcast_to(np.nanmean(part, axis=0), X[own].shape)
            X_own = np.where(gone[own], filled_in, X[own])
            filled[own] = X_own if by_class else filled[own]
        if not by_class:
            filled = np.where(gone, np.nanmean(filled, axis=0), X)
        assert len(find_class_imputed(read_table(filled, y))) == expected


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("missing", [9, 10])
def test_026_medians_of_a_class(by_class, missing):
    X, y, rng = noise(60, 10)
    for j in range(10):
        for k in (0, 1):
            own = np.flatnonzero(y == k)
            gone = rng.permutation(own)[:missing]
            kept = np.setdiff1d(own if by_class else np.arange(60), gone)
            X[gone, j] = np.median(X[kept, j]) if by_class else 0.1
    found = find_class_imputed(read_table(X, y))
    assert found == (list(range(10)) if by_class else [])
    assert find_class_imputed(read_table(np.round(20 * X), y)) == []


@pytest.mark.parametrize("code", [-1.0, 99.0])
def test_024_numbers_that_stand_for_missing_values(code):
    X, y, rng = noise(100, 6)
    X = 5 + X.clip(-3, 3)
    X[:, 2][rng.random(100) < np.where(y, 0.1, 0.7)] = code
    X[:, 3][rng.random(100) < 0.4] = code
    found = audit("nb", X, y, **FEW).findings
    finding = next(one for one in found if one.code == "VD024")
    assert finding.features == (2,)
    assert f"(coded as {code:g})" in finding.evidence
    X[:, 2] -= 6  # a least value that is no code: others are negative too
    X[:, 3] -= 6
    assert "VD024" not in audit("nb", X, y, **FEW).codes


def test_027_only_points_between_others_are_found():
    X, y, rng = noise(40, 6)
    assert not len(find_interpolated(read_table(X, y)))
    u = rng.random((5, 1))
    near = [np.argsort(((X - X[i]) ** 2).sum(axis=1))[1] for i in range(5)]
    made = np.vstack([X, X[:5] + u * (X[near] - X[:5])])
    found = find_interpolated(read_table(made, np.r_[y, y[:5]]))
    assert set(found[:, 0]) == set(range(40, 45))
    for i, a, b in found:
        ends = [np.linalg.norm(made[i] - made[j]) for j in (a, b)]
        assert sum(ends) == pytest.approx(np.linalg.norm(made[a] - made[b]))
    # Rounded values lie between others by chance.
    grid = rng.integers(4, size=(200, 4)).astype(float)
    assert not len(find_interpolated(read_table(grid, np.arange(200) % 2)))


@pytest.mark.parametrize("n", [1, 2, 10, 100])
def test_028_expected_maximum(n):
    drawn = np.random.default_rng(0).normal(size=(40000, n)).max(axis=1)
    assert expected_maximum(n) == pytest.approx(drawn.mean(), abs=0.03)


def test_028_many_tries_explain_a_score():
    X, y, _ = noise(60, 8)
    X[:, 0] += 0.9 * y
    found = {n: audit(GaussianNB(), X, y, cv=5, n_tried=n, **FEW) for n in (2, 10**6)}
    worst = {
        n: next(f for f in a.findings if f.code == "VD028") for n, a in found.items()
    }
    assert worst[10**6].severity == "error"
    assert worst[10**6].details["pvalue"] > worst[2].details["pvalue"]


def test_029_samples_that_were_not_fitted_on_are_compared():
    X, y, _ = noise(60)
    found = audit(GaussianNB(), X, y, fitted_on=range(30), **FEW)
    finding = next(f for f in found.findings if f.code == "VD029")
    assert finding.details["n_samples"] == 30
    assert "On the 30 predictions of other samples" in finding.evidence


def test_031_an_arbitrary_threshold_is_not_reported():
    X, y, _ = noise(80)
    X[:, 0] += y
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.3)
    assert "VD031" not in audit(fixed, X, y, cv=5, **FEW).codes
