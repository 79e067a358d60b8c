"""Answers that cost nothing: help, version, and quick refusals."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from veridical import __version__
from veridical.cli import app

HEAVY = ("sklearn", "numba", "pandas", "matplotlib", "scipy", "numpy", "jinja2")


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize(
    "code",
    [
        "import veridical.cli",
        "from veridical.cli import app; app(['--help'], standalone_mode=False)",
        "from veridical.cli import app; app(['compare', '-h'], standalone_mode=False)",
        "from veridical.cli import app; app(['estimate', '-h'], standalone_mode=False)",
        "from veridical.cli import app; app(['select', '-h'], standalone_mode=False)",
        "from veridical.cli import app; app(['--version'], standalone_mode=False)",
    ],
)
def test_help_loads_nothing_heavy(code):
    probe = f"import sys; {code}; print('LOADED', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.rpartition("LOADED")[2].split())

    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "argv",
    [["--help"], ["compare", "--help"], ["estimate", "--help"], ["select", "--help"]],
)
def test_help_fits_eighty_columns(argv):
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, argv)

    assert result.exit_code == 0
    lines = plain(result.output).splitlines()
    assert max(map(len, lines)) <= 80
    # Prose is broken where the terminal ends, not in the middle of a line.
    prose = [line for line in lines if line.startswith(" ") and len(line.split()) == 1]
    assert prose == []


def test_help_names_only_what_there_is():
    from veridical.comparison import CLASSIFIERS
    from veridical.comparison.testing import TESTS
    from veridical.selection import SELECTORS

    text = plain(
        CliRunner(env={"COLUMNS": "200"}).invoke(app, ["compare", "-h"]).output
    )

    assert set(re.search(r"Two selectors or more, such as (.*?);", text)[1].split()) - {
        "or"
    } <= {name + end for name in SELECTORS for end in ("", ",")}
    assert re.search(r"What learns from them: ([\w, ]+) or (\w+);", text)[0]
    for name in CLASSIFIERS:
        assert name in text
    for name in TESTS:
        assert name in text


def test_help_of_estimate_names_all_learners_and_methods_that_exist():
    from veridical.comparison import LEARNERS
    from veridical.estimation import METHODS, make_method

    text = plain(
        CliRunner(env={"COLUMNS": "300"}).invoke(app, ["estimate", "-h"]).output
    )

    assert set(
        re.findall(r"[\w]+", re.search(r"What learns: (.*?)\.", text)[1])
    ) == set(LEARNERS) | {"or"}
    listed = re.search(r"one or several: (.*?), with any numbers", text)[1].split(", ")
    kinds = {make_method(name) for name in listed}
    assert len(kinds) == len(listed) == len(METHODS) - 1  # complete is for tiny data


def test_version():
    result = CliRunner().invoke(app, ["--version"])

    assert (result.exit_code, result.output) == (0, f"veridical {__version__}\n")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["compare", "--feature", "3"], "--features"),
        (["comapre"], "compare"),
        (["estimte"], "estimate"),
        (["estimate", "--method", "cv10"], "--methods"),
        (["estimate", "--methods"], "requires an argument"),
        (
            ["compare", "--selectors", "relieff"],
            "takes two or more: --selectors relieff fcbf",
        ),
        (["compare", "--features", "many"], "--features"),
    ],
)
def test_wrong_usage_is_told_with_the_cure(argv, words):
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, argv)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert words in plain(result.stderr)
