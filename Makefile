PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test check wheel browser docs paper figures

install: .venv/installed

.venv/python:
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	touch .venv/python

.venv/installed: pyproject.toml constraints.txt | .venv/python
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch .venv/installed .venv/demo-installed

# The demo walks ants and makes a video; it needs neither the viewer nor the tools of development.
.venv/demo-installed: pyproject.toml constraints.txt | .venv/python
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[sim]"
	touch .venv/demo-installed

demo: .venv/demo-installed
	$(BIN)/chronoforest demo

test: install browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --durations=10

# The wheel, in dist/, and a plan made with nothing but it and what planning needs, in an environment of its own.
wheel: install
	rm -rf build dist .venv-wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet -c constraints.txt dist/*.whl
	cd dist && ../.venv-wheel/bin/python ../tests/wheel.py
	du -sh dist/*.whl .venv-wheel
	rm -rf build .venv-wheel

# The numbers in README and docs that come from records, written anew; a test compares them.
figures: install
	$(BIN)/python -m benchmarks figures

# The paper's tables and figures, in runs/paper/report; what is there already is not run again.
paper: install
	$(BIN)/python -m benchmarks run --workers $$(nproc)
	$(BIN)/python -m benchmarks report runs/paper

# Debian's Chromium and its driver, for the tests of the viewer's page.
browser:
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then :; \
	elif command -v apt-get >/dev/null && test "$$(id -u)" = 0; then \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; \
	else echo "No Chromium here, and apt-get may not install it: the tests of the page are skipped."; fi

check: install
	$(BIN)/ruff check src benchmarks tests docs/hooks.py examples setup.py
	$(BIN)/ruff format --check src benchmarks tests docs/hooks.py examples setup.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture

.venv/docs-installed: .venv/installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[docs]"
	touch .venv/docs-installed

# The site, in site/; ends with an error at the first build whose links do not all lead somewhere.
docs: .venv/docs-installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
