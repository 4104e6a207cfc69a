# make help says what there is. A fresh clone needs python3 and make, nothing else.
PY ?= python3
VENV := .venv
BIN := $(VENV)/bin
NB ?= $(wildcard nbs/*.ipynb nbs/*/*.ipynb nbs/*/*/*.ipynb)
RECORDS = $(shell grep -rho 'make bench ROW=[a-z_]*' nbs --include=*.ipynb | sed 's/.*=//' | sort -u)

unexport PYTHONDONTWRITEBYTECODE # or each kernel would compile the package anew

.PHONY: help notes lite pdf test seeds engines e2e coverage mutants nightly lab prepare outputs matrix release bench bench-check bench-page
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' Makefile | expand -t 20
	@echo "  PY=python3.12 make ... takes another interpreter (Python 3.10 or newer)"

notes: $(VENV)/.ok ## the web site, in _site/: runs the notebooks that changed, two at a time
	@$(BIN)/python -m website.alone nbdev-export
	@$(BIN)/python -m website.build

lite: $(VENV)/.ok ## the notebooks in a browser, in _lite/, from a Pyodide distribution you bring: PYODIDE=folder
	@$(BIN)/python -m website.lite --only-look '$(PYODIDE)'
	@$(BIN)/python -m pip install --quiet --retries 2 --editable '.[lite]'
	@$(BIN)/python -m website.lite '$(PYODIDE)'

test: $(VENV)/.ok ## every test; runs every notebook
	@$(BIN)/pytest

seeds: $(VENV)/.ok ## what the chapters assert, under five other seeds, resumable; SEEDS=20, PAGE="05 06" for two
	@$(BIN)/python -m website.alone nbdev-export
	@$(BIN)/python -m website.seeds $(or $(SEEDS),5) $(PAGE)

pdf: notes ## the course and the whole book in _book/, printed from the site by Chromium
	@$(BIN)/python -m pip install --quiet --retries 2 --editable '.[book]'
	@$(BIN)/python -m website.pdf

matrix: ## the tests on PY=python3.10 in an environment of their own; WITH=oldest or nightly, TESTS="-k zoo"
	@$(PY) tests/matrix.py $(or $(WITH),newest) $(TESTS)

engines: $(VENV)/.ok ## the tests of other array libraries, with PyTorch and JAX, which it installs (gigabytes)
	@$(BIN)/python -m pip install --quiet --retries 2 --editable '.[torch,jax]'
	@$(BIN)/pytest -rs tests/house/test_engines.py

e2e: $(VENV)/.ok ## the site in Chromium: every page on every screen, then JupyterLab; NB=nbs/03_rkhs.ipynb for one
	@$(BIN)/python -m pip install --quiet --retries 2 --editable '.[book]'
	@$(BIN)/pytest -n 0 e2e
	@$(BIN)/python e2e/audit.py
	@$(BIN)/python e2e/lab.py $(NB)

mutants: $(VENV)/.ok ## after make coverage: do the tests notice faults? SEED=7 for old ones, MODULE=scale for one module
	@$(BIN)/python tests/mutants.py $(if $(SEED),--seed $(SEED)) $(if $(SIZE),--size $(SIZE)) $(MODULE)

nightly: $(VENV)/.ok ## hours: every test at full size on new draws (SEED=7 for old ones), the stored records again
	@seed=$${SEED:-$$($(BIN)/python -c 'import secrets; print(secrets.randbelow(2**31))')}; status=0; \
	echo "to see these draws again: make nightly SEED=$$seed"; \
	RKHS_NOTES_PROFILE=full $(BIN)/pytest --explore $$seed --hypothesis-seed $$seed \
	  --random-order-bucket=global --random-order-seed=$$seed || status=1; \
	$(BIN)/python benchmarks/runner.py $(RECORDS) || status=1; exit $$status

lab: $(VENV)/.ok ## the notebooks in JupyterLab, at their front page
	@$(BIN)/jupyter lab nbs/index.ipynb

prepare: $(VENV)/.ok ## before a commit: notebooks to modules, folded and clean notebooks, README.md, the desk
	@$(BIN)/ruff format --quiet nbs
	@$(BIN)/python -m website.alone nbdev-export "python -m website.fold" \
	  nbdev-clean "python -m website.readme"

outputs: $(VENV)/.ok ## run notebooks in place and keep their outputs; NB=nbs/03_rkhs.ipynb for one
	@$(BIN)/python -m website.alone nbdev-export
	@status=0; $(BIN)/python -m website.run $(if $(WITHOUT_DATA),--without-data) $(NB) || status=1; \
	  $(MAKE) --no-print-directory prepare || status=1; exit $$status

release: $(VENV)/.ok ## wheel and source archive in dist/, uploaded to an index here, installed and tried; TAG=v0.2.0
	@$(BIN)/python -m pip install --quiet --retries 2 --editable '.[release]'
	@$(BIN)/python tests/release.py $(TAG)

bench: $(VENV)/.ok ## compare with other packages: a page in _bench/; ROW=gram for one, PROFILE=full for all
	@$(BIN)/python benchmarks/runner.py $(ROW)

bench-check: $(VENV)/.ok ## the same; fails where a row fell below its aim twice
	@$(BIN)/python benchmarks/check.py $(ROW)

bench-page: $(VENV)/.ok ## keep the results in _bench/ as the page of the site
	@$(BIN)/python benchmarks/report.py --store

coverage: $(VENV)/.ok ## lines and branches of the package that tests and notebooks run (20 minutes): a page in _coverage/
	@export COVERAGE_FILE=$(CURDIR)/_coverage/data PYTHONPATH=$(CURDIR)/tests; mkdir -p _coverage; status=0; \
	$(BIN)/coverage run -m pytest -q -p follow $(TESTS) || status=1; $(BIN)/coverage combine -q $(if $(TESTS),--append) && \
	$(BIN)/coverage html -q -d _coverage/html && $(BIN)/coverage report --skip-covered || status=1; exit $$status

$(VENV)/.ok: pyproject.toml
	@command -v $(PY) >/dev/null || { echo "$(PY) is not installed; PY=... names another interpreter"; exit 1; }
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "rkhs_notes needs Python 3.10 or newer, and $(PY) is older; try PY=python3.12 make ..."; exit 1; }
	@$(PY) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PY) lacks the module venv; on Debian or Ubuntu: sudo apt install python3-venv"; exit 1; }
	@echo "installing into $(VENV) (a few minutes, once)"
	@$(PY) -m venv $(VENV)
	@[ -t 1 ] || quiet="--quiet --progress-bar off --disable-pip-version-check"; \
	  $(BIN)/python -m pip install $$quiet --log $(VENV)/pip.log --retries 2 --editable '.[lab,dev,docs]' || \
	  { echo "pip could not install the dependencies (is there a network?); its words are in $(VENV)/pip.log"; exit 1; }
	@touch $@
