# `make help` lists the commands. Only Python 3.11 to 3.14 and make are needed.
PYTHON ?= python3
SOURCE ?= sample
PORT ?= 8000
UI_PORT ?= 3000
NOTEBOOK_PORT ?= 8888
SYMBOLS ?=
FOLLOW ?=
STRICT ?=
SHORT ?=
BESIDE ?=
GIGABYTES ?= 0.5 1 2 4
COMPANIES ?= 100 1000 3500
LIST ?=
VENDOR ?=
# so many processes of tests more than there are cores: $(call processes,1)
processes = $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() or 1, 4) + $1)')
# where the files of tests need no disk, if there are 8 GB: waiting for the disk takes a twentieth of the time
IN_MEMORY = $(shell df -BG --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 + 0 >= 8 {print "/dev/shm"}')
# the groups of assets that the address of the Dagster UI opens: the chain, which then fits the window
UI_GROUPS := $(subst $() ,%2C,$(foreach group,extract normalize publish,global%40global%3A$(group)))
SECONDS ?= 10
ROUNDS ?= 3
UPDATES ?= 0
BUILDS ?= 100
KILLS ?= 200
CORRUPTIONS ?= 500
MINUTES ?= 30
ATTACK ?= 5
BITS ?=
SEED ?=
RULES ?=
EACH ?=

VENV := .venv
OLDEST := $(VENV)/oldest-duckdb
PEER := $(VENV)/edgartools
ORDINARY := $(VENV)/fastapi
SUPPLY := $(VENV)/supply-chain
NOTEBOOK := $(VENV)/notebook
LOCKS := requirements.lock $(wildcard examples/*.lock deploy/*.lock tests/*.lock tests/bench/*.lock)
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# ends with a line if a port is taken: $(call free,PORT,another)
free = $(PYTHON) -c 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1]))).close()' "$($1)" 2>/dev/null \
	|| { echo "Port $($1) is taken, or is no port; give another: make $@ $1=$2" >&2; exit 1; }
# real and fictional data never share a home
export FUNDAMENTALS_HOME ?= $(CURDIR)/.data/$(if $(filter sample,$(SOURCE)),sample,edgar)

.DEFAULT_GOAL := help
.PHONY: help setup tools scale run sync serve ui notebook quick test test-whole test-scale coverage check format linters lintapi docs bench bench-http bench-downloads soak torture fuzz mutations ablation thresholds accuracy quality pictures lock sbom audit system clean

##@ Use
help: ## list the commands
	@awk -F ':.*## ' '/^##@ / {print "\n" substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo '  SOURCE=sample | live | PATH of a mirror or companyfacts.zip    SYMBOLS=AAPL,MSFT    FOLLOW=yes    PORT=8000    UI_PORT=3000'
	@echo '  live needs EDGAR_USER_AGENT="Name mail@example.org"'

setup: $(READY) ## create .venv from requirements.lock

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
		|| { echo "Python 3.11 to 3.14 is needed, and $(PYTHON) is $$($(PYTHON) --version); give another: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV), once:"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python deploy/packages.py requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

tools: $(VENV)/.tools ## add what tests, checks and measurements need to .venv

$(VENV)/.tools: tests/tools.lock $(READY)
	@echo "Setting up the tools of tests, once:"
	@$(BIN)/python deploy/packages.py tests/tools.lock
	@touch $@

scale: $(VENV)/.scale ## add what several machines need to .venv: object storage, PostgreSQL, Dask

$(VENV)/.scale: deploy/scale.lock $(READY)
	@$(BIN)/python deploy/packages.py deploy/scale.lock
	@touch $@

$(VENV)/.store: tests/scale.lock $(VENV)/.scale $(VENV)/.tools
	@$(BIN)/python deploy/packages.py tests/scale.lock
	@touch $@

# before a command: what follows the newest filings until the command ends
FOLLOWING = $(if $(FOLLOW),$(BIN)/fundamentals follow $(if $(SYMBOLS),--symbols "$(SYMBOLS)") & trap "kill $$! 2>/dev/null" EXIT INT TERM;)

run: ## set up, synchronize the sample (or SOURCE=...), make a demo key, serve on 127.0.0.1:8000
	@$(if $(FOLLOW),[ "$(SOURCE)" = live ] || { echo "FOLLOW=yes follows the SEC; give SOURCE=live" >&2; exit 1; })
	@$(call free,PORT,8001)
	@$(MAKE) --no-print-directory sync
	@$(FOLLOWING) $(BIN)/python -m serve.cli.demo --port $(PORT)

sync: setup ## synchronize and publish only
	@$(BIN)/fundamentals sync --source "$(SOURCE)" $(if $(SYMBOLS),--symbols "$(SYMBOLS)")

serve: setup ## serve the published build
	@$(call free,PORT,8001)
	@$(BIN)/fundamentals serve --port $(PORT)

# `instance info` makes the databases, which daemon and webserver would make at the same time
ui: setup ## the Dagster UI on 127.0.0.1:3000, with SOURCE as the default of the launchpad
	@$(call free,UI_PORT,3001)
	@umask 077; mkdir -p "$(FUNDAMENTALS_HOME)/dagster" && cp dagster.yaml "$(FUNDAMENTALS_HOME)/dagster/dagster.yaml"
	@echo "The Dagster UI comes up in some seconds (Ctrl-C ends it):"
	@echo "http://127.0.0.1:$(UI_PORT)/asset-groups?expanded=$(UI_GROUPS)"
	@umask 077; export DAGSTER_HOME="$(FUNDAMENTALS_HOME)/dagster" FUNDAMENTALS_SOURCE="$(SOURCE)" FUNDAMENTALS_SYMBOLS="$(SYMBOLS)"; \
		$(BIN)/dagster instance info >/dev/null || exit; \
		$(BIN)/dagster-daemon run --workspace workspace.yaml --log-level error & daemon=$$!; \
		$(BIN)/dagster-webserver --workspace workspace.yaml --host 127.0.0.1 --port $(UI_PORT) \
			--dagster-log-level error --code-server-log-level warning & webserver=$$!; \
		trap 'trap "" INT TERM; kill $$daemon $$webserver 2>/dev/null; wait' EXIT; trap exit INT TERM; wait $$webserver

notebook: sync $(NOTEBOOK)/.ready ## open examples/analyst.ipynb in JupyterLab on 127.0.0.1:8888 (NOTEBOOK_PORT), with the sample
	@$(call free,NOTEBOOK_PORT,8889)
	@cd examples && "$(CURDIR)/$(NOTEBOOK)/bin/jupyter" lab analyst.ipynb --ip 127.0.0.1 --port $(NOTEBOOK_PORT) \
		$(if $(filter 0,$(shell id -u)),--allow-root)

quality: setup ## check the consistency of the home's values; LIST=1 lists the failures
	@$(BIN)/python -m pipelines.quality $(if $(LIST),--list)

# the oldest DuckDB version that can read the published file, next to the one in use
$(OLDEST)/.ready: tests/duckdb-1.5.lock $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target $(OLDEST) -r $<
	@touch $@

# what make bench compares with, apart from the packages of this project
$(PEER)/.ready: tests/bench/edgartools.lock $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target $(PEER) -r $<
	@touch $@

# what make bench-http compares with, apart from the packages of this project
$(ORDINARY)/.ready: tests/bench/fastapi.lock $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target $(ORDINARY) -r $<
	@touch $@

# what make notebook runs, apart from the packages of this project
$(NOTEBOOK)/.ready: examples/notebook.lock $(READY)
	$(BIN)/python -m venv --clear $(NOTEBOOK)
	$(NOTEBOOK)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# what make sbom and make audit run, apart from the packages of this project
$(SUPPLY)/.ready: deploy/supply-chain.lock $(READY)
	$(BIN)/python -m venv --clear $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

##@ Develop
# --dist=loadscope keeps the tests of a module in one process, because they share its fixtures; with bytecode written,
# the many processes that the tests start do not compile the project again
# as many processes as there are cores, because each imports and collects everything, which takes ten seconds; two more
# in test-whole, whose tests wait for servers and browsers; Polars with one thread in each, because threads that wait for
# each other take a tenth of the time
SETTLED = PYTHONDONTWRITEBYTECODE= POLARS_MAX_THREADS=1 TMPDIR=$(or $(IN_MEMORY),$(TMPDIR))
PYTEST = $(SETTLED) $(BIN)/python -m pytest --numprocesses=$(call processes,$1) --dist=loadscope --no-loadscope-reorder
# what a change of the rules or of the interface breaks first; the longest files come first
QUICK = $(addprefix tests/, \
	$(addprefix unit/test_,$(addsuffix .py,rules calendar breaks)) \
	$(addprefix golden/test_,$(addsuffix .py,real_companies industries balances_of_real_filings returns_of_real_companies \
		hard_cases statements)) \
	$(addprefix contract/,$(addsuffix .py,test_sections_4_5_and_4_7 test_every_endpoint test_sections_4_parameters \
		test_sections_2_and_4 test_sections_2_6_and_4_4 hostile/test_requests)) \
	$(addprefix unit/test_,$(addsuffix .py,frames flows splits gaps facts items balances cash borrowings totals_of_debt \
		derived faces identities repairs standardize serve_parameters serve_openapi rule_table docs)))
quick: tools ## run the tests that a change of rules or of the interface breaks first, within a minute
	@$(call PYTEST,0) $(QUICK)

test: tools $(OLDEST)/.ready ## run the tests of rules, values, modules and the contract; STRICT=1 fails if a program is missing
	@$(call PYTEST,0) $(if $(STRICT),--strict-skips)

test-whole: tools ## test whole commands and services: faults in them, and the pages and the Dagster UI in a browser
	@$(call PYTEST,2) $(if $(STRICT),--strict-skips) tests/e2e

test-scale: tools $(VENV)/.store ## test several machines on this one (after make system); SHORT=1 runs the short ones
	@$(SETTLED) $(BIN)/python -m tests.scale $(if $(SHORT),--short)

coverage: tools $(OLDEST)/.ready ## run the tests that are traced; fail if they reach less than 95 % of the lines
	@$(call PYTEST,0) --cov --cov-report=term tests/unit tests/contract

check: tools ## run linter, format check, type check and tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/deptry .
	@$(MAKE) --no-print-directory test

linters: node_modules/.package-lock.json ## install the OpenAPI linters, axe for the pages, TypeScript for its example (needs Node.js and npm)

node_modules/.package-lock.json: package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund

lintapi: tools linters ## lint the OpenAPI description
	@mkdir -p build && $(BIN)/python -m serve.api.description > build/openapi.json
	@node_modules/.bin/spectral lint --fail-severity hint --ruleset .spectral.yaml build/openapi.json
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
		node_modules/.bin/redocly lint --config redocly.yaml build/openapi.json

format: tools ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

##@ Measure, for long
# bytecode is written, as for any user, so that synchronizations do not compile the project each time
bench: export PYTHONDONTWRITEBYTECODE :=
bench: QUARTERS = $(wildcard $(SOURCE)/www.sec.gov/files/dera/data/financial-statement-data-sets/*.zip)
bench: tools $(PEER)/.ready ## measure synchronizations of a mirror and of bulk files made of it, one filing among COMPANIES, the version log, a quarter of data sets, and a large XBRL package (SOURCE=PATH; BESIDE=folder of a version to compare; GIGABYTES)
	@$(if $(wildcard $(SOURCE)/www.sec.gov),$(BIN)/python -m tests.bench.synchronization "$(SOURCE)" $(if $(BESIDE),--beside "$(BESIDE)"),\
		echo "Not measured: a synchronization; set SOURCE to the path of a mirror directory")
	@$(if $(wildcard $(FUNDAMENTALS_HOME)/tables/facts/manifest.json),$(BIN)/python -m tests.bench.version_log,\
		echo "Not measured: the version log; synchronize first, because copies of the companies of the home are used")
	@$(if $(wildcard $(SOURCE)/www.sec.gov),$(BIN)/python -m tests.bench.filing "$(SOURCE)" --companies $(COMPANIES),\
		echo "Not measured: the cost of one filing; set SOURCE to the path of a mirror directory")
	@$(if $(wildcard $(SOURCE)/www.sec.gov),$(BIN)/python -m tests.bench.universe "$(SOURCE)" --gigabytes $(GIGABYTES) --peer "$(PEER)",\
		echo "Not measured: synchronizations from bulk files; set SOURCE to the path of a mirror directory")
	@$(if $(QUARTERS),$(BIN)/python -m tests.bench.data_sets "$(lastword $(QUARTERS))",\
		echo "Not measured: a quarter of the SEC's data sets; set SOURCE to the path of a mirror directory that has one")
	@$(BIN)/python -m tests.bench.packages

bench-http: tools $(ORDINARY)/.ready ## measure the service in turns with the bare framework, with 6,000 companies copied from the home (SECONDS and ROUNDS of the turns; UPDATES=60: instead, so many minutes with an update each)
	@$(BIN)/python -m tests.bench.serving --seconds $(SECONDS) --rounds $(ROUNDS) --updates $(UPDATES) --peer "$(ORDINARY)"

bench-downloads: tools ## measure what downloads cost other requests, in turns of SECONDS (ROUNDS)
	@$(BIN)/python -m tests.bench.downloads --seconds $(SECONDS) --rounds $(ROUNDS)

soak: tools ## publish builds under load, and check each response that is read (BUILDS=100)
	@$(BIN)/python -m tests.bench.soak --builds $(BUILDS)

torture: tools ## kill, fill disks, flip bits, corrupt facts, set clocks, publish under load, and attack (KILLS, BITS, CORRUPTIONS, BUILDS, MINUTES, ATTACK, SEED; full disks need root)
	@$(BIN)/python -m tests.torture --kills $(KILLS) $(if $(BITS),--bits $(BITS)) --corruptions $(CORRUPTIONS) --builds $(BUILDS) --minutes $(MINUTES) --attack $(ATTACK) $(if $(SEED),--seed $(SEED))

fuzz: tools ## let all readers read changed bytes for MINUTES; what fails is kept in tests/fuzz/corpus
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

mutations: tools ## write docs/mutations.md: what errors of filers lead to (SOURCE=PATH of a mirror; BESIDE=folder of a version; APART=another mirror)
	@$(if $(wildcard $(SOURCE)/www.sec.gov),$(BIN)/python -m tests.bench.mutations "$(SOURCE)" $(if $(BESIDE),--beside "$(BESIDE)") $(if $(APART),--apart "$(APART)"),\
		echo "Not measured: mutations; set SOURCE to the path of a mirror directory")

ablation: tools ## write docs/ablation.md: what each rule decides (SOURCE=PATHS of mirrors, EACH=mutations of a kind; RULES=beginning of ids: only print it)
	@$(if $(wildcard $(addsuffix /www.sec.gov,$(SOURCE))),$(BIN)/python -m tests.bench.ablation $(SOURCE) $(if $(EACH),--each $(EACH)) $(if $(RULES),--rules $(RULES)),\
		echo "Not measured: ablation; set SOURCE to the paths of mirror directories")

thresholds: tools ## write docs/thresholds.md: what each number of the rules decides in the home
	@$(BIN)/python -m tests.bench.thresholds

accuracy: tools ## compare with a vendor's values, which you need to have (VENDOR=FILE); LIST=1 lists the differences
	@$(BIN)/python -m tests.accuracy $(if $(VENDOR),--vendor "$(VENDOR)") $(if $(LIST),--list)

##@ Maintain
docs: setup ## generate docs/data-dictionary.md and docs/rules.md
	@$(BIN)/python -m pipelines.tables.dictionary

pictures: sync tools ## take the pictures of the README, run the notebook, screenshots in build/screens (SOURCE; needs Chromium)
	@$(BIN)/python -m tests.pictures
	@$(if $(filter sample,$(SOURCE)),$(BIN)/python -m tests.notebooks examples/analyst.ipynb)

sbom: setup $(SUPPLY)/.ready ## write build/sbom.json: the installed packages, their licenses and dependencies (CycloneDX)
	@mkdir -p build && $(SUPPLY)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file build/sbom.json $(BIN)/python
	@echo build/sbom.json

audit: setup $(SUPPLY)/.ready ## look up advisories for all pinned packages (needs the network; status 2: they could not be looked up)
	@$(SUPPLY)/bin/python deploy/audit.py $(SUPPLY)/bin/pip-audit $(LOCKS)

# options of uv that leave out the packages of lock files: $(call left_out,LOCKS)
left_out = sed -n "/'win32'/!s/^\([A-Za-z0-9._-]*\).*==.*/--no-emit-package \1/p" $1
# the packages of an extra, one in a line: $(call extra,NAME)
extra = $(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$1'], sep='\n')"
lock: ## update the pinned dependencies, also those of the commands that have their own (needs uv)
	printf 'cyclonedx-bom\npip-audit\n' | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate - --output-file deploy/supply-chain.lock
	printf 'jupyterlab\nduckdb\npandas\npolars\npyarrow\nmatplotlib\n' | uv pip compile --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate --constraints requirements.lock - \
		--output-file examples/notebook.lock
	printf 'edgartools\norjson\n' | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate - --output-file tests/bench/edgartools.lock
	printf 'fastapi\n' | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate - --output-file tests/bench/fastapi.lock
	printf 'setuptools\n' | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate --no-strip-extras pyproject.toml - --output-file requirements.lock
	$(call extra,dev) | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--no-annotate --constraints requirements.lock $$($(call left_out,requirements.lock)) - --output-file tests/tools.lock
	$(call extra,scale) | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--no-annotate --constraints requirements.lock $$($(call left_out,requirements.lock)) - --output-file deploy/scale.lock
	printf 'setuptools\n' | uv pip compile --universal --python-version 3.11 --extra scale \
		--generate-hashes --no-emit-index-url --no-header --no-annotate --no-strip-extras --constraints requirements.lock \
		--constraints deploy/scale.lock pyproject.toml - --output-file deploy/image.lock
	printf 'moto[server]\n' | uv pip compile --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate --constraints requirements.lock --constraints tests/tools.lock \
		--constraints deploy/scale.lock $$($(call left_out,requirements.lock tests/tools.lock deploy/scale.lock)) - \
		--output-file tests/scale.lock

system: ## install the Debian packages that some tests and benches need (as root)
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		chromium curl docker-compose nginx-light postgresql prometheus-alertmanager redis-server systemd wrk
	command -v npm >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm

clean: ## remove .venv and all generated files except .data
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
