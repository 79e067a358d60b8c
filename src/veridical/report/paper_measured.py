"""The tables and method sections of other records; see `veridical.report.paper`."""

from __future__ import annotations

from typing import Any

from veridical._core.numbers import (
    count,
    percent,
    percent_range,
    points,
    points_range,
)
from veridical._core.text import names
from veridical.report.estimates_words import chance_of, figure, figure_range
from veridical.report.paper_compared import Table, data, p, sentence

# -- one estimator ---------------------------------------------------------------------


def estimated(s: Any) -> Table:
    """Tabulate the estimates of an estimator."""
    rows = []
    for each in s["estimates"]:
        best = each["intervals"][0] if each["intervals"] else None
        rows.append(
            (
                each["method"],
                figure(each["value"], s["metric"]),
                "none valid"
                if best is None
                else figure_range(best["low"], best["high"], s["metric"]),
                "" if best is None else best["kind"],
                str(each["n_test"]),
            )
        )
    known = [] if s["data"] is None else [data(s)]
    chance = chance_of(s)
    known += [] if chance is None else [f"chance {percent(chance)}"]
    where = f" ({'; '.join(known)})" if known else ""
    return Table(
        f"{sentence(s['metric'])[:-1]} of {s['estimator']}{where}.",
        (
            "Method",
            "Estimate",
            f"{100 * s['confidence']:g} % interval",
            "Kind",
            "Cases",
        ),
        tuple(rows),
    )


def estimated_words(s: Any) -> list[str]:
    """Say how accuracy was estimated, and what the intervals assume."""
    where = "" if s["data"] is None else f" on {data(s)}"
    said = [
        f"The {s['metric']} of {s['estimator']}{where} was estimated by "
        f"{names([each['method'] for each in s['estimates']])}."
    ]
    told = set()
    for each in s["estimates"]:
        for bounds in each["intervals"][:1]:
            if bounds["kind"] not in told:
                told.add(bounds["kind"])
                said.append(
                    f"Intervals marked {bounds['kind']} assume the following: "
                    f"{sentence(bounds['assumes'])}"
                )
    return said


# -- an audit ------------------------------------------------------------------------


def audited(s: Any) -> Table:
    """Tabulate an audit's accuracies."""
    rows = [
        (
            lane["label"],
            percent(lane["accuracy"]["value"]),
            percent_range(lane["accuracy"]["low"], lane["accuracy"]["high"]),
            "" if lane["null_mean"] is None else percent(lane["null_mean"]),
            "" if lane["pvalue"] is None else p(lane["pvalue"]),
        )
        for lane in s["lanes"]
    ]
    found = names([each["code"] for each in s["findings"]]) or "none"
    return Table(
        f"Accuracy of {s['estimator']} as reported and as measured honestly "
        f"({data(s)}; chance {percent(s['data']['chance'])}). Findings: {found}.",
        ("Protocol", "Accuracy", "95 % interval", "On random labels", "p"),
        tuple(rows),
    )


def audited_words(s: Any) -> list[str]:
    """Say what was audited, and what was found."""
    said = [
        f"The accuracy of {s['estimator']} on {data(s)} was audited.",
        *(sentence(words) for words in s["words"]["methods"]),
    ]
    if s["optimism"] is not None:
        gap = s["optimism"]
        said.append(
            f"Selecting on all cases was worth {points(gap['value'])} "
            f"({points_range(gap['low'], gap['high'])})."
        )
    said += [f"{each['code']}: {sentence(each['title'])}" for each in s["findings"]]
    return said


# -- nested cross-validation ---------------------------------------------------------


def nested(s: Any) -> Table:
    """Tabulate what nested cross-validation found."""
    return Table(
        f"Accuracy by nested cross-validation ({count(s['n_cases'], 'case')}, "
        f"{count(s['n_folds'], 'fold')}, {count(s['n_repeats'], 'repeat')}).",
        ("Method", "Accuracy", "95 % interval", "Standard error", "Naive one"),
        (
            (
                "nested cross-validation",
                percent(s["value"]),
                percent_range(*s["interval"]),
                points(s["standard_error"], signed=False),
                points(s["naive_standard_error"], signed=False),
            ),
        ),
    )


def nested_words(s: Any) -> list[str]:
    """Say how the error of cross-validation was estimated."""
    return [
        "The error of cross-validation was estimated by nested cross-validation "
        f"(Bates, Hastie and Tibshirani 2024) with {count(s['n_folds'], 'fold')} and "
        f"{count(s['n_repeats'], 'repeat')} on {count(s['n_cases'], 'case')}: the "
        f"accuracy is {percent(s['value'])} with a 95 % interval of "
        f"{percent_range(*s['interval'])}."
    ]


# -- a selection ---------------------------------------------------------------------


def selected(s: Any) -> Table:
    """Tabulate the selected features."""
    rows = [
        (
            feature["name"],
            str(feature["rank"]),
            "" if feature["score"] is None else f"{feature['score']:.4g}",
            f"{feature['n_folds']} of {s['n_folds']}",
        )
        for feature in s["features"]
    ]
    return Table(
        f"Features selected by {s['selector']} ({data(s)}). {s['estimator']} names "
        f"{percent(s['accuracy'])} of new cases rightly{_bounds(s)} where they are "
        "selected anew in every training set.",
        ("Feature", "Rank", "Score", "Folds"),
        tuple(rows),
    )


def selected_words(s: Any) -> list[str]:
    """Say how features were selected, and how the accuracy came about."""
    chosen = ""
    if s["fold_alphas"]:
        chosen = " The exponent alpha was chosen inside every training set."
    return [
        f"From {data(s)}, {s['selector']} selected "
        f"{count(s['n_features_to_select'], 'feature')} on all cases.",
        "The accuracy is that of the whole procedure: in each training set of "
        f"{s['settings'].get('cross-validation', 'cross-validation')} the features "
        f"were selected and {s['estimator']} was trained anew.{chosen}",
        f"It is {percent(s['accuracy'])} on {count(s['n_test'], 'case')}{_bounds(s)}.",
    ]


_INTERVALS = {
    "wilson": "Wilson's 95 % interval for independent cases",
    "corrected-t": "the corrected 95 % t interval over splits",
}


def _bounds(s: Any) -> str:
    """Write the interval of an accuracy with its kind, where there is one."""
    if not s["interval"]:
        return ""
    bounds = percent_range(s["low"], s["high"])
    return f" ({bounds}, {_INTERVALS[s['interval']]})"


# -- a correction --------------------------------------------------------------------


def corrected(s: Any) -> Table:
    """Tabulate error rates with and without the correction."""
    rows = [
        (
            model["label"],
            percent(model["error"]),
            percent(model["expected_error"]),
            f"{model['log_loss']:.3f}",
            f"{model['squared_error']:.3f}",
        )
        for model in s["models"]
    ]
    return Table(
        f"Naive Bayes on {count(s['n_features_to_select'], 'feature')} selected by "
        f"correlation ({data(s)}), with and without the correction for selection.",
        ("Model", "Error rate", "Expected", "Log loss", "Squared error"),
        tuple(rows),
    )


def corrected_words(s: Any) -> list[str]:
    """Say what was corrected for, and how it was measured."""
    return [
        f"On {data(s)}, {count(s['n_features_to_select'], 'feature')} were selected by "
        f"absolute correlation (at least {s['threshold']:.3f} on all cases) for naive "
        f"Bayes with {s['model']} features.",
        "Predictive probabilities were computed with and without conditioning on the "
        "features that selection discarded (Li, Zhang and Neal 2008), by "
        "cross-validation with the selection repeated in every training set.",
    ]


def calibrated(s: Any) -> Table:
    """Tabulate the bins of predicted probabilities."""
    rows = [
        (
            f"{one['low']:.2g} to {one['high']:.2g}",
            str(one["n"]),
            percent(one["predicted"]),
            percent(one["observed"]),
        )
        for one in s["bins"]
    ]
    return Table(
        f"Predicted probability of {s['positive']} by {s['label']}, and the share "
        f"observed ({count(s['n'], 'case')}).",
        ("Probability", "Cases", "Predicted", "Observed"),
        tuple(rows),
    )


def calibrated_words(s: Any) -> list[str]:
    """Say what the bins hold."""
    return [
        f"The probabilities of {s['positive']} that {s['label']} predicted for "
        f"{count(s['n'], 'case')} were put into {len(s['bins'])} bins and compared "
        f"with what was observed: the error rate is {percent(s['error'])}, the one it "
        f"expects {percent(s['expected_error'])}, the average minus log probability "
        f"{s['log_loss']:.3f}."
    ]


# -- sources like the data -----------------------------------------------------------


def sensitive(s: Any) -> Table:
    """Tabulate how often IN and OUT found the truth."""
    rows = [
        (
            f"{source['strength']:g}",
            points(source["difference"]["value"]),
            p(source["pvalue"]),
            *(f"{source['right'][m]} of {source['n_sets']}" for m in ("in", "out")),
            p(source["truthful_pvalue"]),
        )
        for source in s["sources"]
    ]
    return Table(
        f"{s['names']['a']} against {s['names']['b']} on sources like {data(s)}: true "
        "difference, and on how many data sets IN and OUT reached the true verdict.",
        ("Strength", "True difference", "p", "IN right", "OUT right", "IN against OUT"),
        tuple(rows),
    )


def sensitive_words(s: Any) -> list[str]:
    """Say what the sources are, and what was counted."""
    return [
        f"To see whether selection inside (IN) or outside (OUT) cross-validation tells "
        f"{s['names']['a']} and {s['names']['b']} apart on data like {data(s)}, "
        f"{count(len(s['sources']), 'source')} were made. "
        f"{sentence(s['words']['recipe'])}",
        "On each, both selectors were compared by IN, by OUT and on fresh cases; IN "
        "and OUT were compared by a binomial test over the data sets on which one "
        "alone reached the true verdict.",
    ]


# -- a study -------------------------------------------------------------------------


def studied(s: Any) -> Table:
    """Tabulate the findings of a paper."""
    rows = [
        (check["statement"], check["outcome"], check["published"], check["ours"])
        for check in s["checks"]
    ]
    return Table(
        f"{s['paper']} {s['headline']}",
        ("Finding", "Outcome", "Published", "Here"),
        tuple(rows),
    )


def studied_words(s: Any) -> list[str]:
    """Say what was repeated, and when a finding counts as reproduced."""
    rules = dict.fromkeys(check["rule"] for check in s["checks"])
    return [
        f"We repeated the study {s['study']} ({sentence(s['paper'])[:-1]}), which "
        f"asks: {s['question']}",
        f"A finding counts as reproduced by a rule stated beforehand: "
        f"{'; '.join(rules)}."
        if rules
        else "",
        s["headline"],
    ]
