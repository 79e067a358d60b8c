"""The first study: the same data and folds in any order of work."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from tests.oracles import comparison as oracle

from veridical._core.errors import InputError
from veridical.comparison import compare
from veridical.experiments import (
    Plan,
    Processes,
    Recipe,
    Serial,
    Store,
    derive_seed,
    parse_where,
    run_study,
)
from veridical.learning import NaiveBayes
from veridical.papers import available, find_study
from veridical.papers.in_vs_out.study import (
    STUDY,
    DrawnSets,
    InVsOutSpec,
    SelectorChoice,
    SourceGrid,
    draw_source,
    make_classifier,
)
from veridical.selection import ReliefF


def small(**changes):
    """One training set of two sources, two selectors, two classifiers."""
    spec = {
        "sources": (
            SourceGrid(source="linear", n=(40,), n_features=(3, 8)),
            SourceGrid(source="monks-3", n=(40,), n_features=(2,)),
        ),
        "selectors": (
            SelectorChoice(name="information-gain", selector="information-gain"),
            SelectorChoice(name="relieff", selector="relieff"),
        ),
        "classifiers": ("nb", "1nn"),
        "n_sets": 1,
        "n_folds": 5,
    }
    return InVsOutSpec(**{**spec, **changes})


def one_unit(**changes):
    return next(STUDY.units(small(**changes)))


def test_the_papers_grid_is_whole_and_holds_the_smaller_ones():
    keys = Plan(STUDY, STUDY.plan("paper", 0)).keys

    # 5 sources, 8 N, 100 sets, 3 selectors, 5 F, 4 classifiers
    assert np.unique(keys.known).size == 5 * 8 * 100 * 3 * 5 * 4
    for scale in ("smoke", "laptop"):
        smaller = Plan(STUDY, STUDY.plan(scale, 0)).keys.known
        assert np.isin(smaller, keys.known).all()


def test_another_selector_changes_no_cell():
    more = (
        SelectorChoice(name="correlation", selector="correlation"),
        *small().selectors,
    )
    before, after = one_unit(), one_unit(selectors=more)

    old = dict(zip(map(str, before.cells), STUDY.run(before), strict=True))
    new = dict(zip(map(str, after.cells), STUDY.run(after), strict=True))

    assert len(new) == len(old) * 3 // 2
    assert {cell: new[cell] for cell in old} == old


def test_a_cell_does_not_depend_on_the_others_asked_for():
    unit = one_unit()
    together = list(STUDY.run(unit))

    for number in (0, 3, len(unit.cells) - 1):
        assert list(STUDY.run(unit.only([number]))) == [together[number]]


def test_parameters_make_another_cell():
    changed = (
        SelectorChoice(
            name="information-gain",
            selector="information-gain",
            parameters={"mdl_cost": "samples"},
        ),
    )
    recipes = {cell.recipe for cell in one_unit().cells}

    assert not recipes & {cell.recipe for cell in one_unit(selectors=changed).cells}
    assert not recipes & {cell.recipe for cell in one_unit(seed=1).cells}
    assert not recipes & {cell.recipe for cell in one_unit(n_folds=4).cells}


def test_folds_and_data_know_nothing_of_selectors():
    settings = one_unit().settings
    a, b = DrawnSets.draw(settings), DrawnSets.draw({**settings})
    other = DrawnSets.draw({**settings, "set": 1})
    tenfold = DrawnSets.draw({**settings, "n_folds": 10})

    assert "selector" not in settings
    for one, two in zip(a.folds, b.folds, strict=True):
        assert np.array_equal(one[1], two[1])
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.X, tenfold.X)
    assert not np.array_equal(a.X, other.X)


@pytest.mark.parametrize("classifier", ["svm", "nb", "1nn", "tree"])
def test_a_cell_agrees_with_compare(classifier):
    """IN and OUT of a cell are those of the public function on the same folds."""
    unit = one_unit(classifiers=(classifier,))
    trial = DrawnSets.draw(unit.settings)
    n = trial.n_train
    found = {
        tuple(cell.coordinates[k] for k in ("selector", "n_features")): v
        for cell, v in zip(unit.cells, STUDY.run(unit), strict=True)
    }

    record = compare(
        ["information-gain", "relieff"],
        trial.X[:n],
        trial.y[:n],
        n_features_to_select=8,
        estimator=make_classifier(classifier),
        cv=trial.folds,
        random_state=0,
    )

    for method in ("in", "out"):
        # ReliefF has no ties on continuous data, so the order of columns cannot matter
        expected = record.accuracy[method][1, 0].ravel()
        assert found["relieff", 8][method] == pytest.approx(expected, abs=1e-12)


def test_in_and_out_share_folds_and_truth_selects_as_out_does():
    """A0, by the obvious code: fit a pipeline of the public pieces, count hits."""
    unit = one_unit(n_folds=4)
    trial = DrawnSets.draw(unit.settings)
    X, y, n = trial.X, trial.y, trial.n_train

    values = trial.evaluate(ReliefF(), ["nb"], [2, 5])["nb", 5]

    def best(rows_X, rows_y):
        return ReliefF().fit(rows_X, rows_y).order_[:5]

    inside, outside = oracle.in_and_out(best, NaiveBayes, X[:n], y[:n], trial.folds)
    truth = oracle.true_accuracy(best, NaiveBayes, X[:n], y[:n], X[n:], y[n:])
    assert values["in"] == pytest.approx(inside, abs=1e-12)
    assert values["out"] == pytest.approx(outside, abs=1e-12)
    assert values["truth"] == pytest.approx(truth, abs=1e-12)


def test_the_place_of_a_column_tells_nothing():
    """Relevant columns come first in the source, and anywhere in a trial."""
    settings = one_unit().settings
    n = settings["n"]
    root = derive_seed(settings["seed"], source="linear", n=n)

    orders = set()
    for i in range(5):
        source = draw_source("linear", n, root, i)[0]
        columns = DrawnSets.draw({**settings, "set": i}).X
        places = (columns.T[:, np.newaxis] == source.T).all(axis=-1)
        assert np.array_equal(places.sum(axis=1), np.ones(len(places)))
        orders.add(tuple(places.argmax(axis=1).tolist()))

    assert len(orders) == 5
    assert all(sorted(order) == list(range(len(order))) for order in orders)


def test_workers_and_this_process_agree(tmp_path):
    spec = small()
    run_study(STUDY, spec, tmp_path / "a", executor=Serial())
    run_study(STUDY, spec, tmp_path / "b", executor=Processes(1))

    a, b = (read(tmp_path / name, spec) for name in "ab")

    assert a.equals(b)
    assert len(a) == 12
    assert set(a["status"]) == {"ok"}
    assert a.filter(regex="^(truth|in_|out_)").to_numpy().min() > 0


def read(path, spec):
    with Store(path) as store:
        return store.frame(only=Plan(STUDY, spec).keys)


def test_the_numbers_of_this_version():
    """Where this fails, results have changed: raise NUMERIC_VERSION."""
    units = STUDY.units(small(classifiers=("svm", "nb", "1nn", "tree")))

    values = json.dumps([list(STUDY.run(unit)) for unit in units])

    assert hashlib.sha256(values.encode()).hexdigest()[:16] == PINNED


PINNED = "e51873d12cfbaad0"


def test_a_slice_of_the_smoke_study(tmp_path):
    spec = STUDY.plan("smoke", 0)
    where = parse_where(["source=monks-1", "set=0", "classifier=nb"])

    report = run_study(STUDY, spec, tmp_path / "s", executor=Serial(), where=where)

    assert str(report.counts) == "planned 6 = ok 6 + failed 0 + pending 0"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classifiers": ["smv"]}, "no classifier 'smv'; did you mean 'svm'"),
        ({"selectors": [{"name": "r", "selector": "relief"}]}, "no selector 'relief'"),
        (
            {
                "selectors": [
                    {"name": "r", "selector": "relieff", "parameters": {"k": 1}}
                ]
            },
            "parameter of relieff 'k'",
        ),
        (
            {"sources": [{"source": "linaer", "n": [9], "n_features": [3]}]},
            "no source 'linaer'",
        ),
        (
            {"sources": [{"source": "monks-1", "n": [9], "n_features": [7]}]},
            "monks-1 has 6 features",
        ),
        ({"classifiers": ["nb", "nb"]}, "'nb' is named twice"),
        ({"n_folds": 1}, "n_folds"),
    ],
)
def test_a_wrong_specification_is_told(changes, words):
    content = {**small().model_dump(mode="json"), **changes}

    with pytest.raises(InputError, match=words):
        InVsOutSpec.checked(content, "spec.toml")


def test_the_study_is_found_by_its_name():
    assert available()["in-vs-out"].startswith("Which protocol")
    assert find_study("in-vs-out") is STUDY
    with pytest.raises(InputError, match="did you mean 'in-vs-out'"):
        find_study("in-vs-uot")
    assert Recipe.from_details("in-vs-out", 0).text.startswith("{")
