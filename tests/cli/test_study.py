"""``veridical study``: run, stop, go on, look, check, export."""

from __future__ import annotations

import html
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from tests.experiments.synthetic import Grid, GridSpec
from typer.testing import CliRunner

from veridical import papers
from veridical._core.errors import InputError
from veridical._core.progress import Reporter
from veridical.cli import app, console, study
from veridical.experiments import (
    Check,
    Counts,
    Progress,
    Serial,
    Store,
    StoreError,
    Writer,
)
from veridical.experiments.attempts import Attempt
from veridical.experiments.study import Cell, Recipe

SLICE = ("--where", "source=monks-1", "--where", "set=0", "--where", "classifier=nb")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command line in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner(env={"COLUMNS": "200", "VERIDICAL_DEBUG": ""})
    return lambda *argv: runner.invoke(app, [str(word) for word in argv])


@pytest.fixture
def grid(monkeypatch):
    """A study of trivial cells in place of the papers' own, without processes."""
    study = Grid(poison=((2, 3, "exception"),))
    monkeypatch.setattr(papers, "find_study", lambda name: study)
    monkeypatch.setattr("veridical.cli.study_options.executor", lambda *_: Serial())
    return study


def test_study_list_names_the_studies(run):
    assert run("study", "list").stdout.startswith("in-vs-out: Which protocol")
    assert "in-vs-out" in json.loads(run("study", "list", "--json").stdout)


def test_a_real_study_from_run_to_export(run, tmp_path):
    result = run("study", "run", "in-vs-out", *SLICE)

    assert result.exit_code == 0, result.stderr
    assert "planned 6 = ok 6 + failed 0 + pending 0" in result.stdout
    assert (tmp_path / "in-vs-out.sqlite").exists()
    result = run("study", "show", "in-vs-out")
    assert "planned 1920 = ok 6 + failed 0 + pending 1914" in result.stdout
    assert "relieff" in result.stdout
    result = run("study", "verify", "in-vs-out.sqlite")
    assert (result.exit_code, "all 6 rows" in result.stdout) == (0, True)
    result = run("study", "export", "in-vs-out.sqlite", "--out", "a.csv", "--canonical")
    assert "6 cells" in result.stdout
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 7


def test_failed_cells_give_status_1_and_are_shown(run, grid):
    result = run("study", "run", "grid", "--store", "s.sqlite")

    assert result.exit_code == 1
    assert "planned 50 = ok 49 + failed 1 + pending 0" in result.stdout
    assert "--retry-failed" in result.stdout
    result = run("study", "show", "grid", "--store", "s.sqlite")
    assert "error: cell 3, group a, unit 2: RuntimeError: no such luck" in result.stdout
    shown = json.loads(
        run("study", "show", "grid", "--store", "s.sqlite", "--json").stdout
    )
    assert (shown["ok"], shown["failed"], shown["pending"]) == (49, 1, 0)
    assert shown["failures"][0]["status"] == "error"


def test_json_counts_the_cells(run, grid):
    result = run("study", "run", "grid", "--store", "s.sqlite", "--json")

    content = json.loads(result.stdout)
    assert content["planned"] == content["ok"] + content["failed"] + content["pending"]
    assert content["stopped"] is None


def test_altered_rows_are_listed(run, grid, tmp_path):
    run("study", "run", "grid", "--store", "s.sqlite")
    connection = sqlite3.connect(tmp_path / "s.sqlite")
    connection.execute("DROP TRIGGER attempts_stay")
    connection.execute("UPDATE attempts SET status = 'ok' WHERE status <> 'ok'")
    connection.commit()
    connection.close()

    result = run("study", "verify", "s.sqlite")

    assert result.exit_code == 1
    assert "row 14 is altered" in result.stdout
    found = json.loads(run("study", "verify", "s.sqlite", "--json").stdout)
    assert found["altered"] == [14]


def test_a_specification_from_a_file(run, grid, tmp_path):
    (tmp_path / "grid.toml").write_text("n_units = 1\nseed = 4\n")

    result = run("study", "run", "grid", "--spec", "grid.toml")

    assert "planned 5 = ok 5" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["in-vs-uot"], ["did you mean 'in-vs-out'"]),
        (["in-vs-out", "--scale", "huge"], ["'huge'", "smoke, laptop, paper"]),
        (["in-vs-out", "--where", "selector"], ["COORDINATE=VALUE"]),
        (["in-vs-out", "--where", "selectr=x"], ["did you mean 'selector'"]),
        (["in-vs-out", "--where", "selector=x"], ["There are 'relieff', 'fcbf'"]),
        (["in-vs-out", "--limit-time", "soon"], ["--limit-time soon", "30m"]),
        (["in-vs-out", "--limit-cell", "0s"], ["--limit-cell 0s"]),
        (["in-vs-out", "--limit-memory", "4X"], ["--limit-memory 4X", "4G"]),
        (["in-vs-out", "--jobs", "0"], ["--jobs 0 starts no process"]),
        (["in-vs-out", "--seed", "-1"], ["--seed -1"]),
        (["in-vs-out", "--spec", "no.toml"], ["no.toml cannot be read"]),
        (["in-vs-out", "--spec", "a.toml", "--seed", "1"], ["leave out --seed"]),
        (["in-vs-out", "--spec", "a.toml", "--scale", "paper"], ["leave out --scale"]),
        (["in-vs-out", "--store", "no/s.sqlite"], ["create the folder first"]),
    ],
)
def test_bad_input_ends_with_status_2(run, options, words):
    result = run("study", "run", *options)

    assert result.exit_code == 2
    assert result.stderr.startswith("veridical: ")
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize("verb", [["verify"], ["export", "--out", "a.csv"]])
def test_a_missing_store(run, verb):
    result = run("study", verb[0], "none.sqlite", *verb[1:])

    assert result.exit_code == 2
    assert "no store none.sqlite" in result.stderr


def test_second_runner_gets_the_holder_of_the_lock(run, grid, tmp_path):
    with Writer(tmp_path / "s.sqlite"):
        # The lock belongs to an open file, so it also holds against this process.
        result = run("study", "run", "grid", "--store", "s.sqlite")

    assert result.exit_code == 2
    assert f"process {os.getpid()} on " in result.stderr


def test_a_slice_of_nothing_leaves_no_store_behind(run, grid, tmp_path):
    result = run("study", "run", "grid", "--where", "unit=never")

    assert result.exit_code == 2
    assert "no cell has this value" in result.stderr
    assert os.listdir(tmp_path) == []


def is_begun(store):
    return store.exists()


def has_rows(store):
    if not store.exists():
        return False
    try:
        with Store(store) as opened:
            return len(opened) > 0
    except InputError:
        return False  # it is only being made


@pytest.mark.parametrize(
    "sign", [pytest.param(is_begun, marks=pytest.mark.slow), has_rows]
)
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, sign):
    command = ["study", "run", "in-vs-out", "--where", "source=monks-2", "--quiet"]
    store = tmp_path / "in-vs-out.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", "from veridical.__main__ import main; main()", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while process.poll() is None and not sign(store):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    with Store(store) as opened:
        assert f"planned 384 = ok {len(opened)} + failed 0 + pending" in out
        assert sign is is_begun or len(opened) > 0
    assert "To resume: veridical study run in-vs-out --where source=monks-2" in out
    assert err == ""


# ---- what is shown meanwhile -----------------------------------------------------


def failing_outcome(detail):
    cell = Cell({"unit": 1}, Recipe.from_details("grid", 0))
    return Attempt(cell, b"k" * 32, 1, "error", None, detail, 0.1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_counts_and_names_failures(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress(Counts(10, 2, 0))
    progress.saved([failing_outcome("[bold]no\x1b[2J luck")])
    screen = Terminal()
    study._watch(Reporter("grid", screen), progress)
    text = screen.getvalue()

    assert "planned 10 = ok 2 + failed 1 + pending 7" in text
    assert "cells/s; about" in text
    assert "[bold]no\ufffd[2J luck" in text


def test_elsewhere_than_on_a_terminal_there_is_a_line_now_and_then(capsys, monkeypatch):
    with console.progress_bar("grid") as reporter:
        study._watch(reporter, Progress(Counts(10, 2, 0)))
        assert capsys.readouterr().err == ""
        monkeypatch.setattr("veridical._core.progress.EVERY", 0.0)
        study._watch(reporter, Progress(Counts(10, 2, 0)))

    told = capsys.readouterr().err
    assert told == "grid: planned 10 = ok 2 + failed 0 + pending 8\n"


def test_the_time_left_follows_the_recent_pace(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress(Counts(1000, 0, 0))
    assert progress.eta is None
    for _ in range(10):
        now[0] += 2.0
        progress.saved([failing_outcome("x")] * 10)

    assert progress.rate == pytest.approx(5.0)
    assert progress.eta == pytest.approx(180.0)
    now[0] += 20.0  # nothing happens
    assert progress.eta == pytest.approx(360.0)


# ---- several studies ---------------------------------------------------------------


@pytest.fixture
def three(monkeypatch):
    """Three studies: one that works, one with a failed cell, one without cells."""
    studies = {
        "good": Grid(name="good"),
        "poor": Grid(name="poor", poison=((2, 3, "exception"),)),
        "empty": Grid(name="empty"),
    }

    class Nothing(GridSpec):
        n_units: int = 0

    object.__setattr__(studies["empty"], "spec", Nothing)
    monkeypatch.setattr(papers, "find_study", studies.__getitem__)
    monkeypatch.setattr(papers, "names", lambda: list(studies))
    monkeypatch.setattr("veridical.cli.study_options.executor", lambda *_: Serial())
    return studies


def test_several_studies_have_a_store_each_and_the_worst_status(run, three, tmp_path):
    result = run("study", "run", "good", "poor", "good")

    assert result.exit_code == 1
    assert result.stdout.count("planned 50 = ") == 2  # a name given twice counts once
    assert {"good.sqlite", "poor.sqlite"} <= set(os.listdir(tmp_path))
    assert "50 computed" in result.stdout
    assert run("study", "run", "good").exit_code == 0
    with Store(tmp_path / "good.sqlite") as store:
        assert len(store) == 50


def test_all_studies_and_one_that_cannot_be_run(run, three, tmp_path):
    result = run("study", "run", "--all", "--json", "--out", "pages", "--store", "a/b")

    assert result.exit_code == 2
    assert "empty: empty has no cells with this specification." in result.stderr
    answers = json.loads(result.stdout)
    assert [answer["study"] for answer in answers] == ["good", "poor"]
    assert [answer["failed"] for answer in answers] == [0, 1]
    pages = ["good.html", "index.html", "poor.html"]
    assert sorted(os.listdir(tmp_path / "pages")) == pages
    page = (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")
    assert "Not run: empty." in page
    assert {"good.sqlite", "poor.sqlite"} <= set(os.listdir(tmp_path / "a" / "b"))


def test_the_summary_of_several_studies_has_the_findings_of_each(
    run, three, tmp_path, monkeypatch
):
    class Told(Grid):
        def findings(self, frame):
            ours = f"{frame['value'].mean():.6f} & more"
            check = Check(f"{self.name} is <mean>", "open", "0.5", ours, "near")
            return self.make_report(frame, [check])

    for name, before in list(three.items())[:2]:
        told = Told(name=name, poison=before.poison)
        monkeypatch.setitem(three, name, told)
    result = run("study", "run", "good", "poor", "--out", "pages")

    page = (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")
    for name in ("good", "poor"):
        report = three[name].report(tmp_path / f"{name}.sqlite")
        assert report.checks
        for check in report.checks:
            assert html.escape(check.statement) in page
            assert html.escape(check.ours) in page
    assert "of 2 papers" in result.stdout
    assert "50 of 50" in page


def test_all_leaves_out_what_repeats_no_paper(run, three, monkeypatch):
    monkeypatch.setattr(papers, "NOT_OF_A_PAPER", {"empty"})
    result = run("study", "run", "--all", "--json")

    assert result.exit_code == 1  # a cell of poor failed
    answers = json.loads(result.stdout)
    assert [answer["study"] for answer in answers] == ["good", "poor"]


def test_the_time_allowed_is_that_of_all_studies(run, three, monkeypatch):
    allowed = iter([None, 5.0, 0.0])
    monkeypatch.setattr(
        "veridical.cli.study_options.seconds_until", lambda end: next(allowed)
    )
    assert run("study", "run", "good", "poor", "--json").exit_code == 1
    result = run("study", "run", "good", "--scale", "paper", "--seed", "1", "--json")
    assert json.loads(result.stdout)["stopped"] == "time"


def test_a_store_that_cannot_be_written_stops_no_other(run, three, monkeypatch):
    def add(self, outcomes):
        if self.path.name == "good.sqlite":
            raise StoreError("no room")
        return add_as_ever(self, outcomes)

    add_as_ever = Writer.add
    monkeypatch.setattr(Writer, "add", add)
    result = run("study", "run", "good", "poor", "--json")

    assert result.exit_code == 1
    assert "veridical: no room" in result.stderr
    assert [answer["study"] for answer in json.loads(result.stdout)] == ["poor"]


def test_a_stop_ends_all_of_them(run, three, tmp_path, monkeypatch):
    class Interrupted(Grid):
        def units(self, spec):
            os.kill(os.getpid(), signal.SIGINT)
            return super().units(spec)

    monkeypatch.setitem(three, "good", Interrupted(name="good"))
    result = run("study", "run", "good", "poor")

    assert result.exit_code == 130
    assert not (tmp_path / "poor.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["good", "poor", "--out", "page.html"], "page.html is not a folder"),
        (["good", "poor", "--store", "s.sqlite"], "such as good.sqlite"),
        (["good", "poor", "--spec", "a.toml"], "--spec a.toml belongs to one study"),
        (["good", "--all"], "--all and good"),
        ([], "Name a study (good, poor or empty), or give --all"),
    ],
)
def test_what_several_studies_cannot_share(run, three, tmp_path, words, said):
    result = run("study", "run", *words)

    assert result.exit_code == 2
    assert said in result.stderr
    assert os.listdir(tmp_path) == []
