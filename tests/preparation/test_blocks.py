"""Batch and covariates in the verbs: corrected on every training set, no features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from tests.selection.problems import survival

from veridical import audit, compare, estimate, select
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.auditing.batches import find_batch_trace, measure_association
from veridical.evaluation import CrossValidation
from veridical.learning import make_estimator
from veridical.preparation import ComBat, Residualize
from veridical.preparation.blocks import read_with_blocks
from veridical.selection import AnovaF

GENES = [f"g{j}" for j in range(30)]


def clinic(n=90, seed=0, effect=1.0):
    """Three sites that go half with the class, and age."""
    rng = np.random.default_rng(seed)
    site = rng.integers(0, 3, n)
    y = np.where(rng.random(n) < 0.75, site % 2, 1 - site % 2)
    age = rng.integers(20, 80, n)
    X = rng.normal(size=(n, 30)) + 2 * rng.normal(size=(3, 30))[site]
    X[:, :4] += effect * y[:, None]
    X += 0.03 * age[:, None]
    frame = pd.DataFrame(X, columns=GENES)
    return frame.assign(site=np.array(["n", "s", "w"])[site], age=age), y


def by_hand(X, train, test):
    """Correct training and test samples by transformers in a row."""
    combat = ComBat("site", covariates=["age"], remove=False)
    combat.set_output(transform="pandas").fit(X.iloc[train])
    parts = [combat.transform(X.iloc[rows])[[*GENES, "age"]] for rows in (train, test)]
    step = Residualize("age").fit(parts[0])
    return [step.transform(part) for part in parts]


def test_estimate_is_a_loop_over_corrected_folds():
    X, y = clinic()
    found = estimate("nb", X, y, batch="site", covariates=["age"], cv=5, random_state=0)
    right = 0
    for split in CrossValidation(5).split(y, 0):
        train, test = by_hand(X, split.train, split.test)
        model = make_estimator("nb").fit(train, y[split.train])
        right += (model.predict(test) == y[split.test]).sum()
    assert found.value == right / len(y)
    assert found.data.n_features == 30
    assert "site (3 batches" in found.settings["batch"]
    assert found.settings["covariates"].startswith("age: the linear effect")


def test_select_ranks_corrected_features():
    X, y = clinic()
    found = select(
        "anova", X, y, n_features_to_select=4, estimator="nb", batch="site",
        covariates=["age"], cv=5, random_state=0,
    )  # fmt: skip
    everything = np.arange(len(y))
    corrected = by_hand(X, everything, everything)[0]
    expected = AnovaF(4).fit(corrected, y).order_[:4]
    assert [one.name for one in found.features] == [GENES[j] for j in expected]
    right = 0
    for split in CrossValidation(5).split(y, 0):
        train, test = by_hand(X, split.train, split.test)
        kept = np.sort(AnovaF(4).fit(train, y[split.train]).order_[:4])
        model = make_estimator("nb").fit(train[:, kept], y[split.train])
        right += (model.predict(test[:, kept]) == y[split.test]).sum()
    assert found.accuracy.value == right / len(y)


def test_compare_and_values_instead_of_columns():
    X, y = clinic()
    design = {
        "n_features_to_select": 3, "estimator": "nb", "cv": 3, "random_state": 0,
    }  # fmt: skip
    named = compare(["anova", "mrmr"], X, y, batch="site", covariates=["age"], **design)
    given = compare(
        ["anova", "mrmr"], X[GENES], y, batch=X["site"], covariates=X[["age"]], **design
    )
    assert named.means == given.means
    plain = compare(["anova", "mrmr"], X[GENES], y, **design)
    assert plain.means != named.means
    with pytest.raises(InputError, match="calibrated draws data sets without batches"):
        compare(["anova", "mrmr"], X, y, batch="site", calibrated=True)


def test_some_features_are_corrected_as_all_were():
    X, y = clinic()
    table = read_with_blocks(X, y, batch="site")
    everything = np.arange(len(y))
    whole = table.corrected(everything).values
    part = table.take_columns(np.array([5, 2])).corrected(everything)
    np.testing.assert_array_equal(part.values, whole[:, [5, 2]])
    np.testing.assert_array_equal(part.source.to_numpy(), whole[:, [5, 2]])
    again = table.take_columns(np.array([5, 2, 7])).take_columns(np.array([2, 0]))
    np.testing.assert_array_equal(again.corrected(everything).values, whole[:, [7, 5]])


def test_categories_stay_and_numbers_are_corrected():
    X, y = clinic()
    X["grade"] = pd.Categorical(np.where(X["g0"] > 0, "high", "low"))
    table = read_with_blocks(X, y, batch="site", covariates=["age"])
    rows = np.arange(len(y))
    corrected = table.corrected(rows[:60], rows[60:])
    assert list(corrected.source["grade"]) == list(X["grade"])
    numbers = by_hand(X.drop(columns="grade"), rows[:60], rows[60:])
    np.testing.assert_allclose(corrected.source[GENES][60:], numbers[1], rtol=1e-10)
    np.testing.assert_allclose(corrected.values[60:, :30], numbers[1], rtol=1e-10)


@pytest.mark.parametrize("kind", ["polars", "array"])
def test_polars_and_arrays_give_the_same_estimate(kind):
    X, y = clinic()
    expected = estimate("nb", X, y, batch="site", cv=3, random_state=0).value
    if kind == "polars":
        given, batch = pytest.importorskip("polars").from_pandas(X), "site"
    else:
        given = np.column_stack([pd.factorize(X["site"])[0], X[[*GENES, "age"]]])
        batch = 0
    found = estimate("nb", given, y, batch=batch, cv=3, random_state=0)
    assert found.value == pytest.approx(expected)


def test_unknown_batches():
    X, y = clinic()
    west = (X["site"] == "w").to_numpy()
    splits = [(np.flatnonzero(~west), np.flatnonzero(west))]
    with pytest.raises(InputError, match="Batch 'w' is not among the training"):
        estimate("nb", X, y, batch="site", cv=splits)
    guess = ComBat("site", unknown="estimate")
    found = estimate("nb", X[[*GENES, "site"]], y, batch=guess, cv=splits)
    assert found.value > 0.5


def test_a_site_may_be_batch_and_group():
    """Whole sites are then left out, whose shift must come from their own samples."""
    X, y = clinic()
    guess = ComBat("site", unknown="estimate")
    table = X[[*GENES, "site"]]
    quick = {"cv": 3, "random_state": 0, "progress": False}
    found = estimate("nb", table, y, batch=guess, groups="site", **quick)
    values = estimate("nb", X[GENES], y, groups=X["site"], **quick)
    assert found.data.n_features == 30
    assert found.value != values.value
    checked = audit(
        "nb", table, y, batch=guess, groups="site", n_permutations=19, **quick
    )
    assert checked.accuracy["in"].value == found.value
    with pytest.raises(InputError, match="not among the training samples"):
        estimate("nb", table, y, batch="site", groups="site", **quick)


def shifted(n, p, rng, shift, signal):
    site = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.75, site, 1 - site)
    X = rng.normal(size=(n, p)) + shift * site[:, None]
    X[:, :10] += signal * y[:, None]
    return X, y, site


def test_inside_the_folds_it_gives_the_accuracy_on_fresh_samples():
    """With the class on all samples it does not; 12 data sets, 60 samples each."""
    inside, fresh, leaked = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shift = rng.normal(size=100)
        X, y, site = shifted(60, 100, rng, shift, 0.5)
        new, truth, new_site = shifted(1000, 100, rng, shift, 0.5)
        quick = {"cv": 5, "random_state": 0, "progress": False}
        inside.append(estimate("nb", X, y, batch=site, **quick).value)
        fitted = ComBat().fit(X, batch=site)
        model = make_estimator("nb").fit(fitted.transform(X, batch=site), y)
        fresh.append(
            (model.predict(fitted.transform(new, batch=new_site)) == truth).mean()
        )
        protected = ComBat().fit_transform(X, batch=site, covariates=y)
        leaked.append(estimate("nb", protected, y, **quick).value)
    gap = np.array(inside) - fresh
    assert abs(gap.mean()) < 2.5 * gap.std(ddof=1) / np.sqrt(12)
    excess = np.array(leaked) - fresh
    assert excess.mean() > 0.08
    assert excess.mean() > 3 * excess.std(ddof=1) / np.sqrt(12)


# -- audit -----------------------------------------------------------------------------


def corrected_before(how, seed=0, n=80, p=200):
    rng = np.random.default_rng(seed)
    X, y, site = shifted(n, p, rng, rng.normal(size=p), 0.5)
    if how == "with the class":
        X = ComBat().fit_transform(X, batch=site, covariates=y)
    elif how == "without the class":
        X = ComBat().fit_transform(X, batch=site)
    return X, y, site


@pytest.mark.parametrize(
    ("how", "severity"),
    [
        ("not", None),
        ("with the class", "error"),
        ("without the class", "warning"),
    ],
)
def test_the_audit_says_which_was_done(how, severity):
    X, y, site = corrected_before(how)
    quick = {"cv": 5, "n_permutations": 19, "random_state": 0, "progress": False}
    found = audit("nb", X, y, batch=site, **quick)
    mine = [one for one in found.findings if one.code == "VD013"]
    assert [one.severity for one in mine] == ([severity] if severity else [])
    if severity == "error":
        assert "with the class protected" in mine[0].evidence
    plain = audit("nb", X, y, **quick)  # what is only known is not corrected
    assert found.accuracy["in"] == plain.accuracy["in"]
    assert "batch" not in found.settings


def test_combat_is_a_part_of_the_audited_procedure():
    X, y, site = corrected_before("not")
    X = np.column_stack([site, X])
    quick = {"cv": 5, "random_state": 0, "progress": False}
    found = audit("nb", X, y, batch=ComBat(0), n_permutations=19, **quick)
    assert found.accuracy["in"].value == estimate("nb", X, y, batch=0, **quick).value
    # OUT corrects on all samples, without the class.
    assert found.accuracy["out"].value < found.accuracy["in"].value
    assert "corrected by ComBat; learned on every" in found.settings["batch"]
    named = audit("nb", X, y, batch=0, n_permutations=19, **quick)
    alone = audit("nb", X[:, 1:], y, n_permutations=19, **quick)
    assert named.accuracy["in"] == alone.accuracy["in"]


@pytest.mark.parametrize("seed", range(5))
def test_batches_without_any_correction_leave_no_trace(seed):
    X, y, site = corrected_before("not", seed)
    assert find_batch_trace(read_table(X, y), site, seed) is None
    noise = np.random.default_rng(seed).normal(size=X.shape)
    found = find_batch_trace(read_table(noise, y), site, seed)
    assert found is None or found.how == "one of the two"


def test_a_balanced_design_does_not_tell_whether_the_class_was_protected():
    rng = np.random.default_rng(0)
    site, y = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    X = rng.normal(size=(80, 100)) + rng.normal(size=100) * site[:, None]
    for covariates in (None, y):
        Z = ComBat().fit_transform(X, batch=site, covariates=covariates)
        assert find_batch_trace(read_table(Z, y), site, 0).how == "one of the two"
    assert measure_association(site, y) == 0
    assert measure_association(site, site) == pytest.approx(1)


def test_selected_features_and_pipelines_are_audited_with_batches():
    X, y = clinic(effect=0.0)
    chosen = AnovaF(5).fit(X[GENES], y).get_support(indices=True)
    quick = {"cv": 3, "n_permutations": 19, "random_state": 0, "progress": False}
    site, age = ComBat("site"), Residualize("age")
    picked = audit(
        "nb", X, y, batch=site, covariates=age, selected=chosen.tolist(), **quick
    )
    assert picked.preselection.features == tuple(chosen)
    steps = make_pipeline(AnovaF(5), make_estimator("nb"))
    found = audit(steps, X, y, batch=site, covariates=age, **quick)
    loop = estimate(steps, X, y, batch="site", covariates=["age"], cv=3, random_state=0)
    assert found.accuracy["in"].value == loop.value


# -- bad input -------------------------------------------------------------------------


def rare(X, y):
    X.loc[0, "site"] = "alone"
    return {"batch": "site"}


def follows(X, y):
    X["ward"] = np.where(y, "red", "blue")
    return {"covariates": ["ward"]}


def dose(X, y):
    X["dose"] = y + np.linspace(0, 0.5, len(y))
    return {"covariates": "dose"}


def pure(X, y):
    X["site"] = np.where(y, np.where(X["age"] > 50, "a", "b"), "c")
    return {"batch": "site"}


def single(X, y):
    X["site"] = "all"
    return {"batch": "site"}


def gap(X, y):
    X.loc[7, "age"] = np.nan
    return {"covariates": ["age"]}


def hole(X, y):
    X.loc[3, "site"] = None
    return {"batch": "site"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (rare, "Batch 'alone' of 'site' has one sample only.*join similar batches"),
        (follows, "'ward' determines the outcome.*leave it out of the covariates"),
        (dose, "'dose' determines the outcome"),
        (pure, "batch 'site' determines the class.*collect batches"),
        (single, "All samples are of batch 'all'.*leave the batch out"),
        (gap, "'age' is missing in row 7.*fill it in"),
        (hole, "batch 'site' is missing in row 3"),
        (lambda X, y: {"batch": "sites"}, "'sites', which is not a column.*'site'"),
        (lambda X, y: {"batch": X["site"][:9]}, "batch has 9 values, but X has 90"),
        (lambda X, y: {"batch": ComBat()}, "names no column"),
        (
            lambda X, y: {"batch": "site", "covariates": ["site"]},
            "'site' is named as batch and as covariate",
        ),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_the_cure(change, said):
    X, y = clinic()
    X = X.astype({"age": float})
    more = change(X, y)
    with pytest.raises(InputError, match=said):
        estimate("nb", X, y, **more)


def test_what_determines_the_event_is_refused():
    """The event is a part of the outcome, too."""
    X, _ = clinic()
    X, rng = X.reset_index(drop=True), np.random.default_rng(0)
    y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(len(X)) < 0.6, rng.exponential(1.0, len(X))
    X["seen"] = np.where(y["event"], "dead", "alive")
    X["code"] = 3 * y["event"] + 1
    X["until"] = y["event"] + 0.1 * rng.random(len(X))
    for name in ("seen", "code", "until"):
        with pytest.raises(InputError, match=f"'{name}' determines the outcome"):
            estimate("cox", X[[*GENES, name]], y, covariates=name)
    with pytest.raises(InputError, match="batch 'seen' determines the event"):
        estimate("cox", X[[*GENES, "seen"]], y, batch="seen")
    y["event"] = True  # then nothing is told
    estimate("cox", X[[*GENES, "seen"]], y, batch="seen", cv=3)
    estimate("cox", X[[*GENES, "seen"]], y, covariates="seen", cv=3)


def test_a_covariate_in_the_order_of_tied_times_is_refused():
    """Equal times have equal numbers, also where one of them is censored."""
    X, _ = clinic()
    rng = np.random.default_rng(1)
    y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    y["event"] = rng.random(len(X)) < 0.6
    y["time"] = rng.integers(1, 9, len(X))
    X["days"] = 3 * y["time"] + 1
    with pytest.raises(InputError, match="'days' determines the outcome"):
        estimate("cox", X[[*GENES, "days"]], y, covariates="days")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_covariate_in_the_order_of_the_times_is_refused(sign):
    X, _ = clinic()
    y = survival(np.random.default_rng(0), X["age"].to_numpy() / 50)
    X["followed"] = sign * np.log(y["time"])
    with pytest.raises(InputError, match="'followed' determines the outcome"):
        estimate("cox", X[[*GENES, "followed"]], y, covariates="followed")
    X["followed"] += 0.5 * X["age"]
    estimate("cox", X[[*GENES, "followed"]], y, covariates="followed", cv=3)


def test_sparse_data_and_a_batch_of_one_class():
    from scipy.sparse import csr_array

    X, y = clinic()
    with pytest.raises(InputError, match="batch= is not for sparse data"):
        estimate("nb", csr_array(X[GENES]), y, batch=X["site"])
    X.loc[:4, "site"] = np.where(y[:5], "x", X["site"][:5])
    with pytest.warns(
        UserWarning, match="Batch 'x' of 'site' has samples of one class"
    ):
        read_with_blocks(X, y, batch="site")
