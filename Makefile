# make fly: fly the default launch file.  make test: run the tests.  Both set up .venv first, which needs a Python
# of 3.11 or newer and nothing else.

CANDIDATES := python3.13 python3.12 python3.11 python3
# A candidate counts when it runs, is new enough and can create virtual environments with pip in them.
SUITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON = $(shell for p in $(CANDIDATES); do $$p -c '$(SUITS)' >/dev/null 2>&1 && echo $$p && break; done)

BIN := .venv/bin
READY := .venv/ready

.PHONY: fly test check bench gate-p1 stress golden clean distclean

fly: $(READY)
	$(BIN)/holeshot launch sitl

test: $(READY)
	$(BIN)/python -m pytest --numprocesses auto

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses auto -m 'slow or not slow'

bench: $(READY)
	$(BIN)/holeshot bench

gate-p1: $(READY)
	$(BIN)/holeshot batch b0-nominal --seeds 500 --min-success 0.99

# Twice the randomization of the gate: reported, not gated.
stress: $(READY)
	$(BIN)/holeshot batch b0-nominal --seeds 100 --randomization 2 --keep-bags 0

# Record the reference bag anew; bags/README.md says when.
golden: $(READY)
	$(BIN)/holeshot launch sitl scenario=b0-determinism duration=1.25 --runner inline --record bags/reference-b0-determinism.mcap

clean:
	rm -rf build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv

$(READY): pyproject.toml constraints.txt
	@if [ -z "$(PYTHON)" ]; then \
		echo "holeshot needs Python 3.11 or newer with the venv module (Debian and Ubuntu: python3-venv)." >&2; \
		echo "None of these is one: $(CANDIDATES). Install one, or name yours: make PYTHON=/path/to/python" >&2; \
		exit 1; \
	fi
	@echo "Setting up .venv with $(PYTHON) ..."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@
