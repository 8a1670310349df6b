#!/bin/sh
# Costs of a source install without a compiler cache: sh bench/install.sh [commit]. Measures
# processor and wall seconds, and the memory of the largest compiler process, on one core and on
# two. With a commit, compares it with this tree.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
work=$(mktemp -d)
commit=$1
trap 'rm -rf "$work"; [ -z "$commit" ] || git -C "$root" worktree prune' EXIT

# The source package of the tree $1 under the name $2.
pack() {
  mkdir -p "$work/$2/library"
  (cd "$work/$2" && R CMD build --no-build-vignettes --no-manual "$1" > build.log 2>&1) ||
    { tail "$work/$2/build.log"; exit 1; }
}

install() {
  R_MAKEVARS_USER=$work/Makevars CCACHE_DISABLE=1 MAKEFLAGS=$2 MAKEFILES= \
    /usr/bin/time -f '%U %S %e %M' -o "$work/time" \
    R CMD INSTALL --library="$work/$1/library" "$work/$1"/runhooks_*.tar.gz > "$work/install.log" 2>&1 ||
    { tail "$work/install.log"; exit 1; }
  awk -v what="$1, make $2" '{
    printf "%-24s %6.0f s of the processor, %5.0f s, largest process %4.0f MB\n", what, $1 + $2, $3, $4 / 1024
  }' "$work/time"
}

# Ignores our settings and the user's.
printf 'CXX17 = g++\nCC = gcc\n' > "$work/Makevars"
pack "$root" this
kinds=this
if [ -n "$commit" ]; then
  git worktree add --quiet --detach "$work/tree" "$commit" || exit 1
  pack "$work/tree" "$commit"
  kinds="$commit this"
fi
for jobs in ${JOBS:--j1 -j2}; do
  for kind in $kinds; do install "$kind" "$jobs"; done
done
ls -l "$work"/this/library/runhooks/libs/*.so | awk '{ printf "shared object: %.1f MB\n", $5 / 1e6 }'
