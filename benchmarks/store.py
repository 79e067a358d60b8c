"""Keep the records between runs, so that one case can be measured again alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.definitions import Agreement, CaseRecord, Measurement

FILE = Path(__file__).resolve().parent / ".cache" / "records.json"


def load(machine: Mapping[str, str], file: Path = FILE) -> dict[str, CaseRecord]:
    """Read records measured earlier on the same machine with the same versions.

    Figures from another machine, or from other versions of what is compared, are left
    behind: they must not stand in one table with the new ones.
    """
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if stored.get("machine") != dict(machine):
        return {}
    return {record["case"]: _record(record) for record in stored["records"]}


def save(
    machine: Mapping[str, str], records: Iterable[CaseRecord], file: Path = FILE
) -> None:
    """Replace the stored records in one step."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "machine": dict(machine),
        "records": [asdict(record) for record in records],
    }
    write(file, json.dumps(content, indent=1))


def write(file: Path, text: str) -> None:
    """Write a file so that readers see the old one or the new one, never half."""
    beside = file.with_name(file.name + ".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, file)


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between two comments of a page."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    write(page, f"{before}{begin}\n{text}\n{end}{after}")


def _record(stored: dict[str, Any]) -> CaseRecord:
    measurements = tuple(_measurement(one) for one in stored["measurements"])
    shape = tuple(stored["shape"])
    return CaseRecord(**{**stored, "shape": shape, "measurements": measurements})


def _measurement(stored: dict[str, Any]) -> Measurement:
    agreement = stored["agreement"]
    kept = None if agreement is None else Agreement(**agreement)
    return Measurement(**{**stored, "agreement": kept})
