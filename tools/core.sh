#!/bin/sh
# Compiles the core's objects in src/ with the rules, flags and names of R CMD INSTALL, so that the
# core's tests and the package share them.
cd "$(dirname "$0")/.." || exit 1
mkdir -p .build
. tools/compiler.sh

Rscript tools/prepare.R || exit 1
prepare_makevars
kind=$(objects_kind)
prepare_objects "$kind"
cd src || exit 1
# Objects of layers only; the install compiles the bindings.
if [ "$kind" = units ]; then
  sources=$(ls units/*.cpp kernels/*.cpp | grep -v '^units/r_')
else
  sources=$(find . -mindepth 2 -name '*.cpp' ! -path './r/*' ! -path './units/*' | sed 's,^[.]/,,')
fi
home=$(R RHOME)
# Include path of DESCRIPTION's LinkingTo; the core needs Eigen.
CLINK_CPPFLAGS="-I'$(Rscript -e 'cat(system.file("include", package = "RcppEigen"))')'"
export CLINK_CPPFLAGS
exec R CMD make -s -j2 --no-print-directory -f Makevars -f "$home/etc${R_ARCH}/Makeconf" \
  -f ../.build/Makevars CXX='$(CXX17) $(CXX17STD)' CXXFLAGS='$(CXX17FLAGS)' \
  CXXPICFLAGS='$(CXX17PICFLAGS)' $(echo "$sources" | sed 's/[.]cpp$/.o/' | LC_ALL=C sort)
