"""What the figures were measured on: cores, processor, versions. No names or paths."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import weka
from benchmarks.definitions import Missing

PACKAGES = (
    "veridical",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "fast-select",
    "skfeature-chappers",
    "skrebate",
    "mrmr_selection",
)


def describe() -> dict[str, str]:
    """Describe the machine, by headings for a table."""
    about = {
        "Cores": str(cores()),
        "Processor": processor(),
        "Memory": _memory(),
        "System": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "BLAS": _blas(),
    }
    about |= {package: _version(package) for package in PACKAGES}
    return about | {"Java": _java(), "Weka": _weka(), "R": _r()}


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float:
    """Return the load average over the last minute."""
    with contextlib.suppress(OSError, AttributeError):
        return os.getloadavg()[0]
    return 0.0


def processor() -> str:
    with contextlib.suppress(OSError):
        found = re.search(
            r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8")
        )
        if found:
            return found[1].strip()
    return platform.processor() or "unknown"


def _memory() -> str:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return f"{size / 2**30:.0f} GiB"
    return "unknown"


def _blas() -> str:
    import numpy as np  # noqa: F401  (loads the library asked about)
    from threadpoolctl import threadpool_info

    libraries = [info for info in threadpool_info() if info["user_api"] == "blas"]
    named = {f"{info['internal_api']} {info['version']}" for info in libraries}
    return ", ".join(sorted(named)) or "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _java() -> str:
    return _first_line(["java", "-version"])


def _r() -> str:
    return _first_line(["Rscript", "--version"])


def _first_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return "not installed"
    called = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (called.stdout + called.stderr).strip().splitlines()
    found = re.search(r"\d+(?:\.\d+)+", lines[0] if lines else "")
    return found[0] if found else "unknown"


def _weka() -> str:
    try:
        with zipfile.ZipFile(weka.find_jar()) as jar:
            return jar.read("weka/core/version.txt").decode().strip().replace("-", ".")
    except (Missing, KeyError, zipfile.BadZipFile):
        return "not installed"
