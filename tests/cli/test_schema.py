"""What ``--json`` prints is what ``veridical schema`` describes, for every verb."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock, Mock

import pandas as pd
import pytest
from tests.experiments.synthetic import Grid
from tests.oracles.json_schema import faults

from veridical import papers
from veridical._core.records import Interval
from veridical.cli import names
from veridical.experiments import Check, Curve, Picture, Serial, StudyReport

FAST = ("--cv", 3, "--features", 2, "--estimator", "nb")
COMPARE = ("--cv", 3, "--features", 2, "--estimator", "nb")
DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"

#: Words after the verb; TABLE stands for a file and its target.
CALLS = {
    "select": [
        ("TABLE", "--selector", "anova", *FAST),
        (
            "linear",
            "--selector",
            "ddp",
            "--alpha",
            "auto",
            "--features",
            4,
            "--cv",
            2,
        ),
    ],
    "choose": [
        (
            *("TABLE", "--selectors", "anova", "--features", "1,2"),
            *("--estimators", "nb", "--cv", 3),
        ),
        (
            *("linear", "--selectors", "anova", "--features", 5, "--estimators", "nb"),
            *("--cv", 3, "--correction", "bbc", "--scoring", "roc_auc,accuracy"),
        ),
    ],
    "discover": [
        ("TABLE", "--fdr", 0.2),
        ("TABLE", "--claim", "stable", "--pfer", 1),
        ("TABLE", "--claim", "conditional"),
    ],
    "probabilities": [("TABLE", "--features", 2, "--cv", 3)],
    "estimate": [
        ("TABLE", "--estimator", "nb", "--cv", "3,holdout"),
        ("--estimator", "nb", "--cv", "3,resubstitution"),
    ],
    "compare": [
        ("TABLE", "--selectors", "anova,fcbf", *COMPARE),
        ("TABLE", "--selectors", "anova,fcbf,mrmr", *COMPARE),
        (
            "TABLE",
            "--selectors",
            "anova,fcbf",
            *COMPARE,
            "--test",
            "bayesian-correlated-t",
        ),
    ],
    "audit": [
        ("TABLE", "--estimator", "nb", "--cv", 3, "--permutations", 19),
        (
            *(
                "TABLE",
                "--estimator",
                "nb",
                "--cv",
                3,
                "--permutations",
                19,
                "--first",
            ),
            *("--selector", "anova", "--features", 2, "--ignore", "VD001"),
        ),
    ],
    "study list": [()],
    "study run": [("grid", "--store", "s.sqlite")],
    "study show": [("grid", "--store", "s.sqlite"), ("grid", "--store", "s.sqlite")],
    "study verify": [("s.sqlite",)],
    "study export": [("s.sqlite", "--out", "cells.csv")],
    "data list": [()],
    "data show": [("TABLE",), ("linear",), ("sparse.libsvm",)],
    "data fetch": [("openml:two",)],
}


class Telling(Grid):
    """A study with something to tell."""

    def findings(self, frame):
        check = Check("More is better", "open", "yes", f"{len(frame)} cells", "more")
        curve = Curve("ours", (0, 1), (Interval(1.0, 0.5, 2.0),) * 2)
        sections = (("size", ("1", "2")),)
        picture = Picture("group", "title", "points", sections, (curve,))
        return StudyReport("grid", "Is it?", "Anon", (check,), (), (picture,))


@pytest.fixture
def folder(tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "sparse.libsvm").write_text("1 1:2 5:1\n-1 2:1\n1 1:1\n")
    study = Telling(poison=((2, 3, "exception"),))
    monkeypatch.setattr(papers, "find_study", lambda name: study)
    monkeypatch.setattr("veridical.cli.study_options.executor", lambda *_: Serial())
    bunch = SimpleNamespace(
        data=pd.DataFrame({"a": [1.0, 2.0]}), target=pd.Series(["u", "v"])
    )
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **which: bunch)
    return tmp_path


def schema(run, verb):
    return json.loads(run("schema", *verb.split()).stdout)


def call(run, table, verb, words):
    filled = []
    for word in words:
        filled += [table, "--target", "kind"] if word == "TABLE" else [word]
    return run(*verb.split(), *filled, "--json")


@pytest.mark.parametrize("verb", CALLS)
def test_answers_keep_to_their_schema(run, table, folder, verb):
    if "study" in verb and verb not in ("study list", "study run"):
        run("study", "run", "grid", "--store", "s.sqlite", "--quiet")
    described = schema(run, verb)
    for words in CALLS[verb]:
        result = call(run, table, verb, words)
        assert result.exit_code in (0, 1), result.stderr
        answer = json.loads(result.stdout)
        assert faults(answer, described) == []
        assert_every_key_counts(answer, described)


def assert_every_key_counts(answer, described):
    """The schema notices a key that is missing, misspelt or of another kind."""
    if "$ref" not in described and "anyOf" not in described:
        return
    for key in answer:
        without = {k: v for k, v in answer.items() if k != key}
        assert faults(without, described)
        assert faults({**without, f"{key}_": answer[key]}, described)
        other = copy.copy(answer)
        other[key] = object()
        loose = key in ("data", "spec")  # anything may be there, in one schema
        assert faults(other, described) or loose


def test_a_page_is_named(run, table, folder):
    out = folder / "page.html"
    run("study", "run", "grid", "--store", "s.sqlite")
    estimated = (*CALLS["estimate"][0], "--out", out)
    shown = ("grid", "--store", "s.sqlite", "--out", out)
    for verb, words in (("estimate", estimated), ("study show", shown)):
        result = call(run, table, verb, words)
        assert json.loads(result.stdout)["page"] == str(out)
        assert out.exists()
        out.unlink()


def test_messages_do_not_mix_with_json(run, folder):
    words = ("estimate", "--estimator", "nb", "--cv", "3", "--json")
    result = run(*words)
    assert "Without DATA" in result.stderr
    assert json.loads(result.stdout)["kind"] == "estimates"
    quiet = run(*words, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (result.stdout, "")


def test_the_watcher_tells_where_it_is(folder, run, monkeypatch):
    run("study", "run", "grid", "--store", "s.sqlite")
    interrupted = Mock(side_effect=KeyboardInterrupt)
    server = MagicMock(server_port=8123, serve_forever=interrupted)
    server.__enter__.return_value = server
    monkeypatch.setattr(
        "veridical.cli.study_watch.make_server", lambda watcher, port: server
    )
    result = run("study", "watch", "s.sqlite", "--json")
    answer = json.loads(result.stdout)
    assert faults(answer, schema(run, "study watch")) == []
    assert answer["url"] == "http://127.0.0.1:8123/"
    assert "The page is closed" in result.stderr


def test_all_verbs_are_described(run):
    listed = run("schema").stdout.split("\n")[:-1]
    assert tuple(listed) == names.ANSWERING
    assert set(listed) == {*CALLS, "study watch"}
    for verb in listed:
        described = schema(run, verb)
        assert verb in described["title"]
        for definition in described["$defs"].values():
            assert definition["description"]


def test_the_page_about_json_names_every_key(run):
    text = DOCUMENT.read_text()
    for verb in names.ANSWERING:
        described = schema(run, verb)
        assert f"`{verb}`" in text
        for part in described.get("anyOf", [described]):
            if "$ref" not in part:
                continue
            name = part["$ref"].removeprefix("#/$defs/")
            section = text.split(f"## {name}\n")[1].split("\n## ")[0]
            listed = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
            assert set(listed) == set(described["$defs"][name]["properties"]), name
