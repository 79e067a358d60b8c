"""Show public classes under the package that users import them from.

Pickles, skops files and tracebacks show the module that defines a class. Its place in
a package may change; the name of the package may not.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable


def publish_classes(package: str, names: Iterable[str]) -> None:
    """Set ``__module__`` of the package's own public classes to the package.

    Parameters
    ----------
    package : str
        Full name of the package, ``__name__`` in its ``__init__``.
    names : iterable of str
        Its ``__all__``. Functions, constants and classes of other packages stay as
        they are; classes of ``veridical._core``, which is private, do not.

    Examples
    --------
    >>> from veridical.selection import AnovaF
    >>> AnovaF
    <class 'veridical.selection.AnovaF'>
    """
    namespace = vars(sys.modules[package])
    for name in names:
        thing = namespace.get(name)
        own = (f"{package}.", "veridical._core.")
        if inspect.isclass(thing) and thing.__module__.startswith(own):
            thing.__module__ = package
