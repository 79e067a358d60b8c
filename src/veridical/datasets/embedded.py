"""Real data sets that come with scikit-learn, so that examples need no file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Names of the data sets, with what they hold.
EMBEDDED: dict[str, str] = {
    "iris": "150 flowers of three species, four measurements",
    "wine": "178 wines of three growers, 13 measurements",
    "breast-cancer": "569 tumours, benign or malignant, 30 measurements",
    "diabetes": "442 patients, ten measurements; the target is a number",
}


def load_embedded(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Load a data set that comes with scikit-learn.

    Parameters
    ----------
    name : str
        A key of `EMBEDDED`.

    Returns
    -------
    X : DataFrame
        The features, with their names.
    y : array of shape (n_samples,)
        Names of the classes, or numbers.

    Examples
    --------
    >>> X, y = load_embedded("iris")
    >>> X.shape, str(y[0])
    ((150, 4), 'setosa')
    """
    from sklearn import datasets  # it takes a while to import

    load = getattr(datasets, f"load_{name.replace('-', '_')}")
    found = load(as_frame=True)
    y = found.target.to_numpy()
    if hasattr(found, "target_names") and name != "diabetes":
        y = np.asarray(found.target_names)[y]
    return found.data, y
