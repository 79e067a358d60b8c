"""The record as a table: a data frame, CSV, Parquet or JSON.

A canonical export is sorted by key and has neither times nor hosts, so that two runs of
the same study give the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical._core.canonical import canonical as canonical_json
from veridical._core.errors import InputError
from veridical.experiments.keys import StoredKeys, recipe_digest
from veridical.experiments.store import Row, Store

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 20_000
_OTHER_KINDS = {".xlsx", ".xls", ".ods", ".feather", ".h5", ".hdf", ".pkl", ".sqlite"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Record = dict[str, Any]


def export(store: Store, path: str | Path, *, canonical: bool = False) -> int:
    """Write every cell of a store to a file.

    Parameters
    ----------
    store : Store
        Where from; a run may be writing to it.
    path : str or Path
        Where to: ``.parquet``, ``.json``, ``.jsonl`` (one object per line), anything
        else is CSV. An existing file is replaced in one step.
    canonical : bool, default=False
        Sorted by key, without times, hosts and wordings, so that files can be compared
        byte by byte.

    Returns
    -------
    int
        How many cells were written.

    Raises
    ------
    InputError
        If the file cannot be written, or Parquet is asked for without pyarrow.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind in _OTHER_KINDS:
        raise InputError(
            f"{path.name}: there is no export to {kind}; use .csv, .parquet, .json or "
            ".jsonl."
        )
    write = {
        ".parquet": _write_parquet,
        ".json": _write_json,
        ".jsonl": _write_json_lines,
    }.get(kind, _write_csv)
    with store.snapshot():
        columns = _columns(_records(store, canonical))
        with _replacing(path) as temporary:
            return write(_records(store, canonical), columns, temporary)


def to_frame(store: Store, only: StoredKeys | None = None) -> pd.DataFrame:
    """Gather the cells in a data frame, see `Store.frame`."""
    import pandas as pd

    rows: Iterable[Row] = store.rows(by_key=True)
    if only is not None:
        rows = (row for row in rows if only.contain([row.key])[0])
    rows = list(rows)
    records = [_record(row, canonical=True) for row in rows]
    columns = list(_columns(records))
    frame = pd.DataFrame.from_records(records, columns=columns or ["status"])
    frame.attrs["seconds"] = Timings(row.seconds for row in rows)
    return frame


class Timings(tuple[float, ...]):
    """How long each cell took.

    pandas copies ``attrs`` deeply whenever a frame is sliced; numbers that never change
    need not be copied, and a million of them took longer than everything else.
    """

    def __deepcopy__(self, memo: object) -> Timings:
        return self


# -- from rows to records ------------------------------------------------------------


def _records(store: Store, canonical: bool) -> Iterator[Record]:
    hosts = [json.loads(text).get("host", "") for text in store.runs()]
    for row in store.rows(by_key=True):
        record = _record(row, canonical)
        if not canonical:
            record["host"] = hosts[row.run - 1]
        yield record


def _record(row: Row, canonical: bool) -> Record:
    study, digest = _named(row.recipe)
    record: Record = {
        "study": study,
        "recipe": digest,
        **json.loads(row.cell),
        "status": row.status,
    }
    values = json.loads(row.values) if row.values else {}
    for name, value in _flat(values):
        record[f"values_{name}" if name in record else name] = value
    if canonical:
        record["key"] = row.key.hex()
        return record
    finished = datetime.fromtimestamp(row.finished, UTC)
    return {
        **record,
        "attempt": row.attempt,
        "detail": row.detail or "",
        "seconds": row.seconds,
        "finished": finished.isoformat(timespec="seconds"),
    }


@lru_cache(maxsize=1024)
def _named(recipe: str) -> tuple[str, str]:
    """Whose recipe it is, and what to call it; thousands of rows share one."""
    return json.loads(recipe).get("study", ""), recipe_digest(recipe)[:12]


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Write nested values as columns.

    >>> dict(_flat({"truth": 0.5, "in": [0.25, 0.75]}))
    {'truth': 0.5, 'in_0': 0.25, 'in_1': 0.75}
    """
    for name, value in values.items():
        if isinstance(value, list):
            yield from _flat({f"{name}_{i}": item for i, item in enumerate(value)})
        elif isinstance(value, dict):
            yield from _flat({f"{name}_{key}": item for key, item in value.items()})
        else:
            yield name, value


def _columns(records: Iterable[Record]) -> dict[str, type]:
    """Find all columns, in an order that depends on their names only, and types."""
    types: dict[str, set[type]] = {}
    places: dict[str, int] = {}
    for record in records:
        place = 0  # coordinates
        for name, value in record.items():
            if name in ("key", "attempt"):
                place = 3
            if value is not None:
                types.setdefault(name, set()).add(type(value))
            places[name] = max(place, places.get(name, 0))
            if name == "status":
                place = 2  # values
    places |= {"study": -2, "recipe": -1, "status": 1}
    names = sorted(places, key=lambda name: (places[name], _natural(name)))
    return {name: _common(types.get(name, set())) for name in names if name in types}


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Sort key by which ``in_2`` comes before ``in_10``."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def _common(types: set[type]) -> type:
    if types <= {int}:
        return int
    if types <= {int, float}:
        return float
    return bool if types <= {bool} else str


# -- from records to files -----------------------------------------------------------


def _write_csv(
    records: Iterator[Record], columns: Mapping[str, type], path: Path
) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_field, columns)) + "\n")
        for record in records:
            file.write(",".join(_field(record.get(name)) for name in columns) + "\n")
            count += 1
    return count


def _field(value: Any) -> str:
    """Write a value for CSV; no text is taken for a formula by a spreadsheet.

    The csv module leaves a lone carriage return unquoted, which readers take for the
    end of a line.

    >>> _field("=1+1"), _field("-5"), _field(-5), _field("a=b"), _field("a, b")
    ("'=1+1", '-5', '-5', 'a=b', '"a, b"')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    if value.startswith(_FORMULA) and not _is_number(value):
        value = f"'{value}"
    if any(sign in value for sign in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _write_json_lines(
    records: Iterator[Record], columns: Mapping[str, type], path: Path
) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for record in records:
            file.write(canonical_json(record) + "\n")
            count += 1
    return count


def _write_json(
    records: Iterator[Record], columns: Mapping[str, type], path: Path
) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for record in records:
            file.write(("[\n" if count == 0 else ",\n") + canonical_json(record))
            count += 1
        file.write("\n]\n" if count else "[]\n")
    return count


def _write_parquet(
    records: Iterator[Record], columns: Mapping[str, type], path: Path
) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError(
            "Parquet needs pyarrow; pip install 'veridical[parquet]', or export to "
            ".csv."
        ) from error
    kinds = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    count = 0
    with pq.ParquetWriter(path, schema) as writer:
        while part := list(islice(records, _BATCH)):
            content = {
                name: [_as(kind, record.get(name)) for record in part]
                for name, kind in columns.items()
            }
            writer.write_table(pa.table(content, schema=schema))
            count += len(part)
    return count


def _as(kind: type, value: Any) -> Any:
    return None if value is None else kind(value)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Write beside the file, and put it in its place when all of it is on disk."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)
