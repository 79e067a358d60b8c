"""``veridical choose``."""

import json
import os
import signal
import subprocess
import sys

import pytest
from tests.cli.conftest import make_table

FAST = (
    *("--selectors", "anova,correlation", "--features", "1,3"),
    *("--estimators", "nb", "--cv", "3"),
)


def test_the_best_of_many_from_a_file(run, table, tmp_path):
    out, model = tmp_path / "page.html", tmp_path / "model.skops"
    result = run(
        *("choose", table, "--target", "kind", *FAST),
        *("--out", out, "--model", model, "--json"),
    )
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["kind"] == "choice"
    assert answer["correction"] == "nested"
    assert len(answer["candidates"]) == 2 * 2 + 2
    assert answer["low"] < answer["score"] < answer["high"]
    assert "veridical choose" in answer["settings"]["command"]
    assert out.exists()
    assert model.exists()
    again = run(*answer["settings"]["command"].split()[1:], "--json", "--quiet")
    assert json.loads(again.stdout)["score"] == answer["score"]


def test_a_prepared_table_has_default_candidates(run, tmp_path):
    frame = make_table(48).assign(sex=["f", "m", "m"] * 16)
    frame.loc[3, "x0"] = None
    path = tmp_path / "clinic.csv"
    frame.to_csv(path, index=False)
    done = run(
        "choose", path, "--target", "kind", "--features", "1,2", "--cv", 3,
        "--impute", "median", "--encode", "onehot", "--scoring", "log_loss", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = {one["estimator"] for one in json.loads(done.stdout)["candidates"]}
    assert {"naive Bayes", "logistic regression"} <= found
    assert "linear SVM" not in found  # it has no probabilities


def test_the_terminal_and_the_checklist(run):
    shown = run("choose", *FAST, "--quiet")
    assert "best of 6" in " ".join(shown.stdout.split())
    listed = run("choose", *FAST, "--checklist", "reforms", "--quiet")
    assert "Leakage" not in listed.stdout  # topics, not sections
    assert "Comparison with baselines" in listed.stdout
    assert "yours" in listed.stdout


def test_a_search_is_resumed_from_its_store(run, tmp_path):
    words = ("choose", *FAST, "--store", tmp_path / "s.sqlite", "--json", "--quiet")
    first, second = (json.loads(run(*words).stdout) for _ in range(2))
    assert first["score"] == second["score"]
    assert first["candidates"] == second["candidates"]
    stored = run("study", "verify", tmp_path / "s.sqlite", "--json")
    assert json.loads(stored.stdout)["ok"]


@pytest.mark.slow
def test_a_cluster_gives_the_same_answer(run):
    pytest.importorskip("distributed")
    words = ("choose", *FAST, "--json", "--quiet")
    there = run(*words, "--dask", "local", "--jobs", "2")
    assert there.exit_code == 0, there.stderr
    here, there = json.loads(run(*words).stdout), json.loads(there.stdout)
    assert there["candidates"] == here["candidates"]
    assert (there["score"], there["low"]) == (here["score"], here["low"])


# Sends a signal when the second of three selectors begins.
INTERRUPTED = """
import signal, sys
from veridical.__main__ import main
from veridical.evaluation import choosing

evaluate = choosing._Work._evaluate

def interrupted(self, group, store):
    if self.candidates.owners[group[0]][0] == 1:
        for _ in range({times}):
            signal.raise_signal(signal.{name})  # to this thread, hence at once
    evaluate(self, group, store)

choosing._Work._evaluate = interrupted
sys.argv = ["veridical", *{words!r}]
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize(
    ("name", "times", "status"),
    [("SIGINT", 1, 130), ("SIGINT", 2, 130), ("SIGKILL", 1, -signal.SIGKILL)],
)
def test_a_search_that_is_stopped_goes_on_from_its_store(
    run, tmp_path, name, times, status
):
    kept = tmp_path / "s.sqlite"
    common = ("choose", *FAST[:1], "anova,correlation,relieff", *FAST[2:], "--json")
    words = (*common, "--store", str(kept))
    code = INTERRUPTED.format(name=name, times=times, words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status, done.stderr
    if times == 1 and name == "SIGINT":  # a partial answer, which says so
        answer = json.loads(done.stdout)
        assert answer["is_partial"]
        assert len(answer["candidates"]) < answer["n_planned"] == 3 * 2 + 2
        assert "partial answer" in answer["words"]["headline"]
        assert "Ctrl-C again stops at once" in done.stderr
    else:
        assert done.stdout == ""
    stored = json.loads(run("study", "verify", kept, "--json").stdout)
    assert stored["ok"]
    n_before = stored["n_rows"]
    assert n_before >= 1 + 2  # a selector and the baselines
    again, fresh = (json.loads(run(*one, "--quiet").stdout) for one in (words, common))
    assert not again["is_partial"]
    assert again["candidates"] == fresh["candidates"]
    assert again["score"] == fresh["score"]
    n_rows = json.loads(run("study", "verify", kept, "--json").stdout)["n_rows"]
    assert n_rows == 3 + 2 > n_before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--selectors", "anov"), "There is no selector 'anov'; did you mean 'anova'?"),
        (("--estimators", "svn"), "There is no estimator 'svn'"),
        (("--correction", "none"), "There is no --correction 'none'"),
        (("--features", "5,x"), "--features x is neither a number"),
        (("--checklist", "consort"), "There is no --checklist 'consort'"),
        (("--drop-hopeless", "3"), "--drop-hopeless 3.0 must be a probability"),
        (("--cv", "resubstitution"), "say nothing about new samples"),
        (("--features", "1000"), "--features=1000 is not possible"),
        (("--estimators", "cox"), "name its columns with --time and --event"),
    ],
)
def test_bad_options_are_named(run, words, said):
    result = run("choose", *words)
    assert result.exit_code == 2
    assert said in result.stderr
