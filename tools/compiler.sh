# Sourced by the tools that compile the package.

# All trees share what ccache has: a tree's folder shows in debug information alone.
export CCACHE_NOHASHDIR=true

# write_makevars <file> [flags of the compiler] The user's own Makevars first, then what we put before
# and behind his compiler: ccache, and perhaps flags.
write_makevars() {
  cat > "$1" << END
-include ${R_MAKEVARS_USER:-$HOME/.R/Makevars}
CXX17 := \$(if \$(findstring ccache,\$(CXX17)),,$(command -v ccache)) \$(CXX17) $2
END
}

# The Makevars of this tree, and no objects that another compiler or other flags made: make sees no
# change of them.
prepare_makevars() {
  write_makevars .build/Makevars
  flags=$({ R RHOME; R --version | head -n 1
    cat .build/Makevars "${R_MAKEVARS_USER:-$HOME/.R/Makevars}"
    grep '^[A-Z_]*\(FLAGS\|STD\) *=' src/Makevars; } 2> /dev/null | cksum)
  if [ "$flags" != "$(cat .build/flags 2> /dev/null)" ]; then
    find src -name '*.o' -exec rm -f {} +
    rm -f src/*.so src/*.dll
    echo "$flags" > .build/flags
  fi
}

# `units` or `separate`: what the environment asks for, what this tree was built with last, or units.
objects_kind() {
  echo "${RUNHOOKS_OBJECTS:-$(cat .build/objects 2> /dev/null || echo units)}"
}

# What make reads before Makevars: headers count, and, where $1 is `separate`, each source is an
# object of its own. A library of the other kind is linked anew.
prepare_objects() {
  if [ "$1" != "$(cat .build/objects 2> /dev/null)" ]; then
    rm -f src/*.so src/*.dll
    echo "$1" > .build/objects
  fi
  MAKEFILES=deps.mk
  [ "$1" = units ] || MAKEFILES="deps.mk separate.mk"
  export MAKEFILES
}

# Of what R CMD INSTALL says its own lines, and in place of the compiler's `what: n of N: source`, N being
# what is compiled for the first time. All of it goes to the file $3.
progress() {
  n=0
  : > "$3"
  while IFS= read -r line; do
    printf '%s\n' "$line" >> "$3"
    case $line in
      *" -c "*.cpp" -o "*)
        source=${line##* -c }
        n=$((n + 1))
        place=
        [ "$2" -lt "$n" ] || place="$n of $2: "
        echo "$1: $place${source%% *}"
        ;;
      "* "* | "** "* | ERROR* | Error*) printf '%s\n' "$line" ;;
    esac
  done
}

# How many of the objects of $1 (`units` or `separate`) there are none of yet.
missing_objects() {
  if [ "$1" = units ]; then
    sources=$(cd src && ls units/*.cpp kernels/*.cpp RcppExports.cpp)
  else
    sources=$(cd src && find . -name '*.cpp' ! -path './units/*')
  fi
  for source in $sources; do
    [ -f "src/${source%.cpp}.o" ] || echo "$source"
  done | wc -l
}

# A killed install leaves its lock in the library $1, and every later one fails: the lock of this tree
# goes when nobody installs from it.
clear_stale_lock() {
  lock=$1/00LOCK-$(basename "$PWD")
  [ -d "$lock" ] || return 0
  if ps -eo args= | grep -q "[n]extArg--library=$1nextArg"; then
    echo "install: another install holds $lock"
  else
    echo "install: removing $lock, which a killed install left"
    rm -rf "$lock"
  fi
}

# The sources of this tree in the new folder $1, without what was built of them: R CMD build would
# install with objects in subfolders as they lie there, which its rules take for made of today's sources.
copy_sources() {
  rm -rf "$1"
  mkdir -p "$1"
  tar -cf - --exclude=./.build --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.dll' \
    --exclude='./src/*.mk' . | tar -xf - -C "$1"
}
