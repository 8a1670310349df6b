#!/bin/sh
# Builds the library for tests of internals (tests/inside/) against the installed package. The last
# line of the output is its path.
cd "$(dirname "$0")/.." || exit 1
mkdir -p .build/inside
. tools/compiler.sh
write_makevars .build/inside/Makevars
package=$(Rscript -e 'cat(system.file(package = "runhooks"))')
place=.build/inside
library=$PWD/$place/inside.so
object=$place/testing.o
bin=${R_HOME:+$R_HOME/bin/} # the R that runs the tests
include() { "${bin}Rscript" -e 'cat(system.file("include", package = commandArgs(TRUE)))' "$1"; }
newest=$(find src tests/inside \( -name '*.h' -o -path 'tests/inside/*' \) -newer "$object" 2> /dev/null | head -n 1)
if [ ! -f "$object" ] || [ -n "$newest" ]; then
  cat > $place/rules.mk << 'END'
$(OUT): tests/inside/testing.cpp
	$(CXX17) $(CXX17STD) -I"$(R_INCLUDE_DIR)" -DNDEBUG -Isrc -I"$(RCPP)" $(CPPFLAGS) $(CXX17PICFLAGS) $(CXX17FLAGS) -c $< -o $@
END
  "${bin}R" CMD make -s --no-print-directory -B -f $place/rules.mk -f "$("${bin}R" RHOME)/etc${R_ARCH}/Makeconf" \
    -f $place/Makevars OUT="$object" RCPP="$(include Rcpp)" "$object" >&2 || exit 1
fi
if [ ! -f "$library" ] || [ "$object" -nt "$library" ] || [ "$package" != "$(cat $place/package 2> /dev/null)" ]; then
  $("${bin}R" CMD config CXX17) -shared -o "$library" "$object" "$package/libs/runhooks.so" || exit 1
  echo "$package" > $place/package
fi
echo "$library"
