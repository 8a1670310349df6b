# Sourced by the tools that compile the package. write_makevars <file> [flags of the compiler] The
# user's own Makevars first, then what we put before and behind his compiler: ccache, and perhaps
# flags.
write_makevars() {
  cat > "$1" << END
-include ${R_MAKEVARS_USER:-$HOME/.R/Makevars}
CXX17 := \$(if \$(findstring ccache,\$(CXX17)),,$(command -v ccache)) \$(CXX17) $2
END
}
