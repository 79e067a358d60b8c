"""What selectors, estimators and scorers are called wherever a person reads of them."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from veridical import compare, estimate, report, select
from veridical.datasets import make_linear
from veridical.evaluation.arguments import label_of, name_of
from veridical.learning import C45, ESTIMATORS, NaiveBayes
from veridical.learning.linear_svm import LinearSVM
from veridical.learning.registry import ESTIMATOR_NAMES
from veridical.learning.tabular import TabularClassifier
from veridical.selection import SELECTORS, AnovaF

X, y = make_linear(60, random_state=0)


def test_every_registered_estimator_has_a_name():
    assert list(ESTIMATOR_NAMES) == list(ESTIMATORS)
    assert not set(SELECTORS) & set(ESTIMATORS)


@pytest.mark.parametrize("key", sorted(ESTIMATORS))
def test_a_registered_estimator_has_one_name(key):
    assert name_of(key) == name_of(ESTIMATORS[key]()) == ESTIMATOR_NAMES[key]
    assert name_of(name_of(key)) == name_of(key)
    assert label_of(key) == key


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("anova", "AnovaF"),
        (AnovaF(3), "AnovaF"),
        (NaiveBayes(), "naive Bayes"),
        (C45(min_samples_leaf=5), "C45"),
        (GaussianNB(), "GaussianNB"),
        (TabularClassifier(LinearSVM(C=7.0)), "LinearSVM"),
        (
            make_pipeline(AnovaF(3), LogisticRegression()),
            "AnovaF, then LogisticRegression",
        ),
        ("roc_auc", "area under the ROC curve"),
        ("my own", "my own"),
    ],
    ids=str,
)
def test_people_read_this_name(given, name):
    assert name_of(given) == name


@pytest.mark.parametrize(
    "make",
    [
        lambda: estimate("nb", X, y, random_state=0),
        lambda: select("anova", X, y, estimator="nb", random_state=0),
        lambda: compare(["anova", "fcbf"], X, y, estimator=["nb", "1nn"], cv=3),
    ],
    ids=["estimate", "select", "compare"],
)
def test_pages_and_paragraphs_use_no_short_names(make):
    record = make()
    shown = report.view(record)
    text = " ".join(
        [
            shown.headline,
            shown.lead,
            shown.method,
            *(fact.value for fact in shown.facts),
            *(table.caption for table in shown.tables),
            *(
                cell.text
                for table in shown.tables
                for row in table.rows
                for cell in row.cells
            ),
        ]
    )
    assert "naive Bayes" in text
    assert "the data" in text
    for raw in (" nb", "'nb'", " 1nn", " anova", " data:"):
        assert raw not in text.replace("the data:", "")
