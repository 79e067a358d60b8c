"""Data of a Dask cluster, one of whose workers is killed in the middle."""

import os
import signal

import dask.array as da
import numpy as np
import pandas as pd
import pytest

from veridical import select
from veridical.datasets import by_blocks
from veridical.selection import MRMR, AnovaF

distributed = pytest.importorskip("distributed")

N, P, WIDTH = 60, 48, 6
Y = np.arange(N) % 2
#: Of four chunks; a block is an eighth of it.
LIMIT = 8 * 8 * N * WIDTH


def draw(block_info, once):
    """Draw a chunk of columns; the worker that draws the fifth dies the first time."""
    first = block_info[None]["array-location"][1][0]
    if first == 4 * WIDTH and not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    rng = np.random.default_rng(first)
    return rng.normal(size=(N, WIDTH)) + np.outer(Y, 0.2 * np.arange(WIDTH))


def drawn(once):
    chunks = ((N,), (WIDTH,) * (P // WIDTH))
    meta = np.empty((0, 0))
    return da.map_blocks(draw, chunks=chunks, dtype="f8", meta=meta, once=once)


@pytest.fixture
def in_memory(tmp_path):
    once = tmp_path / "nobody dies"
    once.touch()
    return drawn(once).compute(scheduler="sync")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(dashboard_address=None, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("selector", [AnovaF, MRMR])
def test_a_killed_worker_changes_no_score(selector, client, in_memory, tmp_path):
    before = set(client.run(os.getpid).values())
    fitted = selector(5).fit(by_blocks(drawn(tmp_path / "once"), LIMIT), Y)

    expected = selector(5).fit(in_memory, Y)
    np.testing.assert_array_equal(fitted.order_, expected.order_)
    np.testing.assert_array_equal(fitted.scores_, expected.scores_)
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != before


def test_a_killed_worker_changes_no_fold(client, in_memory, tmp_path):
    options = {"estimator": "nb", "cv": 3, "random_state": 0}
    lazy = by_blocks(drawn(tmp_path / "once"), LIMIT)
    found = select("anova", lazy, Y, **options)
    assert (tmp_path / "once").exists()
    expected = select("anova", in_memory, Y, **options)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert found.accuracy == expected.accuracy
