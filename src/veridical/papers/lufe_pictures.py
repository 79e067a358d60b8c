"""The LUFe paper's table 1 and its figures, from ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from veridical._core.numbers import with_range
from veridical._core.records import Interval
from veridical.experiments.findings import Curve, Picture, StudyTable
from veridical.papers.lufe_figures import PUBLISHED, Figures, Pair, name_of, share_of


def make_table_1(figures: Figures) -> StudyTable:
    """Put our accuracies and gains beside the published ones."""
    header = (
        "Setting", "Accuracy, %", "published", "Gain over all words, points",
        "published", "Gain over the selector, points", "published",
    )  # fmt: skip
    rows = []
    for k in [0, *figures.sizes()]:
        for method in ("all", "rfe", "lufe-rfe", "anova", "lufe-anova"):
            found = figures.get(method, k, share_of(method))
            if found is None:
                continue
            value, over_all, over_kind = PUBLISHED.get((method, k), (None, None, None))
            kind = method.removeprefix("lufe-")
            mine = (method, k, share_of(method))
            rows.append(
                (
                    name_of(method, k),
                    f"{np.nanmean(found):.2f}",
                    "–" if value is None else f"{value:.2f}",
                    _gain(figures.pair(mine, ("all", 0, 0)) if k else None),
                    _published(over_all),
                    _gain(figures.pair(mine, (kind, k, 0)) if kind != method else None),
                    _published(over_kind),
                )
            )
    notes = (
        "Gains: mean over tasks with its 95 % interval, and the tasks with a gain of "
        "all; published ones are on 49 tasks of TechTC-300.",
    )
    return StudyTable("Table 1: accuracy", header, tuple(rows), notes)


def _gain(pair: Pair | None) -> str:
    if pair is None:
        return "–"
    text = with_range(*pair.mean.interval, 2, signed=True)
    return f"{text}, {pair.wins} of {len(pair.gains)}"


def _published(known: tuple[int, float] | None) -> str:
    return "–" if known is None else f"{known[1]:+.2f}, {known[0]} of 49"


def draw_gains(figures: Figures, k: int) -> Iterator[Picture]:
    """Figures 1 and 2: gains task by task, the largest first."""
    plus = ("lufe-rfe", k, 100)
    for title, other in (
        (f"LUFe-RFE-{k} against RFE-{k}", ("rfe", k, 0)),
        (
            f"LUFe-RFE-{k} against noise as unselected features",
            ("lufe-rfe-random", k, 100),
        ),
    ):
        first, second = figures.get(*plus), figures.get(*other)
        if first is None or second is None:
            continue
        gains = pd.Series(first - second, index=figures.tasks).dropna()
        gains = gains.sort_values(ascending=False, kind="stable")
        names = tuple(str(task).rsplit("/", 1)[-1] for task in gains.index)
        values = tuple(Interval(v, v, v) for v in map(float, gains))
        yield Picture(
            f"K = {k}",
            title,
            "gain, points",
            (("tasks, by gain", names),),
            (Curve("gain in accuracy", tuple(range(len(names))), values),),
            Interval(0.0, 0.0, 0.0),
        )


def draw_shares(figures: Figures) -> Iterator[Picture]:
    """Figure 3: accuracy against the share of unselected features."""
    for k in figures.sizes():
        shares = figures.shares("lufe-rfe", k)
        if len(shares) < 2:
            continue
        curves = []
        for method in ("lufe-rfe", "rfe-augmented"):
            places, values = [], []
            for place, share in enumerate(shares):
                pair = figures.pair((method, k, share), ("rfe", k, 0))
                if pair is not None:
                    places.append(place)
                    values.append(pair.mean.interval)
            if places:
                curves.append(Curve(name_of(method, k), tuple(places), tuple(values)))
        yield Picture(
            f"K = {k}",
            f"Gain over RFE-{k} by the share of unselected features",
            "gain, points",
            (("unselected features, %", tuple(map(str, shares))),),
            tuple(curves),
            Interval(0.0, 0.0, 0.0),
        )
