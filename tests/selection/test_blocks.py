"""Features that are read by blocks give what the table in memory gives, bit for bit."""

import subprocess
import sys
import textwrap

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from scipy import sparse

from veridical import InputError, discover, select
from veridical._core.lazy import LazyMatrix, make_store, read_bytes
from veridical._core.lazy_readers import SparseReader
from veridical.datasets import by_blocks, table_hash
from veridical.selection import (
    FCBF,
    HSIC,
    MRMR,
    SELECTORS,
    AnovaF,
    Correlation,
    DifferentialPrioritization,
    InformationGain,
    ReliefF,
    Variance,
)

BY_BLOCKS = (
    AnovaF,
    Correlation,
    InformationGain,
    Variance,
    FCBF,
    MRMR,
    DifferentialPrioritization,
    HSIC,
)
N, P = 60, 150
SMALL = "10kB"  # a block holds two or three features


def made(dtype="f8", seed=0):
    rng = np.random.default_rng(seed)
    X, y = 10 * rng.normal(size=(N, P)), rng.integers(0, 3, N)
    X[:, 5] += 10 * y
    return X.astype(dtype), y


def assert_same(one, other):
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.support_, other.support_)


def test_all_that_say_so_are_tested():
    able = {cls for cls in SELECTORS.values() if cls._abilities.blocks}
    assert {cls for cls in able if "classes" in cls._abilities.targets} == {*BY_BLOCKS}


@pytest.mark.parametrize("selector", BY_BLOCKS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1"])
def test_blocks_are_the_table(selector, dtype):
    X, y = made(dtype)
    blocks = by_blocks(X, SMALL)
    assert_same(selector().fit(blocks, y), selector().fit(X, y))
    rng = np.random.default_rng(1)
    sets = [np.flatnonzero(rng.random(N) < 0.8), rng.integers(0, N, N)]
    for a, b in zip(
        selector(n_jobs=2).rank_many(blocks, y, sets),
        selector().rank_many(X, y, sets),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("selector", [AnovaF, Correlation, MRMR, InformationGain])
def test_a_target_of_numbers(selector):
    X, _ = made()
    y = np.random.default_rng(2).normal(size=N) + X[:, 3]
    assert_same(selector().fit(by_blocks(X, SMALL), y), selector().fit(X, y))


def test_a_selector_that_needs_all_features_reads_them_or_refuses():
    X, y = made()
    order = ReliefF().fit(X, y).order_
    np.testing.assert_array_equal(ReliefF().fit(by_blocks(X), y).order_, order)
    with pytest.raises(InputError, match=r"would take 72 kB.*raise memory_limit"):
        ReliefF().fit(by_blocks(X, SMALL), y)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
def test_memory_maps_select_the_same(tmp_path, order, dtype):
    X, y = made(dtype)
    path = tmp_path / "X.npy"
    np.save(path, np.asarray(X, order=order))
    mapped = np.load(path, mmap_mode="r")
    for selector in (AnovaF, MRMR, DifferentialPrioritization):
        assert_same(selector().fit(mapped, y), selector().fit(X, y))


@pytest.mark.parametrize("chunks", [(N, 40), (16, P), (25, 70)])
def test_dask_arrays_select_the_same(chunks):
    X, y = made("f4")
    blocks = da.from_array(X, chunks=chunks)
    for given in (blocks, by_blocks(blocks, SMALL)):
        for selector in (AnovaF, MRMR):
            assert_same(selector().fit(given, y), selector().fit(X, y))


def frame(missing=False):
    X, y = made()
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)])
    if missing:
        table.loc[[3, 5], "g4"] = np.nan
    table["whole"] = np.arange(N) % 7
    table["colour"] = np.random.default_rng(3).choice(["red", "blue", None], N)
    table["flag"] = np.arange(N) % 3 == 0
    return table, y


def lazy_frames(folder):
    table, _ = frame(missing=True)
    whole = pa.Table.from_pandas(table, preserve_index=False)
    pa.parquet.write_table(whole, folder / "table.parquet", row_group_size=13)
    return {
        "dask": dd.from_pandas(table, npartitions=4, sort=False),
        "polars": by_blocks(pl.scan_parquet(folder / "table.parquet"), SMALL),
        "pyarrow": by_blocks(pa.dataset.dataset(folder / "table.parquet"), SMALL),
        "dask by blocks": by_blocks(dd.from_pandas(table, npartitions=3), SMALL),
    }


@pytest.mark.parametrize("kind", ["dask", "polars", "pyarrow", "dask by blocks"])
def test_frames_with_categories_and_missing_values(tmp_path, kind):
    table, y = frame(missing=True)
    lazy = lazy_frames(tmp_path)[kind]
    for selector in (InformationGain, FCBF):
        one, other = selector().fit(lazy, y), selector().fit(table, y)
        assert_same(one, other)
        assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())
    with pytest.raises(InputError, match="AnovaF cannot use categorical features"):
        AnovaF().fit(lazy, y)


def test_true_and_false_are_numbers():
    table, y = frame()
    table = table.drop(columns="colour")
    lazy = by_blocks(pl.from_pandas(table).lazy(), SMALL)
    assert_same(AnovaF().fit(lazy, y), AnovaF().fit(table, y))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_matrices_that_are_stored(form):
    X, y = made("f4")
    X[np.abs(X) < 10] = 0
    matrix = sparse.csr_array(X).asformat(form)
    parts = matrix.data, matrix.indices, matrix.indptr.astype(np.int64)
    reader = SparseReader(*parts, matrix.shape, form == "csc")
    lazy = LazyMatrix(reader, memory_limit=4000, n_bytes=reader.nbytes)
    assert not lazy.fits
    wanted = np.array([7, 3, 3, 140])
    np.testing.assert_array_equal(lazy.read(wanted).toarray(), X[:, wanted])
    for selector in (AnovaF, Correlation, InformationGain, FCBF, HSIC):
        assert_same(selector().fit(lazy, y), selector().fit(matrix, y))
    with pytest.raises(InputError, match="memory_limit"):
        MRMR().fit(lazy, y)


def test_values_that_cannot_be_used_are_named_when_they_are_read():
    X, y = made()
    X[3, 120] = np.nan
    with pytest.raises(InputError, match=r"Column 120 of X is missing in row 3"):
        AnovaF().fit(by_blocks(X, SMALL), y)
    assert_same(
        InformationGain().fit(by_blocks(X, SMALL), y), InformationGain().fit(X, y)
    )
    X[3, 120] = np.inf
    with pytest.raises(InputError, match=r"Column 120 of X holds an infinite.*row 3"):
        InformationGain().fit(by_blocks(X, SMALL), y)


def test_transform_reads_the_selected_features():
    X, y = made()
    fitted = AnovaF(3).fit(by_blocks(X, SMALL), y)
    found = fitted.transform(by_blocks(X, SMALL))
    np.testing.assert_array_equal(found, X[:, fitted.support_])


@pytest.mark.parametrize("selector", ["anova", "mrmr"])
def test_select_by_blocks_is_select_at_once(selector):
    X, y = made()
    one = select(selector, by_blocks(X, "40kB"), y, cv=3, random_state=0)
    other = select(selector, X, y, cv=3, random_state=0)
    assert one.features == other.features
    assert one.accuracy == other.accuracy
    assert one.size_accuracy == other.size_accuracy
    assert one.settings["table sha256"].startswith("columns:")
    assert one.settings["table sha256"] == table_hash(by_blocks(X, "40kB"), y)


@pytest.mark.parametrize("options", [{"fdr": 0.1}, {"claim": "stable", "pfer": 1}])
def test_discover_by_blocks_is_discover_at_once(options):
    X, y = made()
    y = y > 0
    one = discover(by_blocks(X, "40kB"), y, random_state=0, n_pairs=5, **options)
    other = discover(X, y, random_state=0, n_pairs=5, **options)
    for name in ("pvalue", "qvalue", "statistic", "frequency", "effect", "effect_low"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def test_groups_by_the_name_of_a_column():
    table, y = frame()
    table["donor"] = [f"d{i % 12}" for i in range(N)]
    table = table.drop(columns=["colour", "flag"])
    lazy = by_blocks(pl.from_pandas(table).lazy(), "40kB")
    options = {"groups": "donor", "cv": 3, "random_state": 0}
    one, other = (select("anova", X, y, **options) for X in (lazy, table))
    assert one.features == other.features
    assert one.accuracy == other.accuracy
    with pytest.raises(InputError, match=r"groups='doner' is not a column.*'donor'"):
        select("anova", lazy, y, groups="doner")


@pytest.mark.parametrize("limit", ["", "two", "2 XB", 0, -1, True, None, "1.2.3MB"])
def test_an_amount_of_memory_that_is_none(limit):
    with pytest.raises(InputError, match=r"memory_limit=.*such as '500MB'"):
        read_bytes(limit)


def test_what_is_not_read_by_blocks():
    with pytest.raises(InputError, match="DataFrame, which is not read by blocks"):
        by_blocks(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(InputError, match="compute_chunk_sizes"):
        AnovaF().fit(da.from_array(np.eye(4))[da.from_array(np.ones(4)) > 0], [0, 1])
    with pytest.raises(InputError, match="neither numbers nor categories"):
        by_blocks(pl.LazyFrame({"when": pd.to_datetime(["2020-01-01"] * 2)}))


def test_a_temporary_folder_without_room(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match=r"800 bytes in the temporary folder.*TMPDIR"):
        make_store((10, 10), np.float64, on_disk=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as on Linux")
@pytest.mark.parametrize("selector", ["AnovaF", "MRMR"])
def test_memory_is_bounded(tmp_path, selector):
    """A memory map of 80 MB of bytes is 640 MB of doubles; 200 MB are allowed."""
    path = tmp_path / "X.npy"
    mapped = np.lib.format.open_memmap(path, "w+", np.int8, (2000, 40_000))
    rng = np.random.default_rng(0)
    for start in range(0, 2000, 200):
        mapped[start : start + 200] = rng.integers(0, 100, (200, 40_000))
    del mapped
    script = f"""
        import resource
        import numpy as np
        from veridical.selection import {selector}
        X, y = np.load({str(path)!r}, mmap_mode="r"), np.arange(2000) % 2
        {selector}(2).fit(np.asarray(X[:50, :20]), y[:50])
        with open("/proc/self/status") as status:
            used = next(line for line in status if line.startswith("VmData"))
        limit = int(used.split()[1]) * 1024 + 300 * 10**6
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        print({selector}(2, **{{"n_searched": 2}} if {selector == "MRMR"} else {{}})
              .fit(X, y).n_features_)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2"
