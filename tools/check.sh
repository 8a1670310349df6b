#!/bin/sh
# Builds the source package (`check.sh build`), and runs R CMD check --as-cran on it (`check.sh
# check`), under .build/.
cd "$(dirname "$0")/.." || exit 1
what=$1
mkdir -p .build/check
Rscript tools/prepare.R || exit 1
package=$(sed -n 's/^Package: *//p' DESCRIPTION)
version=$(sed -n 's/^Version: *//p' DESCRIPTION)
tarball=.build/${package}_$version.tar.gz

# Enables ccache for both compilations.
. tools/compiler.sh
write_makevars .build/check/Makevars
export R_MAKEVARS_USER="$PWD/.build/check/Makevars" MAKEFLAGS=-j2

rm -f "$tarball"
copy_sources .build/source
(cd .build && R CMD build source) || exit 1
[ "$what" = check ] || exit 0

# Debian's R compiles with -g, so strip the library before its size is checked. -S keeps symbols, in
# which the check looks for R_registerRoutines and printf.
export R_STRIP_SHARED_LIB="strip -S"
options="--as-cran --install-args=--strip"
# This check needs a time server.
export _R_CHECK_SYSTEM_CLOCK_=FALSE
# Without access to CRAN, disables checks that would report it as missing.
if ! Rscript -e 'curlGetHeaders("https://CRAN.R-project.org", timeout = 10L)' > /dev/null 2>&1; then
  echo "check: CRAN does not answer, so links and packages are not looked up there"
  export _R_CHECK_CRAN_INCOMING_REMOTE_=FALSE _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=TRUE
fi
if ! command -v pdflatex > /dev/null 2>&1; then
  echo "check: no pdflatex, so the PDF manual is not checked"
  options="$options --no-manual"
fi
# Without TZ, R asks systemd for the time zone, whose absence would be a note.
TZ=${TZ:-UTC} R CMD check $options --output=.build/check "$tarball"
status=$?
log=.build/check/$package.Rcheck/00check.log
echo "== problems in $log"
# The lines of a note follow its headline until the next check.
awk '/^\* / { show = / (NOTE|WARNING|ERROR)$/ } /^Status:/ { show = 1 } show' "$log"
# The exit status ignores notes and warnings, but warnings must not be merged.
grep -q '^Status:.*\(WARNING\|ERROR\)' "$log" && exit 1
exit "$status"
