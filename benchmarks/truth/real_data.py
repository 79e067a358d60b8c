"""Compute the results on real data that pages quote.

    VERIDICAL_DATA=folder python -m benchmarks.truth.real_data

Each is what ``veridical estimate`` gives for one of the data sets in that folder, in
five folds. Writes ``real_data.csv``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.truth.designs import write_rows

FILE = Path(__file__).with_suffix(".csv")
COLUMNS = ("data", "options", "score", "value", "low", "high")
_VOICES = ("--target", "total_UPDRS", "--numbers")
_DROPPED = ("--drop", "motor_UPDRS")
#: Without it the command would keep the samples of a subject together.
_ALONE = ("--drop", "motor_UPDRS,subject", "--groups", "none")
_SURVIVAL = ("--time", "time", "--event", "event")
#: Data sets, and the options of the command.
RUNS = (
    (
        "parkinsons_telemonitoring",
        (*_VOICES, *_DROPPED, "--groups", "subject", "--estimator", "ridge"),
    ),
    (
        "parkinsons_telemonitoring",
        (*_VOICES, *_DROPPED, "--groups", "subject", "--estimator", "knn"),
    ),
    (
        "parkinsons_telemonitoring",
        (*_VOICES, *_ALONE, "--estimator", "ridge"),
    ),
    (
        "parkinsons_telemonitoring",
        (*_VOICES, *_ALONE, "--estimator", "knn"),
    ),
    ("gbsg2", _SURVIVAL),
    ("breast_gse7390", _SURVIVAL),
)


def measure(data: str, options: tuple[str, ...]) -> dict[str, Any]:
    """Run the command, and take the score and its interval from its JSON."""
    command = [sys.executable, "-m", "veridical", "estimate", data, *options]
    done = subprocess.run(
        [*command, "--cv", "5", "--json"], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    (estimate,) = found["estimates"]
    interval = estimate["intervals"][0]
    values = (estimate["value"], interval["low"], interval["high"])
    numbers = (f"{value:.3f}" for value in values)
    row = (data, " ".join(options), found["metric"], *numbers)
    return dict(zip(COLUMNS, row, strict=True))


def main() -> None:
    """Run all commands, and write the file."""
    rows = []
    for data, options in RUNS:
        rows.append(measure(data, options))
        print(*rows[-1].values(), sep=", ", flush=True)
    write_rows(FILE, COLUMNS, rows)


if __name__ == "__main__":
    main()
