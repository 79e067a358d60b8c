"""Preparation of samples that learns on training samples alone: batches, covariates.

Every class is a transformer of scikit-learn. In a pipeline, and in the verbs of this
package, it is fitted on the training samples of each split.
"""

from veridical._core.publishing import publish_classes
from veridical.preparation.combat import ComBat
from veridical.preparation.imputing import IMPUTERS, Impute
from veridical.preparation.residualize import Residualize

__all__ = ["IMPUTERS", "ComBat", "Impute", "Residualize"]

publish_classes(__name__, __all__)
