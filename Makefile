# Development targets; CONTRIBUTING.md explains when to use which. Not part of the source package.
SHELL = /bin/sh
export MAKEFLAGS += --no-print-directory
# Trees share ccache entries.
export CCACHE_NOHASHDIR = true
.DEFAULT_GOAL = help

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' Makefile | expand -t 14

# --- the core's tests: make cpptest [SAN=address,undefined] [T='part of a test name']
# They link the objects of the package, so that nothing is compiled twice. Sanitizer and cross
# builds (tools/platforms.sh) have separate objects.
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
# Headers of Eigen, for linear algebra ops.
EIGEN = $(shell Rscript -e 'cat(system.file("include", package = "RcppEigen"))')
# As objects_kind() of tools/compiler.sh.
OBJECTS_KIND = $(or $(RUNHOOKS_OBJECTS),$(shell cat .build/objects 2> /dev/null || echo units))
CORE_UNITS = $(filter-out src/units/r_%,$(wildcard src/units/*.cpp src/kernels/*.cpp))
CORE_FILES = $(filter-out src/r/% src/units/%,$(wildcard src/*/*.cpp src/*/*/*.cpp))
CORE_SOURCES = $(if $(filter units,$(OBJECTS_KIND)),$(CORE_UNITS),$(CORE_FILES))
TEST_OBJECTS = $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/cpp/*.cpp))
CORE_OBJECTS = $(CORE_SOURCES:%.cpp=$(if $(APART),$(BUILD)/%.o,%.o))
CPP_OBJECTS = $(CORE_OBJECTS) $(TEST_OBJECTS)

$(BUILD)/src/ops/linalg/linalg_%.o $(BUILD)/src/units/linalg_%.o: CPP_FLAGS += -isystem $(EIGEN)
ifdef TARGET
# Emulated kernels are slow even with optimization.
$(BUILD)/src/kernels/%.o: CPP_FLAGS += -O2
# Tests are compiled more often than they run.
$(BUILD)/tests/%.o: CPP_FLAGS += -O0
endif
$(BUILD)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX_LAUNCHER) $(CXX) $(CPP_FLAGS) -c $< -o $@

# The program must be linked again if a file was removed, so it depends on the list of objects.
$(BUILD)/objects: FORCE
	@mkdir -p $(@D)
	@echo '$(CPP_OBJECTS)' | cmp -s - $@ || echo '$(CPP_OBJECTS)' > $@
FORCE:

$(BUILD)/runhooks_tests: $(CPP_OBJECTS) $(BUILD)/objects
	$(CXX) $(CPP_FLAGS) $(CPP_OBJECTS) -o $@ -pthread -lz $(TARGET_LIBS)

.PHONY: core cpptest
core: # the package's objects without the bindings
	@$(if $(SAN),,sh tools/core.sh)

cpptest: core ## run the core's tests, without R
	@$(MAKE) -s -j2 $(BUILD)/runhooks_tests
	RUNHOOKS_GOLDEN=$(CURDIR)/tests/testthat/golden $(BUILD)/runhooks_tests $(T)

-include $(patsubst %.o,%.d,$(filter $(BUILD)/%,$(CPP_OBJECTS)))

# --- fuzzing of the readers of files and messages: make fuzz [SECONDS=60] [SEED=1] [INPUTS=more
# folders] [READER='part of a name']. A finding ends it; `make fuzz AGAIN=yes` repeats the input.
SECONDS = 60
SEED = $(shell date +%s)
INPUTS =
READER =
AGAIN =
FUZZ = .build/fuzz
FUZZ_LAST = $(CURDIR)/$(FUZZ)/last
FUZZ_FLAGS = -std=c++17 -O1 -g -Wall -Wextra -Wno-unknown-pragmas -Isrc -Itests/fuzz -Itests/cpp -MMD -MP \
  -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# The layers that readers need; others would take long to compile.
FUZZ_SOURCES = $(wildcard tests/fuzz/*.cpp $(addprefix src/,base/*.cpp tensor/*.cpp graph/*.cpp io/*/*.cpp import/*.cpp \
    data/*.cpp session/*.cpp kernels/*.cpp)) \
  $(addprefix tests/cpp/,datasets_test.cpp dataset_kinds.cpp state_edits.cpp) \
  $(addprefix src/,training/import_meta_graph.cpp training/save_ops.cpp estimators/export/loaded_model.cpp \
    estimators/export/export_folder.cpp estimators/run/resumable_run.cpp estimators/replicas/replica_saveable.cpp \
    monitored/hook_saveable.cpp cluster/communicator.cpp cluster/step_barrier.cpp \
    trees/ensemble.cpp trees/ensemble_proto.cpp \
    $(addprefix ops/,array/array.cpp array/array_shape.cpp state/control.cpp state/gradient_helpers.cpp \
      state/tensor_list.cpp state/variable_ops.cpp lookup/lookup_table.cpp \
      text/number_text_ops.cpp text/string_hash.cpp text/decode.cpp \
      $(addprefix math/,elementwise.cpp math_binary.cpp math_logical.cpp math_unary.cpp random_ops.cpp reduce.cpp)))
FUZZ_OBJECTS = $(FUZZ_SOURCES:%.cpp=$(FUZZ)/%.o)

$(FUZZ)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX_LAUNCHER) $(CXX) $(FUZZ_FLAGS) -c $< -o $@

$(FUZZ)/runhooks_fuzz: $(FUZZ_OBJECTS)
	$(CXX) $(FUZZ_FLAGS) $(FUZZ_OBJECTS) -o $@ -pthread -lz

.PHONY: fuzz
fuzz: ## fuzz all readers [SECONDS=60] [SEED=1] [AGAIN=yes]
	@$(MAKE) -s -j2 $(FUZZ)/runhooks_fuzz
	@ASAN_OPTIONS=max_allocation_size_mb=300:detect_leaks=0 RUNHOOKS_FUZZ_LAST=$(if $(AGAIN),,$(FUZZ_LAST)) \
	  RUNHOOKS_FUZZ_READER='$(READER)' \
	  $(FUZZ)/runhooks_fuzz $(if $(AGAIN),again $(FUZZ_LAST),$(SECONDS) $(SEED) tests/testthat/golden/files tests/fuzz/inputs $(INPUTS)) || { \
	  echo "fuzz: a finding, seed $(SEED); 'make fuzz AGAIN=yes' repeats the input"; exit 1; }

-include $(FUZZ_OBJECTS:.o=.d)

# --- the package
.PHONY: deps install build check release times docs document
deps: ## install missing requirements for building and testing
	@sh tools/deps.sh

install: ## install into R's library, compiling changes only
	@sh tools/deps.sh install
	@sh tools/install.sh

build: ## build the source package in .build/
	@sh tools/check.sh build

check: deps ## run R CMD check --as-cran on the source package
	@sh tools/check.sh check

release: deps ## check whether a release is possible, and list the manual steps
	@Rscript tools/release.R

times: deps install ## measure the processor time of R CMD check: compile, examples, tests, vignettes
	@Rscript tools/check_times.R

docs: ## generate Rcpp's wrappers, NAMESPACE and man/
	@Rscript tools/docs.R

document: docs

.PHONY: site
site: deps install ## build the website in .build/site
	@sh tools/deps.sh with pkgdown
	@Rscript tools/site.R

.PHONY: spelling
spelling: ## list words that are neither in a dictionary nor in inst/WORDLIST
	@sh tools/deps.sh with spelling
	@Rscript tools/spelling.R

# --- demonstrations
.PHONY: demo test golden interop bench
demo: ## run the example of the README
	@sh tools/deps.sh install
	@sh tools/install.sh
	@Rscript inst/examples/run-hooks.R

test: ## run all tests: core and R; the last line counts [T='part of a name']
	@sh tools/test.sh '$(T)'

golden: deps install ## print the differences from TensorFlow's results
	@Rscript tools/golden_table.R

.PHONY: kills
KILLS = 20
FAULTS = 100000
WAYS =
kills: deps install ## kill runs KILLS times, and kill or fail each file operation once [KILLS=20] [FAULTS=n] [WAYS=part] [SEED=1]
	@RUNHOOKS_KILLS=$(KILLS) RUNHOOKS_FAULTS=$(FAULTS) RUNHOOKS_WAYS=$(WAYS) RUNHOOKS_SEED=$(SEED) \
	  Rscript tools/run_tests.R kills

.PHONY: cluster-kills
cluster-kills: deps install ## kill processes of distributed trainings at random moments [KILLS=20]
	@Rscript tools/cluster_kills.R $(KILLS)

.PHONY: platforms
platforms: ## run the core's tests on arm64, Windows and libc++, and compile for others [TARGETS=arm64]
	@sh tools/platforms.sh $(TARGETS)

.PHONY: nightly
nightly: deps ## run long tests at full length, and all tests on separate objects and on units
	@sh tools/nightly.sh

interop: ## exchange files with a real TensorFlow, if installed
	@sh tools/interop.sh

bench: deps install ## measure the performance budgets
	@for script in bench/*.R; do \
	  if [ -f "$$script" ]; then echo "== $$script"; Rscript "$$script" || exit 1; \
	  else echo "bench: there is no bench/*.R"; fi; \
	done

# --- quality
.PHONY: lint warnings format sanitize sanitizer valgrind torture clean
lint: deps ## check house rules, tools and generated files
	@sh tools/lint.sh

warnings: ## check for warnings of gcc and clang
	@sh tools/warnings.sh

format: ## format the C++ code
	@find src tests/cpp \( -name '*.cpp' -o -name '*.h' -o -name '*.inc' \) ! -name 'RcppExports.cpp' ! -path 'src/units/*' \
	  -exec clang-format -i {} +

sanitize: ## run core and registry tests under sanitizers, and fuzz for a minute
	@$(MAKE) cpptest SAN=address,undefined T='$(T)'
	@$(MAKE) fuzz

sanitizer: sanitize ## run these and the R tests under sanitizers (slow)
	@sh tools/sanitize.sh $(T)

valgrind: deps install ## run the R tests under valgrind (slow)
	@sh tools/valgrind.sh $(T)

torture: deps install ## run the R tests with frequent garbage collection (slow)
	@Rscript tools/torture.R $(T)

clean: ## delete built files (not the installed package)
	rm -rf .build inst/mpi src/*.so src/*.dll src/*.mk
	find src -name '*.o' -exec rm -f {} +
