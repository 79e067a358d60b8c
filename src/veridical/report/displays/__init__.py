"""Pictures of the pages on matplotlib, for notebooks and papers.

As in scikit-learn, a display is made by ``from_…`` of what it shows, draws with
``plot(ax=...)``, and keeps ``ax_`` and ``figure_``.
"""

from veridical.report.calibration import CalibrationDisplay
from veridical.report.displays.audit import AuditDisplay
from veridical.report.displays.comparison import ComparisonDisplay, FeaturesDisplay
from veridical.report.displays.many import CriticalDifferenceDisplay
from veridical.report.displays.rows import (
    EstimatesDisplay,
    SelectionDisplay,
    SensitivityDisplay,
)
from veridical.report.displays.study import CurvesDisplay, FindingsDisplay
from veridical.report.predictor_sets import (
    AlphaDisplay,
    ClassAccuracyDisplay,
    ClassesDisplay,
    ClassFeaturesDisplay,
)
from veridical.report.tree import TreeDisplay

__all__ = [
    "AlphaDisplay",
    "AuditDisplay",
    "CalibrationDisplay",
    "ClassAccuracyDisplay",
    "ClassFeaturesDisplay",
    "ClassesDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "CurvesDisplay",
    "EstimatesDisplay",
    "FeaturesDisplay",
    "FindingsDisplay",
    "SelectionDisplay",
    "SensitivityDisplay",
    "TreeDisplay",
]
