"""The LUFe study: what it computes, and what it says of it."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import SVC

from veridical.experiments import InputError, Unit
from veridical.learning import SVMPlus
from veridical.papers import available, find_study
from veridical.papers.lufe.figures import PUBLISHED
from veridical.papers.lufe.study import (
    GRID,
    STUDY,
    LUFeSpec,
    TrainTestFold,
    get_task,
    present,
    present_genes,
)
from veridical.selection import AnovaF


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    """Three small tasks of counts, two hundred words, half of them short."""
    folder = tmp_path / "techtc"
    folder.mkdir()
    for number in range(3):
        rng = np.random.default_rng(number)
        y = np.repeat(np.array([-1, 1], dtype=np.int8), 30)
        X = rng.poisson(0.4, size=(60, 200))
        X[:, 100:115] += rng.poisson(0.8 * (y > 0), size=(15, 60)).T
        words = ["w" * 4 + chr(97 + j % 26) * (j >= 100) for j in range(200)]
        words = np.array([f"{w}{'x' * (j // 26 % 7)}" if j >= 100 else "word"
                          for j, w in enumerate(words)])  # fmt: skip
        table = sparse.csr_matrix(X)
        np.savez(
            folder / f"ng20_{number:02d}.npz",
            data=table.data,
            indices=table.indices,
            indptr=table.indptr,
            shape=np.array(table.shape),
            y=y,
            feature_names=words,
        )
    monkeypatch.setenv("VERIDICAL_DATA", str(tmp_path))
    get_task.cache_clear()
    yield folder
    get_task.cache_clear()


SPEC = {"n_features": (20,), "shares": (50, 100), "n_repeats": 1, "n_folds": 3}


def settings(fold=0, data="techtc/ng20_00"):
    return {"data": data, "repeat": 0, "fold": fold, "seed": 0, "n_folds": 3}


def test_it_is_listed():
    assert "lufe" in available()
    assert find_study("lufe") is STUDY


def test_short_words_are_dropped(tasks):
    assert present() == tuple(f"techtc/ng20_{k:02d}" for k in range(3))
    task = get_task("techtc/ng20_00")
    assert task.X.shape == (60, 100)
    assert set(task.sign) == {-1.0, 1.0}


def test_scales_are_parts_of_each_other(tasks):
    smoke, laptop, paper = (STUDY.plan(s, 0) for s in ("smoke", "laptop", "paper"))
    assert set(smoke.data) <= set(laptop.data) <= set(paper.data)
    assert paper.n_features == (300, 500)
    assert (paper.n_repeats, paper.n_folds) == (10, 10)
    assert "20 Newsgroups" in STUDY.notices(paper)[0]


def test_every_cell_gives_the_same_alone_after_a_json_round_trip(tasks):
    spec = LUFeSpec(data=("techtc/ng20_01",), **SPEC)
    unit = next(iter(STUDY.units(spec)))
    whole = list(STUDY.run(unit))
    assert len(whole) == len(unit.cells) == 9
    for number, values in enumerate(whole):
        alone = Unit.from_json(unit.only([number]).to_json())
        assert list(STUDY.run(alone)) == [values]
        assert 0 <= values["accuracy"] <= 1


def test_methods_are_the_estimators_they_name(tasks):
    trial = TrainTestFold.draw(settings())
    assert trial.X.shape[0] + trial.X_test.shape[0] == 60
    np.testing.assert_allclose(trial.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(trial.X.std(axis=0), 1)

    found = trial.measure("all", 0, 0)
    theirs = SVC(kernel="linear", C=found["C"], tol=1e-8).fit(trial.X, trial.sign)
    assert found["accuracy"] == theirs.score(trial.X_test, trial.sign_test)

    found = trial.measure("lufe-anova", 20, 100)
    selected = AnovaF(20).fit(trial.X, trial.sign).order_[:20]
    rest = np.setdiff1d(np.arange(trial.X.shape[1]), selected)
    plus = SVMPlus(C=found["C"], gamma=found["gamma"]).fit(
        trial.X[:, selected], trial.sign, X_privileged=trial.X[:, rest]
    )
    mine = plus.score(trial.X_test[:, selected], trial.sign_test)
    assert found["accuracy"] == mine
    assert found["gap"] < 1e-7


@pytest.mark.parametrize("k", [0, 20])
def test_costs_that_are_not_fitted_again_have_the_scores_of_a_fit(tasks, k):
    trial = TrainTestFold.draw(settings())
    orders = trial._rank_inside(k) if k else None
    found = trial._score_costs(trial.X, "linear", orders, k)
    fits = []
    for i, C in enumerate(GRID):
        for f, (train, test) in enumerate(trial.inner):
            X = trial.X[:, orders[i][f][:k]] if k else trial.X
            model = SVC(kernel="linear", C=C, tol=1e-9).fit(X[train], trial.sign[train])
            assert found[i, f] == model.score(X[test], trial.sign[test])
            fits.append(np.abs(model.dual_coef_).max() < C)
    assert 0 < sum(fits) < len(fits)


def test_shares_are_the_best_of_the_unselected(tasks):
    trial = TrainTestFold.draw(settings(1))
    selected, rest, _ = trial.select("rfe", 20)
    assert sorted([*selected, *rest]) == list(range(trial.X.shape[1]))
    for share, some in ((50, rest[: rest.size // 2]), (100, rest)):
        found = trial.measure("lufe-rfe", 20, share)
        plus = SVMPlus(C=found["C"], gamma=found["gamma"]).fit(
            trial.X[:, selected], trial.sign, X_privileged=trial.X[:, some]
        )
        mine = plus.score(trial.X_test[:, selected], trial.sign_test)
        assert found["accuracy"] == mine


def test_learning_does_not_see_the_test_fold(tasks):
    trial, other = TrainTestFold.draw(settings()), TrainTestFold.draw(settings())
    other.X_test[:] = 1e6
    other.sign_test[:] = 1.0
    for method, k, share in (("all", 0, 0), ("rfe", 20, 0), ("lufe-rfe", 20, 50)):
        mine, theirs = (one.measure(method, k, share) for one in (trial, other))
        for name in set(mine) - {"accuracy"}:
            assert mine[name] == theirs[name]


def test_noise_is_drawn_anew_for_each_fold(tasks):
    first, second = (TrainTestFold.draw(settings(fold)) for fold in (0, 1))
    noise = [one.draw_noise(80) for one in (first, first, second)]
    np.testing.assert_array_equal(noise[0], noise[1])
    assert not np.allclose(noise[0], noise[2])
    np.testing.assert_allclose(noise[0].std(axis=0), 1)


def test_a_changed_file_is_refused(tasks):
    unit = next(iter(STUDY.units(LUFeSpec(data=("techtc/ng20_00",), **SPEC))))
    (tasks / "ng20_01.npz").replace(tasks / "ng20_00.npz")
    get_task.cache_clear()
    with pytest.raises(InputError, match="planned with"):
        list(STUDY.run(unit))


@pytest.fixture
def colon(tasks):
    """A small file of intensities beside the texts: 36 tumours, 24 normal."""
    rng = np.random.default_rng(5)
    y = np.repeat(["tumor", "normal"], [36, 24])
    X = np.exp(rng.normal(5, 1, size=(60, 80)) + 0.8 * np.outer(y == "tumor", [1] * 80))
    X[:, 40:] = np.exp(rng.normal(5, 1, size=(60, 40)))
    np.savez(tasks.parent / "colon.npz", X=X, y=y)
    return X, y


def test_gene_tasks_tell_the_largest_class_from_the_rest(colon):
    X, y = colon
    assert present_genes() == ("genes/colon",)
    task = get_task("genes/colon")
    np.testing.assert_array_equal(task.sign, np.where(y == "tumor", 1.0, -1.0))
    logs = np.log10(X)
    rows = (logs - logs.mean(axis=1, keepdims=True)) / logs.std(axis=1, keepdims=True)
    np.testing.assert_allclose(task.X, rows)


def test_genes_are_planned_and_run_without_the_curve(colon):
    plan = STUDY.plan("smoke", 0)
    assert plan.data[-1] == "genes/colon"
    assert "Gene expression" in STUDY.notices(plan)[-1]
    assert set(plan.data) <= set(STUDY.plan("laptop", 0).data)
    spec = LUFeSpec(data=("techtc/ng20_00", "genes/colon"), **SPEC)
    units = list(STUDY.units(spec))
    sizes = {unit.settings["data"]: len(unit.cells) for unit in units}
    assert sizes == {"techtc/ng20_00": 9, "genes/colon": 6}
    (unit,) = [u for u in units if u.settings["data"] == "genes/colon"][:1]
    values = list(STUDY.run(unit))
    assert len(values) == 6
    assert all(value["accuracy"] > 0.6 for value in values[:1])


def test_missing_tasks_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("VERIDICAL_DATA", str(tmp_path))
    spec = STUDY.plan("smoke", 0)
    assert spec.data == ()
    assert "techtc" in STUDY.notices(spec)[0]
    assert list(STUDY.units(spec)) == []


# -- findings ------------------------------------------------------------------------


def frame(gain, n_tasks=20, noise=0.02, own=False):
    """Accuracies in which LUFe gains so much over its selector, and that over all."""
    rng = np.random.default_rng(0)
    rows = []
    base = {"all": 0, "rfe": 1, "anova": 1, "lufe-rfe": 2, "lufe-anova": 2}
    for task, fold in itertools.product(range(n_tasks), range(4)):
        for method, level in base.items():
            share = 100 if method.startswith("lufe") else 0
            cells = [(method, 0 if method == "all" else 300, share)]
            if method == "lufe-rfe":
                cells += [("lufe-rfe", 300, 10), ("lufe-rfe-random", 300, 100)]
            for m, k, t in cells:
                height = level - (m == "lufe-rfe-random" or t == 10)
                rows.append(
                    {
                        "data": f"techtc/{'own' if own else 'ng20'}_{task:02d}",
                        "repeat": 0, "fold": fold, "method": m, "k": k, "share": t,
                        "status": "ok",
                        "accuracy": 0.72 + gain * height + noise * rng.normal(),
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)


def outcomes(found):
    return {check.statement: check.outcome for check in found.checks}


def test_gains_are_found_and_losses_too():
    good = outcomes(STUDY.findings(frame(+0.03)))
    assert good["LUFe-RFE-300 is more accurate than RFE-300"] == "reproduced"
    assert good["RFE-300 is more accurate than all words"] == "reproduced"
    assert good["LUFe-ANOVA-300 is better than ANOVA-300 on most tasks"] == "reproduced"
    assert good["Real unselected features beat noise: LUFe-RFE-300"] == "reproduced"
    bad = outcomes(STUDY.findings(frame(-0.03)))
    statements = [name for name in bad if "Accuracy" not in name]
    assert {bad[name] for name in statements} == {"not reproduced"}
    even = outcomes(STUDY.findings(frame(0.0)))
    assert even["LUFe-RFE-300 is more accurate than RFE-300"] == "open"
    noise = "Real unselected features beat noise: LUFe-RFE-300"
    assert even[noise] == "open"
    many = outcomes(STUDY.findings(frame(0.0, n_tasks=49)))
    assert many[noise] == "not reproduced"


def test_few_tasks_leave_everything_open():
    found = outcomes(STUDY.findings(frame(+0.03, n_tasks=3)))
    assert set(found.values()) == {"open"}


def test_published_accuracies_are_judged_on_the_papers_texts_only():
    stand_in = STUDY.findings(frame(0.0, noise=0.001))
    assert outcomes(stand_in)["Accuracy of all words"] == "open"
    assert any("not the paper's texts" in note for note in stand_in.notes)
    own = STUDY.findings(frame(0.0, noise=0.001, own=True))
    assert outcomes(own)["Accuracy of all words"] == "reproduced"
    assert outcomes(own)["Accuracy of LUFe-ANOVA-300"] == "not reproduced"
    assert not any("not the paper's texts" in note for note in own.notes)


def test_genes_are_reported_apart_and_decide_no_finding():
    texts = frame(+0.03)
    genes = frame(-0.03, n_tasks=6)
    genes["data"] = genes["data"].str.replace("techtc/ng20_0", "genes/set")
    both = STUDY.findings(pd.concat([texts, genes]))
    alone = STUDY.findings(texts)
    assert both.checks == alone.checks
    assert both.pictures == alone.pictures
    first, summary, each = both.tables
    assert first == alone.tables[0]
    rows = {row[0]: row for row in summary.rows}
    assert next(iter(rows)) == "all genes"
    assert "0 of 6, p = 0.031" in rows["LUFe-RFE-300"][3]
    assert [row[0] for row in each.rows] == [f"set{i}" for i in range(6)]
    assert any("6 data sets of gene expression" in note for note in both.notes)
    only = STUDY.findings(genes)
    assert only.checks == ()
    assert any("no finding of the paper can be checked" in note for note in only.notes)


def test_the_chosen_parameters_are_counted_over_tasks_and_folds():
    cells = frame(+0.03, n_tasks=2)
    lufe = cells["method"].str.startswith("lufe")
    cells["C"] = np.where(cells["fold"] == 3, 10.0, 0.001)
    cells["gamma"] = np.where(lufe, 10.0, np.nan)
    cells["gap"] = np.where(lufe, 2e-10 * (1 + cells["fold"]), np.nan)
    chosen = STUDY.findings(cells).tables[-1]
    assert chosen.title == "Chosen parameters, texts"
    rows = {row[0]: row[1:] for row in chosen.rows}
    assert rows["LUFe-RFE-300"] == ("8", "0.001 (75 %)", "10 (100 %)", "8e-10")
    assert rows["RFE-300"] == ("8", "0.001 (75 %)", "–", "–")
    assert next(iter(rows)) == "all words"


def test_table_1_has_both_figures():
    (table,) = STUDY.findings(frame(+0.03)).tables
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == [
        "all words", "RFE-300", "LUFe-RFE-300", "ANOVA-300", "LUFe-ANOVA-300"
    ]  # fmt: skip
    assert rows["LUFe-RFE-300"][2] == "75.82"
    assert rows["LUFe-RFE-300"][6] == "+1.97, 44 of 49"
    assert "20 of 20" in rows["LUFe-RFE-300"][5]


def test_published_differences_are_consistent():
    """Accuracies and gains of the paper's table agree with each other."""
    for (method, k), (value, over_all, over_kind) in PUBLISHED.items():
        if over_all is not None:
            assert value - PUBLISHED["all", 0][0] == pytest.approx(over_all[1])
        if over_kind is not None:
            kind = PUBLISHED[method.removeprefix("lufe-"), k]
            assert value - kind[0] == pytest.approx(over_kind[1])


def test_an_empty_store_is_no_error():
    empty = frame(0.0).iloc[:0]
    found = STUDY.findings(empty)
    assert found.checks == ()
    assert "no results" in found.notes[0]
