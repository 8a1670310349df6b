#!/bin/sh
# The source package (`check.sh build`), and R CMD check --as-cran of it (`check.sh check`), all
# under .build/.
cd "$(dirname "$0")/.." || exit 1
what=$1
mkdir -p .build/check
Rscript tools/prepare.R || exit 1
package=$(sed -n 's/^Package: *//p' DESCRIPTION)
version=$(sed -n 's/^Version: *//p' DESCRIPTION)
tarball=.build/${package}_$version.tar.gz

# ccache for the two compilations ahead
. tools/compiler.sh
write_makevars .build/check/Makevars
export R_MAKEVARS_USER="$PWD/.build/check/Makevars" MAKEFLAGS=-j2

rm -f "$tarball"
copy_sources .build/source
(cd .build && R CMD build source) || exit 1
[ "$what" = check ] || exit 0

# Debian's R compiles with -g; without that, the size of libs that the check judges is the code's.
# -S keeps the symbols, in which the check looks for R_registerRoutines and for printf.
export R_STRIP_SHARED_LIB="strip -S"
options="--as-cran --install-args=--strip"
# the check of the clock asks a server on the net, and says nothing of the package
export _R_CHECK_SYSTEM_CLOCK_=FALSE
# without CRAN the checks that ask it would find that it is not there, and what `Enhances` names nowhere
if ! Rscript -e 'curlGetHeaders("https://CRAN.R-project.org", timeout = 10L)' > /dev/null 2>&1; then
  echo "check: CRAN does not answer, so links and packages are not looked up there"
  export _R_CHECK_CRAN_INCOMING_REMOTE_=FALSE _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=TRUE
fi
if ! command -v pdflatex > /dev/null 2>&1; then
  echo "check: no pdflatex, so the PDF manual is not checked"
  options="$options --no-manual"
fi
# where no TZ says it, R asks systemd for the time zone, whose absence would be a remark on us
TZ=${TZ:-UTC} R CMD check $options --output=.build/check "$tarball"
status=$?
log=.build/check/$package.Rcheck/00check.log
echo "== what is not OK in $log"
# a note's own lines follow its headline until the next check
awk '/^\* / { show = / (NOTE|WARNING|ERROR)$/ } /^Status:/ { show = 1 } show' "$log"
# notes and warnings of a check do not show in its exit status, but warnings must not go in
grep -q '^Status:.*\(WARNING\|ERROR\)' "$log" && exit 1
exit "$status"
