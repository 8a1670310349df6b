#!/bin/sh
# Installs the package into R's first library (or the user's, if that is not writable) if anything
# has changed. Objects are kept in src/, so that only changes are compiled. By default it compiles
# the few units of a source package. RUNHOOKS_OBJECTS=separate compiles each source alone: three
# times the work for a full build, but less after a change of one source.
cd "$(dirname "$0")/.." || exit 1
mkdir -p .build
. tools/compiler.sh

place=$(Rscript -e '
  library <- .libPaths()[1]
  if (file.access(library, 2) != 0) {
    library <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1]][1]
    dir.create(library, recursive = TRUE, showWarnings = FALSE)
  }
  cat(library, R.version.string, sep = "\n")') || exit 1
lib=$(echo "$place" | head -n 1)

# Prints a checksum of the sources, R, the flags, and the installed package, because another tree
# may install there too.
state() {
  {
    echo "$place $CXX17 $R_MAKEVARS_USER"
    for part in DESCRIPTION NAMESPACE R src inst man data; do
      [ -e "$part" ] && find "$part" -type f ! -name '*.o' ! -name '*.so' ! -name '*.mk'
    done | LC_ALL=C sort | tr '\n' '\0' | xargs -0 cksum
    cksum "$lib/runhooks/Meta/package.rds" "$lib/runhooks/libs/"* 2>&1
  } | cksum
}

if [ -f .build/installed ] && [ "$(state)" = "$(cat .build/installed)" ]; then
  echo "install: runhooks in $lib is up to date"
  exit 0
fi

Rscript tools/prepare.R || exit 1

prepare_makevars
kind=$(objects_kind)
prepare_objects "$kind"
missing=$(missing_objects "$kind")
rm -f .build/installed
clear_stale_lock "$lib"
{
  MAKEFLAGS="-j2 --no-print-directory" R_MAKEVARS_USER="$PWD/.build/Makevars" \
    R CMD INSTALL --no-multiarch --library="$lib" . 2>&1
  echo $? > .build/status
} | progress install "$missing" .build/install.log
if [ "$(cat .build/status)" != 0 ]; then
  # Shows the compiler's errors, or else the last lines.
  found=$(grep -A 4 '[Ee]rror[: ]' .build/install.log | head -n 60)
  echo "${found:-$(tail -n 30 .build/install.log)}"
  exit 1
fi
state > .build/installed
