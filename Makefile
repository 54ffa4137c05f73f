# `make check` shows a search that holds and a counterexample, `make test` runs everything that a change must pass.
# Another interpreter: make PYTHON=python3.12 check

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
NOTEBOOK_STAMP := $(VENV)/.installed-notebooks
# Three processes for two cores, as tests also wait: for commands, limits and clusters. No more than have work for their
# start, as each imports all tests.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PARALLEL := -n $(shell expr \( $(CORES) \* 3 + 1 \) / 2) --maxprocesses 8
GATE := $(BIN)/python -m pytest $(PARALLEL) -m "not slow and not prove and not kafka and not browser"
# The tests start hundreds of Pythons, which would compile the sources again each time.
unexport PYTHONDONTWRITEBYTECODE
# Python compiles what is imported when it is imported, a small part of what is installed. Of pyspark there is only the
# source: 450 MB of what is compressed already go into a wheel and out of it again, and are not compressed for that.
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --no-compile \
  --config-settings="--build-option=--compression=stored"

# `make test` checks the types while the first tests run.
MAKEFLAGS += --jobs=2

.DEFAULT_GOAL := help
.PHONY: help env check test java lint types pytest times slow spark prove browser kafka judge site notebooks dist records bench format size clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

env: $(DEV_STAMP) ## Create .venv with insync and the tools of its developers (quick when it is there)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "insync needs Python 3.11 or newer, but '$(PYTHON)' is: $$($(PYTHON) --version 2>&1 | head -1). Name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing insync into $(VENV) ..."
	@$(PIP_INSTALL) -c constraints.txt -e .
	@touch $(STAMP)

$(DEV_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing insync and the tools of its tests into $(VENV) ..."
	@$(PIP_INSTALL) -c constraints.txt -e '.[all]' $$($(BIN)/python .ci/group dev)
	@touch $(STAMP) $(DEV_STAMP)

$(NOTEBOOK_STAMP): pyproject.toml constraints.txt | $(DEV_STAMP)
	@echo "Installing what runs notebooks into $(VENV) ..."
	@$(PIP_INSTALL) -c constraints.txt $$($(BIN)/python .ci/group notebooks)
	@touch $(NOTEBOOK_STAMP)

check: $(STAMP) ## Search a protocol that holds, and find the counterexample of another
	$(BIN)/insync check kip320
	@echo
	@echo "$(BIN)/insync check kip101"
	@$(BIN)/insync check kip101; code=$$?; test $$code -eq 1 || { \
	  echo "insync check kip101 ended with exit code $$code; 1 (violated) was expected." >&2; exit 1; }

java: env
	@.ci/java

test: lint types pytest ## Lint, formatting, types, layers and every test that is not marked slow

pytest: java
	$(GATE)

times: java ## The same tests, and in times.txt what each takes of processors, the longest first
	@rm -f times.new
	$(GATE) --cpu-times times.new
	@sort -rn times.new > times.txt && rm times.new && head -30 times.txt

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: env
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: env ## The tests marked slow: large state spaces, time and memory, clusters of Spark
	$(BIN)/python -m pytest -m "slow and not prove and not kafka and not browser"

spark: env ## One search here and on Spark within this machine: the verdict, the counts, and another model's trace
	$(BIN)/insync agree kip320 --replicas 3 --log-size 3 --max-records 3 --max-leader-epoch 2 --engine local-2 --engine spark
	$(BIN)/insync agree kip101 --engine local-2 --engine spark

prove: env ## The proofs that take minutes
	$(BIN)/python -m pytest -m prove

browser: env ## The tests of pages in a real browser: needs Chromium and Node
	@$(PIP_INSTALL) -c constraints.txt $$($(BIN)/python .ci/group browser)
	npm install --prefix tests/browser --no-package-lock --no-audit --no-fund --ignore-scripts
	$(BIN)/python -m pytest -m browser tests/browser

kafka: env ## The tests on Kafka's own classes: fetches the jars of some releases by Maven
	for version in 3.9.2 4.0.2 4.1.2 4.2.1 4.3.1 4.4.0; do $(BIN)/insync kafka fetch $$version || exit; done
	for version in 3.9.2 4.1.2 4.3.1; do $(BIN)/insync kafka fetch $$version --cluster || exit; done
	for version in 3.9.2 4.1.2 4.3.1; do $(BIN)/insync kafka fetch $$version --quorum || exit; done
	INSYNC_CACHE_DIR="$$($(BIN)/python -c 'from insync.runtime.cache import cache_place; print(cache_place())')"; \
	  export INSYNC_CACHE_DIR; \
	  $(BIN)/python -m pytest -m "kafka and not slow" tests/conformance/live tests/cli/test_kafka_cluster.py; brokers=$$?; \
	  $(BIN)/python -m pytest -n 3 -m "kafka and not slow" tests/conformance --ignore=tests/conformance/live; rest=$$?; \
	  exit $$((brokers > rest ? brokers : rest))

judge: env ## Have Spin and TLC judge the exported models that have changed: needs Spin and a C compiler, or Java and INSYNC_TLC
	PYTHONPATH=tests/support $(BIN)/python tests/parity/judge.py; judged=$$?; $(BIN)/python benchmarks/judged.py; exit $$judged

site: env ## The documentation as pages that need no network, in build/site
	INSYNC_CODE=quick $(BIN)/python docs/site/build.py
	@echo "build/site/index.html is the first page."

notebooks: $(NOTEBOOK_STAMP) ## Run the notebooks of the documentation again, and keep what they show
	$(BIN)/python docs/site/record_notebooks.py

dist: env ## Build the wheel and the source distribution into dist, and try both in clean environments
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	INSYNC_DIST=dist $(BIN)/python -m pytest -m slow tests/test_distribution.py

records: env ## Record again what tests compare with a record beside them, where a change of it is meant
	for file in $$(grep -rl --include='test_*.py' '^if __name__ == "__main__"' tests | grep -v spark_explore); do \
	  INSYNC_CODE=quick PYTHONPATH=tests/support:docs/site $(BIN)/python $$file || exit; done

bench: $(STAMP) ## Measure compilation, search and memory, and compare with the recorded figures
	$(BIN)/python benchmarks/run.py

format: env ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

size: ## The longest source files
	@find model properties explorer spark_explore conformance cli tests -name '*.py' -exec wc -l {} + | grep -v ' total$$' | sort -rn | head -20

clean: ## Remove the environment, caches and build results
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
