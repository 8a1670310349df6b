# Checks includes: layers include only lower layers, and only src/r/ uses R.
source("tools/common.R")
source("tools/layers.R")

r_headers <- paste0(
  "^(Rcpp|RcppCommon|RcppEigen|R|Rinternals|Rdefines|Rmath|Rembedded|Rinterface)[.]h$|",
  "^(R_ext|Rcpp)/"
)
r_names <- "\\b(SEXP|SEXPREC|Rcpp|Rprintf|REprintf|Rboolean|(UN)?PROTECT|Rf_\\w+|R_[A-Za-z]\\w*)\\b"
c_headers <- paste0(
  "^c(assert|errno|fenv|float|inttypes|limits|math|stddef|stdint|stdlib|string)$|",
  "^[a-z0-9_/]+[.]h$"
)
bindings <- "^src/(r/.*[.](cpp|h)|RcppExports[.]cpp|[^/]*_types[.]h)$"

is_binding <- function(file) grepl(bindings, file)
is_test <- function(file) startsWith(file, "tests/")
layer_of <- function(path) sub("/.*$", "", sub("^src/", "", path))
no_layer_message <- function(name) sprintf("%s/ is not a layer: tools/layers.R lists them", name)

# Returns the problem with a file's location, or NULL.
location_problem <- function(file) {
  if (is_binding(file)) return(NULL)
  if (!grepl("^src/[^/]+/", file)) {
    return("no files at the top of src/: move it to its layer, and bindings to a folder of r/")
  }
  if (!layer_of(file) %in% names(layers)) return(no_layer_message(layer_of(file)))
  if (grepl("^src/[^/]+/[^/]+/.+/", file)) {
    return("a layer has one level of folders, its families")
  }
}

check_location <- function(file) {
  text <- location_problem(file)
  if (is.null(text)) violations() else violations(file, 1L, "location", text)
}

system_include_problem <- function(file, target) {
  may_use_eigen <- grepl("^src/ops/linalg/linalg_[^/]*[.](cpp|h)$", file)
  if (grepl("^(unsupported/)?Eigen/", target) && !may_use_eigen) {
    return("only ops/linalg/linalg_* may use Eigen, because its templates compile slowly")
  }
  if (layer_of(file) == "kernels" && !grepl(c_headers, target)) {
    "kernels are plain C: a C++ header's templates leak between instruction sets"
  }
}

own_include_problem <- function(root, file, target) {
  path <- resolve_include(root, file, target)
  if (!is.na(path) && is_binding(path)) return("only bindings may include bindings")
  if (!is.na(path) && is_test(file) && is_test(path)) return(NULL)
  if (!grepl("/", target)) return(sprintf("write the include from src/: \"<layer>/%s\"", target))
  if (is.na(path)) return(sprintf("there is no src/%s", target))
  from <- layer_of(file)
  to <- layer_of(target)
  if (!to %in% names(layers)) return(no_layer_message(to))
  allowed <- if (is_test(file)) names(layers) else c(from, layers[[from]])
  if (!to %in% allowed && !target %in% extra_headers[[from]]) {
    sprintf("%s/ may not include %s/; it may include %s", from, to, paste(allowed, collapse = ", "))
  }
}

# Returns the problem with an include of a core file, or NULL.
include_problem <- function(root, file, target, system) {
  if (grepl(r_headers, target)) return("an R header in the core: only src/r/ may use R")
  if (system) system_include_problem(file, target) else own_include_problem(root, file, target)
}

check_includes <- function(root, file) {
  if (is_binding(file) || !(is_test(file) || layer_of(file) %in% names(layers))) {
    return(violations())
  }
  includes <- cpp_includes(root, file)
  problems <- Map(
    function(target, system) include_problem(root, file, target, system),
    includes$target, includes$system
  )
  lines <- includes$line[lengths(problems) > 0]
  violations(file, lines, "layers", unlist(problems, use.names = FALSE))
}

check_r_names <- function(root, file) {
  if (is_binding(file)) return(violations())
  code <- cpp_code(read_lines(root, file))
  # check_includes() handles includes.
  code[grepl("^\\s*#\\s*include", code)] <- ""
  at <- grep(r_names, code, perl = TRUE)
  word <- regmatches(code[at], regexpr(r_names, code[at], perl = TRUE))
  text <- sprintf("`%s` belongs to R, which only src/r/ may use", word)
  violations(file, at, "boundary", text)
}

check_cycle <- function(root, file) {
  is_header <- grepl("[.](h|hpp|inc)$", file)
  if (!is_header || !file %in% reached_headers(root, file)) return(violations())
  violations(file, 1L, "cycle", "this header includes itself through others")
}

check_layers <- function(root) {
  pattern <- "[.](cpp|cc|c|h|hpp|inc)$"
  sources <- tree_files(root, "src", pattern)
  tests <- tree_files(root, "tests/cpp", pattern)
  do.call(rbind, c(
    list(violations()),
    lapply(sources, check_location),
    lapply(c(sources, tests), function(file) check_includes(root, file)),
    lapply(c(sources, tests), function(file) check_r_names(root, file)),
    lapply(sources, function(file) check_cycle(root, file))
  ))
}

run_tool(function(arguments) {
  report("check_layers", check_layers("."), "includes follow the layers, and only src/r/ uses R")
}, sys.nframe())
