#!/bin/sh
# Runs the R tests under valgrind's memcheck, which detects reads of uninitialized memory, unlike
# address sanitizers. Errors make the exit status 99. There is no suppression file, because R 4.2
# and our dependencies have no findings.
cd "$(dirname "$0")/.." || exit 1
if ! command -v valgrind > /dev/null 2>&1; then
  echo "valgrind: not installed"
  exit 1
fi
log=$PWD/.build/valgrind.log
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
# One thread: valgrind runs one at a time, and spinning threads would starve the others.
export RUNHOOKS_SEED="${RUNHOOKS_SEED:-1}" NOT_CRAN="${NOT_CRAN:-true}" OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
R --no-save --no-restore --no-init-file --no-echo \
  -d "valgrind --tool=memcheck --leak-check=no --track-origins=yes --num-callers=30 \
--error-exitcode=99 --log-file=$log" \
  -f tools/run_tests.R --args --child "$folder/place" "$folder/counts.rds" "$@"
status=$?
cat "$log"
if [ -f "$folder/counts.rds" ]; then
  Rscript -e '
    source("tools/run_tests.R")
    counts <- readRDS(commandArgs(TRUE))$counts
    cat(last_line(counts), "\n", sep = "")
    quit(status = as.integer(counts[["failed"]] > 0))' "$folder/counts.rds" ||
    [ "$status" != 0 ] || status=1
else
  echo "valgrind: R died in $(cat "$folder/place" 2> /dev/null || echo 'no test file yet')"
fi
exit "$status"
