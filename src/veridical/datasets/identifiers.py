"""Columns that say which sample a row is, and samples that belong together.

An identifier differs in every row, so nothing can be learned from it about new samples.
Where identifiers begin with the same stem (``S01_1``, ``S01_2``), or where a column
names subjects that repeat, several samples come from one subject: these are not
independent, and must not be divided between training and test set.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: What a column of subjects may be called; samples of one subject belong together.
_SUBJECTS = frozenset(
    ("subject", "patient", "person", "participant", "individual", "animal", "donor")
)
#: What an identifier may be called, if its values differ.
_NAMES = _SUBJECTS | frozenset(
    (
        *("id", "ids", "identifier", "sample", "case", "record", "row", "index"),
        *("barcode", "accession", "uuid", "mrn"),
    )
)
#: Words after such a name, as in "patient number".
_NUMBERS = frozenset(["id", "ids", "no", "nr", "num", "number", "code", "key", "name"])

#: Fewer stems than this are rather kinds of samples than subjects.
_FEWEST_STEMS = 3
#: Least share of samples that share their stem with another sample.
_SHARE_REPEATED = 0.5
#: Largest share of different endings: numbers that begin anew are few.
_SHARE_ENDINGS = 0.5

# The last part of an identifier: after a separator, or a letter after digits.
_LAST = re.compile(r"(?:[\s_\-.:/#|]+[A-Za-z0-9]+|(?<=\d)[A-Za-z])$")

IdentifierKind = Literal["identifier", "subjects"]


def find_identifiers(X: pd.DataFrame) -> dict[Any, IdentifierKind]:
    """Find the columns that identify samples or subjects.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        Numbers and categories, as `read` returns them.

    Returns
    -------
    dict
        The column and its kind: "identifier" where all values differ, and are text or
        have a name such as ``id`` or ``patient``; "subjects" where a column of such a
        name has values that repeat.

    Examples
    --------
    >>> X = pd.DataFrame({"Patient ID": range(4), "age": [50, 51, 52, 53]})
    >>> find_identifiers(X)
    {'Patient ID': 'identifier'}
    """
    found: dict[Any, IdentifierKind] = {}
    for j, column in enumerate(X.columns):
        values = X.iloc[:, j]
        is_text = values.dtype.kind == "O"  # categories too
        if not (is_text or (_last_word(column) in _NAMES and _are_whole(values))):
            continue
        present = values.dropna()
        n_values, named = present.nunique(), _last_word(column)
        if n_values == len(present) > 1:
            found[column] = "identifier"
        elif named in _SUBJECTS and _FEWEST_STEMS <= n_values <= len(present) / 1.5:
            found[column] = "subjects"
    return found


def find_groups_in_ids(values: Any) -> tuple[NDArray[Any], str] | None:
    """Find samples of one subject by identifiers that begin alike.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Identifiers, all different.

    Returns
    -------
    (labels, description) or None
        The stem of every sample, which may be given as groups, and the number of stems
        in words, with an example. None where identifiers share no stems, or where
        there are too few stems for subjects.

    Examples
    --------
    >>> ids = [f"S{i:02}_{j}" for i in range(5) for j in range(3)]
    >>> labels, description = find_groups_in_ids(ids)
    >>> labels[:4].tolist(), description
    (['S00', 'S00', 'S00', 'S01'], "5 subjects (such as 'S00', 3 samples)")
    >>> find_groups_in_ids([f"sample_{i}" for i in range(15)])
    """
    ids = pd.Series(np.asarray(values, dtype=object)).astype(str).str.strip()
    if len(ids) < 2 * _FEWEST_STEMS or ids.duplicated().any():
        return None
    stems = ids.str.replace(_LAST, "", regex=True)
    endings = [one[len(stem) :] for one, stem in zip(ids, stems, strict=True)]
    if len(set(endings)) == 1:  # such as the suffix of a file
        return find_groups_in_ids(stems) if endings[0] else None
    counts = stems.value_counts(sort=False)
    shared = int(counts[counts > 1].sum())
    if (
        len(counts) < _FEWEST_STEMS
        or shared < _SHARE_REPEATED * len(ids)
        or len(set(endings)) > _SHARE_ENDINGS * len(ids)
    ):
        return None
    largest = counts.idxmax()
    return stems.to_numpy(dtype=object), (
        f"{len(counts)} subjects (such as {largest!r}, {counts.max()} samples)"
    )


def _last_word(column: Any) -> str:
    """Return the noun of a name, without "number" and the like behind it.

    >>> _last_word("PatientID"), _last_word("sample_no"), _last_word("sample size")
    ('patient', 'sample', 'size')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(column))
    words = re.findall(r"[A-Za-z]+", spaced.casefold())
    if len(words) > 1 and words[-1] in _NUMBERS and words[-2] in _NAMES:
        return words[-2]
    return words[-1] if words else ""


def _are_whole(values: pd.Series[Any]) -> bool:
    if values.dtype.kind in "iu":
        return True
    numbers = values.dropna().to_numpy()
    return values.dtype.kind == "f" and bool((numbers == np.round(numbers)).all())
