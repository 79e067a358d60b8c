# Each verb sets up what it needs in .venv and then does its work.
# PYTHON chooses the interpreter (3.11 or newer): make test PYTHON=python3.12

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS  = $(BIN)/pip install --quiet --disable-pip-version-check --editable
JOBS   ?= 2

.PHONY: help demo test test-all test-processors test-wheel test-lowest lint bench bench-scale bench-gpu truth docs clean

help:
	@echo "make demo      compare two selectors on the paper's own example, write a page"
	@echo "make test      run the tests (a few minutes)"
	@echo "make test-all  run the tests and the slow statistical checks"
	@echo "make test-processors  run numeric tests as an older processor would compute them"
	@echo "make test-wheel    build, install outside the repository, and use what was installed"
	@echo "make test-lowest   run the tests with the lowest allowed versions of dependencies"
	@echo "make lint      format check, lint, types, import layers"
	@echo "make bench     measure against other libraries, write benchmarks/RESULTS.md, docs/costs.md"
	@echo "make bench-scale   measure time, memory and growth on large tables, write benchmarks/SCALE.md"
	@echo "make bench-gpu   measure selectors on a GPU, write benchmarks/GPU.md"
	@echo "make truth     measure sizes, coverages and rates that pages show and no table"
	@echo "               has yet; with AGAIN=1 everything anew (two hours)"
	@echo "make docs      build the documentation, warnings are errors"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "veridical needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, renewed when the dependencies change.
$(VENV)/.installed-base: pyproject.toml | $(BIN)/python
	$(EXTRAS) . && touch $@
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(EXTRAS) ".[$*]" && touch $@

demo: $(VENV)/.installed-base
	$(BIN)/veridical compare --out demo.html

# Each of the JOBS processes takes one core: threads of BLAS that wait for a core that
# another process holds would double the time. Modules are compiled once for all the
# processes that tests start.
PYTEST  = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test: $(VENV)/.installed-test
	$(PYTEST) -m "not slow and not processors"

test-all: $(VENV)/.installed-test
	$(PYTEST) --hypothesis-profile=explore
	$(AS_OLD) $(PYTEST) $(NUMERIC)

# OpenBLAS and numba choose instructions by the processor; here they take any processor
# for an old one. What depends on the last digits then fails.
AS_OLD  = OPENBLAS_CORETYPE=Prescott NUMBA_CPU_NAME=generic \
          NUMBA_CACHE_DIR=$(CURDIR)/build/numba-generic
NUMERIC = tests/kernels tests/criteria tests/search tests/selection tests/learning \
          tests/evaluation
# The part of them that ends in three minutes.
TELLING = tests/test_processors.py tests/kernels/test_exact.py \
          tests/kernels/test_ordering.py tests/kernels/test_svm.py \
          tests/kernels/test_svm_exact.py tests/selection/test_svmrfe.py \
          tests/selection/test_by_hand.py tests/learning/test_dagsvm.py \
          tests/learning/test_svm_plus.py

test-processors: $(VENV)/.installed-test
	$(AS_OLD) $(PYTEST) -m "not slow" $(TELLING)

test-wheel: $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check build
	mkdir -p build && .ci/wheel $(BIN)/python

# Every direct dependency in the lowest version that pyproject.toml allows, in an
# environment and with compiled kernels of its own.
LOWEST  = build/lowest
$(LOWEST)/.installed: pyproject.toml .ci/lowest | $(BIN)/python
	$(BIN)/python -m venv --clear $(LOWEST)
	$(BIN)/python .ci/lowest dask parquet hdf5 zarr > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check \
	  --constraint $(LOWEST)/constraints.txt --editable ".[test]" && touch $@

test-lowest: $(LOWEST)/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/build/numba-lowest OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(LOWEST)/bin/python -m pytest -n $(JOBS) --dist worksteal -m "not slow and not processors" $(LOWEST_TESTS)

lint: $(VENV)/.installed-test $(VENV)/.installed-lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.costs
	$(BIN)/python -m benchmarks.first_minute
	$(BIN)/python -m benchmarks.measured

bench-scale: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.scale

bench-gpu: $(VENV)/.installed-cuda
	$(BIN)/python -m benchmarks.gpu

truth: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.truth $(if $(AGAIN),--again)
	$(BIN)/python -m benchmarks.measured

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis demo.html
	find src -name '*.nb[ic]' -delete
