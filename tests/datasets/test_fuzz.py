"""Files that went wrong in a thousand ways: a table, or a documented error, at once."""

import gzip
import io
import random
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from veridical._core.errors import InputError
from veridical.datasets import read

CSV = b"mass,colour,kind\n7,red,cherry\n150,,apple\n9,'dark, red',cherry\n1e3,?,apple\n"
EUROPEAN = b"mass;colour;kind\n7,5;red;cherry\n150;;apple\n9,25;red;cherry\n"
ARFF = (
    b"@relation r\n@attribute mass numeric\n@attribute colour {red,'dark, red'}\n"
    b"@attribute kind {cherry,apple}\n@data\n7,red,cherry\n150,?,apple\n{0 3,2 apple}\n"
)
LIBSVM = b"1 1:0.5 3:2 # first\n-1 2:1e-3\n1 1:1 2:2 3:3\n"
SNIPPETS = [
    *(b"\0", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"{", b"}", b"%", b"@data"),
    *(b"\xff", b"\xef\xbb\xbf", b"nan", b"inf", b"1e999", b"-", b":", b"99999999999"),
    *(b"../../etc/passwd", b"=cmd()", b"\x1b[2J", b"PK\x03\x04", b"\x1f\x8b", b"PAR1"),
]
#: Seconds that reading a small file may take.
LONGEST = 5


def npz():
    file = io.BytesIO()
    np.savez_compressed(file, X=np.eye(4), y=[0, 1, 0, 1], feature_names=list("abcd"))
    return file.getvalue()


def parquet():
    pytest.importorskip("pyarrow")
    file = io.BytesIO()
    pd.DataFrame({"mass": [1.0, 2.0], "kind": ["a", "b"]}).to_parquet(file)
    return file.getvalue()


SAMPLES = {
    "data.csv": (lambda: CSV, "kind"),
    "data.tsv": (lambda: CSV.replace(b",", b"\t"), "kind"),
    "data.csv.gz": (lambda: gzip.compress(CSV, mtime=0), "kind"),
    "semicolons.csv": (lambda: EUROPEAN, "kind"),
    "data.arff": (lambda: ARFF, "kind"),
    "data.libsvm": (lambda: LIBSVM, None),
    "data.npz": (npz, None),
    "data.parquet": (parquet, "kind"),
}


def mutate(content, generator):
    content = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        at = generator.randint(0, len(content))
        match generator.randint(0, 4):
            case 0:
                content[at : at + 1] = bytes([generator.randint(0, 255)])
            case 1:
                content[at:at] = generator.choice(SNIPPETS)
            case 2:
                del content[at : at + generator.randint(1, 9)]
            case 3:
                del content[at:]
            case 4:
                part = content[at : at + generator.randint(1, 40)]
                content[at:at] = part * generator.randint(1, 30)
    return bytes(content)


def attempt(path, target):
    """Read a file: whether it was a table, and how long the processor worked."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            X, y = read(path, target)
    except InputError:
        is_table = False  # what is documented; anything else ends the test
    else:
        assert X.shape[0] == len(y) > 0
        is_table = True
    return is_table, time.process_time() - began


def fuzz(path, n_mutations, seed):
    """Read so many mutations; how many were tables, and the longest time."""
    make, target = SAMPLES[path.name]
    good, generator = make(), random.Random(seed)
    n_tables, longest = 0, 0.0
    for _ in range(n_mutations):
        path.write_bytes(mutate(good, generator))
        is_table, seconds = attempt(path, target)
        n_tables += is_table
        longest = max(longest, seconds)
    return n_tables, longest


@pytest.mark.parametrize("name", SAMPLES)
def test_some_mutations(name, tmp_path):
    n_tables, _ = fuzz(tmp_path / name, 150, seed=1)
    assert n_tables < 150  # the mutations do some harm


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_ten_thousand_mutations(name, tmp_path):
    n_tables, longest = fuzz(tmp_path / name, 10_000, seed=2)
    print(f"{name}: {n_tables} of 10000 were tables; the longest took {longest:.2f} s")
    # What is packed carries a checksum, so hardly a change leaves it whole.
    assert n_tables > 0 or name.endswith(".gz")
    assert n_tables < 10_000
    assert longest < LONGEST
