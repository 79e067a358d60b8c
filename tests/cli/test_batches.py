"""``--batch`` and ``--covariates``: what is done is named on every page."""

import json
import shlex

import numpy as np
import pytest
from tests.preparation.test_blocks import clinic

WORDS = ("--target", "ill", "--batch", "site", "--covariates", "age", "--cv", 3)
VERBS = {
    "select": ("--selector", "anova", "--features", 3, "--estimator", "nb"),
    "estimate": ("--selector", "anova", "--features", 3, "--estimator", "nb"),
    "compare": ("--selectors", "anova,mrmr", "--features", 3, "--estimator", "nb"),
    "audit": ("--estimator", "nb", "--permutations", 19),
}


@pytest.fixture
def table(tmp_path):
    X, y = clinic()
    path = tmp_path / "clinic.csv"
    X.assign(ill=np.where(y, "yes", "no")).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_names_what_was_done(run, table, tmp_path, verb):
    page = tmp_path / "page.html"
    words = (verb, table, *WORDS, *VERBS[verb])
    result = run(*words, "--json")
    assert result.exit_code in (0, 1), result.stderr
    found = json.loads(result.stdout)
    assert found["settings"]["batch"].startswith("site (3 batches")
    assert found["data"]["n_features"] == 30
    again = run(*shlex.split(found["settings"]["command"])[1:], "--json")
    assert json.loads(again.stdout)["settings"] == found["settings"]
    assert run(*words, "--out", page).exit_code == result.exit_code
    text = page.read_text(encoding="utf-8")
    assert "corrected by ComBat; learned on every training set" in text
    assert "age: the linear effect is subtracted" in text


def test_a_second_file_of_another_batch(run, tmp_path):
    X, y = clinic()
    X["ill"] = np.where(y, "yes", "no")
    paths = tmp_path / "here.csv", tmp_path / "there.csv"
    X[X["site"] != "w"].to_csv(paths[0], index=False)
    X[X["site"] == "w"].to_csv(paths[1], index=False)
    words = ("estimate", paths[0], "--target", "ill", "--batch", "site")
    words += ("--validate", paths[1], "--estimator", "nb")
    refused = run(*words)
    assert refused.exit_code == 2
    assert "--unknown-batch estimate" in refused.stderr
    assert run(*words, "--unknown-batch", "estimate").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("estimate", "--batch", "site"), "there is no file; give it first"),
        (("estimate", "--unknown-batch", "estimate"), "needs a batch; add --batch"),
        (("estimate", "--batch", "x", "--unknown-batch", "x"), "no --unknown-batch"),
    ],
)
def test_options_that_do_not_fit(run, words, said):
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.stderr
