"""What each kind of record shows: one file for a record and all its outputs.

A file registers `view` and, where the JSON is not simply the fields of the record,
`to_json`. All files of this folder are found by themselves.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

for _found in pkgutil.iter_modules(__path__, f"{__name__}."):
    import_module(_found.name)
