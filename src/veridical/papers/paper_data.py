"""Data sets of papers: which of them are found here, and whether they are unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from veridical.datasets import available
from veridical.experiments import InputError


class PublishedData(Protocol):
    """A data set of a paper: its title there, and the file it is read from here."""

    @property
    def title(self) -> str:
        """Name in the paper."""
        ...

    @property
    def file(self) -> str | None:
        """Name for `veridical.datasets.load`; None for data that are drawn."""
        ...


@dataclass(frozen=True)
class PaperData:
    """The data sets of a paper.

    Parameters
    ----------
    rows : mapping of str to PublishedData
        By the names that the study uses, in the order of the paper.
    suffix, content : str
        Suffix of the files and what they contain, for the message about missing ones.
    """

    rows: Mapping[str, PublishedData]
    suffix: str
    content: str

    def present(self, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the names, of all or of some data sets, whose files are found."""
        files = {None, *available()}
        wanted = self.rows if names is None else names
        return tuple(name for name in wanted if self.rows[name].file in files)

    def refuse_missing(self, name: str) -> None:
        """Raise InputError if the file of a data set is not found."""
        if not self.present([name]):
            raise InputError(self._say_missing([name]))

    def notices(self) -> tuple[str, ...]:
        """Return a sentence about the data sets that are not found, if any."""
        found = self.present()
        missing = [name for name in self.rows if name not in found]
        return (self._say_missing(missing),) if missing else ()

    def _say_missing(self, names: Iterable[str]) -> str:
        rows = [self.rows[name] for name in names]
        titles = ", ".join(row.title for row in rows)
        files = ", ".join(f"{row.file}{self.suffix}" for row in rows)
        return (
            f"Data not found: {titles}. Put {files} ({self.content}) into a folder and "
            "name the folder in VERIDICAL_DATA."
        )


def refuse_other_data(name: str, found: str, planned: str) -> None:
    """Raise InputError if a worker reads other data than the study was planned with."""
    if found != planned:
        raise InputError(
            f"{name} is not the file that the study was planned with; use the same "
            "data everywhere."
        )
