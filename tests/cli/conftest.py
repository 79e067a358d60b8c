"""Small tables on disk, and a command line to try them with."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from veridical.cli import app


@pytest.fixture
def run():
    """Run the command line in this process."""
    runner = CliRunner(env={"COLUMNS": "200", "VERIDICAL_DEBUG": ""})
    return lambda *argv: runner.invoke(app, [str(word) for word in argv])


def make_table(n=60, p=6, seed=0):
    """A table in which the first column predicts the class fairly well."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, p)).round(3)
    frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(p)])
    score = values[:, 0] + 0.5 * rng.normal(size=n)
    return frame.assign(kind=np.where(score > np.median(score), "yes", "no"))


@pytest.fixture
def table(tmp_path):
    """The table as a file."""
    path = tmp_path / "table.csv"
    make_table().to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def _no_lines_of_progress(monkeypatch):
    """Keep stderr the same however long the work takes; tests/core has the lines."""
    for name in ("EVERY", "_LONG_COMPILATION"):
        monkeypatch.setattr(f"veridical._core.progress.{name}", math.inf)
