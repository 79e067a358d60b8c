"""Export the cells of a store: to a data frame, CSV, Parquet or JSON.

A canonical export is sorted by key and has no times and no hosts, so that two runs of
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
from veridical._core.csv_text import csv_line
from veridical._core.errors import InputError
from veridical.experiments.keys import StoredKeys, recipe_digest
from veridical.experiments.store import Store, StoredAttempt

if TYPE_CHECKING:
    import pandas as pd

# Number of rows that are written to Parquet together.
_BATCH = 20_000
# Suffixes of other formats, which are refused instead of written as CSV.
_OTHER_KINDS = {".xlsx", ".xls", ".ods", ".feather", ".h5", ".hdf", ".pkl", ".sqlite"}

FlatRecord = dict[str, Any]


def export(store: Store, path: str | Path, *, canonical: bool = False) -> int:
    """Write every cell of a store to a file.

    Parameters
    ----------
    store : Store
        The store; a run may be writing to it.
    path : str or Path
        The file: ``.parquet``, ``.json``, ``.jsonl`` (one object per line); any other
        suffix is CSV. An existing file is replaced in one step.
    canonical : bool, default=False
        Without times, hosts and messages, so that files can be compared byte by byte.

    Returns
    -------
    int
        Number of cells that were written.

    Raises
    ------
    InputError
        If the file cannot be written, or pyarrow is missing for Parquet.
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
        columns = _typed_columns(_records(store, canonical))
        with _replacing(path) as temporary:
            return write(_records(store, canonical), columns, temporary)


def to_frame(store: Store, only: StoredKeys | None = None) -> pd.DataFrame:
    """Return the cells as a data frame, see `Store.frame`."""
    import pandas as pd

    rows: Iterable[StoredAttempt] = store.rows(by_key=True)
    if only is not None:
        rows = (row for row in rows if only.contain([row.key])[0])
    rows = list(rows)
    records = [_record(row, canonical=True) for row in rows]
    columns = list(_typed_columns(records))
    frame = pd.DataFrame.from_records(records, columns=columns or ["status"])
    frame.attrs["seconds"] = Timings(row.seconds for row in rows)
    return frame


class Timings(tuple[float, ...]):
    """Computing times of the cells, in seconds.

    pandas makes a deep copy of ``attrs`` whenever a frame is sliced, which takes long
    for a million numbers; this tuple never changes, so it is not copied.
    """

    def __deepcopy__(self, memo: object) -> Timings:
        return self


# -- from rows to records ------------------------------------------------------------


def _records(store: Store, canonical: bool) -> Iterator[FlatRecord]:
    hosts = [json.loads(text).get("host", "") for text in store.runs()]
    for row in store.rows(by_key=True):
        record = _record(row, canonical)
        if not canonical:
            record["host"] = hosts[row.run - 1]
        yield record


def _record(row: StoredAttempt, canonical: bool) -> FlatRecord:
    study, digest = _study_and_hash(row.recipe)
    record: FlatRecord = {
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
def _study_and_hash(recipe: str) -> tuple[str, str]:
    """Return the study and the short hash of a recipe, which many rows share."""
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


def _typed_columns(records: Iterable[FlatRecord]) -> dict[str, type]:
    """Return all columns with their types, in an order given by their names."""
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
    """Return a sort key by which ``in_2`` comes before ``in_10``."""
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
    records: Iterator[FlatRecord], columns: Mapping[str, type], path: Path
) -> int:
    lines = (csv_line(record.get(name) for name in columns) for record in records)
    return _write_texts(lines, path, start=csv_line(columns))


def _write_json_lines(
    records: Iterator[FlatRecord], columns: Mapping[str, type], path: Path
) -> int:
    return _write_texts((canonical_json(record) + "\n" for record in records), path)


def _write_json(
    records: Iterator[FlatRecord], columns: Mapping[str, type], path: Path
) -> int:
    marks = {"start": "[\n", "between": ",\n", "end": "\n]\n"}
    return _write_texts(map(canonical_json, records), path, **marks)


def _write_texts(
    texts: Iterable[str], path: Path, start: str = "", between: str = "", end: str = ""
) -> int:
    """Write one text per record; return the number of records."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(start)
        for text in texts:
            file.write(between + text if count else text)
            count += 1
        file.write(end)
    return count


def _write_parquet(
    records: Iterator[FlatRecord], columns: Mapping[str, type], path: Path
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
    """Yield a temporary file that replaces the file once it is on disk."""
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
