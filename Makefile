# One word does one thing; CONTRIBUTING.md says when to use which. This file is not part of the source package.
SHELL = /bin/sh
export MAKEFLAGS += --no-print-directory

# --- the core without R: make cpptest [SAN=address,undefined] [T='part of a test name']
SAN =
BUILD = .build/cpp$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma = ,
CXX_LAUNCHER = $(shell command -v ccache)
CPP_FLAGS = -std=c++17 -O2 -g -Wall -Wextra -Wno-unknown-pragmas -Isrc -Itests/cpp -fopenmp -MMD -MP \
  $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CORE_SOURCES = $(filter-out src/r_%.cpp src/RcppExports.cpp,$(wildcard src/*/*.cpp))
TEST_SOURCES = $(wildcard tests/cpp/*.cpp)
CPP_OBJECTS = $(patsubst %.cpp,$(BUILD)/%.o,$(CORE_SOURCES) $(TEST_SOURCES))

$(BUILD)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX_LAUNCHER) $(CXX) $(CPP_FLAGS) -c $< -o $@

$(BUILD)/runhooks_tests: $(CPP_OBJECTS)
	$(CXX) $(CPP_FLAGS) $^ -o $@ -lz

.PHONY: cpptest
cpptest:
	@$(MAKE) -s -j2 $(BUILD)/runhooks_tests
	RUNHOOKS_GOLDEN=$(CURDIR)/tests/testthat/golden $(BUILD)/runhooks_tests $(T)

-include $(CPP_OBJECTS:.o=.d)
