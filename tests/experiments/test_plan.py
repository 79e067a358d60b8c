"""Planning: the grid minus what is stored, and slices of it."""

from __future__ import annotations

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical._core.errors import InputError
from veridical.experiments import Plan, Serial, Spec, Store, parse_where, run_study


def stored(path):
    with Store(path) as store:
        return store.keys()


def test_a_new_study_is_all_pending():
    plan = Plan(Grid(), GridSpec(n_units=3, n_cells=4))

    assert str(plan.counts) == "planned 12 = ok 0 + failed 0 + pending 12"
    assert sum(len(task.keys) for task in plan.tasks()) == 12


def test_what_is_stored_is_not_planned_again(filled):
    plan = Plan(Grid(), GridSpec(), stored(filled))

    assert plan.counts.pending == 0
    assert list(plan.tasks()) == []


def test_a_larger_grid_needs_only_what_is_new(filled):
    spec = GridSpec(n_units=12, groups=("b", "a"))

    plan = Plan(Grid(), spec, stored(filled))

    assert plan.counts.ok == 50
    assert plan.counts.pending == 12 * 5 * 2 - 50
    cells = [c.coordinates for task in plan.tasks() for c in task.unit.cells]
    assert len(cells) == 70
    assert all(c["group"] == "b" or c["unit"] >= 10 for c in cells)


def test_another_seed_is_another_study(filled):
    assert Plan(Grid(), GridSpec(seed=1), stored(filled)).counts.ok == 0


def test_failed_cells_are_done_unless_asked_for(tmp_path):
    study = Grid(poison=((2, 3, "exception"), (7, 0, "nan")))
    path = tmp_path / "s.sqlite"
    run_study(study, GridSpec(), path, executor=Serial())

    plan = Plan(study, GridSpec(), stored(path))
    again = Plan(study, GridSpec(), stored(path), retry_failed=True)

    assert str(plan.counts) == "planned 50 = ok 48 + failed 2 + pending 0"
    assert list(plan.tasks()) == []
    tasks = list(again.tasks())
    assert [len(task.keys) for task in tasks] == [1, 1]
    assert [list(task.numbers) for task in tasks] == [[2], [2]]


def test_conditions_choose_the_cells_of_a_plan(filled):
    where = parse_where(["cell=1", "cell=2", "unit=0", "unit=3"])

    plan = Plan(Grid(), GridSpec(n_units=20), stored(filled), where)

    assert str(plan.counts) == "planned 4 = ok 4 + failed 0 + pending 0"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("unit", "COORDINATE=VALUE"),
        ("=3", "COORDINATE=VALUE"),
        ("unti=3", "did you mean 'unit'"),
        ("group=z", "There are 'a'"),
    ],
)
def test_conditions_that_cannot_be_met(condition, words):
    with pytest.raises(InputError, match=words):
        Plan(Grid(), GridSpec(), where=parse_where([condition]))


@pytest.mark.parametrize("conditions", [[], ["unit=3"]])
def test_an_empty_study_is_refused(conditions):
    with pytest.raises(InputError, match="grid has no cells with this specification"):
        Plan(Grid(), GridSpec(n_units=0), where=parse_where(conditions))


# ---- specifications --------------------------------------------------------------


def test_a_specification_is_frozen():
    with pytest.raises(ValueError, match="frozen"):
        GridSpec().n_units = 3


def test_a_specification_from_toml(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('seed = 3\nn_units = 7\ngroups = ["x", "y"]\n')

    assert GridSpec.from_toml(path) == GridSpec(seed=3, n_units=7, groups=("x", "y"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n_units = 'many'", "grid.toml: n_units: .*integer"),
        ("n_unit = 3", "n_unit: Extra .* has seed, n_units, n_cells, groups"),
        ("seed = -1", "seed: .*greater than or equal to 0"),
        ("n_units = ", "grid.toml is not TOML"),
    ],
)
def test_what_is_wrong_with_a_specification_is_named(tmp_path, text, words):
    path = tmp_path / "grid.toml"
    path.write_text(text)

    with pytest.raises(InputError, match=words):
        GridSpec.from_toml(path)
    with pytest.raises(InputError, match="cannot be read"):
        Spec.from_toml(tmp_path / "none.toml")
