"""From the predictions of every split to scores on any samples.

The test samples of all splits are put together (pooled). Where every sample is tested
R times, as in repeated cross-validation, there are R layers of predictions, one per
repeat; a score is computed on every layer, and averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.scoring import Outputs, Score, base_name, observed_of
from veridical._core.table import Table
from veridical._core.targets import Numbers, Survival
from veridical.evaluation.bias_correction import (
    AnyScores,
    AreaScores,
    ExplainedScores,
    MeanScores,
    PairScores,
    RowScores,
    WeightedScores,
)
from veridical.evaluation.engine import Evaluation

#: Scores that are means over the samples of some classes, or of means over classes.
_BY_CLASS = ("balanced_accuracy", "sensitivity", "recall", "specificity")
#: Samples; with more, pairs of them take too much memory.
_MOST_PAIRED = 4000


class SplitPart(NamedTuple):
    """The test samples of a split, or some of them.

    Parameters
    ----------
    split : int
        Number of the split.
    rows : int array
        The samples.
    places : slice
        Their places among the test samples of the split.
    """

    split: int
    rows: IntArray
    places: slice = slice(None)


@dataclass(frozen=True, eq=False)
class Pooling:
    """Where the predictions of every split go.

    Parameters
    ----------
    rows : int array of shape (n,)
        The samples that are tested, ascending.
    n_layers : int
        How often each is tested.
    parts : tuple of SplitPart
        The splits.
    layers, columns : tuple of int arrays
        Layer and place of every test sample of each part.
    """

    rows: IntArray
    n_layers: int
    parts: tuple[SplitPart, ...]
    layers: tuple[IntArray, ...]
    columns: tuple[IntArray, ...]

    @classmethod
    def from_parts(cls, parts: Sequence[SplitPart], n_samples: int) -> Pooling:
        """Arrange test samples; raise if some are tested more often than others."""
        times = np.zeros(n_samples, dtype=np.intp)
        layers = []
        for part in parts:
            layers.append(times[part.rows].copy())
            np.add.at(times, part.rows, 1)
        rows = np.flatnonzero(times)
        most, least = int(times.max()), int(times[rows].min())
        if most != least:
            folds = for_users("cv=10 or cv='5x10'", "--cv 10 or --cv 5x10")
            raise InputError(
                f"Some samples are tested {most} times and others {least} times, but "
                "choosing by pooled predictions needs every sample tested equally "
                f"often; use folds, such as {folds}."
            )
        place = np.full(n_samples, -1, dtype=np.intp)
        place[rows] = np.arange(rows.size)
        columns = tuple(place[part.rows] for part in parts)
        return cls(rows, most, tuple(parts), tuple(layers), columns)

    @classmethod
    def from_splits(cls, splits: Sequence[Any], n_samples: int) -> Pooling:
        """Arrange all test samples of some splits."""
        parts = [SplitPart(s, split.test) for s, split in enumerate(splits)]
        return cls.from_parts(parts, n_samples)

    def gather(self, evaluation: Evaluation) -> Outputs:
        """Put the predictions of a procedure into layers.

        Returns
        -------
        Outputs
            Arrays of shape (n_sizes, n_layers, n, ...).
        """
        outputs = evaluation.all_outputs
        first = outputs[self.parts[0].split]
        made = [
            None if one is None else self._empty(one)
            for one in (first.codes, first.proba, first.decision)
        ]
        for part, layer, column in zip(
            self.parts, self.layers, self.columns, strict=True
        ):
            for target, one in zip(made, outputs[part.split], strict=True):
                if target is not None and one is not None:
                    target[:, layer, column] = one[:, part.places]
        codes, proba, decision = made
        assert codes is not None
        return Outputs(codes, proba, decision)

    def _empty(self, one: NDArray[Any]) -> NDArray[Any]:
        shape = (len(one), self.n_layers, self.rows.size, *one.shape[2:])
        return np.empty(shape, dtype=one.dtype)


def row_scores(
    score: Score,
    predicted: Sequence[Outputs],
    estimators: Sequence[Any],
    rows: IntArray,
    table: Table,
) -> RowScores:
    """Make the scores of candidates on any samples, from their predictions.

    Parameters
    ----------
    score : Score
        The score.
    predicted : sequence of Outputs
        Of every candidate, arrays of shape (n_layers, n, ...).
    estimators : sequence of estimator
        Of every candidate, which decides how it answers.
    rows : int array of shape (n,)
        The samples.
    table : Table
        All samples.

    Returns
    -------
    RowScores
        Greater is better.
    """
    found = _unweighted(score, predicted, estimators, rows, table)
    if table.weights is None or isinstance(found, AnyScores):
        return found
    return WeightedScores(found, table.weights[rows])


def _unweighted(
    score: Score,
    predicted: Sequence[Outputs],
    estimators: Sequence[Any],
    rows: IntArray,
    table: Table,
) -> RowScores:
    """Make the scores of samples that count once; `AnyScores` know the weights."""
    everyone = np.ones((1, len(rows)), dtype=np.bool_)
    target = table.target
    if score.is_accuracy:
        return MeanScores(_hits(predicted, table.y[rows]), everyone)
    if base_name(score.name) in _BY_CLASS and score.threshold is None:
        y = table.y[rows]
        return MeanScores(_hits(predicted, y), _classes_of(score, table, y))
    if score.name == "r2" and isinstance(target, Numbers):
        y_numbers = target.values[rows]
        errors = [((one.codes - y_numbers) ** 2).mean(axis=0) for one in predicted]
        return ExplainedScores(y_numbers, np.stack(errors, axis=1))
    if (
        score.name == "concordance"
        and isinstance(target, Survival)
        and len(rows) <= _MOST_PAIRED
    ):
        risks = np.stack([one.codes for one in predicted], axis=1)
        return PairScores(_comparable(target.take(rows)), risks)
    responses = [score.response(one) for one in estimators]
    if score.name == "roc_auc" and table.n_classes == 2:
        values = np.stack(
            [
                _for_second_class(one, response)
                for one, response in zip(predicted, responses, strict=True)
            ],
            axis=1,
        )
        return AreaScores(table.y[rows] == 1, values)
    whole = _ScoreOfCandidate(score, predicted, responses, rows, table)
    if score.pooled:
        alone = np.arange(len(rows))[:, np.newaxis]
        whole = replace(whole, table=table.replace(weights=None))
        values = np.array(
            [[whole(c, one) for c in range(len(predicted))] for one in alone]
        )
        return MeanScores(values, everyone)
    return AnyScores(len(predicted), whole)


def _comparable(target: Survival) -> NDArray[np.bool_]:
    """Return the pairs in which the first sample is known to have its event first."""
    later = target.time[:, np.newaxis] < target.time
    # At the same time, a sample that is censored survived the one with the event.
    same = target.time[:, np.newaxis] == target.time
    return target.event[:, np.newaxis] & (later | (same & ~target.event))


def _hits(predicted: Sequence[Outputs], y: IntArray) -> FloatArray:
    """Compute the share of layers in which each sample is right, (n, n_candidates)."""
    return np.stack([(one.codes == y).mean(axis=0) for one in predicted], axis=1)


def _classes_of(score: Score, table: Table, y: IntArray) -> NDArray[np.bool_]:
    """Return the samples over which a score is a mean, a row for each mean."""
    if score.name == "balanced_accuracy":
        return y == np.arange(table.n_classes)[:, np.newaxis]
    positive = y == score.place_of_positive(table.classes)
    own = ~positive if base_name(score.name) == "specificity" else positive
    return own[np.newaxis]


def _for_second_class(outputs: Outputs, response: str | None) -> FloatArray:
    """Return values that are greater the more likely the second of two classes is."""
    if response == "predict_proba":
        assert outputs.proba is not None
        return outputs.proba[..., 1]
    assert outputs.decision is not None
    return outputs.decision if outputs.decision.ndim == 2 else outputs.decision[..., 1]


@dataclass(frozen=True, eq=False)
class _ScoreOfCandidate:
    """Computes a score of one candidate on some samples: the mean over layers."""

    score: Score
    predicted: Sequence[Outputs]
    responses: Sequence[str | None]
    rows: IntArray
    table: Table

    def __call__(self, candidate: int, samples: IntArray) -> float:
        outputs, response = self.predicted[candidate], self.responses[candidate]
        everyone = np.arange(self.table.n_samples)
        y = observed_of(self.table.target, self.rows[samples], everyone)
        weights = self.table.weights
        own = None if weights is None else weights[self.rows[samples]]
        values = [
            self.score.score_outputs(
                y, outputs.take(layer).take(samples), self.table.classes, response, own
            ).value
            for layer in range(len(outputs.codes))
        ]
        return self.score.sign * float(np.mean(values))


def refuse_models(scores: Sequence[Score]) -> None:
    """Raise if a score needs the fitted models, not predictions alone."""
    for one in scores:
        if one.needs == "model":
            raise InputError(
                f"The score {one.name} needs the fitted models, but a choice is scored "
                "on predictions; pass the name of a scorer, or make it with "
                "sklearn.metrics.make_scorer."
            )
