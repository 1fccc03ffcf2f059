# Attention Explorer: `make run` runs it, `make check` and `make test` test it. `make help` lists the rest.
# Every path is relative and every tool is called as `python -m`, so that the project may lie in
# a folder with spaces in its name.

PYTHON ?= python3
PORT ?=
MODEL ?=
ARGS ?=
PIP_ARGS ?=

VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check install --quiet $(PIP_ARGS)
# What Python compiles is kept, also where images leave that out: else each of the processes that
# tests start compiles all of it again, a tenth of `make check`.
unexport PYTHONDONTWRITEBYTECODE
VERSION := -c 'import sys; print(sys.version_info[:2])'
LOCK := $(VENV).lock
# Two processes; what the tests of a file share is made in one of them (tests/conftest.py).
BOTH := -n 2 --dist loadgroup

LINT = $(VENV)/bin/python -m ruff check . && $(VENV)/bin/python -m ruff format --check . && \
       $(VENV)/bin/python -m mypy

# What most changes would break, in one process.
QUICK := $(addprefix tests/,$(addprefix core/test_,trace.py operations.py oracle_each.py arithmetic.py) \
           ui/test_controls.py test_every_page.py)

.PHONY: help run model quick check test fuzz mutants bench picture clean set-up-to-run set-up-to-test
help:
	@echo 'make run     set up what is missing, then open the app'
	@echo '             PORT=8600 to choose the port, MODEL=path for a model of your own'
	@echo 'make model   get SmolLM2, a real language model (98 MB), for the page "A real model"'
	@echo 'make quick   set up what is missing, then what most changes would break (a minute)'
	@echo 'make check   set up what is missing, then run ruff, mypy and the quick tests'
	@echo 'make test    set up what is missing, then run ruff, mypy and the tests of every day (11 to 28 minutes)'
	@echo '             ARGS="-k tokenize" for pytest, such as ARGS="-m \"not browser\""'
	@echo 'make fuzz    what takes longer: every page with every example, every guess (hours: run it overnight)'
	@echo 'make mutants put small faults into a copy of the code: does make check notice? (an hour or two)'
	@echo '             ARGS="--sample 40 --seed 7 --within attention_core/real_model"'
	@echo 'make bench   measure the app and write benchmarks/RESULTS.md (takes long)'
	@echo '             ARGS="moves" for one part, ARGS="--quick moves" to look only'
	@echo 'make picture take the moving picture of the README anew'
	@echo 'make clean   remove $(VENV) and all caches'
	@echo ''
	@echo 'PYTHON=python3.12 chooses the Python (3.11 or newer) that $(VENV) is made with;'
	@echo 'PIP_ARGS=... goes to pip install.'

run: set-up-to-run
	STREAMLIT_SERVER_FILE_WATCHER_TYPE=auto STREAMLIT_SERVER_RUN_ON_SAVE=true STREAMLIT_CLIENT_SHOW_ERROR_DETAILS=full $(VENV)/bin/python -m attention_explorer $(if $(PORT),--port=$(PORT)) $(if $(MODEL),--model='$(MODEL)')

model: set-up-to-run
	$(VENV)/bin/python -m attention_explorer model

quick: set-up-to-test
	$(VENV)/bin/python -m pytest -m "not slow and not browser" $(QUICK) $(ARGS)

check: set-up-to-test
	$(LINT)
	$(VENV)/bin/python -m pytest $(BOTH) -m "not slow and not browser" $(ARGS)

test: set-up-to-test
	$(LINT)
	$(VENV)/bin/python -m pytest $(BOTH) $(ARGS)

fuzz: set-up-to-test
	$(VENV)/bin/python -m pytest $(BOTH) -m "long or fuzz" --hypothesis-profile=long $(ARGS)

mutants: set-up-to-test
	$(VENV)/bin/python tests/mutants.py $(ARGS)

bench: set-up-to-test
	$(VENV)/bin/python -m benchmarks $(ARGS)

picture: set-up-to-test
	ATTENTION_EXPLORER_MODEL=tiny $(VENV)/bin/python tests/moving_picture.py

clean:
	rm -rf $(VENV) $(LOCK) .mutants .pytest_cache .ruff_cache .mypy_cache .hypothesis shots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One make at a time sets up $(VENV), and another waits: two at once would break each other's. A folder
# is made by one of them alone, on every system (macOS has no flock). It holds the number of the
# process, so that a lock whose make was killed is taken away. What is missing is found out by a make
# within the lock.
set-up-to-run set-up-to-test:
	@test -w . || { echo 'This folder cannot be written to, so $(VENV) cannot be made.' >&2; exit 1; }; \
	until mkdir $(LOCK) 2>/dev/null; do \
	  holder=$$(cat $(LOCK)/pid 2>/dev/null); \
	  if test -n "$$holder" && ! kill -0 "$$holder" 2>/dev/null; then rm -rf $(LOCK); continue; fi; \
	  test -n "$$told" || echo 'Another make is setting up $(VENV): waiting (if none is, remove $(LOCK)) ...'; \
	  told=yes; sleep 1; \
	done; \
	trap 'rm -rf $(LOCK)' EXIT; trap 'exit 130' INT TERM HUP; echo $$$$ > $(LOCK)/pid; \
	$(MAKE) --no-print-directory $(VENV)/.ready-to-$(@:set-up-to-%=%)

# The two marks are newer than the requirements that they were installed from.
NEEDS := requirements.txt requirements-app.txt
$(VENV)/.ready-to-run: $(NEEDS) $(VENV)/pyvenv.cfg
	@echo 'Installing what the app needs into $(VENV) (PyTorch is large: this can take minutes) ...'
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.ready-to-test: requirements-dev.txt requirements-model.txt requirements-notebook.txt requirements-site.txt $(NEEDS) $(VENV)/pyvenv.cfg
	@echo 'Installing what the app and its tests need into $(VENV) (this can take minutes) ...'
	@$(PIP) -r requirements-dev.txt
	@touch $(VENV)/.ready-to-run $@

# A $(VENV) that no longer works, or has another Python than the one asked for, is made anew.
ifneq ($(wildcard $(VENV)/pyvenv.cfg),)
ASKED := $(if $(filter file,$(origin PYTHON)),$(VENV)/bin/python,$(PYTHON))
STALE := $(shell has=$$($(VENV)/bin/python $(VERSION) 2>/dev/null) && \
           test "$$has" = "$$("$(ASKED)" $(VERSION) 2>/dev/null)" || echo stale)
ifeq ($(STALE),stale)
.PHONY: $(VENV)/pyvenv.cfg
endif
endif

$(VENV)/pyvenv.cfg:
	@"$(PYTHON)" -c '' 2>/dev/null || { \
	  echo 'There is no working "$(PYTHON)" here. Install Python 3.11 or newer, or name the one you'; \
	  echo 'have: make run PYTHON=/path/to/python'; exit 1; } >&2
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This project needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" -V 2>&1)."; \
	  echo 'Name a newer one if you have it: make run PYTHON=python3.12'; exit 1; } >&2
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo '"$(PYTHON)" cannot make virtual environments: its venv or ensurepip module is missing.'; \
	  echo 'On Debian and Ubuntu: sudo apt install python3-venv'; \
	  echo '(for a Python that is not the default one, its own package, such as python3.12-venv)'; \
	  exit 1; } >&2
	@echo "Making $(VENV) with $$("$(PYTHON)" -V) ..."
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
