PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test check

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch .venv/installed

demo: install
	$(BIN)/chronoforest demo

test: install
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

check: install
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/lint-imports
