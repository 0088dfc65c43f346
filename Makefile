# SPDX-License-Identifier: Apache-2.0
# make run: set up what is missing, measure the preset quick, write and name its report.
# make test: the same set-up, then every test.  make check: format, lint, types, and every test.
# make test-quick: the tests, for any user, that start nothing of the machine and simulate little; a minute.
# make coverage: the same, and the share of Tare's Python statements that they run in their own processes.
# make test-long: all NPB kernels verify in the classes A, B and C; some minutes, and a table in build/npb-long.md.
# make test-hostile: kills, power cuts, failing writes, mutated inputs and a soak, in full; about two hours.
# make test-sanitized: they do nothing undefined in class S, on 1 and 4 ranks, as compiled with sanitizers.
# make test-aarch64: the NPB kernels, compiled for 64-bit ARM, verify under emulation.
# make test-fresh: the wheel on hosts where nothing was prepared: pip install, tare weigh to its answer; a quarter of an hour.
# make wheel: build/dist/tare-*.whl with Tare's own programs for x86-64 and 64-bit ARM: who installs it compiles nothing.
# make packages: a .deb and an .rpm of that wheel for each processor, in build/dist.
# make test-packages: the same, then both are installed, used and removed; the other processor's programs run emulated.
# make man: build/man/*.1, manual pages made from the help.
# make docs: build/site, the documentation as a site; no page of it loads anything from elsewhere.
# make lock: writes the locks of Python's packages and, as root, the image's Debian packages anew.
# make audit: are locks, licences and the image as they are said to be?  Writes bills of materials to build/sbom.
# make setup: the set-up alone.  make format: writes Python and C++ the way `make check` wants it.
# Without a kernel for guests (it then says why) all but virtual machines works.
# PACKAGES=no leaves the host's packages alone.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := setup
.PHONY: setup setup-test first-packages host-packages venv image kernel native-programs go-programs
.PHONY: run test all-tests test-quick coverage test-long test-hostile test-sanitized test-aarch64 test-fresh wheel packages test-packages man docs lock audit check format lint lint-text lint-native collected clean
MAKEFLAGS += --no-print-directory
unexport PYTHONDONTWRITEBYTECODE  # each start of tare would compile what it imports, half a second each

PACKAGES := yes
LISTS := scripts/packages.txt
EXTRA :=
BIN := .venv/bin
NATIVE_FILES = $(shell find native tests/native -name '*.cpp' -o -name '*.hpp')

setup:
	@$(MAKE) --jobs host-packages venv image kernel
	@scripts/say-native

setup-test:
	@$(MAKE) --jobs host-packages venv image kernel native-programs go-programs \
	    EXTRA=dev LISTS='scripts/packages.txt scripts/packages-test.txt'

# The steps of set-up; steps that need nothing of each other run at the same time.
first-packages:
	@[[ $(PACKAGES) == no ]] || scripts/install-packages scripts/packages-image.txt $(LISTS)

host-packages: first-packages
	@[[ $(PACKAGES) == no ]] || scripts/install-packages <(cat $(LISTS))

venv: first-packages
	@scripts/make-venv $(EXTRA)

image: venv
	@$(BIN)/tare image build --from debian >/dev/null

kernel: venv
	@$(BIN)/tare image kernel >/dev/null || true

native-programs: host-packages
	@scripts/build-native ON

# One after another: what they share is compiled once.
go-programs: host-packages
	@scripts/build-runsc
	@scripts/build-govc
	@scripts/build-apptainer

run: setup
	@scripts/with-dockerd $(BIN)/tare run quick

test: setup-test
	@$(MAKE) all-tests

all-tests:
	ctest --test-dir build/native --output-on-failure
	scripts/with-dockerd $(BIN)/pytest -n 3 --dist loadgroup --no-loadscope-reorder --durations=25

# What needs neither root nor anything of the set-up but Python's packages.
test-quick:
	@scripts/make-venv dev
	$(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder -m "not real and not root and not slow" $(COVERAGE)

# Not in `make check`: counting statements takes half as much processor time again as the tests themselves.
coverage:
	@$(MAKE) test-quick COVERAGE='--cov --cov-report='
	@$(BIN)/coverage report --format=total

test-long: setup-test
	$(BIN)/pytest tests/npb/long_classes.py

test-hostile: setup-test
	scripts/test-hostile

test-sanitized: setup-test
	cmake -S native -B build/sanitized -G Ninja -DTARE_TESTS=ON \
	    -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
	ninja -C build/sanitized npb_tests $(addprefix npb-,bt cg ep ft is lu mg sp)
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 ctest --test-dir build/sanitized --output-on-failure -R npb
	$(BIN)/pytest tests/npb/sanitized.py

test-aarch64:
	@PACKAGES=$(PACKAGES) scripts/check-aarch64

test-fresh: wheel
	scripts/test-fresh-roots build/dist/tare-*.whl

# The packages of the development alone read requirements.
wheel:
	@scripts/make-venv dev
	$(BIN)/python -m scripts.supply.wheel

packages: wheel
	@[[ $(PACKAGES) == no ]] || scripts/install-packages scripts/packages-release.txt
	$(BIN)/python -m scripts.supply.packages

test-packages: packages
	@scripts/make-venv dev
	$(BIN)/pytest -n0 tests/scripts/installed_packages.py

man: venv
	$(BIN)/python -m scripts.make_man

docs: venv
	@scripts/make-tools docs
	$(BIN)/python -m scripts.docs_site >/dev/null
	NO_MKDOCS_2_WARNING=1 build/docs-tools/bin/mkdocs build --strict --quiet -f build/site-source/mkdocs.yml -d ../site
	@! grep -rlE '<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//' build/site --include='*.html'
	@echo build/site/index.html

lock:
	scripts/lock-python
	scripts/make-venv dev
	$(BIN)/python -m scripts.supply.lock_debian

audit: setup-test
	scripts/audit

# clang-tidy has the processor time that the tests leave, which wait for most of theirs. The kernel may share processors
# among sessions first (sched(7), autogroup), so that idle priority counts within one alone: its own is worth as little.
check: setup-test
	@$(MAKE) --jobs lint-text collected
	@setsid chrt --idle 0 $(SHELL) -c '{ echo 19 >/proc/self/autogroup; } 2>&-; exec $(MAKE) lint-native' \
	    >build/lint-native.log 2>&1 </dev/null & linting=$$!; trap 'kill -- -$$linting 2>/dev/null' EXIT; \
	    $(MAKE) all-tests; tested=$$?; \
	    wait $$linting; linted=$$?; cat build/lint-native.log; exit $$((tested || linted))

lint: lint-text lint-native

# Pytest rewrites the tests' assertions once, not in each process.
collected:
	@$(BIN)/pytest -n 0 --collect-only -q >build/collected.log || { tail -30 build/collected.log; exit 1; }

lint-text:
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	clang-format --dry-run -Werror $(NATIVE_FILES)

lint-native:
	$(BIN)/python -m scripts.lint_native

format:
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	clang-format -i $(NATIVE_FILES)

clean:
	rm -rf build
