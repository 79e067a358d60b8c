"""From a record to plain numbers, strings, lists and dicts: what JSON holds.

Every text is made safe to show here, and only here. Accuracies, shares and differences
are fractions (0.834, not 83.4); a number that does not exist (the interval of a single
value, the statistic of a degenerate test) is None.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

from typing_extensions import TypedDict

from veridical._core.errors import InputError
from veridical._core.records import DataSummary, Record
from veridical.evaluation.records import Coverage

LONGEST_NAME = 200  # characters; the rest of a longer name is cut
LONGEST_TEXT = 4000  # the same for sentences
#: What stands under these keys is a name, and is cut like one.
NAME_KEYS = {
    "estimator",
    "estimators",
    "label",
    "method",
    "metric",
    "name",
    "names",
} | {
    *("positive", "selector", "study"),
}
_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e")
_ISOLATES = frozenset("\u2066\u2067\u2068\u2069")


class IntervalSummary(TypedDict):
    """A value with its confidence interval."""

    value: float
    low: float | None
    high: float | None


class ClassSummary(TypedDict):
    """One class of the data."""

    name: str
    count: int
    share: float


class DataInfo(TypedDict):
    """The data set or source; ``chance`` is the share of the largest class.

    ``target`` is the kind of target, ``outcome`` the target in words. A target of
    numbers or survival times has no ``classes`` and no ``chance``.
    """

    name: str
    n_samples: int
    n_features: int
    target: str
    outcome: str
    classes: list[ClassSummary]
    chance: float | None


class CoverageSummary(TypedDict):
    """How often 95 % intervals of a kind covered the truth, as shares, and with what.

    ``low`` and ``high`` are the least and the most over the designs nearest to the
    user's; nine of ten of these reach ``reached``, on which a claim rests.
    """

    low: float
    high: float
    conditions: str
    reached: float | None


def covered(known: CoverageSummary | None) -> Coverage | None:
    """Read a coverage back from plain numbers."""
    if known is None:
        return None
    reached = math.nan if known["reached"] is None else known["reached"]
    return Coverage(known["low"], known["high"], known["conditions"], reached)


class ScoreSummary(TypedDict):
    """A score: ``name`` as ``scoring=`` takes it, ``label`` as people call it.

    ``percent`` is whether it is a share. ``averaging`` is "pooled" (over all test
    samples) or "mean of folds". ``low`` and ``high`` are its range, None without a
    bound. ``positive`` is the positive class where it has one, ``chance`` what guessing
    reaches where that is known.
    """

    name: str
    label: str
    percent: bool
    greater_is_better: bool
    averaging: str
    low: float | None
    high: float | None
    positive: str | None
    chance: float | None


class ScoreResultSummary(TypedDict):
    """A score of the whole procedure, with its 95 % interval and its kind."""

    scoring: ScoreSummary
    score: IntervalSummary
    interval: str
    coverage: CoverageSummary | None


class SizeSummary(TypedDict):
    """How often a test rejects where there is nothing to find, measured.

    ``design`` says in words what was simulated. Over several designs ``rate`` is the
    median, and ``low`` and ``high`` span the intervals of all. A difference may be
    claimed up to a p-value of ``claim_level``. Where ``calibrated``, p-value and
    interval already make up for it.
    """

    nominal: float
    rate: float
    low: float
    high: float
    n_simulations: int
    design: str
    n_designs: int
    near: bool
    claim_level: float | None
    calibrated: bool


@singledispatch
def to_json(record: Any) -> Any:
    """Turn a record into plain numbers, strings, lists and dicts, ready for JSON.

    Records whose JSON is not simply their fields register a function of their own,
    in their file of `veridical.report.views`.

    Parameters
    ----------
    record : record
        What a verb returned.

    Returns
    -------
    dict
        What a verb prints with ``--json`` is described by ``veridical schema``.

    Raises
    ------
    InputError
        If it is not a record.
    """
    if not isinstance(record, Record):
        raise unknown(record)
    return {"kind": type(record).__name__.lower(), **plain(record)}


def unknown(thing: Any) -> InputError:
    """Say that an object is not a record that can be shown."""
    return InputError(
        f"no report is known for a {type(thing).__name__}; give a record: what "
        "select(), estimate(), compare(), choose(), discover(), truth(), sensitivity() "
        "or audit() returned"
    )


def plain(value: Any, longest: int = LONGEST_TEXT) -> Any:
    """Write records as dicts, arrays as lists, and what is not finite as None.

    Parameters
    ----------
    value : object
        A record, a number, a text, or a collection of them.
    longest : int
        Characters of a text; names are cut earlier, see `NAME_KEYS`.
    """
    if isinstance(value, DataSummary):
        return data_info(value)
    if is_dataclass(value):
        own = {one.name: getattr(value, one.name) for one in fields(value)}
        if isinstance(value, Record):
            belief, headline = own.pop("conclusion")
            own |= {"headline": headline, "belief": belief}
        value = own
    if hasattr(value, "_asdict"):  # a named tuple
        value = value._asdict()
    if isinstance(value, Mapping):
        return {
            clean(key): plain(one, LONGEST_NAME if key in NAME_KEYS else longest)
            for key, one in value.items()
        }
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one, longest) for one in value]
    if isinstance(value, float):
        return finite(value)
    return clean(value, longest) if isinstance(value, str) else value


def fill(kind: Any, record: Any, /, **given: Any) -> Any:
    """Write a summary: values that are given, and fields of the record for the rest.

    Parameters
    ----------
    kind : TypedDict
        The summary; a key that is not given is the field of that name, made plain.
    record : record
        Where the fields come from.
    **given
        Plain values by key.

    Examples
    --------
    >>> from veridical._core.records import Interval
    >>> fill(IntervalSummary, Interval(0.5, float("nan"), 0.6), high=1.0)
    {'value': 0.5, 'low': None, 'high': 1.0}
    """
    keys = kind.__annotations__
    return plain({k: given[k] if k in given else getattr(record, k) for k in keys})


def concluded(record: Any, /, **more: Any) -> dict[str, Any]:
    """Write the conclusion of a record, with more sentences by key."""
    belief, headline = record.conclusion
    return plain({"headline": headline, "belief": belief, **more})


def clean(text: object, longest: int = LONGEST_NAME) -> str:
    r"""Make a text safe to set in a line.

    Control characters, halves of surrogate pairs and marks that turn the direction of
    writing can forge what a reader sees, in a terminal as on a page; each becomes a
    replacement character. Markup is left alone: renderers escape it.

    Examples
    --------
    >>> clean("gene\n 7"), len(clean("x" * 1000))
    ('gene 7', 200)
    """
    shown = "".join(map(_visible, " ".join(str(text).split())))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _visible(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cs")
    forging = character in _DIRECTION_MARKS or character in _ISOLATES
    return "\N{REPLACEMENT CHARACTER}" if hidden or forging else character


def finite(value: float) -> float | None:
    """Return a number that JSON can hold: neither infinity nor NaN."""
    return float(value) if math.isfinite(value) else None


def data_info(data: DataSummary) -> DataInfo:
    """Describe the data."""
    total = sum(data.classes.values())
    return {
        "name": clean(data.name),
        "n_samples": int(data.n_samples),
        "n_features": int(data.n_features),
        "target": data.kind,
        "outcome": clean(data.outcome),
        "classes": [
            {"name": clean(name), "count": int(n), "share": n / total}
            for name, n in data.classes.items()
        ],
        "chance": finite(data.majority_share),
    }
