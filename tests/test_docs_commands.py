"""Every command in the README and the documentation is one that exists, and works.

All are read by the parser of the command line itself. They are also run, on small files
of the names that the pages use, but for those that take minutes, want a network or do
not end.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import typer
from click.testing import CliRunner
from tests.test_docs import PAGES, ROOT, fences

from veridical.cli import app
from veridical.datasets import EMBEDDED

COMMAND = typer.main.get_command(app)
NOT_RUN = {
    "study run": "takes minutes; tests/cli/test_study.py runs small ones",
    "study show": "needs the store of a study",
    "study verify": "needs the store of a study",
    "study export": "needs the store of a study",
    "study watch": "serves until it is stopped",
    "data fetch": "needs a network",
    "compare openml:": "needs a network",
}


def commands() -> list[tuple[str, str]]:
    """Page and line of each command, as far as the first pipe.

    What is indented goes on from the line above.
    """
    found = []
    for page in PAGES:
        for language, body in fences(page):
            if language == "bash":
                whole = re.sub(r"(\\)?\n[ \t]+", " ", body).replace(" | jq", "\n#")
                lines = [shlex.join(words) for words in split_commands(whole)]
                found += [(page.stem, line) for line in lines if line]
    return found


def split_commands(text: str) -> list[list[str]]:
    """Words of each command; one in quotes may go over several lines."""
    found, open_lines = [], ""
    for line in text.splitlines():
        open_lines += line
        try:
            found.append(shlex.split(open_lines, comments=True))
        except ValueError:  # a quotation that is not closed yet
            open_lines += "\n"
        else:
            open_lines = ""
    assert not open_lines, open_lines
    return found


COMMANDS = commands()
OURS = list(
    dict.fromkeys(
        re.sub(r"^\w+=\S+ ", "", line)
        for _, line in COMMANDS
        if "veridical " in line and re.match(r"(\w+=\S+ )?veridical ", line)
    )
)
#: What makes the files of a command, where that is the line before it.
MAKES_FILES = {
    line: shlex.split(before)[2]
    for (_, before), (_, line) in pairwise(COMMANDS)
    if before.startswith("python -c ")
}


def test_commands_are_found():
    assert len(OURS) > 15
    verbs = {line.split()[1] for line in OURS}
    assert verbs == {
        "select",
        "estimate",
        "compare",
        "choose",
        "discover",
        "audit",
        "probabilities",
        "study",
        "data",
        "schema",
    }


def words(line: str) -> list[str]:
    """A command without its name, placeholders filled in."""
    fill = {"DATA": "table.csv", "[DATA]": "table.csv", "COL": "class"}
    return [fill.get(word, word) for word in shlex.split(line)[1:]]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Small files of the names that the pages use, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 24)).round(3)
    y = np.where(values[:, 0] + 0.5 * rng.normal(size=40) > 0, "yes", "no")
    names = [f"gene {j}" for j in range(24)]
    frame = pd.DataFrame(values, columns=names)
    for name, target in (
        ("mydata", "class"),
        ("table", "class"),
        ("measurements", "diagnosis"),
        ("genes", "tumour"),
    ):
        frame.assign(**{target: y}).to_csv(f"{name}.csv", index=False)
    for name in ("here", "there"):
        noisy = frame + (name == "there") * rng.normal(scale=0.1, size=values.shape)
        clinical = noisy.assign(patient_id=[f"P{i}" for i in range(40)], relapse=y)
        clinical.to_csv(f"{name}.csv", index=False)
    clinical = frame.assign(
        site=np.where(np.arange(40) % 3, "north", "south"),
        age=rng.integers(30, 80, 40),
        sex=np.where(np.arange(40) % 2, "f", "m"),
        ill=y,
    )
    clinical.to_csv("hospitals.csv", index=False)
    np.savez("colon.npz", X=values, y=y)
    for name in ("genes.txt", "columns.txt"):
        (tmp_path / name).write_text("\n".join(names[:5]))
    for name in ("in-vs-out.sqlite", "study.toml"):
        (tmp_path / name).touch()
    return tmp_path


def parse(command, given):
    """Read a command line as far as its last verb, without doing anything."""
    context = command.make_context("veridical", list(given))
    while isinstance(context.command, typer.core.TyperGroup):
        rest = [*context._protected_args, *context.args]
        name, below, rest = context.command.resolve_command(context, rest)
        context = below.make_context(name, rest, parent=context)
    return context


def lost_options(body: str) -> list[str]:
    """Lines of options that do not go on from the line above: a shell loses them."""
    lines = body.splitlines()
    return [
        line
        for before, line in pairwise(["", *lines])
        if line.lstrip().startswith("--") and not before.rstrip(" ").endswith("\\")
    ]


def test_options_go_on_from_a_line_that_says_so():
    assert lost_options("a --b \\\n  --c\n  --d") == ["  --d"]
    for page in PAGES:
        for language, body in fences(page):
            if language == "bash":
                assert not lost_options(body), page


@pytest.mark.parametrize("line", OURS)
def test_command_is_understood(line, files):
    context = parse(COMMAND, words(line))
    assert context.params


@pytest.mark.parametrize("line", OURS)
def test_a_documented_command_ends_with_its_status(line, files):
    for start, reason in NOT_RUN.items():
        if " ".join(words(line)).startswith(start):
            pytest.skip(reason)
    exec(MAKES_FILES.get(line, ""), {})
    # A measured null takes as long as 200 comparisons; tests/cli has it, and workers.
    given = [word for word in words(line) if word != "--calibrated"]
    given = [
        "1" if before == "--jobs" else word for before, word in pairwise(["", *given])
    ]
    done = CliRunner().invoke(COMMAND, given)
    # An audit that finds something says so by its status.
    allowed = {0, 1} if line.startswith("veridical audit") else {0}
    assert done.exit_code in allowed, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    page = re.search(r"--out (\S+\.html)", line)
    if page:
        assert (files / page[1]).stat().st_size > 5000


#: Pages whose subject is the user's own files, or all options at once.
ABOUT_FILES = {"train-here-validate-there", "command-line"}


def test_the_first_command_of_a_page_needs_no_file():
    first = {}
    for page, line in COMMANDS:
        if line.startswith("veridical ") and page not in ABOUT_FILES:
            first.setdefault(page, line)
    for page, line in first.items():
        data = parse(COMMAND, words(line)).params.get("data")
        assert data is None or str(data) in EMBEDDED, (page, line)


def test_make_targets_extras_and_modules_exist():
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.M)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    seen = set()
    for page, line in COMMANDS:
        program, *given = shlex.split(line)
        program = program.removeprefix(".venv/bin/")
        if program == "make":
            assert given[0] in targets, (page, line)
        elif program == "pip":
            for names in re.findall(r"\[([\w,]+)\]", line):
                assert set(names.split(",")) <= set(extras), (page, line)
        elif given[:1] == ["-c"]:
            compile(given[1], page, "exec")
        elif program == "python":
            assert find_spec(given[given.index("-m") + 1]), (page, line)
        elif program not in {"source", "veridical"} and "=" not in program:
            raise AssertionError(f"{page}: who checks {line!r}?")
        seen.add(program)
    assert {"make", "pip", "veridical"} <= seen
