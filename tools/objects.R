# Generates src/units/, src/Makevars and src/Makevars.win from the sources in src/: `Rscript
# tools/objects.R [--check]`. R CMD check requires explicit lists without GNU extensions. An install
# compiles units (tools/units.R). Development builds can compile each source separately, through
# src/separate.mk, which is neither committed nor in the source package.
source("tools/common.R")
source("tools/layers.R")
source("tools/units.R")

# Returns one make variable, wrapped at 100 columns with continuations.
make_list <- function(name, words) {
  lines <- strwrap(paste(words, collapse = " "), width = 100 - nchar(name) - 5)
  if (!length(lines)) return(paste(name, "="))
  indent <- strrep(" ", nchar(name) + 3)
  lines <- paste0(c(paste(name, "= "), rep(indent, length(lines) - 1)), lines)
  paste0(lines, c(rep(" \\", length(lines) - 1), ""))
}

object_of <- function(files) sub("[.]cpp$", ".o", files)

# Groups of units that are compiled with -O1. They build graphs, check arguments and register
# objects, so more optimization does not make them noticeably faster. Code that runs in each step is
# compiled with R's level.
cold_groups <- c("nn", "columns", "hooks", "estimators", "r")

is_cold <- function(objects) {
  objects == "RcppExports.o" | sub("^units/(.*)_[0-9]+[.]o$", "\\1", objects) %in% cold_groups
}

# The objects of an install: units, separately compiled sources, and the cold objects of both kinds.
# Cold objects come last, because the linker keeps the first copy of an inline function, and hot
# code must not use an -O1 copy.
object_lists <- function(root) {
  files <- unit_sources(root)
  units <- object_of(names(all_units(root)))
  separate <- object_of(files[is.na(group_of(root, files))])
  lists <- list(
    O_UNITS = units[!is_cold(units)],
    O_APART = separate[!is_cold(separate)],
    O_COLD = c(units[is_cold(units)], separate[is_cold(separate)])
  )
  Filter(length, lists)
}

# TRUE if DESCRIPTION's SystemRequirements name zlib, which is then linked.
needs_zlib <- function(root) {
  fields <- read.dcf(file.path(root, "DESCRIPTION"), "SystemRequirements")
  any(grepl("\\bzlib\\b", fields))
}

# Distributions often build R with -g and do not strip, which makes the library huge and compilation
# slow. So -g is removed, and debug information of libraries is stripped. Symbols are kept, because
# R CMD check reads them. RUNHOOKS_SYMBOLS=yes keeps everything.
strip_rules <- c(
  ".PHONY: all debug-free",
  "all: debug-free",
  "debug-free: $(SHLIB)",
  "\t@if test -z \"$(RUNHOOKS_SYMBOLS)\" && command -v strip > /dev/null; then \\",
  "\t  strip -S $(SHLIB) || true; \\",
  "\tfi",
  "",
  "CALL = $(CXX) $(ALL_CPPFLAGS) $(ALL_CXXFLAGS)",
  "# The call that `set` was given, without debug information.",
  "COMPILE = test -n \"$(RUNHOOKS_SYMBOLS)\" || for word in \"$$@\"; do \\",
  "    shift; case $$word in -g|-g[0-9]|-ggdb*|-gdwarf*) ;; *) set -- \"$$@\" \"$$word\" ;; esac; \\",
  "  done; echo \"$$*\"; \"$$@\"",
  "# The same with less optimization, for code that no step runs.",
  "COMPILE_COLD = for word in \"$$@\"; do \\",
  "    shift; case $$word in -O2|-O3) word=-O1 ;; esac; set -- \"$$@\" \"$$word\"; \\",
  "  done; $(COMPILE)"
)

# Repeats R's rule for compiling a source, because `$<` is a GNU extension here.
compile_rule <- function(object, flags = "") {
  source <- sub("[.]o$", ".cpp", object)
  c(
    sprintf("%s: %s", object, source),
    sprintf(
      "\t@set -- $(CALL)%s -c %s -o %s; $(%s)",
      flags, source, object, if (is_cold(object)) "COMPILE_COLD" else "COMPILE"
    )
  )
}
compile_rules <- function(objects, windows) {
  # configure.win determines these flags from the assembler.
  is_kernel <- startsWith(objects, "kernels/")
  flags <- ifelse(windows & is_kernel, " `cat kernels.flags 2> /dev/null`", "")
  unlist(Map(compile_rule, objects, flags), use.names = FALSE)
}

makevars <- function(root, file = "src/Makevars") {
  objects <- object_lists(root)
  lists <- Map(make_list, names(objects), objects)
  c(
    "# Written by tools/objects.R from the folders of src/; do not edit.",
    "# Each unit holds many sources, so that an install compiles few.",
    "CXX_STD = CXX17",
    "PKG_CPPFLAGS = -I.",
    # Threads are a separate library in glibc before 2.34. configure writes the flags.
    paste0("PKG_LIBS = -pthread", if (needs_zlib(root)) " -lz", " `cat bound.flags 2> /dev/null`"),
    "",
    strip_rules,
    "",
    unlist(lists, use.names = FALSE),
    "",
    make_list("OBJECTS", sprintf("$(%s)", names(objects))),
    "",
    compile_rules(unlist(objects, use.names = FALSE), endsWith(file, ".win"))
  )
}

# Returns the files that differ from the expected ones.
stale_makevars <- function(root) {
  files <- c("src/Makevars", "src/Makevars.win")
  Filter(function(file) {
    !file.exists(file.path(root, file)) ||
      !identical(read_lines(root, file), makevars(root, file))
  }, files)
}

write_makevars <- function(root) {
  stale <- write_units(root)
  for (file in stale_makevars(root)) {
    writeLines(makevars(root, file), file.path(root, file))
    stale <- c(stale, file)
  }
  stale
}

# Writes a file that make reads before Makevars (variable MAKEFILES). It makes each source a
# separate object.
write_separate <- function(root) {
  path <- file.path(root, "src/separate.mk")
  lines <- make_list("override OBJECTS", object_of(unit_sources(root)))
  if (!file.exists(path) || !identical(readLines(path), lines)) writeLines(lines, path)
}

run_tool(function(arguments) {
  if ("--check" %in% arguments) {
    stale <- c(stale_units("."), stale_makevars("."))
    message <- "differs from the folders of src/: run `Rscript tools/objects.R` and commit it"
    found <- violations(stale, rep(1L, length(stale)), "objects", message)
    return(report("objects", found, "units and Makevars agree with the folders of src/"))
  }
  for (file in write_makevars(".")) cat("objects: rewrote", file, "\n")
  write_separate(".")
  0L
}, sys.nframe())
