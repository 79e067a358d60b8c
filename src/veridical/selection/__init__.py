"""Feature selectors with scikit-learn's interface: a criterion and a search each."""

from veridical._core.publishing import publish_classes
from veridical.selection._base import Selector
from veridical.selection._expression import ExpressionFilter
from veridical.selection._fcbf import FCBF
from veridical.selection._hsic import HSIC
from veridical.selection._incremental import MRMR
from veridical.selection._inputs import selectors_for
from veridical.selection._mdl import MDLDiscretizer
from veridical.selection._multisurf import MultiSURF
from veridical.selection._predictor_sets import (
    best_alpha,
    class_accuracy,
    class_relevance,
    count_class_features,
    size_averaged_accuracy,
)
from veridical.selection._prioritization import DifferentialPrioritization
from veridical.selection._relieff import ReliefF
from veridical.selection._survival import Concordance, CoxScore
from veridical.selection._svmrfe import SVMRFE
from veridical.selection._univariate import (
    AnovaF,
    Correlation,
    InformationGain,
    Variance,
)

#: Selectors by the name the command line knows them by. Command line, messages, docs,
#: benchmarks and tests are derived from this table and from what the classes declare.
SELECTORS: dict[str, type[Selector]] = {
    "anova": AnovaF,
    "correlation": Correlation,
    "information-gain": InformationGain,
    "relieff": ReliefF,
    "multisurf": MultiSURF,
    "fcbf": FCBF,
    "mrmr": MRMR,
    "ddp": DifferentialPrioritization,
    "hsic": HSIC,
    "svm-rfe": SVMRFE,
    "cox-score": CoxScore,
    "concordance": Concordance,
    "variance": Variance,
}

__all__ = [
    "FCBF",
    "HSIC",
    "MRMR",
    "SELECTORS",
    "SVMRFE",
    "AnovaF",
    "Concordance",
    "Correlation",
    "CoxScore",
    "DifferentialPrioritization",
    "ExpressionFilter",
    "InformationGain",
    "MDLDiscretizer",
    "MultiSURF",
    "ReliefF",
    "Variance",
    "best_alpha",
    "class_accuracy",
    "class_relevance",
    "count_class_features",
    "selectors_for",
    "size_averaged_accuracy",
]

publish_classes(__name__, __all__)
