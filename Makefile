PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test check browser docs paper

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch .venv/installed

demo: install
	$(BIN)/chronoforest demo

test: install browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

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
	$(BIN)/ruff check src benchmarks tests docs/hooks.py examples
	$(BIN)/ruff format --check src benchmarks tests docs/hooks.py examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture

.venv/docs-installed: .venv/installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[docs]"
	touch .venv/docs-installed

# The site, in site/; ends with an error at the first build whose links do not all lead somewhere.
docs: .venv/docs-installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
