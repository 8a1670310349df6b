#!/bin/sh
# Everything that `make test` does: deps, install, the core's tests, the R tests. Whatever happens,
# the last line is `N passed, N failed, N skipped`, and failure is the exit status.
# `test.sh [--lint] [part of a test's name]`: the house rules as well; only some tests.
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
# the R tests run even when the core's fail; their counts meet in run_tests.R, which reads the log
${MAKE:-make} cpptest T="$1" 2>&1 | tee .build/cpptest.log
Rscript tools/run_tests.R $lint --core=.build/cpptest.log ${1:+"$1"}
status=$?
# 0 and 1 are run_tests.R's own, after its last line
[ "$status" -le 1 ] || die "the R tests did not finish"
exit "$status"
