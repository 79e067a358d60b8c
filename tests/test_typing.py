"""A user's script is checked by mypy: types reach whoever installs the package."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent

GOOD = """
import numpy as np
from veridical import audit, compare, estimate, select
from veridical.preparation import ComBat, Residualize
from veridical.selection import MRMR, AnovaF

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 20)), rng.integers(0, 2, 60)
found = estimate("nb", X, y, cv=5, random_state=0)
value: float = found.value
low, high = found.interval()
width: float = high - low
chosen = select(AnovaF(5), X, y, estimator="nb", random_state=0)
names: list[str] = [feature.name for feature in chosen.features]
result = compare(["anova", MRMR(5)], X, y, n_features_to_select=5)
better: str = result.verdicts["in"].winner
checked = audit("nb", X, y, batch=rng.integers(0, 2, 60), n_permutations=19)
codes: tuple[str, ...] = checked.codes
step: ComBat = ComBat("site", covariates=["age"]).fit(X)
other: Residualize = Residualize("age")
frame = chosen.to_frame()
chosen.save("page.html")
"""
BAD = """
from veridical import estimate

found = estimate("nb", [[1.0], [2.0]], [0, 1], cv=5)
number: str = found.value  # a float
estimate("nb", [[1.0]], [0], folds=5)  # no such parameter
found.accuracy  # no such attribute
"""


def check(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    cache = ROOT / "build" / "mypy-users"
    words = ["-m", "mypy", "--strict", "--cache-dir", cache, "--follow-imports=silent"]
    words += ["--config-file", tmp_path / "none.ini", script]
    (tmp_path / "none.ini").write_text(
        "[mypy]\nfollow_untyped_imports = False\ndisable_error_code = import-untyped\n"
    )
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "MYPYPATH": str(ROOT / "src"), "HOME": str(tmp_path)},
    )
    return [line for line in done.stdout.splitlines() if ": error:" in line], done


@pytest.mark.slow
def test_what_is_right_is_accepted_and_what_is_wrong_is_not(tmp_path):
    errors, done = check(tmp_path, GOOD)
    assert not errors, done.stdout + done.stderr
    errors, done = check(tmp_path, BAD)
    assert [line.split(":")[1] for line in errors] == ["5", "6", "7"], done.stdout


def test_the_package_says_that_it_has_types():
    assert (ROOT / "src" / "veridical" / "py.typed").is_file()
