# Writes src/Makevars and src/Makevars.win from the folders of src/: `Rscript tools/objects.R
# [--check]`. R CMD check wants explicit lists and no GNU extensions; this keeps them from being a
# hand edit.
source("tools/common.R")
source("tools/layers.R")

# One make variable, wrapped at 100 columns with continuations.
make_list <- function(name, words) {
  lines <- strwrap(paste(words, collapse = " "), width = 100 - nchar(name) - 5)
  if (!length(lines)) return(paste(name, "="))
  indent <- strrep(" ", nchar(name) + 3)
  lines <- paste0(c(paste(name, "= "), rep(indent, length(lines) - 1)), lines)
  paste0(lines, c(rep(" \\", length(lines) - 1), ""))
}

# The objects of each list: layers in their order, then the bindings.
object_lists <- function(root) {
  objects <- lapply(names(layers), function(layer) {
    folder <- file.path(root, "src", layer)
    sources <- sort(list.files(folder, "[.]cpp$", recursive = TRUE), method = "radix")
    if (length(sources)) file.path(layer, sub("[.]cpp$", ".o", sources))
  })
  names(objects) <- paste0("O_", toupper(names(layers)))
  bindings <- sub("^src/(.*)[.]cpp$", "\\1.o", binding_files(root))
  if (length(bindings)) objects$O_R <- c("RcppExports.o", bindings)
  Filter(length, objects)
}

# zlib is linked when DESCRIPTION's SystemRequirements names it.
needs_zlib <- function(root) {
  fields <- read.dcf(file.path(root, "DESCRIPTION"), "SystemRequirements")
  any(grepl("\\bzlib\\b", fields))
}

# R's own flags have -g where a distribution built it, and its install does not strip: 220 MB of
# debug information around 6 MB. Symbols stay, in which R CMD check looks; RUNHOOKS_SYMBOLS=yes in
# the environment keeps all.
strip_rules <- c(
  ".PHONY: all debug-free",
  "all: debug-free",
  "debug-free: $(SHLIB)",
  "\t@if test -z \"$(RUNHOOKS_SYMBOLS)\" && command -v strip > /dev/null; then \\",
  "\t  strip -S $(SHLIB) || true; \\",
  "\tfi"
)

makevars <- function(root) {
  objects <- object_lists(root)
  lists <- Map(make_list, names(objects), objects)
  c(
    "# Written by tools/objects.R from the folders of src/; do not edit.",
    "CXX_STD = CXX17",
    "PKG_CPPFLAGS = -I.",
    # threads are a library of their own where glibc is older than 2.34
    paste0("PKG_LIBS = -pthread", if (needs_zlib(root)) " -lz"),
    "",
    strip_rules,
    "",
    unlist(lists, use.names = FALSE),
    "",
    make_list("OBJECTS", sprintf("$(%s)", names(objects)))
  )
}

# Which of the two files differ from what the folders say.
stale_makevars <- function(root) {
  wanted <- makevars(root)
  files <- c("src/Makevars", "src/Makevars.win")
  Filter(function(file) {
    !file.exists(file.path(root, file)) || !identical(read_lines(root, file), wanted)
  }, files)
}

write_makevars <- function(root) {
  stale <- stale_makevars(root)
  for (file in stale) writeLines(makevars(root), file.path(root, file))
  stale
}

run_tool(function(arguments) {
  if ("--check" %in% arguments) {
    stale <- stale_makevars(".")
    message <- "differs from the folders of src/: run `Rscript tools/objects.R` and commit it"
    found <- violations(stale, rep(1L, length(stale)), "objects", message)
    return(report("objects", found, "src/Makevars agree with the folders of src/"))
  }
  for (file in write_makevars(".")) cat("objects: rewrote", file, "\n")
  0L
}, sys.nframe())
