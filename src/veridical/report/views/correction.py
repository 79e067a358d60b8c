"""Probabilities after selection: do the expected and measured error rates agree?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from typing_extensions import TypedDict

from veridical._core.numbers import MISSING, count, number, percent
from veridical._core.records import SIDES, Setting
from veridical.evaluation.records import LARGEST_Z, CalibrationTable, Correction
from veridical.report.plain import (
    LONGEST_TEXT,
    clean,
    concluded,
    fill,
    plain,
    to_json,
)
from veridical.report.view import (
    Badge,
    Column,
    Fact,
    Figure,
    Notes,
    Reliability,
    Rows,
    Section,
    Share,
    TableColumns,
    View,
    answer,
    brief,
    by_columns,
    data_facts,
    paragraph,
    provenance,
    sized_data,
    table,
    view,
)

SCHEMA = "veridical/correction/2"
#: The models in their order.
MODEL_KEYS = ("corrected", "uncorrected", "sparse")
BADGES = {"yes": "Believable", "care": "With care", "no": "Do not believe them"}
TABLE_BADGES = {
    "yes": "Expected and measured error rate agree",
    "care": "Expected and measured error rate differ",
}
FEATURE_MODELS = {
    "binary": "binary features, numbers cut at their median",
    "gaussian": "normal features",
}


class CalibrationBin(TypedDict):
    """Samples whose probability fell between ``low`` and ``high``.

    ``observed_low`` and ``observed_high`` bound the share that was observed: Wilson's
    95 % interval, as if samples were independent.
    """

    low: float
    high: float
    n: int
    predicted: float | None
    observed: float | None
    observed_low: float | None
    observed_high: float | None


class CalibrationSummary(TypedDict):
    """Predicted probabilities of one class beside what happened."""

    label: str
    positive: str
    n: int
    error: float
    expected_error: float
    log_loss: float
    squared_error: float
    alpha: float
    bins: list[CalibrationBin]


class ModelDifferenceSummary(TypedDict):
    """Scores of one model minus those of another, with standard errors."""

    first: str
    second: str
    log_loss: float
    log_loss_se: float
    squared_error: float
    squared_error_se: float


class DependenceSummary(TypedDict):
    """How much the retained features depend on each other within classes."""

    inflation: float
    z: float


class CorrectionSummary(TypedDict):
    """Everything the page about a correction shows, as plain numbers and strings."""

    schema: str
    kind: Literal["correction"]
    data: Any
    model: str
    n_features_to_select: int
    threshold: float
    models: list[CalibrationSummary]
    null_share: float
    differences: list[ModelDifferenceSummary]
    dependence: DependenceSummary
    believed: str | None
    belief: str
    headline: str
    verdict: str
    settings: dict[str, Setting]


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Correction) -> Any:
    """Turn what a correction changes into plain numbers and strings."""
    models = [
        _calibration(table, record.alphas[kind])
        for kind, table in record.tables.items()
    ]
    return fill(
        CorrectionSummary,
        record,
        schema=SCHEMA,
        kind="correction",
        models=models,
        **concluded(record),
    )


@to_json.register
def summarize_calibration(record: CalibrationTable) -> Any:
    """Turn the probabilities of one model into plain numbers."""
    return {"kind": "calibration-table", **plain(record)}


def _calibration(table: CalibrationTable, alpha: float) -> CalibrationSummary:
    bins = [share._asdict() for share in shares(table)]
    found: CalibrationSummary = fill(CalibrationSummary, table, alpha=alpha, bins=bins)
    return found


def shares(table: CalibrationTable) -> tuple[Share, ...]:
    """Turn the bins of a table into the shares of a picture."""
    return tuple(
        Share._make(plain([one.low, one.high, one.n, one.predicted, *one.interval]))
        for one in table.bins
    )


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Correction) -> View:
    """Show the models: shares over probabilities, error rates and scores."""
    s: CorrectionSummary = summarize(record)
    n = count(s["n_features_to_select"], "feature")
    corrected, uncorrected, sparse = s["models"]
    pictured = [sparse if s["believed"] == "sparse" else corrected, uncorrected]
    errors, bins = _errors(s), _bins(pictured)
    title = "Probabilities with and without the correction"
    caption = (
        f"Naive Bayes on {n} of {s['data']['n_features']} from "
        f"{s['data']['name']}, {count(s['data']['n_samples'], 'sample')}, with and "
        "without the correction for selection."
    )
    return View(
        title=f"What the correction changes: {s['data']['name']}",
        question="What does the correction change?",
        **answer({**s, "evidence": s["verdict"]}, BADGES),
        facts=(
            *data_facts(s["data"]),
            Fact("Kept", f"{n}, absolute correlation {s['threshold']:.3f} and above"),
        ),
        sections=(
            Section(title, (_figure(pictured),), first=True),
            Section(
                "The numbers", (errors, _differences(s), bins, _notes(s)), first=True
            ),
        ),
        provenance=provenance(
            s,
            [
                "Naive Bayes on the features that correlate most with the class; the "
                "corrected model also uses the knowledge that all other features "
                "correlate less (Li, Zhang & Neal 2008). The model with null features "
                "also allows for features without effect, and for unequal base rates."
            ],
            [Fact("Model", FEATURE_MODELS[s["model"]])],
        ),
        tables=(replace(errors, caption=caption), bins),
        method=paragraph(s["settings"], _method(s)),
        remarks=(s["verdict"],),
    )


@view.register
def show_table(record: CalibrationTable) -> View:
    """Show the probabilities of one model beside the observed classes."""
    one = _calibration(record, float("nan"))
    one["label"] = label = one["label"] or "the classifier"
    n = count(one["n"], "sample")
    error, expected = percent(one["error"]), percent(one["expected_error"])
    loss = f"{one['log_loss']:.3f}"
    belief, headline = record.conclusion
    caption = f"Predicted probability of {one['positive']} by {label}, and the share "
    bins = _bins([one])
    shown = brief(
        {"kind": "calibration-table"},
        Badge(belief, TABLE_BADGES[belief]),
        clean(headline, LONGEST_TEXT),
        f"Mean log loss {loss} nats, mean squared error of the probabilities "
        f"{one['squared_error']:.4f}.",
        "Predicted and observed",
        _figure([one]),
        bins,
        title=f"May the probabilities of {label} be believed?",
        question="May these probabilities be believed?",
        method=f"The probabilities of {one['positive']} that {label} predicted for {n} "
        f"were put into {len(one['bins'])} bins and compared with what was observed: "
        f"the error rate is {error}, the expected error rate {expected}, the mean log "
        f"loss {loss} nats.",
    )
    return replace(shown, tables=(replace(bins, caption=f"{caption}observed ({n})."),))


def _figure(models: list[CalibrationSummary]) -> Figure:
    said = []
    for model in models:
        parts = [
            f"{percent(b['low'], 0)} to {percent(b['high'], 0)}: {b['n']} samples, "
            f"{percent(b['predicted'])} predicted, {percent(b['observed'])} observed"
            for b in model["bins"]
            if b["n"]
        ]
        said.append(f"{model['label']}: {'; '.join(parts)}.")
    first = models[0]
    picture = Reliability(
        " ".join(said),
        tuple((m["label"], tuple(Share(**b) for b in m["bins"])) for m in models),
    )
    caption = (
        "Horizontal: predicted probability, in tenths. Vertical: share of the samples "
        f"in each tenth that are of class {first['positive']}, with its 95 % interval "
        "(Wilson, as if samples were independent). On the dashed line probabilities "
        "are correct. The bars show how many of the "
        f"{count(first['n'], 'sample')} lie in each tenth."
    )
    key = tuple((m["label"], SIDES[i % 2]) for i, m in enumerate(models))
    return Figure.from_picture(picture, caption, key=key)


def _errors(s: CorrectionSummary) -> Rows:
    rows = [
        (
            m["label"],
            percent(m["error"]),
            percent(m["expected_error"]),
            f"{m['log_loss']:.3f}",
            f"{m['squared_error']:.4f}",
            f"{m['alpha']:.3g}",
            count(m["n"], "sample"),
        )
        for m in s["models"]
    ]
    caption = "Naive Bayes with and without the correction, by cross-validation"
    heads = "Model! | Error rate#* | Expected error rate#* | Mean log loss (nats)# | "
    return table(caption, f"{heads}Mean squared error# | α# | n#^", rows)


def _bins(models: list[CalibrationSummary]) -> Rows:
    spans = [f"{one['low']:.1f} to {one['high']:.1f}" for one in models[0]["bins"]]
    columns: TableColumns = [("Probability!", spans)]
    for m in models:
        before = f"{m['label']}: " if len(models) > 1 else ""
        parts = {"samples": [str(one["n"]) for one in m["bins"]]}
        for key in ("predicted", "observed"):
            values: list[Any] = [one[key] for one in m["bins"]]
            parts[key] = [MISSING if v is None else f"{v:.3f}" for v in values]
        columns += [
            (Column(f"{before}{what}", number=True), cells)
            for what, cells in parts.items()
        ]
    caption = f"Probability of {models[0]['positive']}: samples, mean probability and "
    return by_columns(f"{caption}share observed, by tenths", columns)


def _differences(s: CorrectionSummary) -> Rows:
    labels = dict(zip(MODEL_KEYS, (m["label"] for m in s["models"]), strict=True))
    rows = [
        (
            f"{labels[one['first']]} minus {labels[one['second']]}",
            number(one["log_loss"], 3, signed=True),
            f"{one['log_loss_se']:.3f}",
            number(one["squared_error"], 4, signed=True),
            f"{one['squared_error_se']:.4f}",
        )
        for one in s["differences"]
    ]
    caption = "Differences of scores on the same samples; below 0 the first is better"
    heads = "Models! | Log loss# | Standard error# | Squared error# | Standard error#"
    return table(caption, heads, rows)


def _notes(s: CorrectionSummary) -> Notes:
    dependence = s["dependence"]
    return Notes(
        (
            "Features were selected anew in every training set, so all error rates "
            "are honest; the models differ in the error rate that they expect. The "
            "expected error rate is the mean probability of the class that is not "
            "predicted.",
            "α is the model's estimate of how weak features are: the larger, the "
            "weaker. The published model has one α for all features; in the model "
            "with null features, α is that of the other features, and the share of "
            f"null features is estimated as {percent(s['null_share'])}.",
            "Within classes, the sum of the retained features varies "
            f"{dependence['inflation']:.2f} times as much as that of independent "
            f"features (z = {dependence['z']:.1f}; above {LARGEST_Z:g} features are "
            "dependent).",
        )
    )


def _method(s: CorrectionSummary) -> list[str]:
    splits = s["settings"].get("cross-validation", "cross-validation")
    return [
        f"On {sized_data(s['data'])}, {count(s['n_features_to_select'], 'feature')} "
        f"were selected by absolute correlation (at least {s['threshold']:.3f} on all "
        f"samples) for naive Bayes with {s['model']} features.",
        "Predictive probabilities were computed with and without conditioning on the "
        "features that selection discarded (Li, Zhang and Neal 2008), and with a prior "
        f"that allows for null features and unequal base rates, by {splits} with the "
        "selection repeated in every training set. The models were compared by mean "
        "log loss and mean squared error on the same samples.",
    ]
