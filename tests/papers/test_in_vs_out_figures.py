"""Verdicts and biases of whole blocks against the tests for single cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from veridical.comparison import (
    binomial_truthfulness,
    paired_t,
    truth,
    welch_bias,
)
from veridical.papers.in_vs_out.figures import (
    SELECTOR_TITLES,
    GridResults,
    find_biases,
    give_verdicts,
    jackknife,
    normalise,
)

NUMBERS = {"a": 1, "b": -1, "draw": 0}


def accuracies(rng, shape, n_cases=12):
    """Shares of hits, some of them equal throughout."""
    chance = rng.uniform(0.4, 1.0, size=(*shape[:-1], 1))
    values = rng.binomial(n_cases, chance, shape) / n_cases
    values[0] = values[0][..., :1]
    return values


def test_verdicts_are_those_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = accuracies(rng, (6, 40, 10)), accuracies(rng, (6, 40, 10))
    b[1, :5] = a[1, :5]  # all equal
    b[1, 5:10] = a[1, 5:10] - 1 / 12  # always the same difference

    found = give_verdicts(a, b)

    expected = [
        [NUMBERS[paired_t(x, z).winner] for x, z in zip(*rows, strict=True)]
        for rows in zip(a, b, strict=True)
    ]
    assert found.tolist() == expected
    assert set(np.unique(found)) == {-1, 0, 1}


def test_biases_are_those_of_welchs_test():
    rng = np.random.default_rng(1)
    folds, true = accuracies(rng, (5, 30, 10)), accuracies(rng, (5, 30))
    folds[2] = folds[2][:, :1]

    found = find_biases(folds, true)

    expected = [
        [welch_bias(row, true[i]).value for row in folds[i]] for i in range(len(true))
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert 0 < np.count_nonzero(found) < found.size


def test_a_cell_of_the_public_truth():
    """The same numbers as `truth` gives for a pair on a source."""
    cell = truth(
        ["relieff", "fcbf"],
        "monks-1",
        estimator="nb",
        n_features_to_select=2,
        n_train=60,
        n_sets=12,
        test="paired-t",
        random_state=3,
    )
    figures = GridResults.from_cells(as_frame(cell))
    (pair,) = figures.pairs

    assert pair.names == ("relieff", "fcbf")
    assert int(pair.true[0, 0]) == NUMBERS[cell.verdicts["truth"].winner]
    for method in ("in", "out"):
        said = [NUMBERS[winner] for winner in cell.set_verdicts[method]]
        assert pair.said[method][0, 0].tolist() == said
        bias = []
        for i in range(2):
            true = cell.accuracy["truth"][i, 0].ravel()
            folds = cell.accuracy[method][i, 0]  # one row per data set
            bias.append(np.mean([welch_bias(row, true).value for row in folds]))
            ours = pair.block.normalised[method][i, 0, 0].mean()
            assert ours == pytest.approx(bias[i] / true.mean(), abs=1e-12)
        gap = abs(bias[0] - bias[1])
        assert pair.imbalance(method)[0, 0] == pytest.approx(gap, abs=1e-12)
    letters = {"in": "I", "out": "O", "same": "S"}
    assert pair.better[0, 0] == letters[cell.truthfulness.better]


def as_frame(cell):
    """The record of `truth` as the cells of a study."""
    rows = []
    for side, name in enumerate(("relieff", "fcbf")):
        for number in range(cell.accuracy["truth"].shape[2]):
            rows.append(
                {
                    "source": "monks-1",
                    "n": 60,
                    "set": number,
                    "selector": name,
                    "n_features": 2,
                    "classifier": "nb",
                    "status": "ok",
                    "truth": float(cell.accuracy["truth"][side, 0, number, 0]),
                    **{
                        f"{m}_{f}": float(value)
                        for m in ("in", "out")
                        for f, value in enumerate(cell.accuracy[m][side, 0, number])
                    },
                }
            )
    return pd.DataFrame(rows)


def grid(n_sets=3, n_folds=4):
    """Cells whose accuracies tell where they belong."""
    rows = []
    for source, n in (("linear", 125), ("linear", 250), ("monks-2", 40)):
        for s, selector in enumerate(SELECTOR_TITLES):
            for size in (3, 5):
                for c, classifier in enumerate(("svm", "nb")):
                    for number in range(n_sets):
                        at = n + 0.1 * s + 0.01 * size + 0.001 * c + 0.0001 * number
                        rows.append(
                            {
                                "source": source,
                                "n": n,
                                "set": number,
                                "selector": selector,
                                "n_features": size,
                                "classifier": classifier,
                                "status": "ok",
                                "truth": at,
                                **{f"in_{f}": at + f * 1e-6 for f in range(n_folds)},
                                **{f"out_{f}": at - f * 1e-6 for f in range(n_folds)},
                            }
                        )
    return pd.DataFrame(rows)


def test_every_accuracy_finds_its_place_whatever_the_order_of_rows():
    frame = grid().sample(frac=1, random_state=0)

    figures = GridResults.from_cells(frame)

    assert [(b.source, b.n) for b in figures.blocks] == [
        ("linear", 125),
        ("linear", 250),
        ("monks-2", 40),
    ]
    for block in figures.blocks:
        assert block.selectors == tuple(SELECTOR_TITLES)
        assert (block.sizes, block.classifiers) == ((3, 5), ("svm", "nb"))
        s, f, c, b = np.indices(block.truth.shape)
        size = np.array([3, 5])[f]
        expected = block.n + 0.1 * s + 0.01 * size + 0.001 * c + 0.0001 * b
        assert block.truth == pytest.approx(expected, abs=1e-9)
        steps = 1e-6 * np.arange(4)
        assert block.folds["in"] == pytest.approx(expected[..., None] + steps, abs=1e-9)
        assert block.folds["out"] == pytest.approx(
            expected[..., None] - steps, abs=1e-9
        )
    assert figures.n_left_out == 0


def test_a_data_set_with_a_missing_value_is_left_out():
    frame = grid()
    failed = frame.index[(frame["n"] == 125) & (frame["set"] == 1)][4]
    frame.loc[failed, "status"] = "failed"

    figures = GridResults.from_cells(frame)

    first = figures.blocks_from("linear")[0]
    assert first.n_sets == 2
    assert figures.n_left_out == 12
    assert figures.blocks_from("linear")[1].n_sets == 3
    assert figures.n_sets == 2


def test_one_data_set_alone_makes_no_block():
    assert GridResults.from_cells(grid(n_sets=1)).blocks == ()
    assert GridResults.from_cells(grid().assign(status="failed")).blocks == ()


def test_cells_count_right_verdicts():
    """By hand: TRUTH says the first wins; IN sees it on 6 of 9 sets, OUT on none."""
    rng = np.random.default_rng(5)
    rows = []
    for selector, lead in (("relieff", 0.3), ("fcbf", 0.0)):
        for number in range(9):
            noise = 0.01 * rng.random(10)
            seen = lead if number < 6 else 0.0
            rows.append(
                {
                    "source": "linear",
                    "n": 125,
                    "set": number,
                    "selector": selector,
                    "n_features": 3,
                    "classifier": "svm",
                    "status": "ok",
                    "truth": 0.6 + lead + 0.01 * rng.random(),
                    **{f"in_{f}": 0.6 + seen + noise[f] for f in range(10)},
                    **{f"out_{f}": 0.6 + 0.01 * rng.random() for f in range(10)},
                }
            )
    figures = GridResults.from_cells(pd.DataFrame(rows))
    (pair,) = figures.pairs

    assert pair.true[0, 0] == 1
    assert pair.said["in"][0, 0, :6].tolist() == [1] * 6
    only_in = int((pair.said["in"] == 1).sum())
    only_out = int((pair.said["out"] == 1).sum())
    test = binomial_truthfulness(only_in, only_out)
    assert pair.better[0, 0] == {"in": "I", "out": "O", "same": "S"}[test.better]
    assert pair.better[0, 0] == "I"
    row = figures.cells.iloc[0]
    assert (row["first"], row["second"], row["true"]) == ("relieff", "fcbf", 1)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(3).normal(size=(1, 1, 1, 20))

    found = jackknife((values,), np.mean)

    assert found.value == pytest.approx(values.mean())
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(20))
    assert found.n == 20


def test_the_jackknife_knows_that_the_truth_is_estimated():
    """No bias at all: the interval holds 0 about as often as it says."""
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(200):
        level = rng.normal(0, 0.03, (2, 1, 1, 40))  # data sets differ
        truth = 0.8 + level + rng.normal(0, 0.02, level.shape)
        folds = 0.8 + level[..., None] + rng.normal(0, 0.02, (*level.shape, 10))
        _, low, high = jackknife((folds, truth), normalise).interval
        hits += low <= 0 <= high
    assert 0.89 <= hits / 200 <= 0.99


def test_mean_biases_are_those_of_the_cells():
    rng = np.random.default_rng(6)
    frame = grid(n_sets=12)
    numbers = frame.columns[frame.columns.str.match("truth|in_|out_")]
    frame[numbers] = rng.uniform(0.5, 1, (len(frame), len(numbers)))

    for block in GridResults.from_cells(frame).blocks:
        for method in ("in", "out"):
            expected = 100 * block.normalised[method].mean()
            assert block.mean_biases[method].value == pytest.approx(expected)
            assert block.mean_biases[method].n == 12
