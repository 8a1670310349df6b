#!/bin/sh
# Reads all of src/ and tests/cpp with gcc and with clang, all warnings on, and compiles nothing: each
# source, and each unit, for gcc has warnings that it gives only where a source is included. Any warning
# fails. What sees R is read as C++20, too, R's own default from 4.6 on. A compiler that is not installed is said to be missing; one must be there.
cd "$(dirname "$0")/.." || exit 1
include() { Rscript -e 'cat(system.file("include", package = commandArgs(TRUE)))' "$1"; }
flags="-std=c++17 -fsyntax-only -Wall -Wextra -Wno-unknown-pragmas -Isrc -Itests/cpp \
  -isystem $(include Rcpp) -isystem $(include RcppEigen) -isystem $(Rscript -e 'cat(R.home("include"))')"
newest() {
  for compiler in "$1" "$1-19" "$1-18" "$1-17" "$1-16" "$1-15" "$1-14" "$1-13"; do
    command -v "$compiler" && return
  done
}

status=0
found=
for name in g++ clang++; do
  compiler=$(newest "$name")
  [ -n "$compiler" ] || { echo "warnings: $name is not installed"; continue; }
  found=yes
  log=.build/warnings-$name.log
  mkdir -p .build
  # R's table of routines asks for the casts of functions that Rcpp writes there
  "$compiler" $flags -Wno-cast-function-type src/RcppExports.cpp > "$log" 2>&1
  code=$?
  find src tests/cpp -name '*.cpp' ! -name RcppExports.cpp -print0 | LC_ALL=C sort -z |
    xargs -0 -n 8 -P 2 "$compiler" $flags >> "$log" 2>&1 || code=1
  find src/r -name '*.cpp' -print0 | LC_ALL=C sort -z |
    xargs -0 -n 8 -P 2 "$compiler" $flags -std=c++20 >> "$log" 2>&1 || code=1
  count=$(grep -c 'warning:\|error:' "$log")
  if [ "$code" != 0 ] || [ "$count" != 0 ]; then
    cat "$log"
    echo "warnings: $compiler finds $count"
    status=1
  else
    echo "warnings: $compiler finds none"
  fi
done
[ -n "$found" ] || exit 1
exit $status
