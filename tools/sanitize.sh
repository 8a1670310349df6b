#!/bin/sh
# The R tests with the package built under gcc's address and undefined-behaviour sanitizers.
#
# Requirements, given that R itself is a plain C program that is not rebuilt:
# - libasan must be the first library of the process, so it is preloaded. gcc links it shared,
#   clang statically, hence gcc.
# - libstdc++ is preloaded after it: libasan looks for __cxa_throw at its start. An R without ICU
#   does not load it, and the first C++ exception would end in "CHECK failed: real___cxa_throw".
# - libubsan is loaded with our library and needs no preload.
# - detect_leaks=0: R frees little memory at exit, and all of it would be reported.
# - make and the compiler run without the preload, because they have findings themselves. The rest
#   of R CMD INSTALL runs with it, because R loads the package to test the install.
# A finding ends the process, so run_tests.R prints the test file in which R died, and the target
# fails.
cd "$(dirname "$0")/.." || exit 1
gxx=${SANITIZE_CXX:-g++}
asan=$($gxx -print-file-name=libasan.so)
stdcxx=$($gxx -print-file-name=libstdc++.so)
if [ ! -f "$asan" ] || [ ! -f "$stdcxx" ]; then
  echo "sanitize: $gxx has no libasan.so; the R tests were not run under sanitizers"
  exit 1
fi

# A copy, to keep these objects separate from those in src/.
work=$PWD/.build/sanitize
rm -rf "$work"
mkdir -p "$work/runhooks" "$work/lib"
for part in DESCRIPTION NAMESPACE R src inst man data; do
  [ -e "$part" ] && cp -Rp "$part" "$work/runhooks/"
done
find "$work/runhooks/src" \( -name '*.o' -o -name '*.so' \) -exec rm -f {} +

cat > "$work/Makevars" << END
CXX17 = $(command -v ccache) $gxx -fsanitize=address,undefined -fno-sanitize-recover=all
CXX17FLAGS = -g -O1 -fno-omit-frame-pointer -fpic
END
export R_MAKEVARS_USER="$work/Makevars" MAKEFLAGS="-j2 --no-print-directory" CCACHE_NOHASHDIR=true
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=1
export UBSAN_OPTIONS=print_stacktrace=1
export R_LIBS="$work/lib${R_LIBS:+:$R_LIBS}"
export RUNHOOKS_SYMBOLS=yes
export MAKE="env -u LD_PRELOAD ${MAKE:-make}"
export LD_PRELOAD="$asan:$stdcxx"

R CMD INSTALL --no-multiarch --no-docs --library="$work/lib" "$work/runhooks" || exit 1
exec Rscript tools/run_tests.R ${1:+"$1"}
