"""Studies are found by name, and stand on public calls alone."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.experiments.synthetic import Grid

from veridical import papers
from veridical.experiments import InputError, PaperStudy

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "src" / "veridical" / "papers").rglob("*.py"))
GRID = Grid(name="theirs", question="Is it theirs?")
NOTHING = "no study at all"


def __getattr__(name):
    if name == "LEAVING":  # a module that ends Python while it is loaded
        raise SystemExit("enough")
    raise AttributeError(name)


@pytest.fixture
def installed(monkeypatch):
    """Packages that bring studies: one that works and some that do not."""
    found = [
        EntryPoint("theirs", f"{__name__}:GRID", papers.GROUP),
        EntryPoint("broken", "no_such_package.study:STUDY", papers.GROUP),
        EntryPoint("nothing", f"{__name__}:NOTHING", papers.GROUP),
        EntryPoint("other", f"{__name__}:GRID", papers.GROUP),
        EntryPoint("leaving", f"{__name__}:LEAVING", papers.GROUP),
        EntryPoint("lufe", f"{__name__}:GRID", papers.GROUP),
    ]
    monkeypatch.setattr(papers, "entry_points", lambda group: found)


def test_our_studies_are_declared_as_other_peoples_are():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    places = {name: place for name, (_, place) in papers._STUDIES.items()}
    assert project["entry-points"][papers.GROUP] == places


@pytest.mark.parametrize("name", papers._STUDIES)
def test_a_study_says_who_it_is(name):
    study = papers.find_study(name)
    assert isinstance(study, PaperStudy)
    assert study.name == name
    assert study.question.endswith("?")
    assert study.paper


def test_studies_of_other_packages_are_listed(installed):
    listed = papers.available()

    assert list(listed)[: len(papers._STUDIES)] == list(papers._STUDIES)
    assert listed["theirs"] == "Is it theirs?"
    assert papers.find_study("theirs") is GRID
    # One that cannot be loaded is told, and disturbs no other.
    assert "ModuleNotFoundError: No module named 'no_such_package'" in listed["broken"]
    for name in ("nothing", "other"):
        assert "is not a veridical.experiments.PaperStudy of that name" in listed[name]
    assert "SystemExit: enough" in listed["leaving"]
    with pytest.raises(InputError, match="update or remove the package"):
        papers.find_study("broken")
    # Nobody takes a name of ours.
    assert papers.find_study("lufe").paper.startswith("J. Taylor")


def test_an_unknown_name_is_told():
    with pytest.raises(
        InputError, match=r"did you mean 'in-vs-out'\? Use one of in-vs"
    ):
        papers.find_study("in-vs-uot")


def imported(path):
    """The names that a module imports from veridical, with the module they are in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("veridical"):
            assert node.level == 0
            for alias in node.names:
                yield node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                assert not alias.name.startswith("veridical"), alias.name


def is_public(module, name, path):
    """Whether a paper may use a name: of a room, of its own folder, or shared."""
    if module in ("veridical.papers.paper_data", "veridical.papers.expression"):
        return not name.startswith("_")
    if module.startswith("veridical.papers."):
        return module.split(".")[2] == path.parent.name and not name.startswith("_")
    if module.count(".") > 1:
        return False  # a room's own module
    return name in importlib.import_module(module).__all__


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_papers_use_public_names_only(path):
    for module, name in imported(path):
        assert is_public(module, name, path), f"from {module} import {name}"


def test_imports_are_found_and_classified():
    assert sum(1 for path in FILES for _ in imported(path)) > 100
    here = FILES[0]
    assert not is_public("veridical._core.errors", "InputError", here)
    assert not is_public("veridical.learning", "make_majority", here)
    assert is_public("veridical.learning", "C45", here)


THEIR_STUDY = """
from veridical.experiments import Cell, Check, PaperStudy, Recipe, Spec, Unit


class CoinSpec(Spec):
    n_coins: int = 3


class Coins(PaperStudy):
    name = "coins"
    question = "Is a coin fair?"
    paper = "Nobody, On coins, 2026"
    spec = CoinSpec

    def at_scale(self, scale):
        return {"n_coins": 3 if scale == "smoke" else 30}

    def units(self, spec):
        recipe = Recipe.from_details(self.name, spec.seed)
        cells = [Cell({"coin": i}, recipe) for i in range(spec.n_coins)]
        yield Unit({}, cells)

    def run(self, unit):
        for cell in unit.cells:
            yield {"heads": cell.coordinates["coin"] % 2}

    def findings(self, frame):
        heads = f"{frame['heads'].sum()} of {len(frame)}"
        check = Check("Coins are fair", "open", "half", heads, "not decided here")
        return self.make_report(frame, [check])


STUDY = Coins()
"""


def test_a_study_of_an_installed_package_is_run_like_ours(tmp_path):
    packages = tmp_path / "site-packages"
    installed = packages / "their_coins-1.0.dist-info"
    installed.mkdir(parents=True)
    (packages / "their_coins.py").write_text(THEIR_STUDY)
    (installed / "METADATA").write_text("Name: their-coins\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        f"[{papers.GROUP}]\ncoins = their_coins:STUDY\n"
    )
    paths = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]

    def study(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "veridical", "study", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            timeout=120,
        )

    listed = study("list").stdout
    assert re.search(r"coins\W+Is a coin fair\?", listed)
    run = study("run", "coins", "--scale", "smoke", "--out", "page.html", "--json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert (answer["planned"], answer["ok"]) == (3, 3)
    (check,) = answer["findings"]["checks"]
    assert (check["outcome"], check["ours"]) == ("open", "1 of 3")
    assert "Nobody, On coins, 2026" in (tmp_path / "page.html").read_text("utf-8")
