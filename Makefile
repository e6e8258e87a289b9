# Every target sets up what it needs. Start with `make lab` (a student) or `make demo` (an instructor).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# A student's environment is one of its own: nothing of grading shows in their JupyterLab.
LAB := .venv-lab
# Sphinx and what it needs have an environment of their own, too: site/requirements.txt.
SITE := .venv-site
# The torch that finds CUDA is that of PYTHON, not the lock's.
GPU := .venv-gpu

.DEFAULT_GOAL := help
.PHONY: help lab demo grade lint test tests audit mutants nbgrader slow hub notebooks pictures bench gpu dist site lock clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(READY): pyproject.toml course.toml requirements.lock setup.sh
	PYTHON=$(PYTHON) sh setup.sh --all $(VENV)
	touch $@

$(LAB)/.ready: pyproject.toml course.toml requirements.lock setup.sh
	PYTHON=$(PYTHON) sh setup.sh --student $(LAB)
	touch $@

$(GPU)/.ready: pyproject.toml course.toml setup.sh
	PYTHON=$(PYTHON) sh setup.sh --gpu $(GPU)
	touch $@

$(SITE)/.ready: site/requirements.txt setup.sh
	PYTHON=$(PYTHON) sh setup.sh --site $(SITE)
	touch $@

lab: $(LAB)/.ready  ## open the course in JupyterLab, in a copy that is yours: work/
	$(LAB)/bin/python autograder/runtime/workspace.py course work
	cp autograder/publish/kit_files/start.py work/
	cd work && ../$(LAB)/bin/python -m start $(if $(filter 0,$(shell id -u)),--allow-root)

demo: $(READY)  ## grade a small sample class end to end
	sh setup.sh --programs bwrap
	$(BIN)/autograder demo tp2_seq2seq

grade: $(READY)  ## grade everything in gradebook/submitted
	sh setup.sh --programs bwrap
	$(BIN)/autograder grade --jobs 2

lint: $(READY)  ## read the code as a machine does: ruff, mypy
	$(BIN)/ruff check
	$(BIN)/mypy

test: $(READY)  ## lint and run the tests, side by side
	sh setup.sh --programs bwrap chromium
	$(MAKE) -j 2 lint tests

# Hundreds of processes import the same files, and each would compile them if none may keep what it compiled.
tests: $(READY)
	MAKEFLAGS= OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 4 --dist loadgroup --timeout 300 -m "not slow" $(TESTS)

slow: $(READY) site  ## run the tests that take long: full training, executed notebooks, soak
	sh setup.sh --programs bwrap chromium
	$(BIN)/python -m pytest -q --timeout 3600 -m slow $(TESTS)

hub: $(READY)  ## set up a JupyterHub in .venv-hub, and play a term on it in a browser; as root
	sh hub/setup.sh .venv-hub
	sh setup.sh --programs chromium
	$(BIN)/python -m pytest -q -m slow tests/hub

audit: $(READY)  ## audit the checks on twenty instances, with mutants, misdiagnoses and places; then all that is hostile
	sh setup.sh --programs bwrap
	$(BIN)/autograder audit --all --seeds $(or $(SEEDS),20) --jobs 2
	$(BIN)/python -m bench.locating --every 4 --jobs 2
	$(BIN)/python -m bench.held_out --written --set twenty-ninth
	$(BIN)/python -m bench.held_out --written --set thirtieth
	$(BIN)/python -m pytest -q --no-header tests/sandbox/test_hostile.py tests/sandbox/test_canary.py \
		tests/judging/test_anything.py tests/judging/test_judge_process.py tests/judging/test_broken.py

mutants: $(READY)  ## let a machine write wrong answers, and list those that pass
	$(BIN)/autograder audit --mutants --jobs 2

nbgrader: $(READY)  ## test the adapter with the oldest and the newest nbgrader that we allow
	for version in '==0.9.6' '<0.10'; do \
		$(BIN)/python -m pip install -q --no-deps --upgrade --target .venv-nbgrader "nbgrader$$version" && \
		PYTHONPATH=.venv-nbgrader $(BIN)/python -m pytest -q tests/classroom/test_nbgrader.py || exit; \
	done; rm -r .venv-nbgrader

notebooks: $(READY)  ## make the notebooks and self-checks anew from the sources
	$(BIN)/python images/draw.py
	$(BIN)/autograder release
	$(BIN)/python -m bench.goals

pictures: $(READY)  ## take the pictures of the documents anew: notebook, heatmap, report, feedback, screen
	sh setup.sh --programs bwrap chromium
	COURSE_PICTURES=images/pages $(BIN)/python -m pytest -q -m slow tests/pages/test_browser.py -k picture

dist: $(READY)  ## make what is given out: the student kit, the engine's wheel
	$(BIN)/autograder pack kit

site: $(SITE)/.ready  ## make a site to read, dist/site; ADDRESS says where the notebooks for Colab lie
	rm -rf dist/site
	$(SITE)/bin/python site/pages.py artefacts/site $(ADDRESS)
	$(SITE)/bin/sphinx-build -W --keep-going -q -c site -d artefacts/site-trees artefacts/site dist/site

bench: $(READY)  ## measure, and write docs/benchmarks.md
	$(BIN)/python -m bench

gpu: $(GPU)/.ready  ## where torch finds CUDA: audit, grade and execute all on the GPU, ten minutes; PYTHON says whose torch
	sh setup.sh --programs bwrap
	$(GPU)/bin/python -m bench gpu

lock: $(READY)  ## write the versions installed now to requirements.lock
	mkdir -p artefacts
	$(BIN)/pip freeze --exclude-editable > artefacts/requirements.lock
	sed 's/+cpu//' artefacts/requirements.lock > requirements.lock

clean:  ## remove the environments and everything made by demo and test
	rm -rf $(VENV) $(LAB) $(SITE) $(GPU) .venv-hub artefacts dist .pytest_cache .mypy_cache .ruff_cache
