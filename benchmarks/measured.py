"""Say of every stored measurement which command wrote it, when, and with which code.

    python -m benchmarks.measured

writes ``docs/figures.md``. Run it after a command has written a file named here; `make
bench` and `make truth` do so. The date and the commit of a file that has not changed
since they were noted stay as they are.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks import store
from benchmarks.measure import ROOT, commit

PAGE = ROOT / "docs" / "figures.md"

#: Files of measurements: the command that writes each, and the pages that show it.
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "benchmarks/RESULTS.md": (
        "make bench",
        (
            "README.md",
            "docs/many-training-sets.md",
            "docs/estimating.md",
            "docs/estimators/dagsvm.md",
            "docs/estimators/svm-plus.md",
            "docs/reliability.md",
        ),
    ),
    "benchmarks/SCALE.md": ("make bench-scale", ("docs/costs.md",)),
    "benchmarks/GPU.md": ("make bench-gpu", ("docs/questions/gpu.md",)),
    "benchmarks/costs.json": ("make bench", ("docs/costs.md",)),
    "benchmarks/first_minute.csv": (
        "python -m benchmarks.first_minute",
        ("README.md", "docs/start.md"),
    ),
    "benchmarks/leakbench/results.csv": (
        "python -m benchmarks.leakbench",
        ("docs/leakbench.md",),
    ),
    "benchmarks/leakbench/parts.csv": (
        "python -m benchmarks.leakbench.parts",
        ("docs/leakbench.md",),
    ),
    "benchmarks/leakbench/permuted.csv": (
        "python -m benchmarks.leakbench.permuted",
        ("docs/leakbench.md",),
    ),
    "benchmarks/leakbench/rivals.csv": (
        "python -m benchmarks.leakbench.rivals",
        ("docs/leakbench.md",),
    ),
    "benchmarks/papers.json": (
        "python -m benchmarks.papers",
        tuple(
            f"docs/papers/{page}.md"
            for page in (
                "in-vs-out",
                "accuracy-estimation",
                "lufe",
                "differential-prioritization",
                "bias-corrected-bayes",
                "where-they-hold",
            )
        ),
    ),
    "benchmarks/truth/batches.csv": (
        "python -m benchmarks.truth.batches",
        ("docs/questions/hospitals-differ.md", "docs/findings/VD013.md"),
    ),
    "benchmarks/truth/calibrated.csv": (
        "python -m benchmarks.truth.calibrated",
        ("docs/which-test.md",),
    ),
    "benchmarks/truth/claims.csv": (
        "python -m benchmarks.truth.claims",
        ("docs/which-test.md",),
    ),
    "benchmarks/truth/discoveries_noise.csv": (
        "python -m benchmarks.truth.discoveries --noise 500",
        ("docs/questions/which-features-may-i-claim.md",),
    ),
    "benchmarks/truth/discoveries_power.csv": (
        "python -m benchmarks.truth.discoveries --peers 12",
        ("docs/questions/which-features-may-i-claim.md",),
    ),
    "benchmarks/truth/factors.csv": (
        "python -m benchmarks.truth.factors",
        ("docs/which-test.md",),
    ),
    "benchmarks/truth/findings.csv": (
        "python -m benchmarks.truth.findings",
        (
            "docs/findings/VD001.md",
            "docs/findings/VD002.md",
            "docs/findings/VD003.md",
        ),
    ),
    "benchmarks/truth/other_tests.csv": (
        "python -m benchmarks.truth.other_tests",
        ("docs/which-test.md",),
    ),
    "benchmarks/truth/outcomes.csv": (
        "python -m benchmarks.truth.outcomes",
        (
            "docs/questions/a-number-to-predict.md",
            "docs/questions/a-survival-time.md",
            "docs/which-test.md",
        ),
    ),
    "benchmarks/truth/prioritization.csv": (
        "python -m benchmarks.truth.prioritization",
        ("docs/papers/differential-prioritization.md",),
    ),
    "benchmarks/truth/real_data.csv": (
        "python -m benchmarks.truth.real_data",
        ("docs/questions/a-number-to-predict.md", "docs/questions/a-survival-time.md"),
    ),
    "benchmarks/truth/score_tests.csv": (
        "python -m benchmarks.truth.score_tests",
        ("docs/selectors/cox-score.md", "docs/selectors/anova.md"),
    ),
    "benchmarks/truth/sparse_world.csv": (
        "python -m benchmarks.truth.sparse_world",
        ("docs/estimators/bias-corrected-nb.md",),
    ),
    "benchmarks/truth/unseen_coverages.csv": (
        "python -m benchmarks.truth.coverages --unseen 30 --seed 20261119",
        ("docs/estimating.md",),
    ),
    "benchmarks/truth/unselected.csv": (
        "python -m benchmarks.truth.unselected",
        ("docs/papers/where-they-hold.md",),
    ),
    "src/veridical/comparison/sizes.csv": (
        "python -m benchmarks.truth.sizes",
        ("docs/which-test.md",),
    ),
    "src/veridical/discovery/rates.csv": (
        "python -m benchmarks.truth.discoveries",
        ("docs/questions/which-features-may-i-claim.md",),
    ),
    "src/veridical/evaluation/choices.csv": (
        "python -m benchmarks.truth.choices",
        ("docs/questions/the-best-of-many.md",),
    ),
    "src/veridical/evaluation/coverages.csv": (
        "python -m benchmarks.truth.coverages",
        ("docs/estimating.md",),
    ),
    "src/veridical/evaluation/test_sets.csv": (
        "python -m benchmarks.truth.test_sets",
        ("docs/which-test.md",),
    ),
    "src/veridical/evaluation/structured.csv": (
        "python -m benchmarks.truth.structured",
        ("docs/which-test.md", "docs/questions/groups.md"),
    ),
}

_BEFORE = """\
# Where the figures come from

Written by `python -m benchmarks.measured`; do not edit.

Every measured figure in the README and on these pages comes from a file that a command
of the repository writes. *Code* is the commit that was measured, or the one that
brought the file. *Digest* are the first digits of the SHA-256 of its contents, by which
a test finds a file that was changed and not noted here. `make truth` runs all commands
of `benchmarks.truth` that are not about other packages or other methods, and measures
what the tables lack; `make truth AGAIN=1` removes them first, and measures everything
anew in two hours or a few calls. The results of the five papers are read from the
stores of `veridical study run`, and say themselves which code computed them. What
examples print is computed again by the tests.

| file | written by | shown on | date | code | digest |
|---|---|---|---|---|---|
"""
_ROW = re.compile(
    r"\| `(?P<file>[^`]+)` \|.*\| (?P<date>\S+) \| (?P<code>[^|]+) "
    r"\| `(?P<digest>\w+)` \|"
)


class Origin(NamedTuple):
    """When a file was measured, with which code, and what it held then."""

    date: str
    code: str
    digest: str


def digest(file: str) -> str:
    """Return the first digits of the hash of a file, for any kind of line ends."""
    content = (ROOT / file).read_bytes().replace(b"\r\n", b"\n")
    return sha256(content).hexdigest()[:12]


def noted() -> dict[str, Origin]:
    """Read what the page says of every file."""
    if not PAGE.exists():
        return {}
    found = _ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return {
        one["file"]: Origin(one["date"], one["code"], one["digest"]) for one in found
    }


def _origin(file: str) -> Origin:
    """Find out where a file comes from: its last commit, or a run of today."""
    git = ("git", "-C", str(ROOT))
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--", file], capture_output=True, text=True
    )
    logged = subprocess.run(
        [*git, "log", "-1", "--format=%cs %h", "--abbrev=7", "--", file],
        capture_output=True,
        text=True,
    )
    if changed.stdout.strip() or not logged.stdout.strip():
        return Origin(datetime.now(UTC).date().isoformat(), commit(), digest(file))
    date, code = logged.stdout.split()
    return Origin(date, code, digest(file))


def page() -> str:
    """Return the text of the page; what has not changed keeps its date and code."""
    before, lines = noted(), []
    for file, (command, pages) in FILES.items():
        if not (ROOT / file).exists():  # not measured yet
            continue
        origin = before.get(file)
        if origin is None or origin.digest != digest(file):
            origin = _origin(file)
        shown = ", ".join(_link(one) for one in pages)
        lines.append(
            f"| `{file}` | `{command}` | {shown} "
            f"| {origin.date} | {origin.code} | `{origin.digest}` |"
        )
    return _BEFORE + "\n".join(lines) + "\n"


def _link(shown: str) -> str:
    """Link to a page of the documentation; the README is none of them."""
    name = Path(shown)
    if name.parts[0] != "docs":
        return f"`{shown}`"
    return f"[{name.stem}]({Path(*name.parts[1:])})"


def main() -> None:
    """Write the page."""
    store.write(PAGE, page())


if __name__ == "__main__":
    main()
