# Finds functions without callers. In R/: functions that are not exported and that neither R code
# nor a binding mentions, and duplicate names, because the last definition wins. In src/: functions
# that are mentioned only at their declaration and definition. Callers in tests do not count, except
# those in tests/inside/. A definition with `lint: allow caller` on its line is accepted.
source("tools/common.R")

# --- R

# Definitions of functions (including operators such as `[[.x`) and of values.
definition_pattern <- "^(`[^`]+`|[A-Za-z.][A-Za-z0-9._]*) *<- "
function_pattern <- "^`?([A-Za-z.][A-Za-z0-9._]*)`? *<- *function\\b"

# Counts each symbol in lines of R, also in strings, because strings can name functions.
symbol_counts <- function(lines) {
  table(unlist(regmatches(lines, gregexpr("[A-Za-z.][A-Za-z0-9._]*", lines))))
}

# Returns the symbols in the C++ library through which tests use internals of the core
# (tests/inside/).
inside_symbols <- function(root) {
  files <- tree_files(root, "tests/inside", "[.]cpp$")
  names(symbol_counts(unlist(lapply(files, function(file) read_lines(root, file)))))
}

r_callers <- function(root) {
  files <- c(tree_files(root, "R", "[.][rR]$"), "R/RcppExports.R")
  files <- files[file.exists(file.path(root, files))]
  lines <- lapply(setNames(nm = files), function(file) {
    text <- sub("^ *#.*$", "", read_lines(root, file))
    # A C++ function may be called without its wrapper.
    if (basename(file) == "RcppExports.R") text else gsub("`_[a-z]+_cpp_", " cpp_", text)
  })
  # Bindings call R functions by name.
  bindings <- tree_files(root, "src/r", "^.*[.]cpp$")
  strings <- unlist(lapply(bindings, function(file) read_lines(root, file)))
  strings <- unlist(regmatches(strings, gregexpr("\"[^\"]*\"", strings)))
  counts <- symbol_counts(c(unlist(lines, use.names = FALSE), strings))
  tested <- inside_symbols(root)
  namespace <- file.path(root, "NAMESPACE")
  namespace <- if (file.exists(namespace)) readLines(namespace) else character()
  exported <- gsub("^export\\(|\\)$|[\"`]", "", grep("^export\\(", namespace, value = TRUE))
  methods <- gsub("^S3method\\(|\\)$|[\"`]", "", grep("^S3method\\(", namespace, value = TRUE))
  methods <- sub("^[^:]*::", "", sub(", *", ".", methods))
  called_from_outside <- c(exported, methods, ".onLoad", ".onUnload", ".onAttach")
  first_file <- list()
  by_file <- lapply(files, function(file) {
    text <- lines[[file]]
    at <- grep(function_pattern, text)
    name <- sub(paste0(function_pattern, ".*"), "\\1", text[at])
    all_at <- grep(definition_pattern, text)
    all_names <- gsub("`", "", sub(paste0(definition_pattern, ".*"), "\\1", text[all_at]))
    is_duplicate <- all_names %in% names(first_file) | duplicated(all_names)
    first_file[setdiff(all_names, names(first_file))] <<- file
    lost <- all_names[is_duplicate]
    message <- sprintf("%s is also defined in %s: one definition is lost", lost, first_file[lost])
    duplicates <- violations(file, all_at[is_duplicate], "caller", message)
    unused <- !name %in% c(called_from_outside, tested) & counts[name] <= 1L &
      !allowed(root, file, at)
    rbind(
      duplicates,
      violations(file, at[unused], "caller", sprintf("nothing in R/ calls %s()", name[unused]))
    )
  })
  do.call(rbind, by_file)
}

allowed <- function(root, file, at) {
  lines <- read_lines(root, file)
  is_marked <- function(i) i > 0 & grepl("lint: allow caller", lines[pmax(i, 1)], fixed = TRUE)
  is_marked(at) | is_marked(at - 1)
}

# --- C++

# The start of a function at top level or in a class: a type, a name and a parenthesis.
cpp_function_pattern <- paste0(
  "^ {0,2}(?:(?:static|inline|constexpr|virtual|explicit|template *<[^>]*>) +)*",
  "(?:const )?[A-Za-z_][\\w:<>,]*(?: const)?(?:<.*>)?[ *&]+(?:[A-Z]\\w*::)?([a-z_]\\w*)\\("
)
# Keywords before a parenthesis, and functions that the language or a library calls.
not_functions <- c("if", "for", "while", "switch", "return", "main", "operator", "sizeof", "throw")

code_above <- function(root, file, line) read_lines(root, file)[line - 1]

cpp_callers <- function(root) {
  files <- tree_files(root, "src", "[.](cpp|h|inc)$")
  code <- lapply(setNames(nm = files), function(file) cpp_code(read_lines(root, file)))
  words <- unlist(regmatches(unlist(code), gregexpr("\\b[A-Za-z_]\\w*", unlist(code), perl = TRUE)))
  counts <- table(words)
  definitions <- do.call(rbind, lapply(files, function(file) {
    at <- grep(cpp_function_pattern, code[[file]], perl = TRUE)
    text <- code[[file]][at]
    match <- regmatches(text, regexec(cpp_function_pattern, text, perl = TRUE))
    name <- vapply(match, `[`, "", 2)
    data.frame(file = rep(file, length(at)), line = at, name = name, text = text)
  }))
  # Statements and local objects look like definitions.
  is_local <- grepl("[.](cpp|inc)$", definitions$file) & grepl("^ .*;\\s*$", definitions$text)
  definitions <- definitions[!is_local, ]
  is_call <- grepl("^ *(return|throw|else|delete|using|typedef|case)\\b", definitions$text)
  is_override <- grepl("\\boverride\\b", definitions$text)
  # R calls functions that Rcpp exports.
  is_exported <- as.logical(mapply(function(file, line) {
    line > 1 && grepl("[[Rcpp::", code_above(root, file, line), fixed = TRUE)
  }, definitions$file, definitions$line))
  # An override is called through its base class.
  overridden <- unique(definitions$name[is_override])
  definitions <- definitions[!is_call & !is_exported & !definitions$name %in% not_functions, ]
  n_definitions <- table(definitions$name)
  names <- names(n_definitions)
  uncalled <- names[counts[names] <= n_definitions & !names %in% overridden]
  is_allowed <- as.logical(mapply(function(file, line) {
    allowed(root, file, line)
  }, definitions$file, definitions$line))
  uncalled <- setdiff(uncalled, c(definitions$name[is_allowed], inside_symbols(root)))
  first <- definitions[match(uncalled, definitions$name), ]
  violations(
    first$file, first$line, "caller", sprintf("nothing in src/ calls %s()", first$name)
  )
}

check_callers <- function(root) rbind(r_callers(root), cpp_callers(root))

run_tool(function(arguments) {
  report("check_callers", check_callers("."), "every function has a caller")
}, sys.nframe())
