"""The picture of a study's findings: one box each, told apart by more than colour."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical.experiments.findings import Check, Outcome
from veridical.report.draw import _canvas, _markup, _share, _text
from veridical.report.summarize import clean

SIGNS: dict[Outcome, tuple[str, str]] = {
    "reproduced": ("yes", "\N{CHECK MARK}"),
    "not reproduced": ("no", "\N{MULTIPLICATION X}"),
    "open": ("open", "?"),
}
HEIGHT, GAP, PER_ROW = 34, 6, 12


def strip(checks: Sequence[Check]) -> Markup:
    """Draw one box per finding, in their order."""
    n_rows = -(-len(checks) // PER_ROW)
    across = min(len(checks), PER_ROW) or 1
    words = "; ".join(f"{clean(c.statement, 400)}: {c.outcome}" for c in checks)
    svg = _canvas(f"Findings. {words}.", max(1, n_rows * (HEIGHT + GAP) - GAP))
    for number, check in enumerate(checks):
        row, column = divmod(number, PER_ROW)
        kind, sign = SIGNS[check.outcome]
        group = ET.SubElement(svg, "g", {"class": f"vd-box vd-box-{kind}"})
        ET.SubElement(
            group, "title"
        ).text = f"{check.outcome}: {clean(check.statement, 400)}"
        width, y = 100 / across, row * (HEIGHT + GAP)
        place = {
            "x": _share(column * width + 0.3),
            "y": str(y + 1),
            "width": _share(width - 0.6),
            "height": str(HEIGHT - 2),
            "rx": "4",
        }
        ET.SubElement(group, "rect", place)
        _text(group, (column + 0.5) * width, y + HEIGHT / 2 + 5, sign, "middle")
    return _markup(svg)
