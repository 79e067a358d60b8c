"""What papers share on data sets: which are here, and whether they are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from veridical.datasets import available
from veridical.experiments import InputError


class Published(Protocol):
    """A data set of a paper: its title there, and the file it is read from here."""

    @property
    def title(self) -> str:
        """What the paper calls it."""
        ...

    @property
    def file(self) -> str | None:
        """Its name for `veridical.datasets.load`; None for what is drawn."""
        ...


def present(table: Mapping[str, Published]) -> tuple[str, ...]:
    """Name the data sets that can be found here, in the order of the table."""
    files = {None, *available()}
    return tuple(name for name, row in table.items() if row.file in files)


def say_missing(rows: Sequence[Published], suffix: str, content: str) -> str:
    """Say which data sets are missing, and what to do about it."""
    titles = ", ".join(row.title for row in rows)
    files = ", ".join(f"{row.file}{suffix}" for row in rows)
    return (
        f"The data are not here: {titles}. Put {files} ({content}) into a folder and "
        "name it in VERIDICAL_DATA."
    )


def refuse_other_data(name: str, found: str, planned: str) -> None:
    """Raise if a worker reads other data than the study was planned with."""
    if found != planned:
        raise InputError(
            f"{name} is not the file that the study was planned with; use the same "
            "data everywhere."
        )
