#!/bin/sh
# How long a source install takes, on as many cores as MAKEFLAGS says (default -j2), without a
# compiler cache: sh bench/install.sh
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/library"
printf 'CXX17 = g++\nCC = gcc\n' > "$work/Makevars"
R CMD build --no-build-vignettes --no-manual . > "$work/build.log" 2>&1 || exit 1
mv runhooks_*.tar.gz "$work"
start=$(date +%s)
R_MAKEVARS_USER=$work/Makevars MAKEFLAGS=${MAKEFLAGS:--j2} \
  R CMD INSTALL --library="$work/library" "$work"/runhooks_*.tar.gz > "$work/install.log" 2>&1 ||
  { tail "$work/install.log"; exit 1; }
echo "source install, ${MAKEFLAGS:--j2}: $(($(date +%s) - start)) s (budget: 300 s)"
ls -l "$work"/library/runhooks/libs/*.so | awk '{ printf "shared object: %.1f MB\n", $5 / 1e6 }'
