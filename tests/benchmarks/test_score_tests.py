"""The page of the score test shows what was measured."""

import csv

from benchmarks.truth import score_tests


def test_the_page_has_the_measured_sizes():
    with (score_tests.HERE / "score_tests.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shown = score_tests.PAGE.read_text(encoding="utf-8")
    shown = shown.split(score_tests.BEGIN)[1].split(score_tests.END)[0].strip()
    when = shown.splitlines()[-1].split("Measured on ")[1].split(":")[0]
    assert score_tests.table(rows, when).strip() == shown
    assert len(rows) == 48
