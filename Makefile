# SPDX-License-Identifier: Apache-2.0
# Makefile - a thin front for CMake. `make help` lists the targets.
# What is missing on a Debian system is installed by tools/setup, which every build target runs first: what programs are
# built from for all of them, what tests need for those that test.
SHELL := /bin/sh
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
BUILD := build
.DEFAULT_GOAL := all
.NOTPARALLEL: # two targets must not install packages at once; what takes time runs in parallel by itself
DATA ?= ../shared/data
.PHONY: all help quick reference symbols reproduction scaling setup setup-tests setup-dev configure build programs demo check check-asan check-ubsan check-tsan \
        check-valgrind check-browser bench space-tables peers coverage fuzz soak mutants prove lint format install clean python

help:
	@echo "make all            install what is missing, configure, build into build/bin (tests too, where libcmocka is there)"
	@echo "make demo           the main job end to end; builds the programs alone"
	@echo "make demo-live      both parties of the demo, kept running: a desk and a page to watch the search"
	@echo "make check          build and run every test; closes with 'N passed, M failed', and why any were skipped"
	@echo "make quick          the unit tests that take a moment each; a room alone: ctest --test-dir build -L gate"
	@echo "make check-asan     the suite under AddressSanitizer (also check-ubsan, check-tsan, check-valgrind)"
	@echo "make check-browser  the pages and the device in Chromium (tools/setup --with-ci installs it); closes with 'N passed, M failed'"
	@echo "make bench          measurements, as ratios within one run"
	@echo "make space-tables   real tables with categories, missing cells and dates, searched over TLS, DATA=$(DATA) (minutes)"
	@echo "make peers          the same jobs with Python packages, where installed; writes docs/benchmarks.md"
	@echo "make reproduction   docs/reproduction.md: the papers' tables beside ours, DATA=$(DATA); about 25 minutes of one core, runs only what a change touched"
	@echo "make robustness     docs/robustness.md: every model in worlds it was not made for; some minutes"
	@echo "make scaling        docs/scaling.md: how each part grows; some minutes"
	@echo "make python         the Python packages into build/python: PYTHONPATH=build/python (python/README.md)"
	@echo "make device-wasm    the browser's device package into build/device (web/device/README.md)"
	@echo "make wheels         self-contained wheels and source archives of the Python packages, into build/wheels"
	@echo "make wheels-check   the wheels in bare Debian roots that have Python alone (root, network)"
	@echo "make coverage       branch coverage of the gate and of everything; LABEL=gate: the gate's own tests alone"
	@echo "make units          boots systemd in a fresh Debian and starts the units (root, three minutes)"
	@echo "make fuzz           longer fuzzing of every parser (libFuzzer)"
	@echo "make soak           docs/soak.md: the service under load, kills and a full disk, both stores (SOAK_SECONDS=80)"
	@echo "make mutants        small wrong changes to the gate and its callers, each with the test that must fail"
	@echo "make prove          contracts of the samplers' arithmetic, by Frama-C (installs it: 860 MB)"
	@echo "make reference      build/reference/html: the public headers as pages (Doxygen)"
	@echo "make site           build/site/html: documents, rooms, headers and docstrings, searchable without a network (Sphinx)"
	@echo "make symbols        abi/*.symbols: what each library exports, when that was meant to change"
	@echo "make lint | format  clang-format, clang-tidy, cppcheck, shellcheck"
	@echo "make install        PREFIX=$(PREFIX)"
	@echo "make uninstall      takes away what make install wrote"
	@echo "make deb            Debian packages by role, into build/deb"
	@echo "make deb-check      the packages in bare Debian roots: a modeler in one, a curator in another (root, network)"
	@echo "make clean"

setup:
	@tools/setup
setup-tests:
	@tools/setup --with-tests
setup-dev:
	@tools/setup --with-dev

configure: setup
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >$(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log
build: configure
	@cmake --build $(BUILD) -j $(JOBS) -- --no-print-directory -s
programs: configure
	@cmake --build $(BUILD) -j $(JOBS) --target programs -- --no-print-directory -s
all: build

demo: programs
	@examples/demo.sh

.PHONY: demo-live
demo-live: programs
	@examples/demo-live.sh

check: setup-tests build
	@tools/check $(BUILD) $(JOBS)

quick: setup-tests build
	@ctest --test-dir $(BUILD) -j $(JOBS) -L quick --output-on-failure >$(BUILD)/quick.log || { cat $(BUILD)/quick.log; exit 1; }
	@tail -n 4 $(BUILD)/quick.log

check-asan check-ubsan check-tsan: check-%: setup-dev
	@cmake --preset $* >/dev/null
	@cmake --build build-$* -j $(JOBS) -- --no-print-directory -s
	@tools/check build-$* $(JOBS)

check-valgrind: setup-dev build
	@TACET_VALGRIND=1 tools/check $(BUILD) $(JOBS)

check-browser: setup-tests build device-wasm
	@TACET_BIN=$(CURDIR)/$(BUILD)/bin /usr/bin/python3 tests/browser/run.py

bench: setup-tests build
	@bench/run

space-tables: build
	@/usr/bin/python3 bench/space_tables.py --data $(DATA)

peers: build
	@bench/peers/run --commit $$(git rev-parse --short=10 HEAD) --markdown docs/benchmarks.md

reproduction: build
	@OPENBLAS_CORETYPE=Haswell build/bin/tacet-lab repro all --quick --datasets $(DATA) --out build/reproduction --commit $$(git rev-parse --short=10 HEAD) --markdown docs/reproduction.md

robustness: build
	@OPENBLAS_CORETYPE=Haswell tools/robustness --out build/robustness --commit $$(git rev-parse --short=10 HEAD) --markdown docs/robustness.md

scaling: setup-tests python
	@/usr/bin/python3 bench/scaling.py --commit $$(git rev-parse --short=10 HEAD) --markdown docs/scaling.md

coverage: setup-dev
	@cmake --preset coverage >/dev/null
	@cmake --build build-coverage -j $(JOBS) -- --no-print-directory -s
	@tools/coverage build-coverage $(JOBS) $(LABEL)

.PHONY: units
units: build
	@tools/boot-units build

fuzz: setup-dev
	@cmake --preset fuzz >/dev/null
	@cmake --build build-fuzz -j $(JOBS) -- --no-print-directory -s
	@tools/fuzz build-fuzz

python: build
	@tools/python $(BUILD)

.PHONY: device-wasm
device-wasm:
	@tools/setup --with-wasm
	@tools/device-wasm

.PHONY: wheels wheels-check
wheels:
	@tools/setup --with-python
	@tools/wheels --sdist
wheels-check: wheels
	@tools/wheels-check

soak: setup-tests build
	@tools/soak $(BUILD) $$(git rev-parse --short=10 HEAD) docs/soak.md

mutants: setup-tests build
	@TACET_BUILD=$(BUILD) tools/mutants

prove:
	@tools/prove

lint: setup-dev build
	@tools/lint $(BUILD)
format: setup-dev
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

reference: setup-dev
	@mkdir -p build && doxygen docs/Doxyfile && echo "build/reference/html/index.html"
	@tools/python-reference $(BUILD)
.PHONY: site
site: python
	@tools/site $(BUILD)
symbols: build
	@tools/gather && tools/symbols $(BUILD)

install: build
	@cmake --install $(BUILD)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

clean:
	@rm -rf build build-* build.configure.log

.PHONY: deb deb-check uninstall
deb:
	@tools/setup --with-packages
	@tools/deb
deb-check: deb
	@tools/deb-check
uninstall:
	@test -f $(BUILD)/install_manifest.txt || { echo "make uninstall: nothing was installed from here"; exit 1; }
	@xargs -a $(BUILD)/install_manifest.txt -d '\n' -I{} rm -f "$(DESTDIR){}"
	@sed 's,/[^/]*$$,,' $(BUILD)/install_manifest.txt | sort -ur | while read -r d; do rmdir -p --ignore-fail-on-non-empty "$(DESTDIR)$$d" 2>/dev/null || true; done
