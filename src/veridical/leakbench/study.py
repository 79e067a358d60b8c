"""The study ``leakbench``: how often does the audit find a planted mistake?

A unit is one table with one mistake, or one honest control; its cell records by how
much the mistake moved the score, and what the audit said. Detected is a mistake if a
finding with one of its codes is an error or a warning. Notes are counted apart: they
say that the score is valid, or that the samples cannot tell. Of the decomposition the
cell records the largest part, and the part in which the mistake belongs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

from pydantic import PositiveInt, model_validator

from veridical._core.version import __version__
from veridical.auditing import audit
from veridical.experiments import (
    Cell,
    PaperStudy,
    Recipe,
    Scale,
    Spec,
    Unit,
    Values,
    refuse_unknown,
)
from veridical.leakbench.controls import CONTROLS
from veridical.leakbench.honest_tables import real_sources, simulated_sources
from veridical.leakbench.mechanisms import MECHANISMS
from veridical.leakbench.planting import Scenario
from veridical.leakbench.rates import report

#: Increase it when mechanisms, controls or sources draw other tables than before.
VERSION = 4
#: Number of permutations of the labels, the smallest that an audit allows.
N_PERMUTATIONS = 19


class LeakBenchSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    mechanisms, controls : tuple of str
        Names of mechanisms, each with all its doses, and of honest controls.
    sources : tuple of str
        Names of sources of tables, which the draws take in turn.
    n_tables : int
        Number of tables of each mechanism and dose, and of each control.
    """

    mechanisms: tuple[str, ...]
    controls: tuple[str, ...]
    sources: tuple[str, ...]
    n_tables: PositiveInt = 200

    @model_validator(mode="after")
    def _check(self) -> LeakBenchSpec:
        refuse_unknown("mechanism", self.mechanisms, MECHANISMS)
        refuse_unknown("control", self.controls, CONTROLS)
        return self


class LeakBench(PaperStudy):
    """The study; see the module."""

    name = "leakbench"
    question = (
        "How often does an audit find a planted mistake, and how often does it raise a "
        "false alarm?"
    )
    paper = "veridical's own measurement; docs/leakbench.md"
    spec = LeakBenchSpec
    findings = report

    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Take all mechanisms with few or with many tables."""
        return {
            "mechanisms": tuple(MECHANISMS),
            "controls": tuple(CONTROLS),
            "sources": (*simulated_sources(), *real_sources()),
            "n_tables": {"smoke": 1, "laptop": 50, "paper": 200}[scale],
        }

    def units(self, spec: LeakBenchSpec) -> Iterator[Unit]:
        """Yield the first table of every mechanism and control, then the second."""
        works = [
            (name, dose) for name in spec.mechanisms for dose in MECHANISMS[name].doses
        ]
        works += [(name, 0.0) for name in spec.controls]
        recipes = {
            (name, dose): Recipe.from_details(
                self.name, spec.seed, version=VERSION, veridical=__version__,
                permutations=N_PERMUTATIONS,
            )
            for name, dose in works
        }  # fmt: skip
        for number in range(spec.n_tables):
            source = spec.sources[number % len(spec.sources)]
            for name, dose in works:
                at = {
                    "kind": "mechanism" if name in MECHANISMS else "control",
                    "name": name,
                    "dose": dose,
                    "source": source,
                    "table": number,
                }
                yield Unit({"seed": spec.seed}, [Cell(at, recipes[name, dose])])

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw the table, plant the mistake, and audit."""
        for cell in unit.cells:
            yield audit_case(cell.coordinates, unit.settings["seed"])


def draw_case(
    at: Any, seed: int = 0, *, measured: bool = True
) -> tuple[Scenario, float]:
    """Draw the work of a cell, and by how much the mistake moves the score.

    Parameters
    ----------
    at : mapping
        Coordinates of the cell: kind, name, dose, source, table.
    seed : int, default=0
        Seed of the study.
    measured : bool, default=True
        Whether the effect on the score is measured; 0 otherwise.
    """
    number = 10**6 * seed + at["table"]
    if at["kind"] == "control":
        return CONTROLS[at["name"]].draw(at["source"], number), 0.0
    planted = MECHANISMS[at["name"]].draw(at["source"], number, at["dose"])
    return planted.leaky, planted.moved(number) if measured else 0.0


def audit_case(at: Any, seed: int = 0) -> dict[str, Any]:
    """Audit the work of a cell; return codes by severity and the time taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scenario, moved = draw_case(at, seed)
        start = time.process_time()
        found = audit(
            scenario.estimator,
            scenario.X,
            scenario.y,
            cv=scenario.cv,
            n_permutations=N_PERMUTATIONS,
            random_state=at["table"],
            progress=False,
            **scenario.known,
        )
    parts = found.decomposition
    assert parts is not None
    cause = MECHANISMS[at["name"]].cause if at["kind"] == "mechanism" else ""
    by_severity = {
        severity: " ".join(f.code for f in found.findings if f.severity in severities)
        for severity, severities in (
            ("flagged", ("error", "warning")),
            ("noted", ("note",)),
        )
    }
    return {
        "moved": float(moved),
        **by_severity,
        "conclusion": found.conclusion.belief,
        "largest": "" if parts.largest is None else parts.largest.name,
        "part": parts[cause].value if cause else 0.0,
        "signal": parts["signal"].value,
        "seconds": time.process_time() - start,
    }


STUDY = LeakBench()
