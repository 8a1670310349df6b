#!/bin/sh
# Builds the core and its tests for other platforms and runs them: arm64 by qemu, Windows by wine,
# clang with libc++ natively. Platforms without an emulator are only compiled. Prints a table; the
# exit status is 1 if anything failed. `platforms.sh [target ...]`.
cd "$(dirname "$0")/.." || exit 1
work=.build/platforms
mkdir -p "$work"
: > "$work/table"
export RUNHOOKS_OBJECTS=units RUNHOOKS_GOLDEN="$PWD/tests/testthat/golden"
# wine's files go to the build folder instead of the home folder.
export WINEPREFIX="$PWD/$work/wine" WINEDEBUG=-all
targets=${*:-arm64 windows libcxx macos musl}

# Required files of each target, and the Debian packages that contain them.
needed() {
  case $1 in
    arm64)
      echo "bin/aarch64-linux-gnu-g++ g++-aarch64-linux-gnu"
      echo "bin/qemu-aarch64-static qemu-user-static"
      echo "lib/aarch64-linux-gnu/libz.a zlib1g-dev:arm64"
      ;;
    windows)
      echo "bin/x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix"
      echo "x86_64-w64-mingw32/lib/libz.a libz-mingw-w64-dev"
      echo "lib/wine/wine64 wine64"
      echo "bin/wine wine"
      ;;
    libcxx) echo "lib/x86_64-linux-gnu/libc++abi.so.1 libc++abi1" ;;
    musl) echo "include/x86_64-linux-musl/stdio.h musl-dev" ;;
  esac
  case $1 in
    libcxx | macos | musl)
      echo "bin/clang++ clang"
      echo "lib/x86_64-linux-gnu/libc++.so libc++-dev"
      ;;
  esac
}
missing() {
  needed "$1" | while read -r file package; do [ -e "/usr/$file" ] || echo "$package"; done
}

install_missing() {
  wanted=$(for target in $targets; do missing "$target"; done | sort -u)
  [ -n "$wanted" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 0
  echo "platforms: installing" $wanted
  case $wanted in *:arm64*) dpkg --add-architecture arm64 ;; esac
  apt-get update > "$work/apt.log" 2>&1
  for package in $wanted; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" \
      >> "$work/apt.log" 2>&1 || echo "platforms: $package cannot be downloaded, see $work/apt.log"
  done
}

row() { printf '%-8s %s\n' "$1:" "$2" >> "$work/table"; }

build() { # target, compiler, flags, libraries
  ${MAKE:-make} -s -j2 TARGET="$1" CXX="$2" TARGET_FLAGS="$3" TARGET_LIBS="$4" \
    ".build/cpp-$1/runhooks_tests" && return
  row "$1" "does not build"
  return 1
}

# Prints the output of the named tests if they completed; `limit` is in seconds.
run_group() { # names, runner ...
  names=$1
  shift
  timeout -k 10 "$limit" "$@" "$program" $(for name in $names; do echo "=$name"; done) \
    < /dev/null 2> "$work/errors" | tr -d '\r' > "$work/said"
  grep -q '^core: [0-9]* passed' "$work/said" && cat "$work/said"
}

# Runs groups of tests. If a group crashes or hangs, runs its tests one by one.
run_tests() { # target, runner ...
  target=$1 limit=300
  shift
  export RUNHOOKS_TEST_RUNNER="$*"
  program=.build/cpp-$target/runhooks_tests
  [ -e "$program" ] || program=$program.exe # mingw adds the ending
  log=$work/$target.log
  timeout 60 "$@" "$program" --list < /dev/null 2> "$work/errors" | tr -d '\r' > "$work/names"
  xargs -n 20 < "$work/names" | while read -r group; do
    run_group "$group" "$@" && continue
    for name in $group; do
      run_group "$name" "$@" || echo "FAILED $name: it crashed, or took $limit seconds"
    done
  done > "$log"
  grep '^FAILED' "$log"
  failed=$(grep -c '^FAILED' "$log")
  passed=$(sed -n 's/^core: \([0-9]*\) passed.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
  not_run=$(grep -c '^NOT RUN' "$log")
  reasons=$(sed -n 's/^NOT RUN [^:]*: //p' "$log" | sort | uniq -c | sed 's/^ *//' | paste -s -d , |
    sed 's/,/, /g')
  row "$target" "$passed passed, $failed failed, $not_run not run${reasons:+ ($reasons)}"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

# Checks the syntax of sources without linking or running them.
read_sources() { # target, why no more, sources, compiler and flags
  target=$1 why=$2 sources=$3
  shift 3
  : > "$work/$target.log"
  bad=0 good=0
  for source in $sources; do
    if "$@" -std=c++17 -Isrc -fsyntax-only "$source" >> "$work/$target.log" 2>&1; then
      good=$((good + 1))
    else
      bad=$((bad + 1))
      echo "FAILED $source for $target, see $work/$target.log"
    fi
  done
  row "$target" "$good files compile, $bad do not; not linked and not run ($why)"
  [ "$bad" = 0 ] && [ "$good" -gt 0 ]
}

platform() {
  lacks=$(missing "$1" | tr '\n' ' ')
  if [ -n "$lacks" ]; then
    row "$1" "not tried, these packages are missing: $lacks"
    return 1
  fi
  case $1 in
    arm64)
      # Links statically, because mixing one libc's dynamic loader with another's threads hangs.
      build arm64 aarch64-linux-gnu-g++ -static "" && run_tests arm64 qemu-aarch64-static
      ;;
    windows)
      build windows x86_64-w64-mingw32-g++-posix \
        "-static -Wa,-muse-unaligned-vector-move -DRUNHOOKS_UNALIGNED_MOVES" "" &&
        run_tests windows wine
      ;;
    libcxx) build libcxx clang++ -stdlib=libc++ "" && run_tests libcxx env ;;
    macos)
      # Apple's SDK is not freely available.
      read_sources macos "the branches for Apple, with glibc's headers and tests/platforms/" \
        "$(grep -lE '__APPLE__|__linux__' -r src --include=*.cpp)" \
        clang++ -Itests/platforms -include apple.h
      ;;
    musl)
      # zlib's headers do not depend on the libc.
      mkdir -p "$work/zlib" && cp /usr/include/zlib.h /usr/include/*-linux-gnu/zconf.h /usr/include/zconf.h \
        "$work/zlib" 2> /dev/null
      read_sources musl "no C++ library for it" \
        "$(ls src/base/*.cpp src/io/files/*.cpp) $(grep -l __linux__ -r src/cluster src/tensor)" \
        clang++ --target=x86_64-linux-musl -nostdlibinc -nostdinc++ -D_LIBCPP_HAS_MUSL_LIBC \
        -isystem /usr/include/c++/v1 -isystem /usr/include/x86_64-linux-musl -isystem "$work/zlib"
      ;;
    *) row "$1" "is no target" && return 1 ;;
  esac
}

install_missing
status=0
for name in $targets; do platform "$name" || status=1; done
cat "$work/table"
exit $status
