"""The pages of the papers show what was stored of the stores of their studies."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from benchmarks import papers
from veridical.experiments import Check, Serial, StudyTable, parse_where, run_study


class Judged(Grid):
    """A study with a finding of each outcome, which counts its cells."""

    def findings(self, frame):
        checks = [
            Check(
                f"It is | {outcome}", outcome, "published", f"{len(frame)} cells", "r"
            )
            for outcome in papers.OUTCOMES
        ]
        return self.make_report(frame, checks, [StudyTable("T", ("a",), (("1",),))])


def between(page):
    """What a page shows between its two comments."""
    text = page.read_text(encoding="utf-8")
    assert text.count(papers.BEGIN) == text.count(papers.END) == 1, page.name
    return text.split(papers.BEGIN)[1].split(papers.END)[0].strip()


def test_every_paper_has_stored_results_and_shows_them():
    stored = papers.load()
    assert list(stored) == papers.studies()
    assert len(stored) == 5
    pages = dict(papers.blocks(stored))
    assert len(pages) == 6
    for page, text in pages.items():
        assert between(page) == text.strip(), "run python -m benchmarks.papers"


def test_the_summary_counts_the_findings_of_the_five_pages():
    rows = re.findall(r"^\| \[([\w-]+)\].*?\) \| (\d+) \| (\d+) \| (\d+) \|",
                      between(papers.SUMMARY), re.M)  # fmt: skip
    assert len(rows) == 5
    for name, *numbers in rows:
        page = between(papers.PAGES / f"{name}.md")
        cells = [line.split(" | ")[1] for line in page.splitlines() if " | " in line]
        found = Counter(cell.strip("*") for cell in cells)
        assert [int(number) for number in numbers] == [
            found[outcome] for outcome in papers.OUTCOMES
        ]


@pytest.fixture
def judged(tmp_path):
    study, path = Judged(), tmp_path / "grid.sqlite"
    run_study(
        study,
        GridSpec(),
        path,
        executor=Serial(),
        where=parse_where(["unit=0", "unit=1"]),
    )
    run_study(study, GridSpec(seed=3), path, executor=Serial())
    run_study(study, GridSpec(), path, executor=Serial(), where=parse_where(["unit=2"]))
    return papers.read_store(study, path, "1234567")


def test_the_last_run_of_a_store_is_read(judged):
    assert judged["cells"] == {"planned": 50, "ok": 15, "failed": 0, "pending": 35}
    assert judged["seed"] == 0
    assert judged["runs"] == 2  # of this specification
    assert judged["seconds"] >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", judged["finished"])
    assert [check["ours"] for check in judged["checks"]] == ["15 cells"] * 3
    assert [one["title"] for one in judged["tables"]] == ["T"]
    json.dumps(judged)


def test_a_store_without_finished_cells_gives_nothing(tmp_path):
    study, path = Judged(poison=((0, 0, "exception"),)), tmp_path / "grid.sqlite"
    run_study(study, GridSpec(n_units=1, n_cells=1), path, executor=Serial())
    assert papers.read_store(study, path, "1234567") is None


def test_a_page_says_how_it_was_computed_and_what_was_found(judged):
    text = papers.results("grid", judged)
    assert "`veridical study run grid --scale smoke --seed 0`: 15 of 50 cells" in text
    assert f"cells, the last on {judged['finished']}, in 2 runs (code 1234567)" in text
    assert "Of 3 findings of the paper, 1 is reproduced, 1 is not, 1 is open." in text
    assert "| It is \\| open | **open** | published | 15 cells | r |" in text
    assert "**T**\n\n| a |\n| --- |\n| 1 |" in text


def test_the_page_of_all_papers_lists_what_did_not_hold(judged):
    text = papers.summary({"lufe": judged})
    assert "| [lufe](lufe.md) | 1 | 1 | 1 | 15 |" in text
    assert "Not computed yet: in-vs-out, accuracy-estimation," in text
    listed = [line for line in text.splitlines() if "published | 15 cells" in line]
    assert [line.split(" | ")[1] for line in listed] == [
        "**not reproduced**",
        "**open**",
    ]


def test_a_folder_without_stores_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        papers.main([str(tmp_path)])
    assert "has none of in-vs-out.sqlite, " in capsys.readouterr().err
