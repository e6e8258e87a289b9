# Every target sets up what it needs. Start with `make lab` (a student) or `make demo` (an instructor).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help lab demo grade test proof slow notebooks figures bench lock clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(READY): pyproject.toml requirements.lock setup.sh
	PYTHON=$(PYTHON) sh setup.sh $(VENV)
	touch $@

lab: $(READY)  ## open the course in JupyterLab
	cd course && ../$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root)

demo: $(READY)  ## grade a small sample class end to end
	sh setup.sh --programs bwrap
	$(BIN)/python -m autograder.demo

grade: $(READY)  ## grade everything in gradebook/submitted
	sh setup.sh --programs bwrap
	$(BIN)/autograder grade --jobs 2

test: $(READY)  ## run the tests
	sh setup.sh --programs bwrap chromium
	$(BIN)/python -m pytest -q -m "not slow" $(TESTS)

slow: $(READY)  ## run the tests that take long: full training, executed notebooks, soak
	sh setup.sh --programs bwrap chromium
	$(BIN)/python -m pytest -q -m slow $(TESTS)

proof: $(READY)  ## prove the judge on twenty seeds, and print the figures
	sh setup.sh --programs bwrap
	$(BIN)/python -m autograder.proof

notebooks: $(READY)  ## make the notebooks, self-checks and kit anew from the sources
	$(BIN)/python images/draw.py
	$(BIN)/autograder release
	$(BIN)/python -m autograder.thirty_four

bench: $(READY)  ## measure, and write docs/benchmarks.md
	$(BIN)/python -m bench

lock: $(READY)  ## write the versions installed now to requirements.lock
	$(BIN)/pip freeze --exclude-editable | grep -v '^seq2seq-course' | sed 's/+cpu//' > requirements.lock

clean:  ## remove the environment and everything made by demo and test
	rm -rf $(VENV) artefacts dist .pytest_cache
