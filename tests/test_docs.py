"""Every example in the README and the documentation runs and prints what it says."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import re
import tomllib
import typing
from functools import cache
from inspect import ismodule
from pathlib import Path

import pytest

import veridical
from benchmarks import measured

ROOT = Path(__file__).parent.parent
GENERATED = {"_build", "api", "gallery"}
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(
            page
            for page in (ROOT / "docs").rglob("*.md")
            if page.relative_to(ROOT / "docs").parts[0] not in GENERATED
        ),
    ]
)
FENCE = re.compile(r"^```(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: Packages that blocks of plain Python may import; the tests do without them.
STRANGERS = {"anndata", "cupy", "skore"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def fences(page: Path) -> list[tuple[str, str]]:
    """Language and content of every block of a page."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def examples(page: Path) -> str:
    return "\n".join(body for language, body in fences(page) if language == "pycon")


def test_pages_with_examples_are_found():
    with_examples = {page.stem for page in PAGES if examples(page)}
    assert {"README", "relieff", "anova", "many-training-sets"} <= with_examples


@pytest.mark.parametrize(
    "page", [p for p in PAGES if examples(p)], ids=lambda p: str(p.relative_to(ROOT))
)
def test_examples_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(
        examples(page), {}, page.name, str(page), 0
    )
    lines: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=lines.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(lines)


def test_no_block_escapes():
    """Python is written as pycon and commands as bash, since these are run.

    Blocks of plain python are for packages that the tests do without.
    """
    for page in PAGES:
        for language, body in fences(page):
            place = f"{page.name}: {body[:60]!r}"
            assert re.fullmatch(r"pycon|bash|text|toml|python|\{[\w-]+\}", language), (
                place
            )
            if language == "python":
                check_strange(body, place)
            if language == "text":
                # a grammar of commands has bars or brackets
                assert not re.search(r"^\s*(veridical|>>>|\$)\s[^|[]*$", body, re.M), (
                    place
                )


def check_strange(body: str, place: str) -> None:
    """Check what can be checked: it is Python, and what it imports of ours exists."""
    imports = [
        node for node in ast.walk(ast.parse(body)) if isinstance(node, ast.ImportFrom)
    ]
    ours = [node for node in imports if node.module.split(".")[0] == "veridical"]
    assert {node.module for node in imports if node not in ours} & STRANGERS, place
    for node in ours:
        module = importlib.import_module(node.module)
        assert all(hasattr(module, name.name) for name in node.names), place


def test_every_selector_has_a_page():
    from veridical.selection import SELECTORS, __all__

    names = {cls.__name__ for cls in SELECTORS.values()} | {"MDLDiscretizer"}
    assert names <= set(__all__)
    assert names <= titles("selectors")


def registries():
    """Import the module of the docs that fills in lists."""
    path = ROOT / "docs" / "registries.py"
    spec = importlib.util.spec_from_file_location("registries", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_line_page_names_every_estimator():
    from veridical.learning import ESTIMATORS

    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    filled = registries().fill(page)
    assert len(ESTIMATORS) > 5
    assert ", ".join(f"`{name}`" for name in ESTIMATORS) + "." in filled
    assert "<!--" not in filled


def test_the_command_line_page_has_the_options_that_verbs_share():
    """Which verbs have them; options of one verb alone are in the section of it."""
    import typer

    from veridical.cli import app

    verbs = ["select", "estimate", "compare", "choose", "discover", "audit"]
    commands = typer.main.get_command(app).commands
    has = {
        verb: {
            flag
            for one in commands[verb].params
            if not getattr(one, "hidden", False)  # refused, with the cure
            for flag in one.opts
        }
        for verb in verbs
    }
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = page[page.index("| option |") :].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `--")]
    listed = set()
    for row in rows:
        first, *cells = row.replace("\\|", "/").split("|")[1:-1]
        if "of a study" in first:
            continue
        for flag in re.findall(r"--[a-z-]+", first):
            listed.add(flag)
            for verb, cell in zip(verbs, cells, strict=False):
                assert bool(cell.strip()) == (flag in has[verb]), (flag, verb)
    shared = [f for f in has["select"] if sum(f in has[v] for v in verbs) > 2]
    assert {f for f in shared if f.startswith("--")} - {"--help"} <= listed


def test_the_command_line_page_names_every_test_of_a_comparison():
    from veridical.comparison.testing import FURTHER_TESTS, TESTS

    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| `--test` |"))
    named = re.findall(r"`([a-z][\w-]+)`", row)
    assert set(named) == {*TESTS, *FURTHER_TESTS}


def test_the_table_of_selectors_has_a_row_for_each():
    from veridical.selection import SELECTORS

    module = registries()
    page = (ROOT / "docs" / "selectors" / "index.md").read_text(encoding="utf-8")
    assert page.count(module.TABLE) == 1
    lines = module.fill(page).splitlines()
    rows = [line for line in lines if line.startswith("| [")]
    assert len(rows) == len(SELECTORS)
    for row, (name, cls) in zip(rows, SELECTORS.items(), strict=True):
        assert row.startswith(f"| [{cls.__name__}](")
        assert f"| `{name}` |" in row
    assert rows[list(SELECTORS).index("relieff")] == (
        "| [ReliefF](relieff.md) | `relieff` | features that matter only together | "
        "n² p | yes | yes | yes | whole numbers | classes, numbers, survival |"
    )


def test_every_selector_page_is_in_the_table_of_contents_and_ends_with_its_class():
    from veridical.selection import SELECTORS

    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert ":glob:\n\nselectors/index\nselectors/*\n" in contents
    for page in (ROOT / "docs" / "selectors").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        title = text.splitlines()[0].removeprefix("# ")
        if title in {cls.__name__ for cls in SELECTORS.values()}:
            assert text.endswith(f"\n   {title}\n```\n"), page.name


def test_every_paper_has_a_page():
    from veridical.papers import available

    studies = set(available()) - {"leakbench"}  # whose page is docs/leakbench.md
    assert len(studies) == 5
    pages = {page.stem for page in (ROOT / "docs" / "papers").glob("*.md")}
    assert pages == studies | {"where-they-hold"}  # which is about all of them


def titles(folder: str) -> set[str]:
    return {
        page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        for page in (ROOT / "docs" / folder).glob("*.md")
    }


# -- the reference -------------------------------------------------------------------

#: Rooms that users import from.
ROOMS = [name for name in veridical.__all__ if ismodule(getattr(veridical, name))]


def reference() -> set[str]:
    """Dotted names that the reference and the pages it points to document."""
    found = set()
    pages = [ROOT / "docs" / "api.md"]
    for folder in ("selectors", "estimators"):
        pages += (ROOT / "docs" / folder).glob("*.md")
    blocks = [body for page in pages for kind, body in fences(page) if "eval" in kind]
    for body in blocks:
        module = re.search(r"currentmodule:: (\S+)", body)
        assert module is not None, body
        names = re.findall(r"^   ([\w.]+)$", body, re.M)
        names += re.findall(r"^\.\. py:data:: (\w+)$", body, re.M)
        assert names, body
        found |= {f"{module[1]}.{name}" for name in names}
    return found


def test_the_rooms_are_found():
    assert {"selection", "learning", "evaluation", "comparison", "auditing"} < set(
        ROOMS
    )


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_documented(room):
    module = importlib.import_module(f"veridical.{room}")
    public = {f"veridical.{room}.{name}" for name in module.__all__}
    assert public - reference() == set()


def test_names_at_the_top_are_documented():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    front = text.split("## ")[1]
    for name in set(veridical.__all__) - {"__version__", *ROOMS}:
        assert f"`{name}`" in front or f"veridical.{name}" in reference(), name


@pytest.mark.parametrize("room", ROOMS)
def test_no_private_name_of_a_room_is_documented(room):
    """What the reference lists under a room is in its ``__all__``."""
    names = {
        dotted.rsplit(".", 1)[1]
        for dotted in reference()
        if dotted.rsplit(".", 1)[0] == f"veridical.{room}"
    }
    assert names
    assert names <= set(importlib.import_module(f"veridical.{room}").__all__)


def test_documented_names_exist_and_say_what_they_are():
    documented = reference()
    assert len(documented) > 100
    for dotted in documented:
        path, name = dotted.rsplit(".", 1)
        thing = getattr(importlib.import_module(path), name)
        if callable(thing) and typing.get_origin(thing) is None:
            assert (thing.__doc__ or "").strip(), dotted


def test_every_display_is_documented():
    shown = {name.rsplit(".", 1)[1] for name in reference()}
    source = ROOT / "src" / "veridical" / "report"
    displays = {
        name
        for file in source.rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w*Display)\b", file.read_text(), re.M)
    }
    assert len(displays) >= 12
    assert displays <= shown


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    """Sphinx sees to those of docs/; these pages it does not know."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


# -- the architecture ----------------------------------------------------------------


def test_the_architecture_names_every_room_and_the_layers_as_they_are():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {
        folder.parent.name
        for folder in (ROOT / "src" / "veridical").glob("*/__init__.py")
    }
    assert set(re.findall(r"^\| `(\w+)/` \|", text, re.M)) == rooms
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    assert "```text\n" + "\n".join(layers) + "\n```" in text


def test_the_architecture_names_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "veridical"
    named = re.findall(r"`([a-z_]+)\.([a-z_]+)`", text)
    assert len(named) > 5
    for room, module in set(named) - {("veridical", "report")}:
        assert (source / room / f"{module}.py").exists(), f"{room}.{module}"


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/estimators/c45.md",
        "docs/selectors/relieff.md",
        "docs/selectors/information-gain.md",
    ],
)
def test_pages_that_claim_agreement_with_weka_name_its_version(page):
    """The version is that which printed the figures of the tests."""
    for figures in ("selection/weka_results.py", "learning/j48_results.py"):
        text = (ROOT / "tests" / figures).read_text(encoding="utf-8")
        version = re.search(r"Weka (\d+\.\d+\.\d+)", text)
        assert version
        assert f"Weka {version[1]}" in (ROOT / page).read_text(encoding="utf-8")


# -- names of earlier versions -------------------------------------------------------

#: What 0.1.0 called things; CHANGELOG.md alone may name them.
OLD_NAMES = (
    r"\bcompare_many\b",
    r"\bManyComparison\b",
    r"\bp_values?\b(?!_is_worth)",
    r"\bdata_name\b",
    r"\bnames=\{",
    r"\b(compare|truth|sensitivity|select)\([^()]*\b(n_features|max_features)=",
    r"\b(compare|truth|sensitivity|select)\([^()]*\b(classifier|learner|n_folds)=",
    r"\b(compare|truth|sensitivity)\(\s*[\"']",  # selectors come in a list
    r"\bestimate\([^()]*\bmethod=",
    r"\bby_classifier\b",
    r"\bleading_kind\b",
    r"\bregister_shortcut\b",
    r"\b(comparison|veridical)\.(CLASSIFIERS|LEARNERS)\b",
    r"\bveridical\.estimation\b|\bfrom veridical import [^\n]*\bestimation\b",
    r"\bcomparison\.(audit|auditing|select|CODES|skore_checks)\b",
    r"\bcomparison import [^\n]*\b(audit|select|CODES|Audit|skore_checks)\b",
    r"\bveridical\._records\b",
    r"\bpredict_nested\b",
    r"\bmake_classifier\b",
    r"\bcomparison\.(make_selector|cell_bias|count_cells)\b",
    r"\bdatasets\.(encode|Encoded|check_table)\b",
    r"\bdocs/learners\b",
    r"[\"'](plain-)?cv\d+(x\d+)?[\"']",
    r"--(learner|classifier|methods|folds|repeats|corrected)\b",
)


@cache
def told() -> dict[str, str]:
    """Name to text of pages, examples and docstrings."""
    texts = {
        str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
        for page in PAGES
        if page.name != "CHANGELOG.md"
    }
    for file in (ROOT / "examples").rglob("*.py"):
        texts[str(file.relative_to(ROOT))] = file.read_text(encoding="utf-8")
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for file in (ROOT / "src").rglob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        said = [ast.get_docstring(node) for node in nodes if isinstance(node, kinds)]
        texts[str(file.relative_to(ROOT))] = "\n\n".join(filter(None, said))
    return texts


def test_pages_examples_and_docstrings_are_found():
    found = told()
    assert "compare(" in found["README.md"]
    assert any(name.startswith("examples/") for name in found)
    assert "Compare feature selectors" in found["src/veridical/comparison/comparing.py"]


@pytest.mark.parametrize("old", OLD_NAMES)
def test_no_old_name_comes_back(old):
    found = [
        f"{name}: {match[0]!r}"
        for name, text in told().items()
        for match in re.finditer(old, text)
    ]
    assert found == []


@pytest.mark.parametrize("old", OLD_NAMES)
def test_old_names_are_recognized(old):
    """Every pattern finds something in what users of 0.1.0 wrote."""
    assert re.search(old, WRITTEN_FOR_0_1_0)


WRITTEN_FOR_0_1_0 = """
from veridical import comparison, estimation
from veridical._records import ManyComparison
from veridical.comparison import audit, select
from veridical.estimation import estimate, leading_kind, register_shortcut
many = compare_many(["anova", "fcbf", "mrmr"], X, y, n_features=5)
two = compare("anova", "fcbf", X, y, n_features=5, classifier="nb", data_name="genes")
two = compare(a, b, X, y, n_features=5, names={"a": "first", "b": "second"})
two.verdicts["in"].p_value, two.by_classifier, comparison.CLASSIFIERS
found = select("mrmr", X, y, max_features=5, learner="nb", n_folds=5)
found = estimate(model, X, y, method="cv10x5")
comparison.audit("svm", X, y)
comparison.make_classifier("svm"), comparison.make_selector("anova")
datasets.check_table(X, y)
DAGSVM().predict_nested(X, y, order)  # see docs/learners/dagsvm.md
# veridical estimate genes.csv --learner nb --methods cv10,loo
"""


def public_things():
    for room in veridical.__all__:
        thing = getattr(veridical, room)
        if not ismodule(thing):
            yield room, thing
            continue
        yield from ((f"{room}.{name}", getattr(thing, name)) for name in thing.__all__)


def test_the_reference_names_nothing_private():
    """Neither the page, nor what docstrings and signatures of public names say."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert not re.search(r"\._|\s_\w", page)
    for name, thing in public_things():
        if name == "__version__":
            continue
        assert not name.split(".")[-1].startswith("_"), name
        text = inspect.getdoc(thing) or ""
        assert "veridical._" not in text, name
        if inspect.isclass(thing):
            members = [v for k, v in vars(thing).items() if not k.startswith("_")]
            for member in members:
                told = inspect.getdoc(member) if callable(member) else ""
                assert "veridical._" not in (told or ""), (name, member)


def test_every_measured_file_is_noted_with_its_date_and_code():
    noted = measured.noted()
    assert set(noted) == {file for file in measured.FILES if (ROOT / file).exists()}
    changed = [file for file in noted if measured.digest(file) != noted[file].digest]
    assert not changed, "run: python -m benchmarks.measured"
    for origin in noted.values():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", origin.date)
        assert re.match(r"[0-9a-f]{7}", origin.code)


@pytest.mark.parametrize("file", measured.FILES)
def test_the_command_and_the_pages_of_a_measured_file_exist(file):
    command, pages = measured.FILES[file]
    words = command.split()
    if words[0] == "make":
        assert f"\n{words[1]}: " in (ROOT / "Makefile").read_text(encoding="utf-8")
    else:
        assert words[:2] == ["python", "-m"]
        assert importlib.util.find_spec(words[2]) is not None
    for page in pages:
        assert (ROOT / page).is_file(), page


def test_stored_measurements_are_all_noted():
    stored = {
        path.relative_to(ROOT).as_posix()
        for folder in ("benchmarks", "src/veridical")
        for path in (ROOT / folder).rglob("*.csv")
        if ".cache" not in path.parts
    }
    assert stored <= set(measured.FILES)
