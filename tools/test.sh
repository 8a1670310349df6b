#!/bin/sh
# Implements `make test`: deps, install, the core's tests, the R tests. The last line is always `N
# passed, N failed, N skipped`, and the exit status reports failures.
# `test.sh [--lint] [part of a test's name]`: also checks the house rules; runs only some tests.
cd "$(dirname "$0")/.." || exit 1

lint=
if [ "$1" = --lint ]; then
  lint=--lint=.build/lint.log
  shift
fi

die() {
  echo "test: $*" >&2
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}

sh tools/deps.sh || die "the dependencies could not be installed"
sh tools/install.sh || die "the package does not install"
[ -z "$lint" ] || sh tools/lint.sh 2>&1 | tee .build/lint.log
# The R tests run even if the core's tests fail; run_tests.R reads the log to add the counts.
${MAKE:-make} cpptest T="$1" 2>&1 | tee .build/cpptest.log
Rscript tools/run_tests.R $lint --core=.build/cpptest.log ${1:+"$1"}
status=$?
# run_tests.R exits with 0 or 1 after its last line.
[ "$status" -le 1 ] || die "the R tests did not finish"
exit "$status"
