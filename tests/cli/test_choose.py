"""``veridical choose``."""

import json

import pytest

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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--selectors", "anov"), "There is no selector 'anov'; did you mean 'anova'?"),
        (("--estimators", "svn"), "There is no estimator 'svn'"),
        (("--correction", "none"), "There is no --correction 'none'"),
        (("--features", "5,x"), "--features x is neither a number"),
        (("--checklist", "consort"), "There is no --checklist 'consort'"),
        (("--drop-hopeless", "3"), "drop=3.0 must be a share"),
        (("--features", "1000"), "sizes=1000 is not possible"),
    ],
)
def test_bad_options_are_named(run, words, said):
    result = run("choose", *words)
    assert result.exit_code == 2
    assert said in result.stderr
