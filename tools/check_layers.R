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
no_layer <- function(name) sprintf("%s/ is not a layer: tools/layers.R lists them", name)

# The problem with a file's location, or NULL.
judge_place <- function(file) {
  if (is_binding(file)) return(NULL)
  if (!grepl("^src/[^/]+/", file)) {
    return("no files at the top of src/: move it to its layer, and bindings to a folder of r/")
  }
  if (!layer_of(file) %in% names(layers)) return(no_layer(layer_of(file)))
  if (grepl("^src/[^/]+/[^/]+/.+/", file)) {
    return("a layer has one level of folders, its families")
  }
}

check_place <- function(file) {
  text <- judge_place(file)
  if (is.null(text)) violations() else violations(file, 1L, "place", text)
}

judge_system_include <- function(file, target) {
  if (grepl("^(unsupported/)?Eigen/", target) && !grepl("^src/ops/linalg/linalg_[^/]*[.](cpp|h)$", file)) {
    return("only ops/linalg/linalg_* may use Eigen, because its templates compile slowly")
  }
  if (layer_of(file) == "kernels" && !grepl(c_headers, target)) {
    "kernels are plain C: a C++ header's templates leak between instruction sets"
  }
}

judge_own_include <- function(root, file, target) {
  found <- resolve_include(root, file, target)
  if (!is.na(found) && is_binding(found)) return("only bindings may include bindings")
  if (!is.na(found) && is_test(file) && is_test(found)) return(NULL)
  if (!grepl("/", target)) return(sprintf("write the include from src/: \"<layer>/%s\"", target))
  if (is.na(found)) return(sprintf("there is no src/%s", target))
  from <- layer_of(file)
  to <- layer_of(target)
  if (!to %in% names(layers)) return(no_layer(to))
  allowed <- if (is_test(file)) names(layers) else c(from, layers[[from]])
  if (!to %in% allowed && !target %in% extra_headers[[from]]) {
    sprintf("%s/ may not include %s/; it may include %s", from, to, paste(allowed, collapse = ", "))
  }
}

# The problem with an include of a core file, or NULL.
judge_include <- function(root, file, target, system) {
  if (grepl(r_headers, target)) return("an R header in the core: only src/r/ may use R")
  if (system) judge_system_include(file, target) else judge_own_include(root, file, target)
}

check_includes <- function(root, file) {
  if (is_binding(file) || !(is_test(file) || layer_of(file) %in% names(layers))) {
    return(violations())
  }
  includes <- cpp_includes(root, file)
  words <- Map(
    function(target, system) judge_include(root, file, target, system),
    includes$target, includes$system
  )
  bad <- lengths(words) > 0
  violations(file, includes$line[bad], "layers", unlist(words[bad], use.names = FALSE))
}

check_r_names <- function(root, file) {
  if (is_binding(file)) return(violations())
  code <- cpp_code(read_lines(root, file))
  # check_includes() handles includes.
  code[grepl("^\\s*#\\s*include", code)] <- ""
  at <- grep(r_names, code, perl = TRUE)
  word <- regmatches(code[at], regexpr(r_names, code[at], perl = TRUE))
  text <- sprintf("`%s` belongs to R, which only src/r/ may use", word)
  violations(file, at, "border", text)
}

check_circle <- function(root, file) {
  is_header <- grepl("[.](h|hpp|inc)$", file)
  if (!is_header || !file %in% reached_headers(root, file)) return(violations())
  violations(file, 1L, "circle", "this header includes itself through others")
}

check_layers <- function(root) {
  pattern <- "[.](cpp|cc|c|h|hpp|inc)$"
  sources <- tree_files(root, "src", pattern)
  tests <- tree_files(root, "tests/cpp", pattern)
  do.call(rbind, c(
    list(violations()),
    lapply(sources, check_place),
    lapply(c(sources, tests), function(file) check_includes(root, file)),
    lapply(c(sources, tests), function(file) check_r_names(root, file)),
    lapply(sources, function(file) check_circle(root, file))
  ))
}

run_tool(function(arguments) {
  report("check_layers", check_layers("."), "includes follow the layers, and only src/r/ uses R")
}, sys.nframe())
