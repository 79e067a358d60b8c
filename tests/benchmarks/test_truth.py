"""One command measures all that pages show, in the time that it promises."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
from benchmarks.measure import ROOT
from benchmarks.measured import FILES
from benchmarks.truth import __main__ as truth
from benchmarks.truth import choices, claims, coverages, designs, findings
from benchmarks.truth.__main__ import APART, AT_ONCE, BUDGET, LIMITS, SHIPPED
from benchmarks.truth.sizes import SHAPES
from scipy.stats import norm


def test_the_limits_of_all_scripts_are_within_the_budget():
    assert sum(LIMITS.values()) + sum(AT_ONCE.values()) <= BUDGET == 120


def test_every_script_is_there():
    for name in (*LIMITS, *AT_ONCE):
        script, *_ = name.split()
        assert find_spec(f"benchmarks.truth.{script}") is not None


def test_one_command_measures_every_table_but_those_that_it_names(monkeypatch):
    written = {
        command.removeprefix("python -m benchmarks.truth.")
        for command, _ in FILES.values()
        if command.startswith("python -m benchmarks.truth.")
    }
    assert written == {*LIMITS, *AT_ONCE, *APART}
    said = " ".join(truth.__doc__.split())
    assert all(name.split(" ")[-2] in said for name in APART if " " in name)
    assert all(f"`{name}`" in said for name in APART if " " not in name)
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    assert {*LIMITS, *AT_ONCE} - {*truth.can_run()} == {*truth.REAL}
    monkeypatch.setenv("VERIDICAL_DATA", "data")
    tables = {*truth.tables_of(truth.can_run())}
    assert {str(table.relative_to(ROOT)) for table in SHIPPED} <= tables
    assert all((ROOT / table).exists() for table in tables)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with two tables, and raw files that are not part of it."""
    monkeypatch.setattr(truth, "ROOT", tmp_path)
    monkeypatch.setattr(truth, "KEPT", (tmp_path / "raw.jsonl", tmp_path / "raw"))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("one\n")
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Tables")):
        subprocess.run([*git, *command], check=True)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "1.npz").touch()
    return tmp_path


def test_what_is_measured_again_is_removed_first(repository):
    truth.remove(["a.csv"])
    assert not (repository / "a.csv").exists()
    assert (repository / "b.csv").exists()
    assert not (repository / "raw").exists()


@pytest.mark.parametrize("change", ["measured", "gone", "unknown"])
def test_a_table_that_is_not_committed_is_never_removed(repository, change):
    a, c = repository / "a.csv", repository / "c.csv"
    if change == "gone":  # a call with --again was stopped, and is given again
        a.unlink()
    (a if change == "measured" else c).write_text("hours of work\n")
    with pytest.raises(SystemExit, match="leave out --again"):
        truth.remove(["a.csv", "b.csv", "c.csv"])
    assert (a if change == "measured" else c).read_text() == "hours of work\n"
    assert (repository / "b.csv").exists()
    assert (repository / "raw" / "1.npz").exists()


def test_a_script_ends_with_the_time_and_says_whether_it_is_done(capfd):
    begin = time.monotonic()
    assert truth.run_script("sizes", 100, begin + 6000)  # its table is complete
    assert not truth.run_script("sizes", 0.0001, begin + 6000)
    begin = time.monotonic()
    assert not truth.run_script("other_tests", 1, begin + 0.2)
    assert time.monotonic() - begin < 20
    assert "stopped" in capfd.readouterr().out
    assert not truth.run_script("other_tests", 1, begin)
    assert "no time" in capfd.readouterr().out


def test_time_that_is_not_needed_goes_to_those_that_have_something_left(monkeypatch):
    calls = []

    def run_script(name, minutes, end):
        calls.append((name, minutes))
        return name != "claims" and (name != "findings" or minutes > 30)

    monkeypatch.setattr(truth, "run_script", run_script)
    monkeypatch.setenv("VERIDICAL_DATA", "data")
    assert truth.run(60) == ["claims"]
    own = [(name, limit / 2) for name, limit in LIMITS.items()]  # of half the budget
    assert calls == [*own, ("findings", 60), ("claims", 60)]


_SCRIPT = """
import os, time
from pathlib import Path
from benchmarks.truth.designs import measure_all

def measure(folder, i):
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)
    return []

todo = [({folder!r}, i) for i in range(2)]
measure_all(todo, measure, print, jobs=2, minutes=1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_processes_of_a_script_that_is_killed_end_too(tmp_path):
    folder = tmp_path / "processes"
    folder.mkdir()
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT.format(folder=str(folder)))
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    made = subprocess.Popen(
        [sys.executable, str(script)], env={**os.environ, "PYTHONPATH": paths}
    )
    end = time.monotonic() + 300
    while len([*folder.iterdir()]) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    workers = [int(one.name) for one in folder.iterdir()]
    assert len(workers) == 2
    os.kill(made.pid, signal.SIGKILL)
    made.wait()
    while any(map(_runs, workers)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(_runs, workers))


_COMMAND = """
import subprocess, sys
from benchmarks.truth import __main__ as truth

child = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); "
child += "time.sleep(600)"
truth.run = lambda minutes: subprocess.run([sys.executable, "-c", child, {note!r}])
sys.argv = ["truth"]
truth.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_script_ends_with_the_command_that_is_terminated(tmp_path):
    note = tmp_path / "child"
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    made = subprocess.Popen(
        [sys.executable, "-c", _COMMAND.format(note=str(note))],
        env={**os.environ, "PYTHONPATH": paths},
    )
    end = time.monotonic() + 300
    while not (note.exists() and note.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    made.terminate()
    assert made.wait(60) == 128 + signal.SIGTERM
    assert not _runs(int(note.read_text()))


def _runs(pid):
    """Return whether a process runs; one that waits to be collected does not."""
    try:
        os.kill(pid, 0)
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return Path("/proc").exists() is False


def test_what_two_calls_measured_is_one_row(tmp_path):
    table, columns = tmp_path / "table.csv", ("design", "n", "rate")
    for n in (2, 10, 2, 10):
        rows = [{"design": "b", "n": n, "rate": 0.25}]
        designs.add_rows(table, columns, rows)
    assert table.read_text() == "design,n,rate\nb,2,0.25\nb,10,0.25\n"


def test_repeats_that_two_calls_counted_are_counted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(findings, "TABLE", tmp_path / "findings.csv")
    row = dict(zip(findings.KEY, ("VD001", "honest", "a", "b"), strict=True))

    def add(begin, n, flagged):
        counts = {"n": n, "flagged": flagged, "notes": 0, "nothing": 0}
        findings.add_counts([{**row, **counts, "first_seed": 7, "begin": begin}])
        (known,) = findings.read_rows()
        return int(known["n"]), int(known["flagged"])

    assert add(0, 20, 1) == (20, 1)
    assert add(0, 20, 1) == (20, 1)
    assert add(20, 12, 2) == (32, 3)
    assert add(20, 12, 2) == (32, 3)


def test_a_line_that_was_cut_off_costs_one_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr(choices, "RAW", tmp_path / "choices.jsonl")
    design = next(iter(choices.read_table()))
    line = json.dumps(asdict(design) | {"run": choices.FIRST[design.target]})
    choices.RAW.write_text(f"{line}\n{line[:20]}")
    (found,) = choices.read_raw().values()
    assert [*found] == [0]


def test_the_tables_that_ship_have_the_columns_that_scripts_write():
    for table, columns in SHIPPED.items():
        with table.open(encoding="utf-8") as file:
            assert file.readline().rstrip("\n").split(",") == list(columns)


def test_what_was_measured_stays_where_raw_files_are_missing(tmp_path, monkeypatch):
    """The raw files do not ship: on a fresh clone the tables keep their rows."""
    for script, write in (
        (choices, choices.write_table),
        (claims, lambda: claims.write_table(claims.planned(40))),
    ):
        table = Path(copy(script.TABLE, tmp_path))
        before = table.read_bytes()
        with monkeypatch.context() as other:
            other.setattr(script, "TABLE", table)
            other.setattr(script, "RAW", tmp_path / "none")
            write()
        assert table.read_bytes() == before
        assert before.count(b"\n") >= 60


def test_a_fresh_clone_draws_nothing_that_is_in_its_tables(tmp_path, monkeypatch):
    for script in (choices, claims):
        monkeypatch.setattr(script, "RAW", tmp_path / "none")
    assert not list(claims.left(claims.planned(40)))
    counted = {
        (design, choices.FIRST[design.target] + k)
        for design, row in choices.read_table().items()
        for k in range(int(row["n_sets"]))
    }
    assert len(counted) >= 600
    assert not counted & set(choices.todo(80))
    assert coverages.list_unseen(32, 20261119) == [(30, 20261119), (31, 20261119)]


def test_the_error_of_the_truth_is_small_beside_that_of_an_estimate():
    """It lets at most 2.4 % more of the intervals miss, as docs/estimating.md says."""
    for _, _, design in coverages.plan():
        share = design.n_samples / coverages.count_fresh(design.n_samples)
        covered = 2 * norm.cdf(norm.ppf(0.975) / np.sqrt(1 + share)) - 1
        assert 0.95 - covered < 0.0245


def test_claims_keep_their_rows_while_sizes_are_measured_anew(monkeypatch):
    """Their designs are those that are planned, not those that are measured."""
    before = claims.stored()
    assert {row.design for shape in SHAPES for row in claims.rows_of(*shape)} == {
        *before
    }
    monkeypatch.setattr(claims, "rows_of", lambda *shape: ())
    assert claims.stored() == before
    assert claims.level_near(before[0], 0.7, 0.0, ()) is None


def test_data_sets_are_added_to_the_rows_of_their_designs(tmp_path, monkeypatch):
    table = Path(copy(choices.TABLE, tmp_path))
    monkeypatch.setattr(choices, "TABLE", table)
    monkeypatch.setattr(choices, "RAW", tmp_path / "choices.jsonl")
    design, row = next(iter(choices.read_table().items()))
    n, first = int(row["n_sets"]), choices.FIRST[design.target]
    new = {"n_candidates": row["n_candidates"], "truth": 0.5, "naive": 0.7}
    new |= {"bbc": [0.6, 0.4, 0.8], "nested": [0.4, 0.3, 0.45]}
    lines = [
        json.dumps(asdict(design) | new | {"run": first + k}) + "\n"
        for k in (n - 1, n, n + 1, n + 3)  # one is counted already, one is missing
    ]
    choices.RAW.write_text("".join(lines))
    for _ in range(2):
        choices.write_table()
        added = choices.read_table()[design]
        assert int(added["n_sets"]) == n + 2
        for name, value in (("truth", 0.5), ("naive_bias", 0.2), ("nested_bias", -0.1)):
            mean = (n * float(row[name]) + 2 * value) / (n + 2)
            assert float(added[name]) == pytest.approx(mean, abs=5.1e-5)
        assert int(added["bbc_covered"]) == int(row["bbc_covered"]) + 2
        assert added["nested_covered"] == row["nested_covered"]
    others = [one for one in choices.read_table().values() if one != added]
    assert len(others) == len(choices.read_table()) - 1
    assert (design, first + n + 2) in set(choices.todo(n + 4))
