"""``--drop``: columns that are left out."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

READING = {
    "select": ("--selector", "anova", "--features", 2, "--cv", 3),
    "estimate": ("--estimator", "nb", "--cv", 3),
    "compare": ("--selectors", "anova,correlation", "--features", 2, "--cv", 3),
    "audit": ("--estimator", "nb", "--cv", 3, "--permutations", 19),
    "probabilities": ("--features", 2, "--cv", 3),
    "data show": (),
}


@pytest.fixture
def with_ids(table):
    """The table with an identifier, a column that reveals the class, and a comma."""
    frame = pd.read_csv(table)
    frame.insert(0, "id", [f"sample {i}" for i in range(len(frame))])
    frame["a, b"] = (frame["kind"] == "yes").astype(float)
    frame.to_csv(table, index=False)
    return table


def answer(result):
    assert result.exit_code in (0, 1), result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("verb", READING)
def test_what_is_left_out_does_not_matter(run, with_ids, tmp_path, verb):
    plain = tmp_path / "plain" / with_ids.name
    plain.parent.mkdir()
    pd.read_csv(with_ids).drop(columns=["id", "a, b"]).to_csv(plain, index=False)
    words = (*verb.split(), "--target", "kind", *READING[verb], "--json")

    result = run(*words[: len(verb.split())], with_ids, *words[len(verb.split()) :],
                 "--drop", "id", "--drop", "a, b")  # fmt: skip

    assert result.stderr == ""  # no remark about the identifier
    found = answer(result)
    expected = answer(
        run(*words[: len(verb.split())], plain, *words[len(verb.split()) :])
    )
    for one in (found, expected):
        one.pop("seconds", None)  # how long it took
    settings, others = found.pop("settings", {}), expected.pop("settings", {})
    for one in (found, expected):
        one.pop("seconds", None)  # how long it took
    assert found == expected
    assert settings.get("table sha256") == others.get("table sha256")
    if settings:
        again = shlex.split(settings["command"])
        assert again.count("--drop") == 2
        repeated = answer(run(*again[1:], "--json"))
        assert repeated.pop("settings") == settings
        repeated.pop("seconds", None)
        assert repeated == found


def test_names_with_commas_between_them(run, with_ids):
    words = ("data", "show", with_ids, "--target", "kind", "--json")
    found = answer(run(*words, "--drop", "id,x0, x1"))
    named = [column["name"] for column in found["columns"]]
    assert named == ["x2", "x3", "x4", "x5", "a, b"]
    told = run(*words)
    assert "'id'" in told.stderr  # it looks like an identifier


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--drop", "idd"), "no such column; did you mean 'id'?"),
        (("--drop", "id,x9"), "--drop x9: there is no such column"),
        (("--drop", "kind"), "would leave out the target"),
        (("--drop", "id,x0,x1,x2,x3,x4,x5", "--drop", "a, b"), "all columns"),
    ],
)
def test_bad_names(run, with_ids, words, said):
    result = run("estimate", with_ids, "--target", "kind", *words)

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_without_data_or_without_names(run, tmp_path):
    for verb in ("select", "estimate", "compare", "audit", "probabilities"):
        result = run(verb, "--drop", "id")
        assert result.exit_code == 2
        assert f"veridical {verb} DATA --drop COLUMN" in result.stderr
    path = tmp_path / "sparse.libsvm"
    path.write_text("1 1:2 5:1\n-1 2:1\n1 1:1\n")
    result = run("data", "show", path, "--drop", "id")
    assert result.exit_code == 2
    assert "have no names" in result.stderr
