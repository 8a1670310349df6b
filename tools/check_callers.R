# Finds functions without callers. In R/: functions that no R code and no binding refers to and that
# are not exported, and duplicate names, because the last definition wins. In src/: functions that
# are named only at their declaration and definition. Callers in tests do not count, except
# tests/inside/, unless the line contains `lint: allow caller`.
source("tools/common.R")

# --- R

# Includes operators such as `[[.x`, and values.
any_definition <- "^(`[^`]+`|[A-Za-z.][A-Za-z0-9._]*) *<- "
r_definition <- "^`?([A-Za-z.][A-Za-z0-9._]*)`? *<- *function\\b"

# Counts each symbol in lines of R. Strings count, because functions can be named in them.
word_counts <- function(lines) {
  table(unlist(regmatches(lines, gregexpr("[A-Za-z.][A-Za-z0-9._]*", lines))))
}

# Symbols in the tests' library for internals of the core.
inside_words <- function(root) {
  files <- tree_files(root, "tests/inside", "[.]cpp$")
  names(word_counts(unlist(lapply(files, function(file) read_lines(root, file)))))
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
  from_cpp <- unlist(lapply(bindings, function(file) read_lines(root, file)))
  from_cpp <- unlist(regmatches(from_cpp, gregexpr("\"[^\"]*\"", from_cpp)))
  counts <- word_counts(c(unlist(lines, use.names = FALSE), from_cpp))
  testing <- inside_words(root)
  namespace <- file.path(root, "NAMESPACE")
  namespace <- if (file.exists(namespace)) readLines(namespace) else character()
  exported <- gsub("^export\\(|\\)$|[\"`]", "", grep("^export\\(", namespace, value = TRUE))
  methods <- gsub("^S3method\\(|\\)$|[\"`]", "", grep("^S3method\\(", namespace, value = TRUE))
  methods <- sub("^[^:]*::", "", sub(", *", ".", methods))
  known <- c(exported, methods, ".onLoad", ".onUnload", ".onAttach")
  first <- list()
  found <- lapply(files, function(file) {
    text <- lines[[file]]
    at <- grep(r_definition, text)
    name <- sub(paste0(r_definition, ".*"), "\\1", text[at])
    all_at <- grep(any_definition, text)
    all_names <- gsub("`", "", sub(paste0(any_definition, ".*"), "\\1", text[all_at]))
    twice <- all_names %in% names(first) | duplicated(all_names)
    first[setdiff(all_names, names(first))] <<- file
    again <- violations(
      file, all_at[twice], "caller",
      sprintf("%s is also defined in %s: one definition is lost", all_names[twice], first[all_names[twice]])
    )
    unused <- !name %in% c(known, testing) & counts[name] <= 1L & !allowed(root, file, at)
    rbind(
      again,
      violations(file, at[unused], "caller", sprintf("nothing in R/ calls %s()", name[unused]))
    )
  })
  do.call(rbind, found)
}

allowed <- function(root, file, at) {
  lines <- read_lines(root, file)
  marked <- function(i) i > 0 & grepl("lint: allow caller", lines[pmax(i, 1)], fixed = TRUE)
  marked(at) | marked(at - 1)
}

# --- C++

# The start of a function at top level or in a class: a type, a name, a bracket.
cpp_definition <- paste0(
  "^ {0,2}(?:(?:static|inline|constexpr|virtual|explicit|template *<[^>]*>) +)*",
  "(?:const )?[A-Za-z_][\\w:<>,]*(?: const)?(?:<.*>)?[ *&]+(?:[A-Z]\\w*::)?([a-z_]\\w*)\\("
)
# Keywords before a bracket, and functions that the language or a library calls.
no_functions <- c("if", "for", "while", "switch", "return", "main", "operator", "sizeof", "throw")

code_above <- function(root, file, line) read_lines(root, file)[line - 1]

cpp_callers <- function(root) {
  files <- tree_files(root, "src", "[.](cpp|h|inc)$")
  code <- lapply(setNames(nm = files), function(file) cpp_code(read_lines(root, file)))
  words <- unlist(regmatches(unlist(code), gregexpr("\\b[A-Za-z_]\\w*", unlist(code), perl = TRUE)))
  counts <- table(words)
  definitions <- do.call(rbind, lapply(files, function(file) {
    at <- grep(cpp_definition, code[[file]], perl = TRUE)
    match <- regmatches(code[[file]][at], regexec(cpp_definition, code[[file]][at], perl = TRUE))
    name <- vapply(match, `[`, "", 2)
    data.frame(file = rep(file, length(at)), line = at, name = name, text = code[[file]][at])
  }))
  # Statements and local objects look like definitions.
  is_local <- grepl("[.](cpp|inc)$", definitions$file) & grepl("^ .*;\\s*$", definitions$text)
  definitions <- definitions[!is_local, ]
  is_call <- grepl("^ *(return|throw|else|delete|using|typedef|case)\\b", definitions$text)
  is_override <- grepl("\\boverride\\b", definitions$text)
  # R calls functions that Rcpp exports.
  from_r <- as.logical(mapply(function(file, line) {
    line > 1 && grepl("[[Rcpp::", code_above(root, file, line), fixed = TRUE)
  }, definitions$file, definitions$line))
  # An override is called through its base class.
  overridden <- unique(definitions$name[is_override])
  definitions <- definitions[!is_call & !from_r & !definitions$name %in% no_functions, ]
  places <- table(definitions$name)
  dead <- names(places)[counts[names(places)] <= places & !names(places) %in% overridden]
  waived <- mapply(function(file, line) allowed(root, file, line), definitions$file, definitions$line)
  dead <- setdiff(dead, c(definitions$name[as.logical(waived)], inside_words(root)))
  first <- definitions[match(dead, definitions$name), ]
  violations(
    first$file, first$line, "caller", sprintf("nothing in src/ calls %s()", first$name)
  )
}

check_callers <- function(root) rbind(r_callers(root), cpp_callers(root))

run_tool(function(arguments) {
  report("check_callers", check_callers("."), "every function has a caller")
}, sys.nframe())
