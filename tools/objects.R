# Writes src/units/, src/Makevars and src/Makevars.win from the folders of src/: `Rscript
# tools/objects.R [--check]`. R CMD check wants explicit lists and no GNU extensions; this keeps them
# from being a hand edit. An install compiles units (tools/units.R); who develops has separate
# objects, by src/separate.mk, which is neither committed nor in the tarball.
source("tools/common.R")
source("tools/layers.R")
source("tools/units.R")

# One make variable, wrapped at 100 columns with continuations.
make_list <- function(name, words) {
  lines <- strwrap(paste(words, collapse = " "), width = 100 - nchar(name) - 5)
  if (!length(lines)) return(paste(name, "="))
  indent <- strrep(" ", nchar(name) + 3)
  lines <- paste0(c(paste(name, "= "), rep(indent, length(lines) - 1)), lines)
  paste0(lines, c(rep(" \\", length(lines) - 1), ""))
}

object_of <- function(files) sub("[.]cpp$", ".o", files)

# Groups of units that are compiled with -O1: they build graphs, check arguments and register things,
# which takes the compiler longer than it ever saves. What computes in each step keeps R's level.
cold_groups <- c("nn", "columns", "hooks", "estimators", "r")

is_cold <- function(objects) {
  objects == "RcppExports.o" | sub("^units/(.*)_[0-9]+[.]o$", "\\1", objects) %in% cold_groups
}

# The objects of an install: units, what is compiled apart from them, and the cold ones of both. Of
# an inline function that several objects contain, the linker keeps the first copy; the cold ones
# come last, so that it never is theirs where code of a step has one.
object_lists <- function(root) {
  files <- unit_sources(root)
  units <- object_of(names(all_units(root)))
  apart <- object_of(files[is.na(group_of(root, files))])
  lists <- list(
    O_UNITS = units[!is_cold(units)],
    O_APART = apart[!is_cold(apart)],
    O_COLD = c(units[is_cold(units)], apart[is_cold(apart)])
  )
  Filter(length, lists)
}

# zlib is linked when DESCRIPTION's SystemRequirements names it.
needs_zlib <- function(root) {
  fields <- read.dcf(file.path(root, "DESCRIPTION"), "SystemRequirements")
  any(grepl("\\bzlib\\b", fields))
}

# R's own flags have -g where a distribution built it, and its install does not strip: 220 MB of
# debug information around 6 MB, and a third of the compiler's time. So -g is left out, and what
# libraries bring of it is stripped. Symbols stay, in which R CMD check looks; RUNHOOKS_SYMBOLS=yes in
# the environment keeps all.
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

# R's own rule for any source has its flags; what GNU make has for it (`$<`) is not everywhere.
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
  # what configure.win found out about the assembler
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
    # threads are a library of their own where glibc is older than 2.34; the flags are configure's
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

# Which of the files differ from what the folders say.
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

# Read before Makevars (MAKEFILES), it has make compile each source by itself.
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
