# Two commands do everything on a machine that has Python, make and its package index:
#   make demo    installs headcount into .venv and runs the demo
#   make test    installs what the tests need too, and runs them all
# While you change something, `make check` says in a minute whether it is far off.

PYTHON ?= python3
BIN := .venv/bin

# What can differ with older libraries: the SQL that Ibis and sqlglot write, how engines and PyArrow read
# and count, and what NumPy does to arrays. Left out is what only tells how a Spark of its own starts,
# ends and is spread over a cluster, for which 4.0.0 and 4.0.x are the same; and the audits, which look at
# noise from afar: the other tests of privacy hold the same arithmetic against exact laws.
OLDEST := tests/privacy tests/engines tests/inputs tests/test_dependencies.py
OLDEST_ONLY := not test_cluster.py and not (test_faults.py and spark) and not test_audit

# What `make check` runs: files whose tests took at most 2.4 s of processor time each, measured on
# 2026-11-18 without PostgreSQL and Spark. One that grows slower leaves tests/fast.txt.
FAST = $(shell cat tests/fast.txt) -k "not postgres and not spark"

# Tests are compiled once, whatever the environment says: that takes 7 s in each process that runs them.
check test test-oldest: export PYTHONDONTWRITEBYTECODE :=

.PHONY: check docs charts demo test test-oldest audit mutants lint bench bench-engines kill-ledger paper paper-quick \
	browser docs-serve notebook peers yield install clean

demo: .venv/installed
	$(BIN)/headcount demo

test: .venv/installed-dev browser
	$(BIN)/python -m pytest -n 2

# A Chromium for the tests of pages, where one is here or can be installed.
browser:
	@tests/browser/chromium.sh

# In less than a minute: linters, types, and the quick tests.
check: lint
	$(BIN)/python -m pytest -n 2 -q $(FAST)

# With the oldest versions that are allowed: what reads data, counts and draws noise.
test-oldest: .venv-oldest/installed
	.venv-oldest/bin/python -m pytest -n 2 $(OLDEST) -k "$(OLDEST_ONLY)"

audit: .venv/installed-dev
	AUDIT_RUNS=100000 AUDIT_CANARIES=10000 AUDIT_SEEDS=10 AUDIT_WHOLE_RUNS=500 AUDIT_NEIGHBOURS=100 \
	$(BIN)/python -m pytest -n 2 -rP tests/privacy/test_audit.py tests/privacy/test_neighbours.py tests/audit

mutants: .venv/installed-dev
	$(BIN)/python -m tests.mutants

# The documentation as a site, in site/; `make docs-serve` shows it while you write.
docs: .venv/installed-dev
	PYTHONPATH=. $(BIN)/mkdocs build --strict

docs-serve: .venv/installed-dev
	PYTHONPATH=. $(BIN)/mkdocs serve

# The charts of README and docs: what they show is measured again, which takes a minute.
charts: .venv/installed-dev
	PYTHONPATH=. $(BIN)/python -m website.charts

# The notebook of the docs, run again: what it shows is kept in it.
notebook: .venv/installed-dev
	PYTHONPATH=. $(BIN)/python -m website.notebook

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.imports
	$(BIN)/lint-imports --no-cache

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

bench-engines: .venv/installed-dev
	$(BIN)/python -m benchmarks.engines

paper: .venv/installed-experiments
	$(BIN)/python -m experiments

paper-quick: .venv/installed-experiments
	$(BIN)/python -m experiments --quick

yield: .venv/installed-experiments
	$(BIN)/python -m experiments.yields

# The same job done by other tools, each in an environment of its own under results/peers.
# It installs them first, and takes an hour.
peers: .venv/installed
	$(BIN)/python -m experiments.peers

kill-ledger: .venv/installed-dev
	folder=$$(mktemp -d) && mkdir $$folder/out && \
	$(BIN)/python -m tests.ledger.crowd kill $$folder/budget.db $$folder/out 1000; \
	rm -rf $$folder

install: .venv/installed

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "headcount needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/installed: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/installed-dev: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[polars,postgres,spark]' --group test --group audit \
		--group lint --group docs
	touch $@ .venv/installed

.venv-oldest/installed: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-oldest/bin/python -m pip install --quiet --editable '.[polars,postgres,spark]' --group test \
		--constraint tests/oldest.txt
	touch $@

.venv/installed-experiments: .venv/installed
	$(BIN)/python -m pip install --quiet --group experiments
	touch $@

clean:
	rm -rf site .venv .venv-oldest .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
