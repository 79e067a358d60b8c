"""Answers that cost nothing: help, version, and quick refusals."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import get_args

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from veridical import __version__
from veridical.cli import app, names

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


def commands():
    """Every verb and sub-verb, as words."""
    found = [()]
    for name, command in get_command(app).commands.items():
        found.append((name,))
        found += [(name, sub) for sub in getattr(command, "commands", ())]
    return found


def help_of(words, columns):
    runner = CliRunner(env={"COLUMNS": str(columns), "TERM": "dumb"})
    result = runner.invoke(app, [*words, "--help"])
    assert result.exit_code == 0
    return plain(result.output)


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_reads_well_in_eighty_columns(words):
    lines = help_of(words, 80).splitlines()

    assert max(map(len, lines)) <= 80
    # Nothing is cut, no type of Python's is shown, and no word stands alone.
    assert not any("…" in line or re.search(r"<\w+", line) for line in lines)
    prose = [line.split() for line in lines if line.startswith(" ")]
    assert [words for words in prose if len(words) == 1] in ([], [["Examples:"]])
    listed = [line for line in lines if line.startswith("│")]
    assert all(line.strip("│ ") for line in listed)
    # Each option has words beside it.
    options = [line for line in listed if re.match("│ [ *]* *--", line)]
    assert "--help" in options[-1] or words == ()
    assert all(re.search(r"\S +[A-Z]", line) for line in options)


def test_help_lists_what_there_is():
    text = help_of([], 80)
    places = [text.index(f"│ {name} ") for name in VERBS]

    assert places == sorted(places)
    assert "Exit status: 0 success" in text


def test_names_are_those_of_the_library():
    from veridical import papers
    from veridical.auditing import CODES
    from veridical.cli.answers import ANSWERS
    from veridical.cli.preparing import ENCODERS, IMPUTERS, SCALERS
    from veridical.comparison.testing import TESTS
    from veridical.evaluation.naming import METHODS, make_method
    from veridical.experiments import SCALES
    from veridical.learning import ESTIMATORS
    from veridical.selection import SELECTORS
    from veridical.selection._prioritization import RelevanceKind

    assert tuple(SELECTORS) == names.SELECTORS
    assert tuple(ESTIMATORS) == names.ESTIMATORS
    assert tuple(TESTS) == names.TESTS
    assert tuple(IMPUTERS) == names.IMPUTERS
    assert tuple(SCALERS) == names.SCALERS
    assert tuple(ENCODERS) == names.ENCODERS
    assert get_args(RelevanceKind) == names.RELEVANCES
    assert tuple(SCALES) == names.SCALES
    assert tuple(papers.available()) == names.STUDIES
    assert tuple(CODES) == names.CODES
    assert tuple(ANSWERS) == names.ANSWERING
    kinds = {make_method(name) for name in names.METHODS}
    assert len(kinds) == len(names.METHODS) == len(METHODS)


VERBS = (
    *("select", "estimate", "compare", "choose", "discover", "audit"),
    *("probabilities", "study", "data", "schema"),
)

#: Options that several verbs have, in the order in which all of them list them.
SHARED = (
    *("--target", "--drop", "--groups", "--weights", "--header", "--classes"),
    *("--numbers", "--time", "--event", "--memory-limit", "--layer"),
    *("--all", "--impute", "--scale", "--encode"),
    *("--batch", "--unknown-batch", "--covariates"),
    *("--claim", "--fdr", "--pfer", "--fwer"),
    *("--selector", "--selectors", "--alpha", "--relevance"),
    *("--features", "--first", "--selected", "--estimator", "--estimators"),
    *("--cv", "--validate", "--correction", "--drop-hopeless"),
    *(
        "--test",
        "--spec",
        "--store",
        "--where",
        "--port",
        "--again",
    ),
    *("--method", "--strata"),
    *(
        "--permutations",
        "--ignore",
        "--checks",
        "--tried",
        "--removed",
        "--verbose",
        "--nested",
        "--calibrated",
        "--scoring",
    ),
    *("--jobs", "--dask", "--seed", "--limit-time", "--limit-cell", "--limit-memory"),
    *(
        "--model",
        "--checklist",
        "--retry-failed",
        "--out",
        "--canonical",
        "--json",
        "--quiet",
    ),
)


def parameters(words):
    command = get_command(app)
    for word in words:
        command = command.commands[word]
    found = [p for p in command.params if p.param_type_name == "option"]
    return {p.opts[0]: p for p in found if not p.hidden}


def test_an_option_is_the_same_in_every_verb():
    seen = {}
    for words in commands()[1:]:
        if words in (("study",), ("data",)):
            continue
        found = parameters(words)
        order = [SHARED.index(name) for name in found]
        assert order == sorted(order), words
        if words != ("schema",):
            assert {"--json", "--quiet"} <= set(found), words
        for name, option in found.items():
            metavar = {"--estimator": None, "--out": None}.get(name, option.metavar)
            kind = (option.is_flag, metavar, option.rich_help_panel)
            assert seen.setdefault(name, kind) == kind, (words, name)
    assert {option.default for option in map(default_of("--seed"), WORKING)} == {
        0,
        None,
    }
    assert {o.default for o in map(default_of("--jobs"), WORKING)} == {1}
    for words in WORKING:
        assert {"--out", "--json", "--quiet"} <= set(parameters(words))


WORKING = [
    *(("select",), ("estimate",), ("compare",), ("audit",), ("probabilities",)),
    ("study", "run"),
]


def default_of(name):
    return lambda words: parameters(words)[name]


WORKING_VERBS = [" ".join(words) for words in WORKING[:-1]] + ["study run lufe"]


def test_version():
    result = CliRunner().invoke(app, ["--version"])

    assert (result.exit_code, result.output) == (0, f"veridical {__version__}\n")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["compare", "--feature", "3"], "--features"),
        (["comapre"], "compare"),
        (["estimte"], "estimate"),
        (["estimate", "--estimatr", "nb"], "--estimator"),
        (["estimate", "--cv"], "requires an argument"),
        (
            ["compare", "--selectors", "relieff"],
            "takes two or more: --selectors relieff,fcbf",
        ),
        (["compare", "--features", "many"], "--features"),
        (["data", "lst"], "list"),
        (["study", "rnu"], "run"),
        (["study", "run", "lufe", "--scael", "smoke"], "--scale"),
        (["study", "run", "lufe", "--scale", "smok"], "did you mean 'smoke'"),
        (["select", "--selector", "mrmrr"], "did you mean 'mrmr'"),
        (["select", "--estimator", "dagsmv"], "did you mean 'dagsvm'"),
        (["select", "--relevance", "one-vs-al", "--selector", "ddp"], "one-vs-all"),
        (["select", "--alpha", "much", "--selector", "ddp"], "in (0, 1], or auto"),
        (["estimate", "--selector", "relief"], "did you mean 'relieff'"),
        (["estimate", "--cv", "boot631"], "did you mean 'boot632'"),
        (["audit", "--ignore", "VD01"], "VD001"),
        (["audit", "--estimator", "cvm"], "did you mean 'svm'"),
        (["compare", "--test", "pared-t"], "did you mean 'paired-t'"),
        (["compare", "--cv", "0x5"], "'0x5' is not possible: n_repeats=0"),
        (["compare", "vehicel.csv"], "There is no file vehicel.csv"),
        (["compare", "linaer"], "did you mean 'linear'"),
        (["estimate", "linear", "--target", "y"], "has its own target"),
        (["compare", "t.csv", "kind"], "Name the class with --target"),
        (["compare", "--test", "five-by-two-t"], "add --cv 5x2"),
        (["audit", "--permutations", "3"], "give 19 or more"),
        (["schema", "compaer"], "did you mean 'compare'"),
        (["schema", "study"], "study run"),
        *(
            ([verb, "--jobs", "0"], "--jobs 0 starts no process")
            for verb in WORKING_VERBS
        ),
        *(([verb, "--seed", "-1"], "--seed -1 is below 0") for verb in WORKING_VERBS),
    ],
)
def test_wrong_usage_is_told_with_the_cure(tmp_path, monkeypatch, argv, words):
    argv = [word for words in argv for word in words.split()]
    monkeypatch.chdir(tmp_path)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, argv)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert words in plain(result.stderr)
