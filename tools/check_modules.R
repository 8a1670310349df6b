# Checks calls between the modules of R/. A module is the prefix of a file, and calls only earlier
# modules of `r_modules` (tools/layers.R). The object `tf` contains all modules.
source("tools/common.R")
source("tools/layers.R")

# Returns the longest prefix that names a module: `model_dir_compat.R` is in `model_dir`, not in
# `model`.
module_of <- function(files) {
  vapply(sub("[.]R$", "", basename(files)), function(name) {
    parts <- strsplit(name, "_", fixed = TRUE)[[1]]
    prefixes <- vapply(seq_along(parts), function(n) paste(parts[seq_len(n)], collapse = "_"), "")
    c(rev(intersect(prefixes, r_modules)), parts[[1]])[[1]]
  }, "", USE.NAMES = FALSE)
}

# Returns the files that belong to a module. The files that load the package belong to none.
module_files <- function(root) {
  files <- tree_files(root, "R", "[.]R$")
  files[!basename(files) %in% c("zzz.R", "runhooks-package.R")]
}

# Returns the top-level definitions of a file, and the functions that it calls by name, with lines.
# Skips names of arguments and local variables.
definitions_and_calls <- function(root, file) {
  code <- parse(file.path(root, file), keep.source = TRUE)
  is_definition <- vapply(code, function(e) {
    is.call(e) && identical(e[[1]], quote(`<-`)) && is.name(e[[2]])
  }, NA)
  defined <- vapply(code[is_definition], function(e) as.character(e[[2]]), "")
  tokens <- utils::getParseData(code)
  calls <- tokens[tokens$token == "SYMBOL_FUNCTION_CALL", ]
  sibling_tokens <- split(tokens$token, tokens$parent)
  is_member <- vapply(as.character(calls$parent), function(parent) {
    any(c("NS_GET", "NS_GET_INT", "'$'", "'@'") %in% sibling_tokens[[parent]])
  }, NA)
  # The name precedes its expression.
  assigned <- tokens$text[which(tokens$token == "LEFT_ASSIGN") - 2L]
  locals <- c(tokens$text[tokens$token == "SYMBOL_FORMALS"], setdiff(assigned, defined))
  calls <- calls[!is_member & !calls$text %in% c(locals, defined), ]
  list(defined = defined, name = calls$text, line = calls$line1)
}

check_modules <- function(root) {
  files <- module_files(root)
  without_module <- files[!module_of(files) %in% r_modules]
  text <- sprintf("%s is not a module of R/: tools/layers.R lists them", module_of(without_module))
  found <- violations(without_module, rep(1L, length(without_module)), "module", text)
  files <- setdiff(files, without_module)
  contents <- lapply(stats::setNames(nm = files), function(file) definitions_and_calls(root, file))
  module_of_function <- unlist(lapply(files, function(file) {
    defined <- contents[[file]]$defined
    stats::setNames(rep(module_of(file), length(defined)), defined)
  }))
  forbidden <- lapply(files, function(file) {
    content <- contents[[file]]
    from <- module_of(file)
    to <- unname(module_of_function[content$name])
    is_later <- match(to, r_modules) > match(from, r_modules)
    is_forbidden <- is_later & !content$name %in% r_extra_calls[[from]]
    is_forbidden[is.na(is_forbidden)] <- FALSE
    text <- sprintf("%s() belongs to `%s`, which `%s` must not call", content$name, to, from)
    violations(file, content$line[is_forbidden], "modules", text[is_forbidden])
  })
  do.call(rbind, c(list(found), forbidden))
}

run_tool(function(arguments) {
  report("check_modules", check_modules("."), "modules of R/ call only earlier modules")
}, sys.nframe())
