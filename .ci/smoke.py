"""Use an installed veridical: every part that a wheel could lack is used once."""

import json
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import veridical
from veridical.datasets import load
from veridical.preparation import ComBat

place = Path(veridical.__file__).parent
assert place.is_relative_to(sys.prefix), f"{place} is not the installed package"
assert version("veridical") == veridical.__version__
assert (place / "py.typed").is_file()
studies = {one.name for one in entry_points(group="veridical.studies")}
assert len(studies) >= 5, studies

X, y = load("iris")
found = veridical.estimate("nb", X, y, cv=5, random_state=0, progress=False)
assert 0.9 < found.value < 1
assert found.coverage, "measured coverages are missing"
result = veridical.compare(["anova", "correlation"], X, y, estimator="nb", cv=5)
assert result.to_frame().shape[0] > 0
chosen = veridical.select("anova", X, y, estimator="nb", cv=5, random_state=0)
chosen.save("page.html")
assert "<svg" in Path("page.html").read_text(encoding="utf-8")
batch = [i % 3 for i in range(len(y))]
assert ComBat().fit_transform(X, batch=batch).shape == X.shape


def run(*words: str) -> str:
    """Run a command of the installed package."""
    script = Path(sys.prefix) / "bin" / "veridical"
    done = subprocess.run(
        [str(script), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


told = run("select", "iris", "--selector", "anova", "--estimator", "nb", "--json")
assert json.loads(told)["data"]["name"] == "iris"
assert "accuracy" in json.dumps(json.loads(run("schema", "select")))
assert "in-vs-out" in run("study", "list")
assert "audit" in run("--help")
print(f"veridical {veridical.__version__} works as installed in {sys.prefix}")
