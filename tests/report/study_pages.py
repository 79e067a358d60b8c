"""Pages of studies, finished and running; see `tests.report.pages`."""

from __future__ import annotations

from dataclasses import replace

from tests.report.page_texts import Say, settings

from veridical import report
from veridical._core.records import Interval
from veridical.experiments.findings import (
    Check,
    Curve,
    Picture,
    StudyReport,
    StudyReports,
    StudyTable,
)
from veridical.report.render import html
from veridical.report.views.study import watch


def study_report(say: Say) -> StudyReport:
    """Findings of every outcome, tables and curves."""

    def curve(name: str, start: float):
        values = [start * 0.8**i for i in range(6)]
        bands = tuple(Interval(v, v - 0.8, v + 0.8) for v in values)
        return Curve(say(name), tuple(range(6)), bands)

    return StudyReport(
        study=say("accuracy-estimation"),
        question=say("Which estimate of accuracy should be trusted?"),
        paper=say("R. Kohavi, A study of cross-validation and bootstrap (1995)."),
        checks=tuple(
            Check(
                say(statement), outcome, say("81 %"), say(ours), say("within 2 points")
            )
            for statement, outcome, ours in (
                ("Ten folds have little bias", "reproduced", "80.4 % (79.1 to 81.7 %)"),
                ("Leave-one-out has more variance", "not reproduced", "5.1 % (n = 50)"),
                ("The bootstrap has the least variance", "open", "too few, n = 3"),
            )
        ),
        tables=(
            StudyTable(
                say("Table 1: data sets"),
                tuple(
                    say(head) for head in ("Data", "Samples", "Features", "Accuracy")
                ),
                tuple(
                    (
                        say(f"set {i}"),
                        say(str(100 * i)),
                        say(str(i)),
                        say(f"{90 - i} %"),
                    )
                    for i in range(1, 16)
                ),
                (say("A note."),),
            ),
        ),
        pictures=tuple(
            Picture(
                say("Bias of the estimates"),
                say(title),
                say("points of accuracy"),
                (
                    (say("folds"), tuple(map(say, ("2", "5", "10", "20")))),
                    (say("samples"), tuple(map(say, ("10", "50")))),
                ),
                (curve("C4.5", -8.0), curve("naive Bayes", -3.0), curve("chance", 2.0)),
                Interval(0.0, -0.5, 0.5),
            )
            for title in ("soybean", "vehicle")
        ),
        notes=(say("Intervals are over data sets."),),
        settings={
            "cells": "9 of 9 done",
            "scale": "smoke",
            "seed": "0",
            **settings(say, "study run"),
        },
    )


def study(say: Say) -> str:
    """A paper's findings."""
    return report.page(study_report(say))


def studies(say: Say) -> str:
    """The findings of two papers, one of them with its cells."""
    cells = {"planned": 9, "ok": 8, "failed": 1, "pending": 0}
    first, second = study_report(say), study_report(say)
    second = replace(second, settings={**second.settings, "cells": cells})
    missing = (say("lufe"),)
    return report.page(
        StudyReports((first, second), missing, settings(say, "study run"))
    )


def state(say: Say, **changes) -> dict:
    """Where a study stands."""
    return {
        "study": say("accuracy-estimation"),
        "store": say("accuracy-estimation.sqlite"),
        "planned": 900,
        "ok": 340,
        "failed": 2,
        "pending": 558,
        "cells_per_second": 2.0,
        "seconds_left": 279.0,
        "failures": [
            {"status": say("error"), "cell": {say("data"): say("soybean")}, "detail": d}
            for d in (say("ValueError: no samples of class 3"), say("MemoryError"))
        ],
        "looked": "12:00:00",
        "trouble": say("The store is locked."),
        "findings": report.to_json(study_report(say)),
        "unchanged": [210, 40, 12],
        **changes,
    }


def watched(say: Say) -> str:
    """A study that is running."""
    return html.page(watch(state(say)))


def finished(say: Say) -> str:
    """A study that is done."""
    return html.page(watch(state(say, pending=0, ok=898, trouble=None, failures=[])))


def young(say: Say) -> str:
    """A study of which nothing is done yet."""
    nothing = {"ok": 0, "failed": 0, "pending": 900, "failures": [], "trouble": None}
    pace = {"cells_per_second": None, "seconds_left": None}
    return html.page(watch(state(say, findings=None, unchanged=[], **nothing, **pace)))
