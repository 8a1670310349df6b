#!/bin/sh
# Compiles the core's objects in src/ with the rules, flags and names of R CMD INSTALL, which then
# finds them done: the core's tests and the package's library are made of the same objects.
cd "$(dirname "$0")/.." || exit 1
mkdir -p .build
. tools/compiler.sh

Rscript tools/prepare.R || exit 1
prepare_makevars
kind=$(objects_kind)
prepare_objects "$kind"
cd src || exit 1
# objects of layers only: the bindings come with the install
if [ "$kind" = units ]; then
  sources=$(ls units/*.cpp kernels/*.cpp | grep -v '^units/r_')
else
  sources=$(find . -mindepth 2 -name '*.cpp' ! -path './r/*' ! -path './units/*' | sed 's,^[.]/,,')
fi
home=$(R RHOME)
# what R CMD INSTALL makes of DESCRIPTION's LinkingTo; the core uses Eigen of it
CLINK_CPPFLAGS="-I'$(Rscript -e 'cat(system.file("include", package = "RcppEigen"))')'"
export CLINK_CPPFLAGS
exec R CMD make -s -j2 --no-print-directory -f Makevars -f "$home/etc${R_ARCH}/Makeconf" \
  -f ../.build/Makevars CXX='$(CXX17) $(CXX17STD)' CXXFLAGS='$(CXX17FLAGS)' \
  CXXPICFLAGS='$(CXX17PICFLAGS)' $(echo "$sources" | sed 's/[.]cpp$/.o/' | LC_ALL=C sort)
