"""Decimal commas, and files that are something else than their reader hopes."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pytest

from veridical._core.errors import InputError
from veridical.datasets import read


@pytest.fixture
def write(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


# -- decimal commas ------------------------------------------------------------------


def test_decimal_commas_where_no_comma_parts_columns(write):
    text = "mass;size;kind\n1,5;3;a\n-2;4;b\n1,25e2;;a\n;5;b\n"
    X, y = read(write(text, "data.csv"), "kind")
    np.testing.assert_array_equal(X["mass"], [1.5, -2.0, 125.0, np.nan])
    assert X.dtypes.astype(str).tolist() == ["float64", "float64"]
    assert y.tolist() == ["a", "b", "a", "b"]


def test_decimal_commas_equal_decimal_points(write):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(30, 3))
    rows = [[repr(float(v)) for v in row] for row in values]
    labels = ["u", "v"] * 15

    def text(point, separator):
        lines = [
            separator.join([*(v.replace(".", point) for v in row), label])
            for row, label in zip(rows, labels, strict=True)
        ]
        return "\n".join([separator.join("abck"), *lines])

    pointed, _ = read(write(text(".", ","), "data.csv"), "k")
    for separator in (";", "\t"):
        commas, _ = read(write(text(",", separator), "data.csv"), "k")
        np.testing.assert_array_equal(commas, pointed)


@pytest.mark.parametrize("wrong", ["1.234,5", "1,2,3", ",5,", "1,x"])
def test_other_commas_are_not_guessed_at(write, wrong):
    rows = "".join(f"{j},5;{'ab'[j % 2]}\n" for j in range(20))
    with pytest.raises(InputError, match="decimal point"):
        read(write(f"mass;kind\n{wrong};a\n{rows}", "data.csv"), "kind")


def test_classes_with_a_comma_stay_words(write):
    _, y = read(write("mass;kind\n1;1,5\n2;2,5\n3;1,5\n", "data.csv"), "kind")
    assert y.tolist() == ["1,5", "2,5", "1,5"]


# -- files of other kinds ------------------------------------------------------------


def zipped(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "m,k\n1,a\n2,b\n")
    return file.getvalue()


STRANGERS = [
    ("book.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), "Excel workbook"),
    ("book.csv", zipped("[Content_Types].xml", "xl/workbook.xml"), "Excel workbook"),
    ("book.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "Excel workbook"),
    ("book.ods", zipped("content.xml"), "OpenDocument"),
    ("data.zip", zipped("data.csv"), "unpack it"),
    ("data.pkl", pickle.dumps({"X": 1}), "pickle, which is never loaded"),
    ("data.npz", pickle.dumps({"X": 1}, protocol=2), "pickle, which is never loaded"),
    ("data.npy", b"\x93NUMPY\x01\x00v\x00", "numpy.savez"),
    ("data.h5", b"\x89HDF\r\n\x1a\n\0\0", "HDF5"),
    ("data.feather", b"ARROW1\0\0", "Feather"),
    ("data.sqlite", b"SQLite format 3\0\0", "SQLite"),
    ("data.csv", b"%PDF-1.7 ...", "PDF"),
    ("data.csv", b"\n<!DOCTYPE html><html>Log in</html>", "web page"),
    ("data.csv", b'[{"m": 1, "k": "a"}]', "JSON"),
    ("data.csv.gz", gzip.compress(b'{"m": [1], "k": ["a"]}', mtime=0), "JSON"),
]


@pytest.mark.parametrize(("name", "content", "words"), STRANGERS)
def test_what_is_no_table_is_named_with_a_cure(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read(path, "k")
    assert str(caught.value).startswith(str(path))


def test_text_of_an_old_encoding_is_no_pickle(write, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\x80uro,k\n1,a\n2,b\n")  # the euro sign of Windows
    with pytest.raises(InputError, match=r"Line 1 .* not UTF-8"):
        read(path, "k")


def test_names_in_an_archive_lead_nowhere(tmp_path):
    path = tmp_path / "data.npz"
    arrays = io.BytesIO()
    np.save(arrays, np.eye(2))
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../../outside/X.npy", "/tmp/y.npy"):
            archive.writestr(name, arrays.getvalue())
    with pytest.raises(InputError, match="no array 'y'"):
        read(path)
    assert [p.name for p in tmp_path.iterdir()] == ["data.npz"]
