"""``veridical data``: list, show, fetch."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_data_list_shows_sources_and_folders(run, monkeypatch, table):
    result = run("data", "list")
    assert result.exit_code == 0
    assert "Sources: beta-bernoulli, friedman, linear, " in result.stdout
    assert "Set VERIDICAL_DATA to a folder" in result.stdout
    monkeypatch.setenv("VERIDICAL_DATA", str(table.parent))
    found = json.loads(run("data", "list", "--json").stdout)
    assert found["table"] == "file"
    assert found["linear"] == "source"


def test_show_a_file(run, tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text("mass,[bold]colour,kind\n7,red,cherry\n150,,apple\n9,red,cherry\n")
    shown = run("data", "show", path, "--target", "kind")
    assert shown.exit_code == 0
    assert (
        "3 samples, 2 features (1 of them categorical), 1 missing values."
        in shown.stdout
    )
    assert "Classes: apple 1 (33 %), cherry 2 (67 %)." in shown.stdout
    assert "[bold]colour" in shown.stdout
    summary = json.loads(run("data", "show", path, "--target", "kind", "--json").stdout)
    assert summary["classes"] == {"apple": 1, "cherry": 2}
    assert summary["columns"][0] == {
        "name": "mass",
        "kind": "numeric",
        "missing": 0,
        "values": None,
        "least": 7.0,
        "most": 150.0,
    }
    assert summary["columns"][1]["values"] == ["red"]


def test_names_cannot_steer_the_terminal(run, tmp_path):
    path = tmp_path / "hostile.parquet"
    names = {"\x1b[31mred\x1b]0;title\x07": [1.0, 2.0, 3.0], ":smile:": ["u", "v", "v"]}
    classes = [":tada:", "\x1b[2J", "\x1b[2J"]
    pd.DataFrame({**names, "kind": classes}).to_parquet(path)
    shown = run("data", "show", path, "--target", "kind").stdout
    assert "\x1b" not in shown
    assert "\N{REPLACEMENT CHARACTER}[31mred" in shown
    assert ":smile:" in shown
    assert "Classes: \N{REPLACEMENT CHARACTER}[2J 2 (67 %), :tada: 1 (33 %)." in shown


def test_show_by_name(run):
    result = run("data", "show", "linear")
    assert result.exit_code == 0
    assert "125 samples, 60 features (0 of them categorical)" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["linaer"], "There is no file linaer, nor a data set of that name"),
        (["linaer"], "did you mean 'linear'"),
        (["linear", "--target", "y"], "has its own target"),
        (["openml:"], "names no data set"),
    ],
)
def test_show_says_what_is_wrong(run, words, message):
    result = run("data", "show", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_data_fetch_stores_a_data_set(run, monkeypatch):
    bunch = SimpleNamespace(
        data=pd.DataFrame({"a": [1.0, 2.0]}), target=pd.Series(["u", "v"])
    )
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **which: bunch)
    fetched = json.loads(run("data", "fetch", "openml:two", "--json").stdout)
    assert fetched["path"].endswith("two.arff.gz")
    again = run("data", "fetch", "two", "--again")
    assert "--target class" in again.stdout
    shown = run("data", "show", fetched["path"], "--target", "class")
    assert "2 samples, 1 features" in shown.stdout
