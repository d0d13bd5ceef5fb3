# make demo    show the main job: `pcpfs demo`
# make test    ruff, mypy, import contracts and pytest
# make bench   measure on the Django source distribution, beside git, ctags and ripgrep
# make clean   remove the virtual environment, caches and builds
#
# Needs Python 3.11+, git and make. Each target sets up .venv by itself; all paths are relative, so
# the checkout may lie in a folder with spaces in its name. Another Python: make PYTHON=python3.12 demo

PYTHON = python3
PYTEST_ARGS =

VENV = .venv
RUN = $(VENV)/bin/python -m
PIP = $(RUN) pip install --quiet --disable-pip-version-check

# A virtual environment holds its own path: a checkout that was moved or copied needs a new one.
$(shell test "$$(cat $(VENV)/made-in 2>/dev/null)" = "$$(pwd -P)" || rm -f $(VENV)/runtime)

# Modules of another project must not slip in; and hundreds of processes of the tests read what the
# first one compiled.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types contracts unit bench clean

demo: $(VENV)/runtime
	$(VENV)/bin/pcpfs demo

test: lint types contracts unit

lint: $(VENV)/development
	$(RUN) ruff check .
	$(RUN) ruff format --check .

types: $(VENV)/development
	$(RUN) mypy

contracts: $(VENV)/development
	$(VENV)/bin/lint-imports --no-logo

unit: $(VENV)/development
	$(RUN) pytest -n auto --dist worksteal $(PYTEST_ARGS)

bench: $(VENV)/runtime
	$(RUN) benchmarks.run $(BENCH_ARGS)

$(VENV)/runtime: pyproject.toml
	@set -e; \
	for python in "$(PYTHON)" python3.14 python3.13 python3.12 python3.11; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "setting up $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV); \
	    exit 0; \
	  fi; \
	done; \
	echo "pcpfs needs Python 3.11 or newer; $(PYTHON) is: $$("$(PYTHON)" --version 2>&1 || true)." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; \
	exit 1
	$(PIP) --editable .
	@pwd -P > $(VENV)/made-in
	@touch $@

$(VENV)/development: $(VENV)/runtime
	$(PIP) --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
