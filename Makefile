# make demo   build, install into .venv and show the library at work (about a minute)
# make test   the same set-up with the test extras, then the whole suite
# make check  linters and type checks
# make bench  the benchmark of the README's table

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(wildcard src/core/*.?pp src/core/kernels/*.?pp src/bindings/*.?pp)
NATIVE := CMakeLists.txt $(SOURCES)

.PHONY: demo bench test check format clean

demo: $(VENV)/installed-plot
	$(BIN)/sketchforest demo

bench: $(VENV)/installed-bench
	$(BIN)/sketchforest bench

test: $(VENV)/installed-test
	$(BIN)/python -m pytest

check: $(VENV)/installed-dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .
	$(BIN)/clang-format -i $(SOURCES)

clean:
	rm -rf $(VENV) build

# The build tools live in the environment, not in pip's throw-away one, so that an edit of one
# C++ file compiles that file alone. The Python files are used in place.
$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check \
	  "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.26" "ninja>=1.11"
	touch $@

$(VENV)/installed-%: $(VENV)/tools $(NATIVE)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[$*]"
	touch $@
