"""Keys and seeds: by content, and by nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.experiments.synthetic import Grid, GridSpec

from veridical._core.canonical import canonical, digest
from veridical.experiments import Plan, Recipe, content_hash, derive_seed
from veridical.experiments.keys import (
    StoredKeys,
    cell_key,
    recipe_digest,
    write_coordinates,
)

finite = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=5)),
    max_size=5,
)


@given(finite)
def test_the_order_in_which_things_are_named_does_not_matter(what):
    backwards = dict(reversed(what.items()))

    assert canonical(what) == canonical(backwards)
    assert cell_key(what, "r") == cell_key(backwards, "r")


@given(finite, finite)
def test_different_cells_have_different_keys(one, other):
    assert (cell_key(one, "r") == cell_key(other, "r")) == (
        canonical(one) == canonical(other)
    )


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.text(max_size=3), values, max_size=3)
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.text(max_size=5) | st.integers(), anything, max_size=5))
def test_coordinates_are_written_as_canonical_json(cell):
    try:
        expected = canonical(cell)
    except (TypeError, ValueError) as error:  # names of two kinds, infinities
        with pytest.raises(type(error)):
            write_coordinates(cell)
    else:
        assert write_coordinates(cell) == expected


def test_a_key_is_the_hash_of_canonical_json():
    cell, recipe = {"n": 125, "a": "ü"}, Recipe.from_details("s", 0).text

    assert cell_key(cell, recipe_digest(recipe)) == digest(
        {"cell": cell, "recipe": recipe_digest(recipe)}
    )


def test_every_detail_of_a_recipe_counts():
    recipes = [
        Recipe.from_details("s", 0, k=10),
        Recipe.from_details("s", 0, k=11),
        Recipe.from_details("s", 1, k=10),
        Recipe.from_details("t", 0, k=10),
        Recipe.from_details("s", 0, k=10.0),
    ]

    assert len({recipe.text for recipe in recipes}) == len(recipes)


def test_the_numerics_have_a_version(monkeypatch):
    before = Recipe.from_details("s", 0)
    monkeypatch.setattr("veridical.experiments.study.NUMERIC_VERSION", 999)

    assert Recipe.from_details("s", 0) != before


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf]])
def test_nan_has_no_canonical_form(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(value)


def test_a_changed_byte_of_data_is_another_data_set(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n1,2\n")
    before = content_hash(path)
    path.write_bytes(b"a,b\n1,3\n")

    assert content_hash(path) != before


def test_a_group_more_leaves_the_other_keys_alone():
    small = Plan(Grid(), GridSpec(groups=("a", "c"))).keys.known
    large = Plan(Grid(), GridSpec(groups=("b", "a", "c"))).keys.known

    assert np.isin(small, large).all()
    assert large.size == small.size * 3 // 2


@given(st.integers(0, 2**64), finite)
def test_seeds_repeat_and_fit_into_32_bits(root, what):
    what = {f"x{key}": value for key, value in what.items()}

    assert derive_seed(root, **what) == derive_seed(root, **what)
    assert 0 <= derive_seed(root, **what) < 2**32


def test_seeds_differ():
    seeds = {
        derive_seed(root, purpose=purpose, set=number)
        for root in range(10)
        for purpose in ("folds", "columns", "train")
        for number in range(100)
    }

    assert len(seeds) >= 2999  # 3000 draws of 32 bits: a collision is a 1 in 1000 event


# Keys that begin alike: of two letters, so that the first eight bytes are often equal.
alike = st.sets(
    st.builds(
        lambda start, end: bytes([start] * 8 + [0] * 20) + end.to_bytes(4),
        st.integers(0, 2),
        st.integers(0, 6),
    )
)


@given(alike, alike)
def test_a_set_of_keys_is_a_set(known, asked):
    stored = StoredKeys.from_units([sorted(known, reverse=True)])

    found = stored.contain(list(asked))

    assert found.tolist() == [key in known for key in asked]
