# Generates src/units/*.cpp, the files that an install compiles: `Rscript tools/objects.R
# [--check]`. A unit includes sources of one group of layers, so that their headers are read once.
# The length of a unit is limited by the compiler's memory. Sources stay in their unit until it
# grows too long. A new source joins the shortest unit of its group.
source("tools/common.R")
source("tools/layers.R")

# Groups of layers whose sources can share a unit and therefore must not share a file-local name
# (tools/check_units.R). A family that is listed has separate units.
unit_groups <- list(
  ground = c("base", "tensor"), graph = c("graph", "autodiff"), ops = "ops", io = c("io", "import"),
  session = c("session", "control", "cluster"), data = "data", nn = "nn", columns = "columns",
  training = c("training", "trees"), hooks = c("hooks", "monitored"), estimators = "estimators",
  r = "r",
  # Uses Eigen's templates, see uses_eigen().
  linalg = "ops/linalg",
  # In any folder, see is_quiet().
  quiet = character()
)

# The maximum weighted number of lines. A unit of this length takes about 1 GB of the compiler's
# memory.
max_unit_lines <- 3600L
# Eigen's templates are as expensive as ten other files: each file is a unit.
uses_eigen <- function(files) startsWith(files, "ops/linalg/linalg_")

# Whether sources change compile settings at their top. In a unit, the settings would apply to all
# later sources and prevent inlining.
is_quiet <- function(root, files) {
  vapply(file.path(root, "src", files), function(path) {
    any(grepl("#include \"ops/math/quiet_math.h\"", readLines(path, warn = FALSE), fixed = TRUE))
  }, NA, USE.NAMES = FALSE)
}

# The weight of a line. Templates for many types take the compiler four times as long per line.
line_weights <- function(files) ifelse(startsWith(files, "ops/math/"), 4L, 1L)

# All sources of src/ except units, as relative paths.
unit_sources <- function(root) {
  files <- list.files(file.path(root, "src"), "[.]cpp$", recursive = TRUE)
  sort(grep("^units/", files, value = TRUE, invert = TRUE), method = "radix")
}

# The group of each source, or NA if it is compiled separately: kernels, whose instruction set must
# not reach other code, and Rcpp's wrappers, which open a namespace.
group_of <- function(root, files) {
  folders <- unlist(unit_groups)
  names(folders) <- rep(names(unit_groups), lengths(unit_groups))
  groups <- vapply(files, function(file) {
    matching <- folders[startsWith(file, paste0(folders, "/"))]
    if (length(matching)) names(matching)[which.max(nchar(matching))] else NA_character_
  }, "")
  groups[is_quiet(root, files)] <- "quiet"
  unname(groups)
}

lines_of <- function(root, files) {
  vapply(files, function(file) length(readLines(file.path(root, "src", file), warn = FALSE)), 1L)
}

unit_name <- function(group, k) sprintf("units/%s_%d.cpp", group, k)

# The existing units, as lists of sources, by group and number.
present_units <- function(root, group) {
  pattern <- sprintf("^%s_[0-9]+[.]cpp$", group)
  files <- list.files(file.path(root, "src/units"), pattern)
  files <- files[order(as.integer(gsub("\\D", "", files)))]
  lapply(files, function(file) cpp_includes(root, file.path("src/units", file))$target)
}

# Cuts sources, in order, into `n` parts of similar length.
cut_evenly <- function(files, lengths, n) {
  middle <- cumsum(lengths) - lengths / 2
  unname(split(files, pmin(n, 1 + floor(n * middle / sum(lengths)))))
}

# The units of a group: existing ones without removed sources and with new ones. Divides them anew
# if one is too long or empty.
units_of <- function(root, group, files) {
  lengths <- stats::setNames(lines_of(root, files) * line_weights(files), files)
  if (any(uses_eigen(files))) {
    return(c(list(files[!uses_eigen(files)]), as.list(files[uses_eigen(files)])))
  }
  units <- lapply(present_units(root, group), intersect, files)
  total <- function(unit) sum(lengths[unit])
  for (file in setdiff(files, unlist(units))) {
    if (!length(units)) units <- list(character())
    shortest <- which.min(vapply(units, total, 1))
    units[[shortest]] <- c(units[[shortest]], file)
  }
  is_invalid <- vapply(units, function(unit) !length(unit) || total(unit) > max_unit_lines, NA)
  if (any(is_invalid) || anyDuplicated(unlist(units))) {
    # Leaves a tenth of the length for growth.
    n <- ceiling(sum(lengths) / (0.9 * max_unit_lines))
    units <- cut_evenly(files, lengths, n)
  }
  # In the order of `files`.
  lapply(units, function(unit) files[files %in% unit])
}

# All units: their sources, by the unit's path relative to src/.
all_units <- function(root) {
  files <- unit_sources(root)
  groups <- group_of(root, files)
  units <- lapply(names(unit_groups), function(group) {
    group_files <- files[groups %in% group]
    if (!length(group_files)) return(list())
    group_units <- units_of(root, group, group_files)
    stats::setNames(group_units, unit_name(group, seq_along(group_units)))
  })
  do.call(c, units)
}

unit_text <- function(files) {
  c(
    "// Written by tools/units.R: what an install compiles together; do not edit.",
    sprintf("#include \"%s\"", files)
  )
}

# Units that differ from the expected ones, and obsolete ones.
stale_units <- function(root, units = all_units(root)) {
  existing <- sprintf("units/%s", list.files(file.path(root, "src/units"), "[.]cpp$"))
  is_stale <- vapply(names(units), function(unit) {
    path <- file.path(root, "src", unit)
    !file.exists(path) || !identical(readLines(path), unit_text(units[[unit]]))
  }, NA)
  sprintf("src/%s", c(names(units)[is_stale], setdiff(existing, names(units))))
}

write_units <- function(root) {
  units <- all_units(root)
  stale <- stale_units(root, units)
  dir.create(file.path(root, "src/units"), showWarnings = FALSE)
  for (file in stale) {
    files <- units[[sub("^src/", "", file)]]
    if (is.null(files)) {
      unlink(file.path(root, file))
    } else {
      writeLines(unit_text(files), file.path(root, file))
    }
  }
  stale
}
