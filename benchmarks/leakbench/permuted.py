"""Audit mistakes made in real arrays whose labels were permuted.

    python -m benchmarks.leakbench.permuted --permutations 3

Nothing can be learned there, so every accuracy above chance is the mistake. Some
permutations of four arrays for each mistake; writes ``permuted.csv`` and the tables of
``docs/leakbench.md``, and can be resumed. Permutations of seed 2 are published: seeds 0
and 1 are for work on the checks.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.leakbench.__main__ import ROOT, commit
from benchmarks.leakbench.page import write_page
from veridical._core.seeds import mixed_generator
from veridical.auditing import audit
from veridical.datasets import load
from veridical.leakbench import MECHANISMS
from veridical.leakbench.honest_tables import HONEST_CLASSIFIERS, HonestTable

TARGET = Path(__file__).parent / "permuted.csv"
HEADER = [
    *("name", "array", "permutation", "score", "found", "flagged", "conclusion"),
    *("seed", "date", "commit"),
]
ARRAYS = ("colon", "golub_amlall3", "lung_filtered", "srbct")
N_FEATURES, N_SAMPLES = 1000, 120
#: The mistakes: what they are called in the table, mechanism and dose.
MISTAKES = {
    "id sorted by class": ("id-by-class", 1.0),
    "copy of the class": ("outcome-copy", 1.0),
    "overlapping folds": ("overlapping-folds", 0.2),
    "PCA on all samples": ("pca", 10.0),
    "PLS on all samples": ("pls", 2.0),
    "random oversampling": ("oversampling", 0.4),
    "near-copies, noise of 1 %": ("near-duplicates", 0.01),
    "near-copies, noise of 20 %": ("near-duplicates", 0.2),
    "SMOTE": ("smote", 0.4),
    "mean imputation": ("mean-imputation", 0.1),
    "id 95 % right": ("id-by-class", 0.95),
    "only the selected columns passed": ("selection-hidden", 10.0),
    "target encoding on all samples": ("target-encoding", 3.0),
    "four samples per patient, noise of 0.5": ("patients", 0.5),
    "four samples per patient, noise of 0.8": ("patients", 0.8),
    "time order": ("time-order", 1.0),
    "batch, 90 % confounded": ("batch", 0.9),
    "missing if and only if class": ("missingness", 1.0),
    "ids in site blocks": ("id-by-site", 0.95),
    "class-mean imputation": ("class-mean-imputation", 0.1),
    "best of 40 subsets": ("best-subset", 40.0),
}


def draw(array: str, permutation: int, seed: int = 0) -> HonestTable:
    """Take the two largest classes of an array, and permute their labels."""
    rng = mixed_generator(10**7 * (1 + seed) + permutation, *array.encode())
    X, labels = load(array)
    X = np.asarray(X, dtype=np.float64)
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    two = np.argsort(-np.bincount(codes), kind="stable")[:2]
    rows = rng.permutation(np.flatnonzero(np.isin(codes, two)))[:N_SAMPLES]
    features = np.flatnonzero(np.ptp(X[rows], axis=0) > 0)
    features = np.sort(rng.permutation(features)[:N_FEATURES])
    y = rng.permutation((codes[rows] == two[1]).astype(np.intp))
    estimator = HONEST_CLASSIFIERS[permutation % len(HONEST_CLASSIFIERS)]()
    return HonestTable(X[np.ix_(rows, features)], y, estimator, array, permutation)


def measure(name: str, array: str, permutation: int, seed: int = 0) -> list[Any]:
    """Make a mistake and audit it."""
    mechanism, dose = MISTAKES[name]
    table = draw(array, permutation, seed)
    rng = mixed_generator(permutation, *name.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work = MECHANISMS[mechanism].plant(table, dose, rng).leaky
        found = audit(
            work.estimator, work.X, work.y, cv=work.cv, n_permutations=19,
            random_state=permutation, progress=False, **work.known,
        )  # fmt: skip
    flagged = [one.code for one in found.findings if one.severity != "note"]
    return [
        name,
        array,
        permutation,
        round(found.score[found.reported].value, 4),
        int(bool({*flagged} & {*MECHANISMS[mechanism].codes})),
        " ".join(flagged),
        found.conclusion.belief,
    ]


def main() -> None:
    """Measure what is not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--permutations", type=int, default=3)
    parser.add_argument("--seed", type=int, default=2)
    options = parser.parse_args()
    done = set()
    if TARGET.exists():
        before = pd.read_csv(TARGET)[HEADER[:3]]
        done = set(before.itertuples(index=False, name=None))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    origin = [options.seed, today, commit()]
    with TARGET.open("a", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        if not opened.tell():
            writer.writerow(HEADER)
        for permutation in range(options.permutations):
            for array in ARRAYS:
                for name in MISTAKES:
                    if (name, array, permutation) not in done:
                        found = measure(name, array, permutation, options.seed)
                        writer.writerow(found + origin)
                        opened.flush()
    write_page(ROOT / "docs" / "leakbench.md", TARGET.parent)


if __name__ == "__main__":
    main()
