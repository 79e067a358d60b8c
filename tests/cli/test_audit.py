"""``veridical audit`` from a file to a table, a page or JSON."""

from __future__ import annotations

import hashlib
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from veridical.auditing import audit
from veridical.datasets import make_random_labels, read
from veridical.report.views.audit import AuditSummary
from veridical.selection import AnovaF

FEW = ("--permutations", "19")


@pytest.fixture
def noise(tmp_path):
    """Forty samples, two hundred columns, nothing to find; the best ten in a file."""
    X, y = make_random_labels(40, 200, random_state=1)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(200)])
    best = AnovaF(10).fit(frame, y).get_feature_names_out()
    path, columns = tmp_path / "noise.csv", tmp_path / "columns.txt"
    frame.assign(kind=np.where(y, "case", "control")).to_csv(path, index=False)
    columns.write_text("\n".join(best) + "\n\n", encoding="utf-8")
    return path, columns


def test_selected_columns_of_noise_fail(run, noise, tmp_path):
    path, columns = noise
    out = tmp_path / "page.html"

    result = run(
        "audit", path, "--target", "kind", "--selected", columns, *FEW, "--out", out
    )

    assert result.exit_code == 1, result.stderr
    assert result.stderr == ""
    for words in (
        "Accuracy of linear SVM on noise.csv: 40 samples, 200 features, 2 classes; "
        "majority class 50.0 %",
        "Random labels",
        "Do not believe the",
        "VD001 error: Selection saw the test fold.",
        "10 of the 10 features are the best 10 by AnovaF",
        "Cure: Select inside each training fold",
    ):
        assert words in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-1] == f"The report is in {out}"
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in page


def test_json_and_nothing_else(run, noise):
    path, columns = noise

    result = run(
        "audit", path, "--target", "kind", "--selected", columns, *FEW, "--json"
    )

    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert set(found) == set(AuditSummary.__annotations__) | {"page"}
    X, y = read(path, "kind")
    chosen = columns.read_text(encoding="utf-8").splitlines()[:-1]
    expected = audit("svm", X, y, selected=chosen, n_permutations=19, random_state=0)
    by_name = {lane["protocol"]: lane for lane in found["lanes"]}
    for protocol in ("in", "out"):
        value = expected.accuracy[protocol].value
        assert by_name[protocol]["accuracy"]["value"] == value
    assert [f["code"] for f in found["findings"]] == list(expected.codes)
    assert found["preselection"]["columns"] == sorted(
        chosen, key=lambda name: int(name.split()[1])
    )


def test_honest_pipeline_of_noise_is_clean(run, noise):
    result = run(
        "audit", noise[0], "--target", "kind", "--selector", "anova", "--features", 10,
        "--estimator", "nb", *FEW, "--ignore", "VD008,VD004", "--json",
    )  # fmt: skip

    assert result.exit_code == 0, result.stdout
    found = json.loads(result.stdout)
    assert found["findings"] == []
    assert found["words"]["belief"] == "open"
    assert found["estimator"] == "naive Bayes on the best 10 by AnovaF"


def test_selecting_first_is_the_same_as_the_list(run, noise):
    path, columns = noise
    common = ("audit", path, "--target", "kind", *FEW, "--json")

    listed = json.loads(run(*common, "--selected", columns).stdout)
    first = json.loads(
        run(*common, "--selector", "anova", "--features", 10, "--first").stdout
    )

    assert first["lanes"] == listed["lanes"]
    assert first["preselection"]["columns"] == listed["preselection"]["columns"]


def test_clean_table_and_the_command_to_repeat_it(run, table):
    command = ("audit", table, "--target", "kind", "--estimator", "nb", *FEW, "--json")

    first = run(*command)

    assert first.exit_code == 0, first.stdout
    found = json.loads(first.stdout)
    assert found["words"]["belief"] == "yes"
    words = shlex.split(found["settings"]["command"])
    assert words[0] == "veridical"
    again = json.loads(run(*words[1:], "--json").stdout)
    assert again == found


def test_without_data_it_shows_the_mistake(run):
    result = run("audit", *FEW)

    assert result.exit_code == 1
    assert result.stdout.startswith("Without DATA, this uses 50 samples")
    assert "VD001 error" in result.stdout


def test_sparse_data(run, tmp_path):
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(0.3, size=(40, 60)).astype(float))
    path = tmp_path / "words.npz"
    np.savez(
        path,
        data=counts.data,
        indices=counts.indices,
        indptr=counts.indptr,
        shape=counts.shape,
        y=np.arange(40) % 2,
    )
    for more in ((), ("--selector", "anova"), ("--selector", "anova", "--first")):
        result = run("audit", path, *more, "--features" if more else "--cv", 5, *FEW)
        assert result.exit_code in (0, 1), result.stderr
        assert "Accuracy of" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--estimator", "svmm"), "did you mean 'svm'"),
        (("--selector", "anvoa"), "did you mean 'anova'"),
        (("--features", "3"), "--features 3 needs a selector"),
        (("--first",), "--first needs a selector"),
        (("--ignore", "VD1"), "There is no finding 'VD1'"),
        (("--seed", "-1"), "--seed -1 is below 0"),
        (("--jobs", "0"), "--jobs 0 starts no process"),
        (("--cv", "1"), "2"),
        (("--permutations", "3"), "19"),
        (("--selected", "missing.txt"), "cannot read the features in missing.txt"),
        (("--selected", "COLUMNS", "--first"), "exclude each other"),
    ],
)
def test_wrong_words_on_the_command_line(run, noise, words, said):
    path, columns = noise
    words = [str(columns) if word == "COLUMNS" else word for word in words]

    result = run("audit", path, "--target", "kind", *words)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_bad_lists_of_columns(run, noise, tmp_path):
    path, _ = noise
    for text, said in (
        ("", "names no feature"),
        ("gene 1\ngene one", "which is not a feature of X"),
        ("500", "X has 200 features"),
        ("gene 1\ngene 1", "more than once"),
    ):
        columns = tmp_path / "bad.txt"
        columns.write_text(text, encoding="utf-8")
        result = run("audit", path, "--target", "kind", "--selected", columns, *FEW)
        assert result.exit_code == 2, text
        assert said in " ".join(result.stderr.split()), text
    columns.write_bytes(b"\xff\xfe\x00")
    result = run("audit", path, "--target", "kind", "--selected", columns)
    assert result.exit_code == 2
    assert "UTF-8" in result.stderr
    result = run("audit", "--selected", columns)
    assert result.exit_code == 2
    assert "there is no file" in result.stderr


def test_columns_by_number(run, noise, tmp_path):
    path, _ = noise
    columns = tmp_path / "numbers.txt"
    columns.write_text("3\n17\n", encoding="utf-8")
    result = run(
        "audit", path, "--target", "kind", "--selected", columns, *FEW, "--json"
    )
    found = json.loads(result.stdout)
    assert found["preselection"]["columns"] == ["gene 3", "gene 17"]
