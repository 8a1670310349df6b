#!/bin/sh
# Tests that take too long for each change: long tests at full length on separate objects, then the
# suite on the units of an install. Both must pass, with the same number of core tests. One of the
# runs uses is.atomic() of R 4.4 (tests/testthat/helper-is_atomic.R). Then the R tests run in other
# locales.
cd "$(dirname "$0")/.." || exit 1
mkdir -p .build
status=0
for kind in separate units; do
  echo "== nightly: $kind objects"
  # The installed package has the other kind of objects.
  rm -f .build/installed
  nightly=$([ "$kind" = separate ] && echo true)
  RUNHOOKS_OBJECTS=$kind RUNHOOKS_NIGHTLY=$nightly RUNHOOKS_IS_ATOMIC_R44=$nightly \
    sh tools/test.sh || status=1
  sed -n 's/^core: //p' .build/cpptest.log > ".build/core-$kind"
done
cmp .build/core-separate .build/core-units || status=1
for locale in C tr_TR.UTF-8 de_DE.ISO-8859-1 ja_JP.eucJP; do
  echo "== nightly: $locale"
  LC_ALL=$locale LANGUAGE=en Rscript tools/run_tests.R || status=1
done
exit $status
