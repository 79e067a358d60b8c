"""The accuracy paper's study: its grid, its numbers, its findings, its page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page
from typer.testing import CliRunner

from veridical._core.errors import InputError
from veridical.cli import app
from veridical.evaluation import Bootstrap632, CrossValidation, LeaveOut, estimate
from veridical.experiments import (
    Check,
    Curve,
    Interval,
    Picture,
    Plan,
    Serial,
    StudyReport,
    StudyTable,
    run_study,
)
from veridical.learning import C45, NaiveBayes
from veridical.papers import find_study
from veridical.papers.accuracy_estimation import study
from veridical.papers.accuracy_estimation.figures import TABLE_1, spread
from veridical.papers.accuracy_estimation.study import (
    STUDY,
    AccuracySpec,
    DrawnSample,
    HashedData,
    evaluate_learner,
    facts,
    get_table,
    make_folds,
)
from veridical.report import page, to_json

LEARNERS = {"c45": C45(), "nb": NaiveBayes()}


def small(**changes):
    spec = {
        "data": ("rand",),
        "folds": (2, 5, -5, -1),
        "bootstraps": (1, 4),
        "n_runs": 2,
        "n_holdouts": 3,
    }
    return AccuracySpec(**{**spec, **changes})


@pytest.fixture
def nothing_there(monkeypatch, tmp_path):
    """A machine without any of the files, which no test before has read either."""
    get_table.cache_clear()
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def everything_there(monkeypatch):
    """A machine with all of the files; `rand` stands for each of them."""
    table = get_table("rand", 0)
    files = [row.file for row in TABLE_1.values()]
    monkeypatch.setattr("veridical.papers.paper_data.available", lambda: files)
    monkeypatch.setattr(study, "get_table", lambda *_: table)


def mixed_table(n=160, n_classes=4, seed=0):
    """Numbers, names and holes; one class so rare that training sets miss it."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.45, size=n) - 1, n_classes - 1)
    y[:3] = n_classes  # three samples of a class of their own
    X = pd.DataFrame(
        {
            "number": y + rng.normal(size=n),
            "noise": np.round(rng.normal(size=n), 1),
            "name": pd.Categorical([f"v{(c + rng.integers(2)) % 5}" for c in y]),
            "other": pd.Categorical([f"w{i}" for i in rng.integers(3, size=n)]),
        }
    )
    X.loc[rng.random(n) < 0.15, "number"] = np.nan
    X.loc[rng.random(n) < 0.15, "name"] = None
    return HashedData.from_arrays(X, np.array([f"class {c}" for c in y]))


# -- the grid ------------------------------------------------------------------------


def test_the_papers_grid_is_whole_and_holds_the_smaller_ones(everything_there):
    keys = Plan(STUDY, STUDY.plan("paper", 0)).keys.known

    # 7 data sets: what is counted, 2 learners x 500 holdouts, and 50 runs of
    # 2 learners x (2 kinds x 7 folds + 7 bootstraps)
    assert np.unique(keys).size == 7 * (1 + 2 * 500 + 50 * 2 * (2 * 7 + 7))
    for scale in ("smoke", "laptop"):
        smaller = Plan(STUDY, STUDY.plan(scale, 0)).keys.known
        assert 0 < smaller.size < keys.size
        assert np.isin(smaller, keys).all()


def test_keys_are_stable_and_depend_on_seed_and_data(monkeypatch):
    first = np.sort(Plan(STUDY, small()).keys.known)

    assert np.array_equal(first, np.sort(Plan(STUDY, small()).keys.known))
    assert not np.isin(Plan(STUDY, small(seed=1)).keys.known, first).any()
    more = Plan(STUDY, small(n_runs=3, bootstraps=(1, 4, 6))).keys.known
    assert np.isin(first, more).all()
    other = mixed_table()
    monkeypatch.setattr(study, "get_table", lambda *_: other)
    assert not np.isin(Plan(STUDY, small()).keys.known, first).any()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": ("rnad",)}, "there is no data set 'rnad'"),
        ({"learners": ("c45", "svm")}, "there is no learner 'svm'"),
        ({"folds": (2, 2)}, "2 is named twice"),
        ({"folds": (1,)}, "1 folds cannot be made of 100 samples"),
        ({"folds": (101,)}, "101 folds cannot be made of 100 samples"),
        ({"folds": (-100,)}, "-100 folds cannot be made of 100 samples"),
        ({"bootstraps": (0,)}, "greater than 0"),
    ],
)
def test_a_wrong_specification_is_refused_in_words(changes, words):
    content = {**small().model_dump(), **changes}
    with pytest.raises(InputError, match=words):
        AccuracySpec.checked(content, "spec.toml")


def test_without_the_files_rand_is_left_and_the_rest_is_named(nothing_there):
    spec = STUDY.plan("paper", 0)

    assert spec.data == ("rand",)
    (sentence,) = STUDY.notices(spec)
    assert "Vehicle" in sentence
    assert "kr_vs_kp.csv.gz" in sentence
    assert "VERIDICAL_DATA" in sentence
    with pytest.raises(InputError, match=r"not found: Vehicle\. Put vehicle\.csv\.gz"):
        next(STUDY.units(small(data=("rand", "vehicle"))))


def test_with_all_files_there_is_nothing_to_say(everything_there):
    assert STUDY.notices(STUDY.plan("paper", 0)) == ()


def test_other_data_on_a_worker_are_refused():
    unit = next(STUDY.units(small()))
    changed = type(unit)({**unit.settings, "digest": "0" * 64}, unit.cells)
    with pytest.raises(InputError, match="not the file that the study was planned"):
        list(STUDY.run(changed))


def test_a_file_that_is_too_small_is_refused(monkeypatch, tmp_path):
    (tmp_path / "vehicle.csv").write_text("a,class\n1,x\n2,y\n3,x\n")
    monkeypatch.setenv("VERIDICAL_DATA", str(tmp_path))
    get_table.cache_clear()
    with pytest.raises(InputError, match="more than 100 samples"):
        get_table("vehicle", 0)


def test_rand_is_what_the_paper_says_and_facts_are_counted():
    found = facts(get_table("rand", 0))

    assert found["n_attributes"] == 20
    assert found["n_cases"] == 3000
    assert found["n_classes"] == 2
    assert found["duplicates"] < 15  # 2.1 are expected
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, np.nan, np.nan]})
    assert (
        facts(HashedData.from_arrays(frame, np.array(list("xxyxx"))))["duplicates"] == 2
    )


# -- its numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["c45", "nb"])
def test_predictions_are_those_of_plain_fits(kind):
    """Also where a class is missing, and where rows are drawn more than once."""
    table = mixed_table()
    rows = np.sort(np.random.default_rng(1).permutation(len(table.y))[:90])
    X, y = table.rows(rows)
    everything = np.arange(len(y))
    splits = [
        *CrossValidation(3, stratified=False).split(y, 0),
        *LeaveOut(30).split(y, 0),
        *Bootstrap632(8).split(y, 0),
        (everything, everything),
    ]
    missing = 0

    found = evaluate_learner(kind, X, y, splits)

    classes = np.unique(y)
    for (train, test), codes in zip(splits, found.predictions, strict=True):
        model = LEARNERS[kind].fit(X.iloc[train], y[train])
        assert np.array_equal(classes[codes[0]], model.predict(X.iloc[test]))
        missing += len(model.classes_) < len(np.unique(y))
    assert missing


@pytest.mark.parametrize("kind", ["c45", "nb"])
def test_a_run_agrees_with_estimate(kind):
    """Folds, pooling and the bootstrap are those of the public functions."""
    spec = small(learners=(kind,), n_runs=1)
    unit = [u for u in STUDY.units(spec) if u.cells[0].coordinates["method"] == "plain"]
    values = dict(
        zip(
            [
                (c.coordinates["method"], c.coordinates["setting"])
                for c in unit[0].cells
            ],
            STUDY.run(unit[0]),
            strict=True,
        )
    )
    table = get_table("rand", 0)
    trial = DrawnSample.draw(table, unit[0].settings, 0)
    methods = {
        ("plain", 5): CrossValidation(5, stratified=False),
        ("plain", -5): LeaveOut(5),
        ("stratified", 2): CrossValidation(2),
        ("bootstrap", 4): Bootstrap632(4),
    }
    if kind == "nb":  # a hundred plain fits of C4.5 take their time
        methods["stratified", -1] = LeaveOut(1)
    for (name, k), method in methods.items():
        seed = (
            trial.seed(purpose="bootstrap")
            if name == "bootstrap"
            else trial.seed(purpose="folds", kind=name, k=k)
        )
        expected = estimate(
            LEARNERS[kind], trial.X, trial.y, cv=method, random_state=seed
        )
        assert values[name, k]["accuracy"] == pytest.approx(expected.value, abs=1e-12)


def test_a_cell_does_not_depend_on_the_others_asked_for():
    for unit in list(STUDY.units(small())):
        together = list(STUDY.run(unit))
        for number in (0, len(unit.cells) // 3, len(unit.cells) - 1):
            assert list(STUDY.run(unit.only([number]))) == [together[number]]


def test_learners_share_samples_and_folds():
    """Statement C12: the seeds of samples and folds know no learner."""
    units = list(STUDY.units(small()))
    assert all("learner" not in unit.settings for unit in units)
    table, settings = get_table("rand", 0), units[-1].settings
    a, b = (DrawnSample.draw(table, settings, 1) for _ in range(2))
    other = DrawnSample.draw(table, settings, 0)

    assert a.X.equals(b.X)
    assert not a.X.equals(other.X)
    for one, two in zip(a.splits("plain", 5), b.splits("plain", 5), strict=True):
        assert np.array_equal(one.test, two.test)


def test_bootstraps_are_nested():
    unit = list(STUDY.units(small()))[-1]
    trial = DrawnSample.draw(get_table("rand", 0), unit.settings, 0)
    few, many = trial.splits("bootstrap", 2), trial.splits("bootstrap", 6)

    for one, two in zip(few[:-1], many[:-1], strict=False):
        assert np.array_equal(one.train, two.train)
    assert len(few) == 3
    assert np.array_equal(few[-1][1], np.arange(100))


@pytest.mark.parametrize(("kind", "n"), [("plain", 50), ("stratified", 53)])
def test_samples_left_out(kind, n):
    codes = np.random.default_rng(0).integers(3, size=n)
    for k, n_folds in ((-1, n), (-2, -(-n // 2)), (-5, -(-n // 5)), (5, 5)):
        splits = make_folds(codes, kind, k, 0)
        assert len(splits) == n_folds
        tested = np.sort(np.concatenate([s.test for s in splits]))
        assert np.array_equal(tested, np.arange(n))
        if k < 0:
            assert max(len(s.test) for s in splits) <= -k


# -- from run to page ----------------------------------------------------------------


def test_a_small_run_has_findings(tmp_path):
    store = tmp_path / "s.sqlite"
    done = run_study(STUDY, small(), store, executor=Serial())
    assert done.counts.ok == done.counts.planned == 1 + 2 * 3 + 2 * 2 * 10
    found = STUDY.report(store)

    rows = {check.statement: check for check in found.checks}
    truth = rows["True accuracy of C4.5 on Rand, 100 samples"]
    assert truth.published == "49.96 ± 0.04 %"
    assert "3 holdouts" in truth.ours
    assert rows["True accuracy of C4.5 on Chess, 900 samples"].ours == "no data"
    assert rows["True accuracy of C4.5 on Chess, 900 samples"].outcome == "open"
    accuracies, counts = found.tables
    assert accuracies.rows[0][2::2] == ("49.96 ± 0.04", "49.90 ± 0.04")
    # The published figure stands in parentheses where it is another.
    assert counts.rows[0] == ("Rand", "20", "100 of 3000", "2", "2 (9)")
    assert [p.title.split(":")[0] for p in found.pictures] == ["C4.5"] * 2 + [
        "Naive Bayes"
    ] * 2
    assert any("Chess" in note for note in found.notes)


def test_the_command_line_tells_and_writes(nothing_there, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("veridical.cli.study_options.executor", lambda *_: Serial())
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'data = ["rand"]\nfolds = [2, 5]\nbootstraps = [1, 3]\nn_runs = 2\n'
        "n_holdouts = 2\n"
    )
    call = ["study", "run", "accuracy-estimation", "--spec", str(spec)]

    result = CliRunner().invoke(app, [*call, "--out", "page.html"])

    assert result.exit_code == 0, result.output
    assert "findings of the paper" in result.stdout
    assert "Data not found: Breast cancer, Chess" in result.stderr
    text = Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "True accuracy of Naive Bayes on Rand" in text
    call[1] = "show"
    shown = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    assert shown["findings"]["kind"] == "study"
    assert shown["ok"] == shown["planned"]


def test_stored_data_whose_files_are_gone_are_named(tmp_path, monkeypatch):
    """Run with two data sets there, look with one of them gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("veridical.cli.study_options.executor", lambda *_: Serial())
    monkeypatch.setattr(study, "load", small_vehicle)
    spec = tmp_path / "spec.toml"
    text = "folds = [2]\nbootstraps = [1]\nn_runs = 1\nn_holdouts = 1\n"
    spec.write_text(f'data = ["rand", "vehicle"]\n{text}')
    call = ["study", "run", "accuracy-estimation", "--spec", str(spec)]
    get_table.cache_clear()

    with monkeypatch.context() as there:
        there.setattr("veridical.papers.paper_data.available", lambda: ["vehicle"])
        assert CliRunner().invoke(app, call).exit_code == 0
        call[1] = "show"
        assert "Stored but not shown" not in CliRunner().invoke(app, call).stdout
    monkeypatch.setattr("veridical.papers.paper_data.available", list)
    spec.write_text(f'data = ["rand"]\n{text}')
    get_table.cache_clear()

    # counts of the data, 2 learners x 1 holdout, 2 learners x (2 kinds of folds + 1)
    sentence = "because their files were not found: Vehicle (9 cells)."
    assert sentence in CliRunner().invoke(app, call).stdout
    shown = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    assert sentence in shown["absent"][0]
    monkeypatch.undo()
    monkeypatch.setattr("veridical.papers.paper_data.available", lambda: ["vehicle"])
    assert STUDY.absences(tmp_path / "accuracy-estimation.sqlite") == ()


def small_vehicle(name):
    rng = np.random.default_rng(0)
    return rng.normal(size=(130, 3)), rng.integers(2, size=130)


def test_the_study_is_listed():
    assert find_study("accuracy-estimation") is STUDY


# -- the logic of findings, on figures made by hand ----------------------------------


def made(cells, n_runs=50, noise=0.01, attributes=None):
    """A frame in which every estimate has a given mean."""
    pattern = noise * np.where(np.arange(n_runs) % 2, 1, -1)
    rows = []
    for (data, learner, method, setting), mean in cells.items():
        for run in range(n_runs):
            rows.append(
                {
                    "data": data,
                    "learner": learner,
                    "method": method,
                    "setting": setting,
                    "run": run,
                    "status": "ok",
                    "accuracy": mean + pattern[run],
                }
            )
    for data, number in (attributes or {}).items():
        counts = {"n_attributes": number, "n_cases": 9, "n_classes": 2, "duplicates": 1}
        where = {"learner": "none", "method": "data", "setting": 0, "run": 0}
        rows.append({"data": data, "status": "ok", **where, **counts})
    return pd.DataFrame(rows)


def outcomes(frame):
    return {c.statement: c.outcome for c in STUDY.findings(frame).checks}


VEHICLE = ("vehicle", "c45")


def vehicle(**biases):
    """C4.5 on Vehicle: true accuracy 60 %, estimates with these biases (points)."""
    cells = {(*VEHICLE, "truth", 100): 0.60}
    for name, bias in biases.items():
        method, setting = name.split("_")
        cells[*VEHICLE, method, int(setting)] = 0.60 + bias / 100
    return cells


def test_the_sign_of_the_bias_decides():
    statement = "2-fold cross-validation is pessimistic: C4.5 on Vehicle"

    assert outcomes(made(vehicle(plain_2=-6)))[statement] == "reproduced"
    assert outcomes(made(vehicle(plain_2=+6)))[statement] == "not reproduced"
    assert outcomes(made(vehicle(plain_2=-0.1)))[statement] == "open"
    assert outcomes(made(vehicle()))[statement] == "open"


@pytest.mark.parametrize(
    ("biases", "outcome"),
    [
        ((-7, -1, -0.5), "reproduced"),
        ((-7, -1, +1.2), "reproduced"),  # within 0.3 points
        ((-7, -1, -2), "not reproduced"),
        ((-1, -3, -1), "not reproduced"),
    ],
)
def test_the_bias_falls(biases, outcome):
    statement = "The bias falls with the number of folds: C4.5 on Vehicle"
    names = ("plain_2", "plain_10", "plain_20")
    cells = vehicle(**dict(zip(names, biases, strict=True)))

    assert outcomes(made(cells))[statement] == outcome
    assert outcomes(made(cells, n_runs=20))[statement] == "open"


@pytest.mark.parametrize(
    ("bias", "outcome"),
    [(9.8, "reproduced"), (2, "not reproduced"), (20, "not reproduced"), (5, "open")],
)
def test_the_bootstrap_on_vehicle(bias, outcome):
    cells = vehicle(bootstrap_50=0, bootstrap_100=bias)
    statement = ".632 bootstrap of 100 is optimistic: C4.5 on Vehicle"

    assert outcomes(made(cells))[statement] == outcome


def test_stratification_is_judged_run_by_run():
    """Runs that differ a lot do not hide a difference that is the same in all."""
    cells = {
        ("soybean", "c45", "stratified", 2): 0.57,
        ("soybean", "c45", "plain", 2): 0.50,
    }
    statement = "Stratified 2-fold is higher than plain: C4.5 on Soybean large"

    assert outcomes(made(cells, noise=0.2))[statement] == "reproduced"
    cells["soybean", "c45", "stratified", 2] = 0.51
    assert outcomes(made(cells, noise=0.2))[statement] == "not reproduced"


def test_published_accuracies_and_other_columns():
    cells = {("vehicle", "nb", "truth", 100): 0.468, ("breast", "nb", "truth", 50): 0.9}
    on_vehicle = "True accuracy of Naive Bayes on Vehicle, 100 samples"
    on_breast = "True accuracy of Naive Bayes on Breast cancer, 50 samples"

    same = outcomes(made(cells, attributes={"vehicle": 18, "breast": 10}))
    other = outcomes(made(cells, attributes={"vehicle": 17, "breast": 9}))

    assert (same[on_vehicle], same[on_breast]) == ("reproduced", "not reproduced")
    assert (other[on_vehicle], other[on_breast]) == ("open", "open")


def spreads(**sds):
    """C4.5 on Vehicle with these standard deviations, in points."""
    rng = np.random.default_rng(0)
    frames = [made({(*VEHICLE, "truth", 100): 0.6})]
    for name, sd in sds.items():
        method, setting = name.split("_")
        frame = made({(*VEHICLE, method, int(setting)): 0.6}, noise=0)
        frame["accuracy"] += rng.normal(scale=sd / 100, size=len(frame))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def test_spreads_are_compared_by_resampling():
    wide = spreads(plain_2=8, stratified_2=8, plain_10=3, stratified_10=3)
    narrow = spreads(plain_2=3, stratified_2=3, plain_10=8, stratified_10=8)
    statement = "2 folds vary more than 10, C4.5, mean over the data sets"

    assert outcomes(wide)[statement] == "reproduced"
    assert outcomes(narrow)[statement] == "not reproduced"
    assert outcomes(wide[wide["run"] < 5])[statement] == "open"


def test_stratified_folds_vary_no_more():
    statement = "Stratified folds vary no more than plain ones, C4.5"
    less = spreads(plain_2=8, stratified_2=3, plain_10=8, stratified_10=3)
    more = spreads(plain_2=3, stratified_2=8, plain_10=3, stratified_10=8)

    assert outcomes(less)[statement] == "reproduced"
    assert outcomes(more)[statement] == "not reproduced"


def test_the_bootstrap_varies_less_everywhere_or_the_exceptions_are_named():
    statement = "From 20 samples on the bootstrap varies less than 10-fold"
    folds = {"plain_10": 5, "stratified_10": 5}

    assert outcomes(spreads(**folds, bootstrap_20=2))[statement] == "reproduced"
    assert outcomes(spreads(**folds, bootstrap_10=2))[statement] == "open"
    found = STUDY.findings(spreads(**folds, bootstrap_20=2, bootstrap_50=9))
    check = next(c for c in found.checks if c.statement == statement)
    assert check.outcome == "not reproduced"
    assert "C4.5 on Vehicle with 50" in check.ours


def test_failed_and_missing_cells_are_told():
    frame = made(vehicle(plain_2=-6, plain_10=-1))
    frame.loc[frame.index[-1], "status"] = "error"
    notes = " ".join(STUDY.findings(frame).notes)

    assert "1 cell failed and is left out" in notes
    assert "not complete: there are 49 to 50 runs" in notes


def test_the_interval_of_a_standard_deviation():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    # chi-square with 3 degrees of freedom: 0.2158 and 9.3484
    sd = np.std(values, ddof=1)
    bounds = (sd, sd * np.sqrt(3 / 9.3484), sd * np.sqrt(3 / 0.21580))
    assert spread(values) == pytest.approx(bounds, rel=1e-4)


# -- the page ------------------------------------------------------------------------


def record(name):
    curve = Curve(name, (0, 1), (Interval(1, 0, 2), Interval(-2, -np.inf, np.inf)))
    picture = Picture(
        name, name, name, ((name, (name, name)),), (curve,), Interval(0, -1, 1)
    )
    return StudyReport(
        name,
        name,
        name,
        (Check(name, "reproduced", name, name, name),),
        (StudyTable(name, (name, name), ((name, name),), (name,)),),
        (picture,),
        (name,),
        {name: name},
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_name_becomes_markup(payload):
    expected, found = Page(page(record("harmless"))), Page(page(record(payload)))

    assert found.elements == expected.elements
    assert found.other == expected.other


def test_the_page_says_what_was_found():
    cells = vehicle(plain_2=-6, plain_5=-2)
    found = Page(page(STUDY.findings(made(cells))))

    assert [text for _, text in found.headings] == [
        # pessimism on Vehicle, and the true accuracy there: 60.0 is close to 60.11
        "Of 39 findings of the paper, 2 are reproduced, 0 are not, 37 are open.",
        "The paper's findings",
        "Vehicle",
        "Table 1: the true accuracies",
        "Table 1: the data",
        "Method and provenance",
    ]
    assert "−6.0 (−6.4 to −5.6) points, 50 runs" in found.text
    assert any("default-src 'none'" in value for _, _, value in found.attributes)
    assert "nan" not in found.text.lower().split()


def test_a_report_is_plain_json():
    content = to_json(record("x"))

    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["pictures"][0]["points"][1]["low"] is None
    said = record("x").conclusion.sentence
    assert said.endswith("1 is reproduced, 0 are not, 0 are open.")


# -- on the real data ----------------------------------------------------------------


@pytest.mark.skipif(
    not Path(os.environ.get("VERIDICAL_DATA", "nowhere"), "vehicle.csv.gz").exists(),
    reason="VERIDICAL_DATA holds no vehicle",
)
def test_published_counts_of_the_real_data():
    """Table 1's duplicates agree in all columns and the class."""
    get_table.cache_clear()
    for name in study.FILES.present():
        row, found = TABLE_1[name], facts(get_table(name, 0))
        assert found["n_cases"] == row.n_cases
        assert found["n_classes"] == row.n_classes
        if found["n_attributes"] == row.n_attributes and name != "rand":
            assert found["duplicates"] == row.duplicates
