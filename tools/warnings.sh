#!/bin/sh
# Checks all of src/ and tests/cpp with gcc and clang with all warnings, without generating code.
# Reads each source and each unit, because gcc gives some warnings only for included sources. Any
# warning fails. Sources that use R are also read as C++20, the default of R 4.6. A missing compiler
# is reported; at least one is required.
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
  # R's table of routines requires the function casts that Rcpp generates.
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
