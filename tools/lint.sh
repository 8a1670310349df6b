#!/bin/sh
# Checks the house rules, tests the tools that check them, and detects outdated generated files. The
# last line counts the tools: `lint: N passed, N failed`, after a line `FAILED <tool>` for each
# failure.
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
run() {
  name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $name"; fi
}

# Some checks need the kernels' objects and the installed package.
sh tools/install.sh > .build/lint_install.log 2>&1 || {
  tail -n 20 .build/lint_install.log
  failed=1
  echo "FAILED install"
}
for tool in test_tools 'objects --check' check_units check_inside 'datasets --check' check_layers check_modules check_rules check_comments check_prose check_callers check_pages check_generated; do
  set -- $tool
  run "$1" Rscript "tools/$1.R" $2
done
run check_kernels Rscript tools/check_kernels.R src/kernels
Rscript tools/lintr.R
echo "lint: $passed passed, $failed failed"
[ "$failed" = 0 ]
