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
