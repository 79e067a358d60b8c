"""The same answers on every processor.

OpenBLAS chooses its kernels, and numba its instructions, by the processor; both can be
told to take it for an old one. Sums are then rounded differently, and whatever depends
on the last digits shows.
"""

import functools
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.processors

ROOT = Path(__file__).parents[1]
#: What changes the answer of a processor that is to be compared.
SETTINGS = ("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "NUMBA_CACHE_DIR")
#: Compiled code for any processor of a kind; kept, since compiling takes minutes.
GENERIC = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CACHE_DIR": str(ROOT / "build" / "numba-generic"),
}
#: Kinds of OpenBLAS kernels, with the instructions they need.
KERNELS = {
    "Prescott": "SSE3",  # which OpenBLAS itself calls Katmai
    "Nehalem": "SSE42",
    "Sandybridge": "AVX",
    "Haswell": "AVX2",
    "SkylakeX": "AVX512_SKX",
}
PARTS = ("orders", "named", "learning")


@functools.cache
def compute(part, large, settings):
    """Run `tests/processors.py` in a process of its own."""
    env = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "tests" / "processors.py"), part),
            *(["--large"] if large else []),
        ],
        capture_output=True,
        text=True,
        env={**env, **dict(settings), "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def compare(part, large, settings):
    here = compute(part, large, ())
    there = compute(part, large, tuple(settings.items()))
    if platform.machine() in ("x86_64", "AMD64"):
        wanted = settings["OPENBLAS_CORETYPE"]
        (kernels,) = there["setting"]["blas"]
        assert kernels == {"Prescott": "Katmai"}.get(wanted, wanted)
    assert there["setting"]["numba"] == settings.get("NUMBA_CPU_NAME")
    assert here["setting"]["numba"] is None
    ours, theirs = here["found"], there["found"]
    assert ours.keys() == theirs.keys()
    answered = [name for name in ours if ours[name] != "refused"]
    assert len(answered) > len(ours) // 2
    assert [name for name in ours if exact(ours[name]) != exact(theirs[name])] == []
    # LUFeLogistic stops at a relative duality gap of 1e-8, wherever it then is.
    for name in ours:
        if "probabilities" in ours[name]:
            np.testing.assert_allclose(
                ours[name]["probabilities"],
                theirs[name]["probabilities"],
                atol=1e-6 if name.endswith("lufe-logistic") else 1e-9,
                err_msg=name,
            )


def exact(found):
    """Everything but probabilities, as bytes."""
    if isinstance(found, dict):
        found = {name: part for name, part in found.items() if name != "probabilities"}
    return json.dumps(found).encode()


@pytest.mark.parametrize("part", PARTS)
def test_an_old_processor_gives_the_same_answers(part):
    compare(part, False, GENERIC)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_an_old_processor_gives_the_same_answers_on_more_tables(part):
    compare(part, True, GENERIC)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kernels", KERNELS)
def test_every_kind_of_blas_gives_the_same_answers(part, kernels):
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("these kernels are for x86")
    features = np._core._multiarray_umath.__cpu_features__
    if not features[KERNELS[kernels]]:
        pytest.skip(f"this processor has no {KERNELS[kernels]}, which {kernels} needs")
    compare(part, True, {"OPENBLAS_CORETYPE": kernels})
