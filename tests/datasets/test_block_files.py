"""Files that are opened rather than read: parquet, HDF5, zarr and AnnData's h5ad."""

import h5py
import numpy as np
import pandas as pd
import pytest
import zarr
from scipy import sparse

from veridical import InputError, estimate, select
from veridical.datasets import LazyMatrix, read
from veridical.selection import MRMR, AnovaF, InformationGain

N, P = 60, 90
NAMES = [f"g{j}" for j in range(P)]
SMALL = "8kB"


def made(dtype="f4"):
    rng = np.random.default_rng(0)
    X, y = 10 * rng.normal(size=(N, P)), rng.integers(0, 2, N)
    X[:, 3] += 30 * y
    return X.astype(dtype), y


def assert_same(one, other):
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_array_equal(one.scores_, other.scores_)


def write_columns(group, columns):
    """Write a data frame as AnnData does: text, categories, and values with a mask."""
    group.attrs["_index"] = "_index"
    for name, values in columns.items():
        if isinstance(values, pd.Categorical):
            part = group.create_group(name)
            part["codes"] = values.codes
            part["categories"] = [str(one) for one in values.categories]
        elif isinstance(values, tuple):
            part = group.create_group(name)
            part["values"], part["mask"] = values
        else:
            group[name] = values


def write_h5ad(path, X, y):
    donor = pd.Categorical([f"d{i % 12}" for i in range(N)])
    obs = {
        "_index": [f"cell{i}" for i in range(N)],
        "donor": donor,
        "type": pd.Categorical(np.where(y, "B", "T")),
        "age": np.arange(N) / 7,
        "batch": (np.arange(N) % 2, np.arange(N) == 4),
    }
    with h5py.File(path, "w") as file:
        write_columns(file.create_group("obs"), obs)
        write_columns(file.create_group("var"), {"_index": [*NAMES[:-1], "g0"]})
        for place in ("X", "layers/half"):
            stored = X if place == "X" else X / 2
            if sparse.issparse(stored):
                group = file.create_group(place)
                group.attrs["encoding-type"] = f"{stored.format}_matrix"
                group.attrs["shape"] = stored.shape
                for part in ("data", "indices", "indptr"):
                    group[part] = getattr(stored, part)
            else:
                file[place] = stored
    return path


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_hdf5_and_zarr(tmp_path, dtype):
    X, y = made(dtype)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"], file["y"], file["feature_names"] = X, y, NAMES
    zarr.save_group(str(tmp_path / "t.zarr"), X=X, y=y)
    for name in ("t.h5", "t.zarr"):
        for options in ({}, {"memory_limit": SMALL}):
            found, labels = read(tmp_path / name, **options)
            assert isinstance(found, LazyMatrix)
            assert_same(MRMR().fit(found, labels), MRMR().fit(X, y))
    assert list(AnovaF(1).fit(*read(tmp_path / "t.h5")).get_feature_names_out()) == [
        "g3"
    ]


def test_parquet_by_blocks_is_parquet_at_once(tmp_path):
    X, y = made("f8")
    frame = pd.DataFrame(X, columns=NAMES).assign(colour=list("ab") * (N // 2))
    frame["class"] = np.where(y, "u", "v")
    frame.to_parquet(tmp_path / "t.parquet")
    whole, labels = read(tmp_path / "t.parquet", "class")
    found, same = read(tmp_path / "t.parquet", "class", memory_limit=SMALL)
    np.testing.assert_array_equal(labels, same)
    assert_same(InformationGain().fit(found, same), InformationGain().fit(whole, same))
    (tmp_path / "folder").mkdir()
    for k in range(3):
        part = frame.iloc[20 * k : 20 * k + 20]
        part.to_parquet(tmp_path / "folder" / f"{k}.parquet", index=False)
    found, same = read(tmp_path / "folder", "class", memory_limit=SMALL)
    assert_same(InformationGain().fit(found, same), InformationGain().fit(whole, same))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_annotated_files(tmp_path, form):
    X, y = made()
    X[np.abs(X) < 8] = 0
    path = write_h5ad(tmp_path / "cells.h5ad", form(X), y)
    labels = np.where(y, "B", "T")
    for options in ({}, {"memory_limit": SMALL}, {"layer": "half"}):
        found, target = read(path, "type", **options)
        np.testing.assert_array_equal(target, labels)
        assert found.names == (*NAMES[:-1], "g0 #2")
        half = X / 2 if "layer" in options else X
        assert_same(AnovaF().fit(found, target), AnovaF().fit(form(half), labels))
    found, target = read(path, "type", memory_limit="16kB")
    donors = [f"d{i % 12}" for i in range(N)]
    options = {"cv": 3, "random_state": 0, "estimator": "nb"}
    one = select("anova", found, target, groups="donor", **options)
    other = select("anova", X, labels, groups=donors, **options)
    assert [f.index for f in one.features] == [f.index for f in other.features]
    assert one.accuracy == other.accuracy
    with pytest.raises(InputError, match="memory_limit"):
        estimate("nb", found, target)


def test_what_is_wrong_is_named(tmp_path, monkeypatch):
    X, y = made()
    path = write_h5ad(tmp_path / "cells.h5ad", X, y)
    for options, message in (
        ({}, "Which column of obs in .* holds the class.*'donor'"),
        ({"target": "typ"}, "no column of obs in .* named 'typ'; did you mean 'type'"),
        ({"target": "type", "layer": "x"}, "no layer of .* named 'x'.*'half'"),
        ({"target": "batch"}, "target is missing in row 4"),
        ({"target": "type", "memory_limit": "much"}, "not an amount of memory"),
        ({"target": "type", "header": True}, "header is for CSV"),
    ):
        with pytest.raises(InputError, match=message):
            read(path, **options)
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n2,1\n")
    with pytest.raises(InputError, match=r"not read by blocks.*Save the table as parq"):
        read(table, "b", memory_limit="1MB")
    with pytest.raises(InputError, match="layer='raw' is for AnnData"):
        read(table, "b", layer="raw")
    (tmp_path / "cut.h5").write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="damaged or not an HDF5 file"):
        read(tmp_path / "cut.h5", "type")
    monkeypatch.setattr("veridical.datasets.block_files.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs h5py.*veridical\[hdf5\]"):
        read(path, "type")


class AnnData:
    """What is used of anndata's class, which may need another version of pandas."""

    def __init__(self, X, obs, names, layers):
        self.X, self.obs, self.layers = X, obs, layers
        self.var_names, self.var = names, pd.DataFrame(index=names)


AnnData.__module__ = "anndata._core.anndata"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_annotated_objects(form):
    from veridical import discover

    X, y = made()
    obs = pd.DataFrame({"type": np.where(y, "B", "T"), "donor": np.arange(N) % 12})
    adata = AnnData(form(X), obs, NAMES, {"log": form(X / 2)})
    options = {"cv": 3, "random_state": 0, "estimator": "nb"}
    one = select("anova", adata, "type", groups="donor", layer="log", **options)
    other = select("anova", X / 2, obs["type"], groups=obs["donor"], **options)
    assert [f.index for f in one.features] == [f.index for f in other.features]
    assert one.accuracy == other.accuracy
    one.annotate(adata, "anova")
    assert adata.var["anova_selected"].sum() == len(one.features)
    assert adata.var["anova_rank"].idxmin() == one.features[0].name
    found = discover(adata, "type", groups="donor", random_state=0, n_pairs=0)
    found.annotate(adata)
    assert np.flatnonzero(adata.var["veridical_claimed"]).tolist() == [*found.claimed]
    for bad, message in (
        (lambda: select("anova", adata, "typ"), "y='typ' is not a column.*'type'"),
        (lambda: select("anova", adata, "type", layer="x"), "not a layer.*'log'"),
        (lambda: select("anova", X, y, layer="x"), "layer='x' is for AnnData"),
        (lambda: one.annotate(AnnData(X[:, 1:], obs, NAMES[1:], {})), "89 features"),
    ):
        with pytest.raises(InputError, match=message):
            bad()
