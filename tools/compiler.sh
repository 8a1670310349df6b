# Functions for the tools that compile the package.

# Trees can share ccache entries, because a tree's folder affects debug information only.
export CCACHE_NOHASHDIR=true

# write_makevars <file> [compiler flags]: includes the user's Makevars, then adds ccache and flags
# to the compiler.
write_makevars() {
  cat > "$1" << END
-include ${R_MAKEVARS_USER:-$HOME/.R/Makevars}
CXX17 := \$(if \$(findstring ccache,\$(CXX17)),,$(command -v ccache)) \$(CXX17) $2
END
}

# Prepares the Makevars of this tree. Removes objects of another compiler or other flags, whose
# change make does not detect.
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

# Prints `units` or `separate`: RUNHOOKS_OBJECTS, the kind of the last build, or units.
objects_kind() {
  echo "${RUNHOOKS_OBJECTS:-$(cat .build/objects 2> /dev/null || echo units)}"
}

# Sets the files that make reads before Makevars: header dependencies and, if $1 is `separate`, a
# rule per source. Relinks the library if the kind changes.
prepare_objects() {
  if [ "$1" != "$(cat .build/objects 2> /dev/null)" ]; then
    rm -f src/*.so src/*.dll
    echo "$1" > .build/objects
  fi
  MAKEFILES=deps.mk
  [ "$1" = units ] || MAKEFILES="deps.mk separate.mk"
  export MAKEFILES
}

# Filters the output of R CMD INSTALL $1: shows its lines, and replaces compiler commands by `$1: n
# of $2: source`, where $2 is the number of missing objects. Writes everything to the file $3.
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

# Prints the number of missing objects of kind $1 (`units` or `separate`).
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

# A killed install leaves its lock in the library $1, which makes later installs fail. Removes the
# lock of this tree if no install is running.
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

# Copies the sources of this tree to the new folder $1 without compiled files. R CMD build would
# take objects in subfolders as up to date.
copy_sources() {
  rm -rf "$1"
  mkdir -p "$1"
  tar -cf - --exclude=./.build --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.dll' \
    --exclude='./src/*.mk' . | tar -xf - -C "$1"
}
