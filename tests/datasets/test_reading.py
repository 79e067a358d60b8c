"""Files become tables, and errors in them are reported with place and cure."""

import bz2
import gzip
import lzma
import os
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

from veridical._core.errors import InputError
from veridical._core.reading import check_features, check_outcome
from veridical.datasets import delimited, limits, read

GOOD = "mass,colour,ripe,kind\n7,red,True,cherry\n150,,False,apple\n9,red,,cherry\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# -- what is read ----------------------------------------------------------------------


def test_columns_become_numbers_or_categories(write):
    text = (
        "a,b,c,d,e,y\n1,1.5,red,True,1,0\n2,,blue,False,?,1\n3,2,NA,,3,0\n"
        "4,5,red,True,4,1\n"
    )
    X, y = read(write(text), "y")
    assert [str(t) for t in X.dtypes] == [
        "int64",
        "float64",
        "category",
        "category",
        "float64",
    ]
    assert X["c"].cat.categories.tolist() == ["blue", "red"]
    assert X["d"].cat.categories.tolist() == [False, True]
    assert X.isna().to_numpy().nonzero()[0].tolist() == [1, 1, 2, 2]
    np.testing.assert_array_equal(y, [0, 1, 0, 1])
    assert y.dtype == np.int64


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_and_newlines(write, separator, newline):
    text = GOOD.replace(",", separator).replace("\n", newline)
    X, y = read(write(text), "kind")
    assert X["mass"].tolist() == [7, 150, 9]
    assert y.tolist() == ["cherry", "apple", "cherry"]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".csv", bytes),
        (".csv.gz", gzip.compress),
        (".csv.bz2", bz2.compress),
        (".csv.xz", lzma.compress),
        (".csv", gzip.compress),
        (".csv.gz", bytes),
        ("", bytes),
        (".dat", lzma.compress),
    ],
)
def test_packed_whatever_the_name_says(write, suffix, pack):
    X, _ = read(write(pack(GOOD.encode()), f"data{suffix}"), "kind")
    assert X.shape == (3, 3)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(write, encoding):
    text = "größe,名前,y\n1,ä,a\n2,ß,b\n3,ä,b\n"
    X, y = read(write(text.encode(encoding)), "y")
    assert list(X.columns) == ["größe", "名前"]
    assert X["名前"].tolist() == ["ä", "ß", "ä"]
    assert y.tolist() == ["a", "b", "b"]


def test_blank_lines_and_padded_markers(write):
    X, y = read(write("a, b,y\n\n1, ?,u\n   \n2, x,v\n ,NA ,v\n\n"), "y")
    assert list(X.columns) == ["a", " b"]
    assert X["a"].tolist()[:2] == [1, 2]
    assert X.isna().sum().tolist() == [1, 2]
    assert len(y) == 3


def test_names_with_markup_are_kept(write):
    names = ["__import__('os')", "self", "=1+1", "", "<script>", "a.1"]
    header = ",".join(f'"{name}"' for name in names)
    X, _ = read(write(f"{header},y\n1,2,3,4,r,6,0\n2,3,4,6,r,7,1\n"), "y")
    assert list(X.columns) == names


def test_integers_beyond_64_bits_become_floats(write):
    X, _ = read(write("a,b,y\n99999999999999999999999,1,0\n,2,1\n-1,3,0\n"), "y")
    assert X["a"].dtype == np.float64
    assert X["a"][0] == 1e23
    X, _ = read(write("a,y\n18446744073709551615,0\n-1,1\n"), "y")
    assert X["a"].dtype == np.float64


def test_home_is_expanded(write, monkeypatch):
    path = write(GOOD)
    monkeypatch.setenv("HOME", str(path.parent))
    assert read("~/data.csv", "kind")[0].shape == (3, 3)


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])
    | st.sampled_from(',;\t"\n '),
    min_size=1,
    max_size=8,
).map(lambda s: f"w{s}w")  # so that no word is a number or a marker


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-(2**63), 2**63 - 1),
            st.none() | words,
            words,
        ),
        min_size=2,
        max_size=30,
    ),
    names=st.lists(words, min_size=4, max_size=4, unique=True),
    separator=st.sampled_from(",;\t"),
)
def test_round_trip(tmp_path_factory, rows, names, separator):
    frame = pd.DataFrame(rows, columns=names)
    frame[names[0]] = frame[names[0]].astype(float)
    has_classes = frame[names[3]].nunique() > 1
    has_empty = frame.isna().all().any()
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    frame.to_csv(path, index=False, sep=separator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if not has_classes or has_empty:
            with pytest.raises(InputError, match=r"only one class|no value at all"):
                read(path, names[3])
            return
        X, y = read(path, names[3])
    assert list(X.columns) == names[:3]
    np.testing.assert_array_equal(X[names[0]], frame[names[0]])
    assert X[names[1]].dtype == np.int64
    assert X[names[1]].tolist() == frame[names[1]].tolist()
    assert X[names[2]].dtype == "category"
    for read_back, written in zip(X[names[2]], frame[names[2]], strict=True):
        assert read_back == written or (pd.isna(read_back) and pd.isna(written))
    assert y.tolist() == frame[names[3]].tolist()


# -- what is refused -------------------------------------------------------------------

NUMBERS = "".join(f"{i},{i % 2}\n" for i in range(20))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"data\.csv is empty; it must have a header"),
        (b" \n\n", "empty"),
        (gzip.compress(b"", mtime=0), "empty when unpacked"),
        ("a,y\n", "header but no rows"),
        ("a,b,a,b,y\n1,2,3,4,5\n", "more than one column named 'a', 'b'; rename"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a text file"),
        (bytes(range(256)) * 20, "not a text file"),
        (b"\x01\x02\x03", "not a text file"),
        ("größe,y\n1,2\n".encode("latin-1"), "Line 1 of .* is not UTF-8.*save"),
        ("a,y\n1,2\n\ufffd,ä\n".encode("utf-16")[:-1], "is not UTF-16"),
        (gzip.compress(GOOD.encode() * 9, mtime=0)[:-20], "cut short or damaged"),
        (gzip.compress(GOOD.encode() * 9, mtime=0)[:40] + b"junk" * 9, "damaged"),
        (bz2.compress(GOOD.encode() * 9)[:-20], "cut short or damaged"),
        (lzma.compress(GOOD.encode() * 9)[:-20], "cut short or damaged"),
        ("a,b,y\n1,2,0\n1,2\n", r"Line 3 of .* has 2 values, but the header names 3"),
        ("a,b,y\n1,2,0\n1,2,3,4\n", "Line 3 of .* has 4 values"),
        ('a,b,y\n"x\n\nz",2,0\n1,2\n', "Line 5 of"),
        (
            'a,b,y\n1,2,0\n"1,2,3\n',
            "Line 3 of .* has 1 values.*close every quotation mark",
        ),
        ("one\ntwo\nthree\n", "single column; separate the columns"),
        ("a,b,y\n1,,0\n2,,1\n", "no value at all in column 'b'; remove it"),
        ("a,b,y\n,,0\n,,1\n", "columns 'a', 'b'; remove them"),
        ("a,y\n1,u\n2,u\n", "only one class, 'u', in all 2 rows"),
        ("a,y\n1,u\n2,\n3,v\n4,?\n", "target is missing in line 3, line 5 .*'y'"),
        ("a,y\n1,0.5\n2,0.5\n", "constant target|only one class"),
        ("a,y\n1,0\ninf,1\n", "Line 3 of .* infinite value in column 'a'"),
        ("a,y\n" + NUMBERS + "x7,0\n", "Line 22 holds 'x7'.*'a'.*are numbers; correct"),
        ("a;y\n" + NUMBERS.replace(",", ".1,5;"), "Line 2 holds '0.1,5'.*decimal"),
        ("x,clazz\n1,0\n2,1\n", "no column 'y'.* The columns are 'x', 'clazz'"),
        ("x,Y\n1,0\n2,1\n", "no column 'y'; did you mean 'Y'"),
        ("y,y2\n" + "1,\n0,\n", "no value at all"),
        (
            'a,y\n1,2\n"' + "x" * 200_000 + '",3\n',
            "cannot be read after line 2.*never closed",
        ),
    ],
)
def test_bad_content(write, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(write(content), "y")
    assert "\n" not in str(caught.value)


def test_no_target_lists_the_columns(write):
    with pytest.raises(InputError, match=r"Which column .*'mass', 'colour', 'ripe'"):
        read(write(GOOD))


def test_only_the_target(write):
    frame = pd.DataFrame({"y": [1, 2]})
    path = write(b"", "only.parquet")
    frame.to_parquet(path)
    with pytest.raises(InputError, match="no column except the target"):
        read(path, "y")


def test_no_such_file(write):
    path = write(GOOD, "vehicle.csv")
    with pytest.raises(InputError, match=r"no file .*did you mean 'vehicle\.csv'"):
        read(path.with_name("vehicles.csv"), "kind")
    with pytest.raises(InputError, match="no file"):
        read(path.parent / "nowhere" / "x.csv", "kind")
    with pytest.raises(InputError, match=r"no file|folder"):
        read("", "kind")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder; pass a file"):
        read(tmp_path, "y")


@pytest.mark.skipif(os.name == "nt", reason="there is no such device")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device):
    with pytest.raises(InputError, match="is a device, which may never end"):
        read(device, "y")


@pytest.mark.skipif(os.name == "nt", reason="pipes have no names there")
def test_a_pipe_is_read(tmp_path, monkeypatch):
    def pour(content):
        pipe = tmp_path / f"pipe{len(content)}"
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True).start()
        return pipe

    X, y = read(pour(GOOD.encode()), "kind")
    assert len(X) == len(y) == len(GOOD.splitlines()) - 1
    monkeypatch.setattr(limits, "memory", lambda: 1000)
    with pytest.raises(InputError, match="more than the 0 GiB of memory"):
        read(pour(GOOD.encode() * 100), "kind")


def test_file_beyond_memory(write, monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: 3)
    with pytest.raises(InputError, match=r"holds more than .* use fewer rows"):
        read(write(GOOD), "kind")


@pytest.mark.parametrize("target", [0, -1, ["y"]])
def test_target_that_is_no_name(write, target):
    with pytest.raises(InputError, match="is not the name of a column"):
        read(write(GOOD), target)


def test_unreadable_file(write, monkeypatch):
    path = write(GOOD)

    def refuse(self, mode):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(InputError, match="cannot be opened: Permission denied"):
        read(path, "kind")


@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_text_under_a_binary_name(write, suffix):
    with pytest.raises(InputError, match=f"not {suffix}, in spite of its name"):
        read(write(GOOD, f"data.{suffix}"), "kind")


def test_identifier_is_kept_with_a_warning(write):
    path = write("id,a,y\np1,1,0\np2,2,1\np3,2,1\n")
    with pytest.warns(UserWarning, match=r"'id' of .* is different, as in an identif"):
        X, _ = read(path, "y")
    assert X["id"].dtype == "category"


def test_saved_index_is_kept_with_a_warning(write):
    frame = pd.DataFrame({"a": [3.0, 4.0, 5.0], "y": [0, 1, 1]})
    with pytest.warns(UserWarning, match="counts the rows"):
        X, _ = read(write(frame.to_csv()), "y")
    assert list(X.columns) == ["", "a"]


def test_good_files_give_no_warning(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(write(GOOD), "kind")


def test_long_values_are_cut_in_messages(write):
    text = "a,y\n" + NUMBERS + "x" * 5000 + ",0\n"
    with pytest.raises(InputError) as caught:
        read(write(text), "y")
    assert len(str(caught.value)) < 500


# -- npz -------------------------------------------------------------------------------


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        np.savez_compressed(tmp_path / "data.npz", **arrays)
        return tmp_path / "data.npz"

    return save


DENSE = np.arange(6, dtype=np.float32).reshape(3, 2)
LABELS = np.array(["u", "v", "u"])


def test_npz_dense(save):
    X, y = read(save(X=DENSE, y=LABELS))
    np.testing.assert_array_equal(X, DENSE)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(y, LABELS)
    X, y = read(save(X=DENSE, y=LABELS, z=[1, 2, 3], feature_names=["g1", "g2"]), "z")
    assert list(X.columns) == ["g1", "g2"]
    assert (X.dtypes == np.float32).all()
    assert y.tolist() == [1, 2, 3]


def test_npz_numbers_repeated_names(save):
    path = save(X=DENSE, y=LABELS, feature_names=["g", "g"])
    with pytest.warns(UserWarning, match="more than one column named 'g'.*numbered"):
        X, _ = read(path)
    assert list(X.columns) == ["g", "g #2"]
    np.testing.assert_array_equal(X, DENSE)
    wide = np.zeros((3, 6))
    names = ["g", "g #2", "g", "h", "g", "h"]
    with pytest.warns(UserWarning, match="'g', 'h'"):
        X, _ = read(save(X=wide, y=LABELS, feature_names=names))
    assert list(X.columns) == ["g", "g #2", "g #3", "h", "g #4", "h #2"]


def test_npz_sparse(save):
    rng = np.random.default_rng(0)
    matrix = csr_array(rng.normal(size=(5, 7)) * (rng.random((5, 7)) < 0.4))
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    X, y = read(save(**parts, shape=(5, 7), y=[0, 1, 0, 1, 0]))
    assert isinstance(X, csr_array)
    np.testing.assert_array_equal(X.toarray(), matrix.toarray())
    assert y.tolist() == [0, 1, 0, 1, 0]


CSR = {
    "data": np.ones(2),
    "indices": np.array([0, 1]),
    "indptr": np.array([0, 1, 2, 2]),
    "shape": np.array([3, 2]),
    "y": LABELS,
}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": DENSE}, "no array 'y'"),
        ({"y": LABELS}, "neither an array 'X' nor"),
        ({"X": DENSE, "y": LABELS[:2]}, "3 rows, but its labels have the shape"),
        ({"X": DENSE, "y": np.array([0, 0, 0])}, "constant target"),
        ({"X": DENSE[0], "y": LABELS}, "must be a matrix of numbers"),
        ({"X": DENSE.astype(str), "y": LABELS}, "must be a matrix of numbers"),
        ({"X": DENSE + np.inf, "y": LABELS}, "infinite"),
        ({"X": DENSE.astype(object), "y": LABELS}, "holds Python objects"),
        ({"X": DENSE, "y": LABELS, "feature_names": ["a"]}, "must hold 2 texts"),
        ({**CSR, "indices": np.array([0, 2])}, "is inconsistent"),
        ({**CSR, "indices": np.array([0, -1])}, "is inconsistent"),
        ({**CSR, "indptr": np.array([0, 2, 1, 2])}, "is inconsistent"),
        ({**CSR, "indptr": np.array([0, 1, 2])}, "is inconsistent"),
        ({**CSR, "indptr": np.array([0, 1, 2, 9])}, "is inconsistent"),
        ({**CSR, "shape": np.array([3])}, "two positive whole numbers"),
        ({**CSR, "shape": np.array([3, 2**62])}, "more than fit into the memory"),
        ({**CSR, "data": np.array(["a", "b"])}, "must hold numbers"),
        ({**CSR, "data": np.array([1, np.nan])}, r"NaN: column \d, row \d, is missing"),
    ],
)
def test_npz_refusals(save, arrays, message):
    with pytest.raises(InputError, match=message):
        read(save(**arrays))


def test_npz_other_target_is_suggested(save):
    with pytest.raises(InputError, match=r"no array 'y3'; did you mean.*'y2'"):
        read(save(X=DENSE, y=LABELS, y2=LABELS), "y3")


def lie(shape):
    """Make an npy member whose header promises more than it holds."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()


def test_npz_with_a_wrong_declared_size(tmp_path):
    import zipfile

    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("y.npy", lie((10**15,)))
    with pytest.raises(InputError, match="declares 8000000000000000 bytes but 0 are"):
        read(path)


def test_npz_larger_than_memory(save, monkeypatch):
    monkeypatch.setattr("veridical.datasets.npz.memory", lambda: 2**10)
    path = save(X=np.zeros((3, 10_000)), y=LABELS)
    with pytest.raises(InputError, match="more than the memory of this computer"):
        read(path)


def test_damaged_npz(save):
    path = save(X=np.random.default_rng(0).random((3, 50)), y=LABELS)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="damaged"):
        read(path)
    for at in range(30, len(content) - 30, 17):  # any byte may rot
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        try:
            X, _ = read(path)
        except InputError:
            continue
        assert np.shape(X) == (3, 50)


# -- parquet ---------------------------------------------------------------------------


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "a": [1, 2, 3],
            "b": [1.5, None, 2.5],
            "c": ["x", "y", "x"],
            "d": [True, False, None],
            "y": ["u", "v", "u"],
        }
    )
    frame.to_parquet(tmp_path / "data.parquet")
    X, y = read(tmp_path / "data.parquet", "y")
    assert [str(t) for t in X.dtypes] == ["int64", "float64", "category", "category"]
    assert y.tolist() == ["u", "v", "u"]
    with pytest.raises(InputError, match="no column 'z'"):
        read(tmp_path / "data.parquet", "z")
    frame.assign(t=pd.Timestamp("2020-01-01")).to_parquet(tmp_path / "dates.parquet")
    with pytest.raises(InputError, match=r"'t' .*neither numbers nor text"):
        read(tmp_path / "dates.parquet", "y")
    content = (tmp_path / "data.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[:100])
    with pytest.raises(InputError, match="damaged or not a parquet"):
        read(tmp_path / "cut.parquet", "y")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "data.parquet").write_bytes(b"PAR1....PAR1")
    monkeypatch.setattr("veridical.datasets.block_files.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install pyarrow"):
        read(tmp_path / "data.parquet", "y")


# -- features and outcomes of a file ---------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [1, 0]], "2 dimensions"),
        ([0, 1, 1], "2 rows but 3 labels"),
        (["a", None], "target is missing in row 1 of toy"),
        ([1.0, np.nan], "target is missing in row 1 of toy"),
        ([3, 3], "target of toy is 3.0 in all 2 rows; .* constant target"),
        (["a", "a"], "toy has only one class, 'a'"),
        ([0.5, 0.5], "0.5 in all 2 rows"),
        ([0.5, np.inf], "infinite in row 1"),
        (np.array([(True, 1.0), (True, -2.0)], "?,f8"), "positive, .* -2.0 in row 1"),
    ],
)
def test_an_outcome_from_which_nothing_can_be_learned(y, message):
    with pytest.raises(InputError, match=message):
        check_outcome(y, 2, "toy")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, np.nan], [2, np.nan]], "toy has no value at all in column 1"),
        (pd.DataFrame({"a": [None, None], "b": [1, 2]}), "column 'a'"),
        ([[1, np.inf], [2, 2]], "Column 1 of toy.*infinite"),
        (csr_array(np.array([[np.nan], [1]])), "NaN: column 0, row 0, is"),
    ],
)
def test_features_from_which_nothing_can_be_learned(X, message):
    with pytest.raises(InputError, match=message):
        check_features(X, "toy")


def test_sound_features_and_outcomes():
    polars = pytest.importorskip("polars")
    check_features(np.array([[1.0], [np.nan]]))
    check_features(polars.DataFrame({"a": ["x", None]}))
    check_features(csr_array(np.eye(2)))
    rows = np.array([["a", 1], ["b", 2]], dtype=object)
    check_features(rows, categorical_features=[0])
    for y in (["a", "b"], [0, 1], [1.0, 2.0], [0.5, 2.0]):
        check_outcome(y, 2, "toy")


def test_numbers_and_survival_times_of_every_format(tmp_path):
    """Arrays of an archive and lines of libsvm hold any kind of outcome."""
    rng = np.random.default_rng(0)
    X, y, event = rng.normal(size=(20, 3)), rng.normal(size=20), np.arange(20) % 2
    time = np.exp(y)
    both = np.rec.fromarrays([event == 1, time], names="event,time")
    np.savez(tmp_path / "all.npz", X=X, y=y, days=time, died=event, both=both)
    dump_svmlight_file(X, y, str(tmp_path / "numbers.svm"))
    np.testing.assert_array_equal(read(tmp_path / "all.npz")[1], y)
    np.testing.assert_allclose(read(tmp_path / "numbers.svm")[1], y)
    for options in ({"time": "days", "event": "died"}, {"target": "both"}):
        features, found = read(tmp_path / "all.npz", **options)
        np.testing.assert_array_equal(features, X)
        np.testing.assert_array_equal(found["time"], time)
        np.testing.assert_array_equal(found["event"], event == 1)
    with pytest.raises(InputError, match="no array 'dead'; did you mean"):
        read(tmp_path / "all.npz", time="days", event="dead")


@pytest.mark.parametrize(
    ("days", "message"),
    [
        (np.inf, "time of .* must be positive, but it is inf in row 4"),
        ("soon", "time of .* must be numbers, but it is 'soon' in row 4"),
    ],
)
def test_a_time_is_not_called_a_class(tmp_path, days, message):
    frame = pd.DataFrame({"x": range(9), "days": 0.5, "died": 1}).astype(object)
    frame.loc[4, "days"] = days
    frame.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "bad.csv", time="days", event="died")
    if days == np.inf:
        with pytest.raises(InputError, match="is infinite in row 4"):
            read(tmp_path / "bad.csv", "days")


def test_equal_times_are_no_class(tmp_path):
    frame = pd.DataFrame({"x": range(9), "days": 0.5, "died": 1})
    frame.to_csv(tmp_path / "equal.csv", index=False)
    with pytest.raises(InputError, match=r"All times of .* are 0\.5, so no sample"):
        read(tmp_path / "equal.csv", time="days", event="died")


@given(
    st.lists(
        st.lists(st.sampled_from(["", " ", "1", "é", "a b", "2.5"]), max_size=3),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from([1, 3, 1 << 18]),
)
def test_lines_without_quotation_marks_are_counted_as_the_csv_module_does(
    rows, newline, ends, part
):
    """The fast scan of a file gives what the slow one gives, or leaves it to that."""
    text = newline.join(",".join(row) for row in rows) + newline * ends
    content = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_PART", part)  # bytes that are searched at once
        fast = delimited._scan_unquoted(content, ",")
    if fast is not None:
        records = list(delimited._records(content, ","))
        assert fast == (records[0][1], [line for line, _ in records])
        assert len({len(record) for _, record in records}) == 1
