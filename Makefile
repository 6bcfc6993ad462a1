# `make` alone lists the targets. Everything happens in .venv, which the first target that needs it sets up.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

comma := ,
PYTHON ?= python3
BIN := .venv/bin
DISTRIBUTIONS := libs/common libs/client services/extractor services/recall services/consolidator \
	services/pruner services/gateway deploy/standalone
PACKAGES := $(foreach d,$(DISTRIBUTIONS),$(wildcard $(d)/hindsight_*))
READY := .venv/.ready
# what an editable distribution does not say about itself, and the one vendor with two packages
MODULES := $(subst $() $(),$(comma),$(foreach n,common client extractor recall consolidator pruner gateway \
	standalone,hindsight-memory-$(n)=hindsight_$(n)) pydantic=pydantic|pydantic_core)

export OMP_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup run test check format lock examples nats-users documents bench-recall bench-embedding bench-index bench-graph up down logs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Create .venv and install everything pinned (again only after a change)

$(READY): requirements.lock $(wildcard requirements-models.lock) $(addsuffix /pyproject.toml,$(DISTRIBUTIONS)) scripts/setup
	@scripts/setup "$(PYTHON)" $(DISTRIBUTIONS)
	@touch $@

run: $(READY) ## Start the embedded form; ARGS="--data-dir D --http-port 8787 …" passes options on
	@set -a; if [ -f .env ]; then . ./.env; fi; set +a; exec $(BIN)/hindsight-standalone $(ARGS)

test: $(READY) ## Run the tests; ARGS="tests/unit -k words" narrows them down
	@$(BIN)/python -m pytest $(ARGS)

check: $(READY) ## Format, lint, types, import rules, dependencies, committed text
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(PACKAGES) benchmarks scripts examples
	@for tests in tests/conftest.py $(sort $(wildcard tests/*/)); do echo "mypy $$tests"; $(BIN)/mypy $$tests; done
	$(BIN)/lint-imports
	@for d in $(DISTRIBUTIONS); do \
		echo "deptry $$d"; \
		(cd $$d && $(CURDIR)/$(BIN)/deptry --package-module-name-map "$(MODULES)" .); \
	done
	$(BIN)/python scripts/check_committed_text.py

format: $(READY) ## Format the code and sort its imports
	$(BIN)/ruff check --fix-only --select I .
	$(BIN)/ruff format .

lock: ## Pin requirements*.in anew, with hashes
	@scripts/lock "$(PYTHON)"

nats-users: $(READY) ## Write the users of the NATS server; ARGS="--tenant default --tenant acme" for more tenants
	$(BIN)/python -m hindsight_common.messaging.server_users $(ARGS) > deploy/nats/users.conf

examples: $(READY) ## Write config.example.yaml and .env.example from the declared settings
	$(BIN)/python -m hindsight_common.settings.examples yaml > config.example.yaml
	$(BIN)/python -m hindsight_common.settings.examples env > .env.example

documents: $(READY) ## Write the pages and descriptions that are made from the code
	$(BIN)/python -m scripts.bus_documents
	$(BIN)/python -m hindsight_gateway.document > docs/openapi.json

bench-recall: $(READY) ## Recall on LoCoMo files; ARGS="locomo10.json --language en"
	$(BIN)/python -m benchmarks.recall $(ARGS)

bench-embedding: $(READY) ## Speed of the embedder against its reference
	$(BIN)/python -m benchmarks.embedding $(ARGS)

bench-index: $(READY) ## Latency of the memory index
	$(BIN)/python -m benchmarks.index $(ARGS)

bench-graph: $(READY) ## Latency of neighbourhoods in the graph, SQLite and Neo4j
	$(BIN)/python -m benchmarks.graph $(ARGS)

up: ## Start the server form with Docker Compose; makes .env with random secrets at first
	@command -v docker >/dev/null || { echo "Docker is not installed; make run starts the embedded form without it" >&2; exit 1; }
	@$(PYTHON) scripts/compose_env.py
	docker compose up --build --detach $(ARGS)

down: ## Stop the server form; the data stays in its volumes
	docker compose down $(ARGS)

logs: ## Follow the logs of the server form; ARGS="recall" for one service
	docker compose logs --follow --tail 100 $(ARGS)

clean: ## Remove .venv and caches; data is left alone
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
