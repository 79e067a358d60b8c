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
    (
        *("subject", "patient", "person", "participant", "individual", "animal"),
        *("donor", "proband", "volunteer", "respondent", "mouse", "rat"),
        *("subj", "usubj", "mrn"),
    )
)
#: The same before a word such as "id"; alone they may be measurements.
_SUBJECT_ABBREVIATIONS = frozenset(("pat", "pt", "p"))
#: What else an identifier may be called, if its values differ.
_RECORDS = frozenset(("sample", "case", "record", "barcode", "accession", "uuid"))
_IDENTIFIER_NAMES = (
    _SUBJECTS
    | _SUBJECT_ABBREVIATIONS
    | _RECORDS
    | {"id", "ids", "identifier", "row", "index"}
)
#: Words after such a name, as in "patient number".
_NUMBER_WORDS = frozenset(
    ["id", "ids", "no", "nr", "num", "number", "code", "key", "name"]
)

#: Fewer stems than this are rather kinds of samples than subjects.
_FEWEST_STEMS = 3
#: Least share of samples that share their stem with another sample.
_SHARE_REPEATED = 0.5
#: Largest share of different endings: numbers that begin anew are few.
_SHARE_ENDINGS = 0.5
#: Most samples of a subject that are told by the last digit alone, in 10 or more.
_MOST_DIGITS, _FEWEST_DIGITS = 6, 10

# The last part of an identifier: after a separator, or a letter after digits.
_LAST = re.compile(r"(?:[\s_\-.:/#|(\[]+[A-Za-z0-9]+[)\]]*|(?<=\d)[A-Za-z])$")
# A date at the end.
_DATE = re.compile(r"[\s_\-.:/#|(\[]+(?:19|20)\d\d[-_./]?\d\d[-_./]?\d\d[)\]]*$")
_DIGIT = re.compile(r"\d$")
# A word for a subject with its number, at any place.
_SUBJECT_IN_NAME = re.compile(
    rf"(?<![A-Za-z0-9])(?:{'|'.join(sorted(_SUBJECTS, key=len, reverse=True))}|p|s|sub)"
    r"[\s_\-]?\d+(?![A-Za-z0-9])",
    re.IGNORECASE,
)

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
        words = _words(column)
        named = _noun(words)
        is_short = words[-1:] == [named] and named in _SUBJECT_ABBREVIATIONS
        if not is_text and (
            named not in _IDENTIFIER_NAMES or is_short or not _may_identify(values)
        ):
            continue
        present = values.dropna()
        n_values = present.nunique()
        repeat = _FEWEST_STEMS <= n_values <= len(present) / 1.5
        if n_values == len(present) > 1:
            found[column] = "identifier"
        elif repeat and (_name_subjects(words) or _are_records(words, present)):
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
        in words, with an example. None where identifiers share no stems, where there
        are too few stems for subjects, or where an identifier is missing.

    Examples
    --------
    >>> ids = [f"S{i:02}_{j}" for i in range(5) for j in range(3)]
    >>> labels, description = find_groups_in_ids(ids)
    >>> labels[:4].tolist(), description
    (['S00', 'S00', 'S00', 'S01'], "5 subjects (such as 'S00', 3 samples)")
    >>> find_groups_in_ids([f"sample_{i}" for i in range(15)])
    """
    given = pd.Series(np.asarray(values, dtype=object))
    ids = given.astype(str).str.strip()
    if len(ids) < 2 * _FEWEST_STEMS or given.isna().any() or ids.duplicated().any():
        return None
    stems = ids.str.replace(_LAST, "", regex=True)
    endings = _endings(ids, stems)
    if len(endings) == 1 and endings != {""}:  # such as the suffix of a file
        return find_groups_in_ids(stems)
    found = []
    dated = ids.str.replace(_DATE, "", regex=True)
    if _are_subjects(dated):  # dates differ
        found.append(dated)
    if len(endings) <= _SHARE_ENDINGS * len(ids) and _are_subjects(stems):
        found.append(stems)
    called = ids.str.findall(_SUBJECT_IN_NAME)
    named = called.str[0] if (called.map(len) == 1).all() else None
    if named is not None and _are_subjects(named):
        found.append(named)
    numbers = ids.str.replace(_DIGIT, "", regex=True)
    if _are_numbered(_endings(ids, numbers), len(ids)) and _are_subjects(numbers):
        found.append(numbers)
    if not found:
        return None
    stems = max(found, key=lambda one: one.nunique())  # the first of equal ones
    if named is not None and any(one is named for one in found):
        # Visits of a subject that is called so; a letter with a number may be a plate.
        is_word = named.str.match(r"[A-Za-z]{2}").all()
        if is_word and (named.groupby(stems).nunique() == 1).all():
            stems = named
    counts = stems.value_counts(sort=False)
    largest = counts.idxmax()
    return stems.to_numpy(dtype=object), (
        f"{len(counts)} subjects (such as {largest!r}, {counts.max()} samples)"
    )


def _endings(ids: pd.Series[str], stems: pd.Series[str]) -> set[str]:
    return {one[len(stem) :] for one, stem in zip(ids, stems, strict=True)}


def _are_subjects(stems: pd.Series[str]) -> bool:
    """Return whether enough stems are shared by several samples."""
    counts = stems.value_counts()
    shared = int(counts[counts > 1].sum())
    return len(counts) >= _FEWEST_STEMS and shared >= _SHARE_REPEATED * len(stems)


def _are_numbered(digits: set[str], n_samples: int) -> bool:
    """Return whether last digits count the samples of a subject: 0, 1, … or 1, 2, ….

    The last digits of numbers that go on are all ten.
    """
    runs = ["".join(map(str, range(low, low + len(digits)))) for low in (0, 1)]
    few = 1 < len(digits) <= _MOST_DIGITS and n_samples >= _FEWEST_DIGITS
    return few and "".join(sorted(digits)) in runs


def _words(column: Any) -> list[str]:
    """Return the words of a name, in lower case.

    >>> _words("PatientID"), _words("patientid"), _words("sample size")
    (['patient', 'id'], ['patient', 'id'], ['sample', 'size'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(column))
    found: list[str] = []
    for word in re.findall(r"[A-Za-z]+", spaced.casefold()):
        ends = [
            end for end in _NUMBER_WORDS if word.removesuffix(end) in _IDENTIFIER_NAMES
        ]
        whole = word in _IDENTIFIER_NAMES or not ends
        found += [word] if whole else [word.removesuffix(ends[0]), ends[0]]
    return found


def _noun(words: list[str]) -> str:
    """Return the noun of a name, without "number" and the like behind it.

    >>> _noun(["patient", "id"]), _noun(["sample", "no"]), _noun(["sample", "size"])
    ('patient', 'sample', 'size')
    """
    if len(words) > 1 and words[-1] in _NUMBER_WORDS and words[-2] in _IDENTIFIER_NAMES:
        return words[-2]
    return words[-1] if words else ""


def _name_subjects(words: list[str]) -> bool:
    noun = _noun(words)
    return noun in _SUBJECTS or (noun in _SUBJECT_ABBREVIATIONS and words[-1] != noun)


def _are_records(words: list[str], values: pd.Series[Any]) -> bool:
    """Return whether a name says only that the values identify something.

    Text without digits is rather a kind, such as of sample.
    """
    known = _RECORDS | {"id", "ids", "identifier"}
    numbered = values.astype(str).str.contains(r"\d").mean() > 0.5
    return bool(
        numbered
        and known.intersection(words)
        and (known | _NUMBER_WORDS).issuperset(words)
    )


def _may_identify(values: pd.Series[Any]) -> bool:
    """Return whether numbers may be identifiers: whole, or such as 1.1, 1.2, 2.1."""
    return _are_whole(values) or find_groups_in_ids(values.dropna()) is not None


def _are_whole(values: pd.Series[Any]) -> bool:
    if values.dtype.kind in "iu":
        return True
    numbers = values.dropna().to_numpy()
    return values.dtype.kind == "f" and bool((numbers == np.round(numbers)).all())
