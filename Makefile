# Drives CMake, so that a newcomer needs two commands: `make run` and `make test`. Variables:
#   PREFIX=/usr/local  DESTDIR=    where `make install` installs
#   PYTHON_SITE=FOLDER             where `make install` installs the Python package, if given
#   BUILD=build                    the build folder; one for each compiler you use
#   PYTHON=/usr/bin/python3        the Python of `make site`, which has the module markdown
#   CC=clang                       the compiler, when a build folder is first made
#   CMAKE_FLAGS=-DSTDCL_WERROR=ON  more for CMake
#   MPICC=mpicc                    the compiler of the MPI that `make mpi` builds the plugin for
#   MINUTES=30  FUZZ="life npy"    how long `make fuzz` stays with a subject, and which (all)
# SPDX-License-Identifier: MIT
BUILD = build
PREFIX = /usr/local
MINUTES = 30
MPICC = mpicc
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
JOBS = $(shell getconf _NPROCESSORS_ONLN)
# Tests at once: one that waits leaves its processor to another.
TESTS = $(shell expr $(JOBS) + 1)
GIVEN_CC = $(if $(filter default,$(origin CC)),,-DCMAKE_C_COMPILER=$(CC))
UNITY = -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16
CONFIGURE = cmake -S . -G "Unix Makefiles" $(GIVEN_CC) $(CMAKE_FLAGS)
COMPILE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS)) -C

.PHONY: all command help run format test test-deep test-faults test-oclgrind test-sanitize fuzz soak layout bindings options interface site
.PHONY: mpi deps deps-run deps-bench deps-view deps-test deps-deep install uninstall dist deb abi sbom clean
all: $(BUILD)/Makefile ## build everything
	@+$(COMPILE) $(BUILD)

command: $(BUILD)/Makefile ## build only the command
	@+$(COMPILE) $(BUILD) stdcl_command

help: ## this list
	@awk -F ' *:.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

# Only after `deps-run` can make know whether the build folder is to be configured, hence the second make.
# A build folder first configured here is a unity build (cmake/StdclUnity.cmake).
run: deps-run ## let two galaxies collide, on whatever OpenCL device there is
	@+$(MAKE) --no-print-directory command CMAKE_FLAGS='$(UNITY) $(CMAKE_FLAGS)'
	$(BUILD)/bin/stdcl nbody --ic collision -n 8192 -o collision.png

test: deps ## run the tests, all but those with the ctest labels `deep` and `variant`
	@+$(MAKE) --no-print-directory all
	@tools/test.sh $(BUILD) -j$(TESTS) -LE '^(deep|variant)$$'

format: ## apply .clang-format to every C, C++ and OpenCL C file (clang-format 14)
	@tools/format.sh

test-deep: test-sanitize ## the tests with sanitizers, then all of all tests, with those that take long (ctest label `deep`) but not hours
	@+$(MAKE) --no-print-directory all
	@STDCL_TEST_DEEP=1 tools/test.sh $(BUILD) -j$(JOBS) -LE '^hours$$'
	@STDCL_FAULTS_WORKERS=$(JOBS) tools/test.sh $(BUILD)-address -L deep -R test_faults_leaks

test-faults: deps ## every call that can fail fails once, and signals end commands: thousands of runs
	@+$(MAKE) --no-print-directory all
	@tests/faults/run.sh $(BUILD)

test-oclgrind: deps ## every kernel and every row of tuning/ under Oclgrind: races, bounds, uninitialised values
	@+$(MAKE) --no-print-directory all
	@tests/oclgrind/run.sh oclgrind $(BUILD) all

fuzz: deps ## fuzz readers and parsers for MINUTES=30 each, with clang's libFuzzer
	@BUILD=$(BUILD) MINUTES=$(MINUTES) tools/fuzz.sh $(FUZZ)

soak: deps ## a million launches, 10,000 contexts, engines for ten minutes: nothing may grow
	@+$(MAKE) --no-print-directory all
	@$(BUILD)/tests/soak 1000000 10000 600

test-sanitize: deps ## run the tests built with AddressSanitizer, UBSan and ThreadSanitizer
	@+BUILD=$(BUILD) CONFIGURE='$(CONFIGURE)' COMPILE='$(COMPILE)' JOBS=$(JOBS) tools/test-sanitize.sh

mpi: $(BUILD)/Makefile ## the plugin for another MPI: make mpi MPICC=/opt/site/bin/mpicc
	@world/mpi.sh "$(MPICC)" $(BUILD)

layout: ## rewrite tests/install/layout.txt after a public struct has changed
	@tools/layout.sh include $(CC) > tests/install/layout.txt

bindings: ## rewrite the declarations for Python, Fortran and Lua, and Debian's symbols, after a public header has changed
	@tools/bindings/make.sh

interface: $(BUILD)/Makefile ## all of the four: run it after what is public has changed
	@$(MAKE) --no-print-directory layout bindings
	@+$(COMPILE) $(BUILD) >/dev/null
	@$(MAKE) --no-print-directory options
	@tools/abi.sh write $(BUILD)/install || test $$? = 77

options: $(BUILD)/Makefile ## rewrite docs/options.md after an option has changed
	@+$(COMPILE) $(BUILD) pages >/dev/null
	@awk -f tools/pages/options.awk $(BUILD)/pages/options.table > docs/options.md

site: $(BUILD)/Makefile ## the documentation as a web site in $(BUILD)/site, without a network (mkdocs, mandoc)
	@+$(COMPILE) $(BUILD) pages >/dev/null
	@"$(PYTHON)" -B tools/site/make.py . $(BUILD) $(BUILD)/site

deps: ## install the packages that are missing, if any, for building all and `make test`
	@BUILD=$(BUILD) tools/deps.sh

deps-run: ## the same for what the command needs, as for `make run`
	@BUILD=$(BUILD) tools/deps.sh run

deps-bench: ## the same for what comparisons and benchmarks need besides
	@BUILD=$(BUILD) tools/deps.sh bench

deps-view: ## the same for tests of the page of a run in a browser: Chromium, and into the build folder what drives it
	@BUILD=$(BUILD) tools/deps.sh view
	@mkdir -p $(BUILD)/npm
	@npm install --prefix $(BUILD)/npm --no-audit --no-fund --no-save playwright-core@1.65.1 axe-core@4.14.1 ws@8.23.0

deps-test: ## the same for other tests, which are skipped without it
	@BUILD=$(BUILD) tools/deps.sh test

deps-deep: ## the same for tests of `make test-deep`
	@BUILD=$(BUILD) tools/deps.sh deep

install: ## install into $(DESTDIR)$(PREFIX)
	@$(CONFIGURE) -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DSTDCL_PYTHON_SITE=$(PYTHON_SITE)
	@+$(COMPILE) $(BUILD) install

dist: ## the source of a release, from what is committed
	@mkdir -p $(BUILD)
	@tools/dist.sh $(BUILD)

deb: deps ## the Debian packages of what is committed, in $(BUILD)/deb
	@tools/deps.sh deb
	@tools/deb.sh $(BUILD)/deb

abi: ## rewrite the baselines in abi/, when a release is made
	@+$(MAKE) --no-print-directory all
	@tools/abi.sh write $(BUILD)/install

sbom: ## the software bill of materials of what is committed, in $(BUILD)/stdcl-VERSION.spdx
	@tools/sbom.sh $(BUILD)

uninstall: ## remove what the last `make install` installed, from $(DESTDIR)$(PREFIX)
	@test -e $(BUILD)/install_manifest.txt || { echo "make: nothing was installed from $(BUILD)" >&2; exit 1; }
	@sed 's|^|$(DESTDIR)|' $(BUILD)/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -f
	@sed 's|^|$(DESTDIR)|; s|/[^/]*$$||' $(BUILD)/install_manifest.txt | sort -ru | grep stdcl | tr '\n' '\0' | \
	    xargs -0 rmdir -p --ignore-fail-on-non-empty 2>/dev/null || true

clean: ## remove all that was built
	rm -rf $(BUILD) $(BUILD)-address $(BUILD)-thread $(BUILD)-fuzz

$(BUILD)/Makefile:
	@$(CONFIGURE) -B $(BUILD) || { echo "make: if a package is missing, 'make deps' installs it" >&2; exit 1; }
