"""ARFF and libsvm: what is read, and what is refused with its line."""

import gzip

import numpy as np
import pytest
from scipy.io import arff as scipy_arff
from sklearn.datasets import dump_svmlight_file

from veridical._core.errors import InputError
from veridical.datasets import read

FRUIT = """% two kinds of fruit
@RELATION fruit

@attribute mass numeric
@attribute 'skin colour' {red, 'dark green', "it's", yellow}
@ATTRIBUTE note string
@attribute kind {cherry,apple}
@data
7, red, 'small, round', cherry
150,'dark green',?,apple
% a comment
?,"it's",'a \\'quoted\\' word',apple
9,red,plain,cherry
"""


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.arff"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_arff_of_all_kinds(write):
    X, y = read(write(FRUIT), "kind")
    assert list(X.columns) == ["mass", "skin colour", "note"]
    np.testing.assert_array_equal(X["mass"], [7, 150, np.nan, 9])
    assert X["skin colour"].tolist() == ["red", "dark green", "it's", "red"]
    assert X["skin colour"].cat.categories.tolist()[-1] == "yellow"  # declared, unused
    assert X["note"].isna().tolist() == [False, True, False, False]
    assert X["note"][0] == "small, round"
    assert X["note"][2] == "a 'quoted' word"
    assert y.tolist() == ["cherry", "apple", "apple", "cherry"]


def test_arff_is_known_by_its_look(write):
    packed = write(gzip.compress(FRUIT.replace("\n", "\r\n").encode()), "fruit.txt.gz")
    X, y = read(packed, "kind")
    assert X.shape == (4, 3)
    assert len(y) == 4


def test_arff_with_sparse_rows(write):
    text = (
        "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c numeric\n"
        "@attribute k {p,q}\n@data\n{0 3, 3 q}\n{}\n{1 y, 2 -1.5}\n{2 ?, 3 q}\n"
    )
    X, y = read(write(text), "k")
    np.testing.assert_array_equal(X["a"], [3, 0, 0, 0])
    assert X["b"].tolist() == ["x", "x", "y", "x"]
    np.testing.assert_array_equal(X["c"], [0, 0, -1.5, np.nan])
    assert y.tolist() == ["q", "p", "p", "q"]


def test_arff_numbers_as_scipy_reads_them(write):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 4)) * 10.0 ** rng.integers(-9, 9, size=(30, 4))
    rows = "\n".join(
        ",".join(map(repr, row)) + f",{'ab'[i % 2]}"
        for i, row in enumerate(table.tolist())
    )
    head = "".join(f"@attribute f{j} real\n" for j in range(4))
    path = write(f"@relation r\n{head}@attribute c {{a,b}}\n@data\n{rows}\n")
    X, y = read(path, "c")
    theirs, _ = scipy_arff.loadarff(path)
    for j in range(4):
        np.testing.assert_array_equal(X[f"f{j}"], theirs[f"f{j}"])
    assert y.tolist() == [label.decode() for label in theirs["c"]]


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "1,x\n2\n", "Line 6 of .* has 1 values, but 2 attributes"),
        (HEAD + "1,x\noops,y\n", "Line 6 .*'oops' for 'a', which is declared numeric"),
        (HEAD + "1,x\nnan,y\n", "Line 6 .*'nan' for 'a'"),
        (HEAD + "1,x\n2,z\n", "Line 6 .*'z' for 'b', whose values are 'x', 'y'"),
        (HEAD + "1,'x\n2,y\n", "Line 5 .*quotation mark that is never closed"),
        (HEAD + "{0 1, 7 x}\n", "Line 5 .*indices from 0 to 1"),
        (HEAD + "{0 1, 1 x\n", "Line 5 .*brace that it does not close"),
        (HEAD + "{0 1}, {2}\n", "Line 5 .*must list 'index value'"),
        (HEAD, "no rows after @data"),
        ("@relation r\n@attribute a numeric\n", "no line @data"),
        ("@relation r\n@data\n1\n", "declares no attribute"),
        ("@relation r\n@atribute a numeric\n", "Line 2 .*did you mean '@attribute'"),
        ("@relation r\n@attribute a\n@data\n1\n", "without a name or a type"),
        ("@relation r\n@attribute a number\n@data\n1\n", "the type 'number'"),
        ("@relation r\n@attribute a {x,y\n@data\nx\n", "brace that it never closes"),
        ("@relation r\n@attribute a {x,x}\n@data\nx\n", "lists a value of 'a' twice"),
    ],
)
def test_arff_that_makes_no_sense(write, text, message):
    with pytest.raises(InputError, match=message):
        read(write(text), "b")


def test_libsvm_as_scikit_learn_writes_it(write, tmp_path):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(20, 7)) * (rng.random((20, 7)) < 0.4)
    table[0, 0] = table[3, 6] = 1.0
    labels = np.arange(20) % 3 - 1
    for zero_based in (True, False):
        path = tmp_path / "some.svm"
        dump_svmlight_file(table, labels, str(path), zero_based=zero_based)
        X, y = read(path)
        np.testing.assert_allclose(X.toarray(), table, rtol=1e-14)
        assert y.tolist() == labels.tolist()
        assert y.dtype == np.int64


def test_libsvm_is_known_by_its_look(write):
    X, y = read(write("+1 1:0.5 3:2 # first\n\n-1 2:1e-3\n", "some.txt"))
    assert X.shape == (2, 3)
    assert y.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n0 a:3\n", "Line 2 of .* not a numeric label"),
        ("1 1:2\n0 3:1 2:1\n", "Line 2 .*index 2 after 3"),
        ("1 1:2\n0 1:1e999\n", "Line 2 .*too large"),
        ("1 1:2\n0 99999999999999999999:1\n", "Line 2 .*more features than"),
        ("1 1:2\n1 1:3\n", "constant target"),
        ("1.5 1:2\n1.5 1:3\n", "constant target"),
        ("1\n0\n", "no feature values"),
    ],
)
def test_libsvm_that_makes_no_sense(write, text, message):
    with pytest.raises(InputError, match=message):
        read(write(text, "data.libsvm"))


def test_libsvm_has_no_target(write):
    with pytest.raises(InputError, match="leave 'y' out"):
        read(write("1 1:2\n0 1:3\n", "data.svm"), "y")


@pytest.mark.parametrize("packer", [gzip.compress])
def test_what_expands_beyond_measure_is_refused(write, packer):
    bomb = packer(b"0," * (160 * 2**20))
    with pytest.raises(InputError, match="may be a decompression bomb"):
        read(write(bomb, "bomb.csv.gz"), "y")


def test_libsvm_labels_stay_what_they_are(write):
    path = write("1e30 1:2\n2 1:1\n1e30 1:3\n", "data.svm")
    assert sorted(set(read(path)[1])) == [2.0, 1e30]
    with pytest.raises(InputError, match=r"Line 2 .* label too large"):
        read(write("1 1:2\n1e999 1:1\n", "data.svm"))
