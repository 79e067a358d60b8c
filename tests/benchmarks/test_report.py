"""Records become a page, a picture and a table; nothing is claimed beyond them."""

import platform
from dataclasses import replace

import pytest
from benchmarks.aims import Faster
from benchmarks.definitions import Measurement
from tests.benchmarks.samples import CASE, RECORD

from benchmarks import __main__ as command
from benchmarks import draw, machine, results_page, store, tabulate

CASES = {"sample": CASE}
ABOUT = {"Cores": "2", "Processor": "a processor"}


@pytest.fixture
def rows():
    return {row.contender: row for row in tabulate.rows(CASE, RECORD)}


def test_ratios_are_to_the_first_contender(rows):
    assert rows["ours"].ratio == "1.00 ×"
    assert rows["equal"].ratio == "4.00 ×"
    assert rows["slow"].ratio == "> 600 ×"


def test_a_result_that_differs_gets_no_ratio(rows):
    assert rows["wrong"].ratio == "—"
    assert rows["wrong"].result.startswith("DIFFERS")


def test_those_without_a_time_say_why(rows):
    assert rows["slow"].seconds == "over 300"
    assert rows["absent"].cells()[1:3] == ("not installed", "—")
    assert rows["broken"].cells()[1:3] == ("failed", "—")
    assert rows["broken"].result == "ValueError: a | b"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.012345, "0.0123"), (12.345, "12.3"), (1234.5, "1234")]
)
def test_times_have_three_digits_and_no_exponent(seconds, shown):
    measured = Measurement("x", "measured", seconds)
    assert tabulate.show_seconds(measured) == shown


def test_an_extrapolated_time_is_marked(rows):
    assert rows["guessed"].seconds == "≈ 100"
    remarks = tabulate.remarks(CASE, RECORD)
    assert remarks == ["guessed: solves half of it; extrapolated: twice."]


def test_the_page_holds_machine_aims_and_every_contender():
    page = results_page.page(CASES, [RECORD], ABOUT, "results.svg")
    for part in ("a processor", "at least 2 × as fast as equal", "results.svg"):
        assert part in page
    for contender in CASE.contenders:
        assert f"| {contender.name} |" in page
    assert "ValueError: a \\| b" in page
    assert "at most 0.2" in page  # the load
    aims = [line for line in page.splitlines() if line.startswith("| sample |")]
    assert aims[0].endswith("| 4.00 × as fast | reached |")
    assert aims[1].endswith("| not reached |")


def test_every_row_of_a_table_has_as_many_cells_as_its_heading():
    page = results_page.page(CASES, [RECORD], ABOUT)
    widths = {
        line.replace("\\|", "").count("|")
        for line in page.split("## A sample")[1].splitlines()
        if line.startswith("|")
    }
    assert widths == {len(tabulate.HEADINGS) + 1}


def test_only_ratios_that_count_are_drawn():
    drawn = {point.row: point for point in draw.points(CASES, [RECORD])}
    assert set(drawn) == {"sample: equal", "sample: slow", "sample: guessed"}
    assert drawn["sample: equal"].ratio == 4.0
    assert drawn["sample: slow"].kind == "over"
    assert drawn["sample: guessed"].kind == "extrapolated"


def test_aims_are_drawn_on_the_axis_of_ratios():
    def aims(*wanted):
        case = replace(CASE, aims=wanted)
        drawn = draw.points({"sample": case}, [RECORD])
        return {point.row.removeprefix("sample: "): point.aim for point in drawn}

    harder = aims(Faster("ours", "equal", 2), Faster("ours", "equal", 5))
    assert harder == {"equal": 5, "slow": None, "guessed": None}
    assert aims(Faster("equal", "ours", 1 / 4))["equal"] == 4


def test_the_picture_depends_on_its_points_alone(tmp_path):
    drawn = draw.points(CASES, [RECORD])
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        draw.draw(drawn, file)
    one, two = (file.read_bytes() for file in files)
    assert one == two
    assert one.count(b"<svg") == 1


def test_records_survive_the_store_but_not_another_machine(tmp_path):
    file = tmp_path / "kept" / "records.json"
    store.save(ABOUT, [RECORD], file)
    assert store.load(ABOUT, file) == {"sample": RECORD}
    assert store.load({**ABOUT, "Cores": "64"}, file) == {}
    assert store.load(ABOUT, tmp_path / "none.json") == {}
    assert [kept.name for kept in file.parent.iterdir()] == ["records.json"]


def test_the_machine_is_described_without_its_name_or_folders():
    about = machine.describe()
    assert int(about["Cores"]) >= 1
    assert about["numpy"][0].isdigit()
    words = " ".join(about.values()).split()
    assert not [word for word in words if word.startswith(("/", "~"))]
    assert platform.node() not in words


def test_the_command_lists_cases_and_refuses_unknown_ones(capsys):
    assert command.main(["--list"]) == 0
    assert "svm-rfe" in capsys.readouterr().out
    assert command.main(["no-such-case"]) == 2
    assert "no case 'no-such-case'" in capsys.readouterr().err


def test_small_runs_write_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "run_case", lambda *args, **kwargs: RECORD)
    monkeypatch.setattr(command, "CASES", {"sample": CASE})
    monkeypatch.setattr(command, "find", lambda names: [CASE])
    monkeypatch.setattr(command, "PAGE", tmp_path / "RESULTS.md")
    monkeypatch.setattr(command, "PICTURE", tmp_path / "results.svg")
    monkeypatch.setattr(store, "FILE", tmp_path / "records.json")
    # One of the sample's contenders contradicts ours: the status says so.
    assert command.main(["sample", "--small"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert "DIFFERS" in capsys.readouterr().out


def test_real_runs_write_the_page_and_the_picture(monkeypatch, tmp_path, capsys):
    kept = []
    monkeypatch.setattr(command, "run_case", lambda *args, **kwargs: RECORD)
    monkeypatch.setattr(command, "CASES", {"sample": CASE})
    monkeypatch.setattr(command, "find", lambda names: [CASE])
    monkeypatch.setattr(command, "PAGE", tmp_path / "RESULTS.md")
    monkeypatch.setattr(command, "PICTURE", tmp_path / "results.svg")
    monkeypatch.setattr(store, "save", lambda about, records: kept.extend(records))
    monkeypatch.setattr(store, "load", lambda about: {})
    command.main(["sample"])
    assert {file.name for file in tmp_path.iterdir()} == {"RESULTS.md", "results.svg"}
    assert kept == [RECORD]
    assert "reached: ours: at least 2 × as fast as equal" in capsys.readouterr().out
