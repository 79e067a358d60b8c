"""What the Tab key offers, in bash, zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from veridical.cli import app, names

HEAVY = {"sklearn", "numba", "pandas", "numpy"}


def offered(shell, line):
    """Ask as the shell's script does; the names that come back."""
    words = line.split(" ")
    env = {"_VERIDICAL_COMPLETE": f"complete_{shell}", "COLUMNS": "200"}
    if shell == "bash":
        env |= {
            "COMP_WORDS": line.replace(" ", "\n"),
            "COMP_CWORD": str(len(words) - 1),
        }
    else:
        env |= {"_TYPER_COMPLETE_ARGS": line}
    if shell == "fish":
        env |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    result = CliRunner(env=env).invoke(app, prog_name="veridical")
    text = result.stdout
    if shell == "zsh":  # _arguments '*: :(("name":"help" ...))'
        return [part.split('"')[1] for part in text.split("((")[-1].split("\n") if part]
    return [line.split("\t")[0].split(",")[-1] for line in text.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("veridical ", {"select", "estimate", "compare", "audit", "study", "data"}),
        ("veridical co", {"compare"}),
        ("veridical study ex", {"export"}),
        ("veridical compare --selec", {"--selectors"}),
        ("veridical select --selector re", {"relieff"}),
        ("veridical select --estimator dag", {"dagsvm"}),
        ("veridical compare --selectors information", {"information-gain"}),
        ("veridical compare --test cor", {"corrected-t"}),
        ("veridical estimate --cv boot", {"boot632", "boot632+"}),
        ("veridical audit --estimator dag", {"dagsvm"}),
        ("veridical prob", {"probabilities"}),
        ("veridical study run in", {"in-vs-out"}),
        ("veridical study run lufe --scale la", {"laptop"}),
    ],
)
def test_what_is_offered(shell, line, words):
    assert words <= set(offered(shell, line))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_selector_is_offered(shell):
    assert offered(shell, "veridical select --selector ") == list(names.SELECTORS)


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
def test_bash_completes_with_the_script_that_is_shown(tmp_path):
    """Load the script that is shown, and press Tab as bash would."""
    shown = CliRunner(env={"_VERIDICAL_COMPLETE": "source_bash"}).invoke(
        app, prog_name="veridical"
    )
    assert shown.exit_code == 0, shown.output
    command = tmp_path / "veridical"
    command.write_text(f"#!{sys.executable}\nfrom veridical.cli import main\nmain()\n")
    command.chmod(0o755)
    script = (
        f"{shown.stdout}\nCOMP_WORDS=(veridical select --selector re)\nCOMP_CWORD=3\n"
        '_veridical_completion veridical\necho "${COMPREPLY[@]}"\n'
    )
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.split() == ["relieff"]


def test_completion_loads_nothing_heavy():
    code = (
        "import sys, os; os.environ.update(_VERIDICAL_COMPLETE='complete_bash', "
        "COMP_WORDS='veridical\\nselect\\n--selector\\nre', COMP_CWORD='3');\n"
        "from veridical.cli import app\n"
        "try: app(prog_name='veridical')\n"
        "except SystemExit: print('LOADED', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    offered, _, loaded = done.stdout.partition("LOADED")
    assert offered.split() == ["relieff"]
    assert HEAVY.isdisjoint(loaded.split())
