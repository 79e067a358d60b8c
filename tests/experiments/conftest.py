"""Stores to try things with."""

from __future__ import annotations

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical.experiments import Serial, Store, export, run_study


@pytest.fixture
def filled(tmp_path):
    """A store with a whole grid: its path."""
    path = tmp_path / "filled.sqlite"
    run_study(Grid(), GridSpec(), path, executor=Serial())
    return path


@pytest.fixture
def canonical(tmp_path):
    """The canonical export of a store, as bytes."""

    def read(path):
        out = tmp_path / "canonical.csv"
        with Store(path) as store:
            export(store, out, canonical=True)
        return out.read_bytes()

    return read
