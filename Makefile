# One word does one thing; CONTRIBUTING.md says when to use which. Not part of the source package.
SHELL = /bin/sh
export MAKEFLAGS += --no-print-directory
# all trees share what ccache has
export CCACHE_NOHASHDIR = true
.DEFAULT_GOAL = help

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' Makefile | expand -t 14

# --- the core's tests: make cpptest [SAN=address,undefined] [T='part of a test name']
# They link the objects that the package is made of, so that nothing is compiled twice; with
# sanitizers, or for another platform (tools/platforms.sh), everything has objects of its own.
SAN =
TARGET =
TARGET_FLAGS =
APART = $(SAN)$(TARGET)
BUILD = .build/cpp$(if $(APART),-$(subst $(comma),-,$(APART)))
comma = ,
CXX_LAUNCHER = $(shell command -v ccache)
CPP_LEVEL = $(if $(TARGET),-O1 $(TARGET_FLAGS),$(if $(SAN),-O1 -g1,-O2 -g))
CPP_FLAGS = -std=c++17 $(CPP_LEVEL) -Wall -Wextra -Wno-unknown-pragmas -Isrc -Itests/cpp -MMD -MP \
  $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# the headers of Eigen, for ops of linear algebra
EIGEN = $(shell Rscript -e 'cat(system.file("include", package = "RcppEigen"))')
# as objects_kind() of tools/compiler.sh
OBJECTS_KIND = $(or $(RUNHOOKS_OBJECTS),$(shell cat .build/objects 2> /dev/null || echo units))
CORE_UNITS = $(filter-out src/units/r_%,$(wildcard src/units/*.cpp src/kernels/*.cpp))
CORE_FILES = $(filter-out src/r/% src/units/%,$(wildcard src/*/*.cpp src/*/*/*.cpp))
CORE_SOURCES = $(if $(filter units,$(OBJECTS_KIND)),$(CORE_UNITS),$(CORE_FILES))
TEST_OBJECTS = $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/cpp/*.cpp))
CORE_OBJECTS = $(CORE_SOURCES:%.cpp=$(if $(APART),$(BUILD)/%.o,%.o))
CPP_OBJECTS = $(CORE_OBJECTS) $(TEST_OBJECTS)

$(BUILD)/src/ops/linalg/linalg_%.o $(BUILD)/src/units/linalg_%.o: CPP_FLAGS += -isystem $(EIGEN)
ifdef TARGET
# emulated kernels are slow enough
$(BUILD)/src/kernels/%.o: CPP_FLAGS += -O2
# tests are compiled more often than they run
$(BUILD)/tests/%.o: CPP_FLAGS += -O0
endif
$(BUILD)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX_LAUNCHER) $(CXX) $(CPP_FLAGS) -c $< -o $@

# a file that is gone must leave the program too, so the list of objects counts
$(BUILD)/objects: FORCE
	@mkdir -p $(@D)
	@echo '$(CPP_OBJECTS)' | cmp -s - $@ || echo '$(CPP_OBJECTS)' > $@
FORCE:

$(BUILD)/runhooks_tests: $(CPP_OBJECTS) $(BUILD)/objects
	$(CXX) $(CPP_FLAGS) $(CPP_OBJECTS) -o $@ -pthread -lz $(TARGET_LIBS)

.PHONY: core cpptest
core: # the package's objects without the bindings
	@$(if $(SAN),,sh tools/core.sh)

cpptest: core ## the core's tests, without R
	@$(MAKE) -s -j2 $(BUILD)/runhooks_tests
	RUNHOOKS_GOLDEN=$(CURDIR)/tests/testthat/golden $(BUILD)/runhooks_tests $(T)

-include $(patsubst %.o,%.d,$(filter $(BUILD)/%,$(CPP_OBJECTS)))

# --- the readers of files and messages under changed inputs: make fuzz [SECONDS=60] [SEED=1]
# [INPUTS=more folders] [READER='part of a name']. A finding ends it; `make fuzz AGAIN=yes` reads the input again.
SECONDS = 60
SEED = $(shell date +%s)
INPUTS =
READER =
AGAIN =
FUZZ = .build/fuzz
FUZZ_LAST = $(CURDIR)/$(FUZZ)/last
FUZZ_FLAGS = -std=c++17 -O1 -g -Wall -Wextra -Wno-unknown-pragmas -Isrc -Itests/fuzz -Itests/cpp -MMD -MP \
  -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# the core's layers that reading takes; the rest stays out, for it takes long to compile
FUZZ_SOURCES = $(wildcard tests/fuzz/*.cpp $(addprefix src/,base/*.cpp tensor/*.cpp graph/*.cpp io/*/*.cpp import/*.cpp \
    data/*.cpp session/*.cpp kernels/*.cpp)) \
  $(addprefix tests/cpp/,datasets_test.cpp dataset_kinds.cpp state_edits.cpp) \
  $(addprefix src/,training/import_meta_graph.cpp training/save_ops.cpp estimators/loaded_model.cpp \
    estimators/export_folder.cpp estimators/resumable_run.cpp estimators/replica_saveable.cpp \
    monitored/hook_saveable.cpp cluster/communicator.cpp cluster/step_barrier.cpp \
    trees/ensemble.cpp trees/ensemble_proto.cpp \
    $(addprefix ops/,array/array.cpp array/array_shape.cpp state/control.cpp state/gradient_helpers.cpp \
      state/tensor_list.cpp state/variable_ops.cpp lookup/lookup_table.cpp text/string_ops.cpp text/decode.cpp \
      $(addprefix math/,elementwise.cpp math_binary.cpp math_logical.cpp math_unary.cpp random_ops.cpp reduce.cpp)))
FUZZ_OBJECTS = $(FUZZ_SOURCES:%.cpp=$(FUZZ)/%.o)

$(FUZZ)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX_LAUNCHER) $(CXX) $(FUZZ_FLAGS) -c $< -o $@

$(FUZZ)/runhooks_fuzz: $(FUZZ_OBJECTS)
	$(CXX) $(FUZZ_FLAGS) $(FUZZ_OBJECTS) -o $@ -pthread -lz

.PHONY: fuzz
fuzz: ## all readers under changed inputs [SECONDS=60] [SEED=1] [AGAIN=yes]
	@$(MAKE) -s -j2 $(FUZZ)/runhooks_fuzz
	@ASAN_OPTIONS=max_allocation_size_mb=300:detect_leaks=0 RUNHOOKS_FUZZ_LAST=$(if $(AGAIN),,$(FUZZ_LAST)) \
	  RUNHOOKS_FUZZ_READER='$(READER)' \
	  $(FUZZ)/runhooks_fuzz $(if $(AGAIN),again $(FUZZ_LAST),$(SECONDS) $(SEED) tests/testthat/golden/files tests/fuzz/inputs $(INPUTS)) || { \
	  echo "fuzz: a finding, seed $(SEED); 'make fuzz AGAIN=yes' reads the input again"; exit 1; }

-include $(FUZZ_OBJECTS:.o=.d)

# --- the package
.PHONY: deps install build check release times docs document
deps: ## what building and testing need, if it is missing
	@sh tools/deps.sh

install: ## into R's library, compiling what changed
	@sh tools/deps.sh install
	@sh tools/install.sh

build: ## the source package, in .build/
	@sh tools/check.sh build

check: deps ## R CMD check --as-cran of the source package
	@sh tools/check.sh check

release: deps ## what a release lacks; where nothing does, R CMD check and what a person does then
	@Rscript tools/release.R

times: deps install ## processor time of R CMD check: compile, examples, tests, vignettes
	@Rscript tools/check_times.R

docs: ## Rcpp's wrappers, NAMESPACE and man/
	@Rscript tools/docs.R

document: docs

.PHONY: site
site: deps install ## pages for a browser, in .build/site
	@sh tools/deps.sh with pkgdown
	@Rscript tools/site.R

.PHONY: spelling
spelling: ## words of all pages that neither a dictionary nor inst/WORDLIST knows
	@sh tools/deps.sh with spelling
	@Rscript tools/spelling.R

# --- to see it work
.PHONY: demo test golden interop bench
demo: ## the example of the README
	@sh tools/deps.sh install
	@sh tools/install.sh
	@Rscript inst/examples/run-hooks.R

test: ## everything that must pass: core and R; the last line counts [T='part of a name']
	@sh tools/test.sh '$(T)'

golden: deps install ## how far we are from TensorFlow's figures
	@Rscript tools/golden_table.R

.PHONY: kills
KILLS = 20
FAULTS = 100000
WAYS =
kills: deps install ## runs are killed until KILLS are hit, and each change of a file once, and fails once [KILLS=20] [FAULTS=n] [WAYS=part] [SEED=1]
	@RUNHOOKS_KILLS=$(KILLS) RUNHOOKS_FAULTS=$(FAULTS) RUNHOOKS_WAYS=$(WAYS) RUNHOOKS_SEED=$(SEED) \
	  Rscript tools/run_tests.R kills

.PHONY: cluster-kills
cluster-kills: deps install ## processes of trainings by mpirun are killed at random moments [KILLS=20]
	@Rscript tools/cluster_kills.R $(KILLS)

.PHONY: platforms
platforms: ## the core's tests on arm64, Windows and clang's library, other platforms compiled [TARGETS=arm64]
	@sh tools/platforms.sh $(TARGETS)

.PHONY: nightly
nightly: deps ## the long tests at their full length, and all tests on separate objects and on units
	@sh tools/nightly.sh

interop: ## a real TensorFlow reads our files, where there is one
	@sh tools/interop.sh

bench: deps install ## the budgets of DESIGN
	@for script in bench/*.R; do \
	  if [ -f "$$script" ]; then echo "== $$script"; Rscript "$$script" || exit 1; \
	  else echo "bench: there is no bench/*.R"; fi; \
	done

# --- to keep it good
.PHONY: lint warnings format sanitize sanitizer valgrind torture clean
lint: deps ## the house rules, the tests of the tools that check them, stale generated files
	@sh tools/lint.sh

warnings: ## gcc and clang read everything without a warning
	@sh tools/warnings.sh

format: ## clang-format over the C++
	@find src tests/cpp \( -name '*.cpp' -o -name '*.h' -o -name '*.inc' \) ! -name 'RcppExports.cpp' ! -path 'src/units/*' \
	  -exec clang-format -i {} +

sanitize: ## core and registry tests under address and undefined-behaviour sanitizers, a minute of fuzz
	@$(MAKE) cpptest SAN=address,undefined T='$(T)'
	@$(MAKE) fuzz

sanitizer: sanitize ## the same, and the R tests (slow)
	@sh tools/sanitize.sh $(T)

valgrind: deps install ## the R tests under valgrind (slow)
	@sh tools/valgrind.sh $(T)

torture: deps install ## the R tests with a collector that runs all the time within the core (slow)
	@Rscript tools/torture.R $(T)

clean: ## all that was built here (not what was installed)
	rm -rf .build inst/mpi src/*.so src/*.dll src/*.mk
	find src -name '*.o' -exec rm -f {} +
