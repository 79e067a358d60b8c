"""What a release needs: a workflow that runs, and true lower bounds."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def read(path: str):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_workflow_runs_what_the_repository_has():
    jobs = read(".github/workflows/check.yml")["jobs"]
    ran = [
        step["run"] for job in jobs.values() for step in job["steps"] if "run" in step
    ]
    assert ".ci/run" in ran
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.M)
    assert set(jobs["release"]["strategy"]["matrix"]["verb"]) <= set(targets)
    least = PROJECT["requires-python"].removeprefix(">=")
    tested = jobs["check"]["strategy"]["matrix"]["python"]
    assert min(tested, key=lambda v: int(v.split(".")[1])) == least


@pytest.mark.parametrize("name", ["bug", "wrong-answer", "wish"])
def test_issue_templates_ask_something(name):
    form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= set(form)
    assert any(one.get("validations", {}).get("required") for one in form["body"])


def test_every_dependency_has_a_lower_bound_that_is_installed_or_lower():
    told = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "lowest")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(told) == len(PROJECT["dependencies"])
    for line in told:
        name, lowest = line.split("==")
        numbers = [int(part) for part in lowest.split(".")]
        installed = re.findall(r"\d+", version(name))[: len(numbers)]
        assert [int(part) for part in installed] >= numbers, line


@pytest.mark.parametrize("name", ["LICENSE", "CODE_OF_CONDUCT.md", "SECURITY.md"])
def test_what_people_look_for_is_there(name):
    assert len((ROOT / name).read_text(encoding="utf-8")) > 500
