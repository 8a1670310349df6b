# Shared functions of the tools: the tree's files, C++ and R text without comments, and messages of
# the form file:line.

# A table of violations; an empty one means success.
violations <- function(file = character(), line = integer(), rule = character(),
                       message = character()) {
  data.frame(
    file = rep_len(file, length(line)),
    line = as.integer(line),
    rule = rep_len(rule, length(line)),
    message = rep_len(message, length(line)),
    stringsAsFactors = FALSE
  )
}

# Prints violations as `file:line: message [rule]` and returns the exit status.
report <- function(tool, found, what) {
  if (nrow(found) == 0) {
    cat(sprintf("%s: %s\n", tool, what))
    return(0L)
  }
  found <- found[order(found$file, found$line), ]
  cat(sprintf("%s:%d: %s [%s]\n", found$file, found$line, found$message, found$rule), sep = "")
  cat(sprintf("%s: %d to mend\n", tool, nrow(found)))
  1L
}

# Files under `folders` of `root` whose names match, as relative paths, without generated files.
tree_files <- function(root, folders, pattern, recursive = TRUE) {
  folders <- folders[file.exists(file.path(root, folders))]
  files <- unlist(lapply(folders, function(folder) {
    if (!dir.exists(file.path(root, folder))) return(if (grepl(pattern, folder)) folder)
    inside <- list.files(file.path(root, folder), pattern, recursive = recursive, all.files = TRUE)
    if (length(inside)) file.path(folder, inside)
  }))
  files <- files[!grepl("(^|/)RcppExports[.](cpp|R)$|^src/units/", files)]
  files[!dir.exists(file.path(root, files))]
}

read_lines <- function(root, file) {
  readLines(file.path(root, file), warn = FALSE, encoding = "UTF-8")
}

# C++ lines with blanked comments (and, on request, blanked strings). Line numbers do not change.
cpp_code <- function(lines, keep_strings = FALSE) {
  if (!length(lines)) return(lines)
  text <- paste(lines, collapse = "\n")
  pattern <- paste(
    "//[^\\n]*+", "/[*](?s:.*?)[*]/", 'R"([^(\\s"]*+)[(](?s:.*?)[)]\\1"',
    '"(?:[^"\\\\\\n]++|\\\\.)*+"', "(?<![0-9a-fA-F])'(?:[^'\\\\\\n]++|\\\\.)*+'",
    sep = "|"
  )
  spans <- gregexpr(pattern, text, perl = TRUE)
  regmatches(text, spans) <- list(vapply(regmatches(text, spans)[[1]], function(found) {
    if (startsWith(found, "/")) return(gsub("[^\n]", " ", found))
    if (keep_strings) found else paste0('"', gsub("[^\n]", "", found), '"')
  }, "", USE.NAMES = FALSE))
  # strsplit() drops empty lines at the end, so restore them.
  out <- strsplit(text, "\n", fixed = TRUE)[[1]]
  c(out, rep("", length(lines) - length(out)))
}

# The includes of a C++ file: line, target, and whether the target is in <>.
cpp_includes <- function(root, file) {
  code <- cpp_code(read_lines(root, file), keep_strings = TRUE)
  pattern <- "^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*$"
  at <- grep(pattern, code)
  data.frame(
    line = at,
    target = sub(pattern, "\\2", code[at]),
    system = sub(pattern, "\\1", code[at]) == "<",
    stringsAsFactors = FALSE
  )
}

# Resolves a quoted include of `file` to a path relative to the root: from src/ (-I.) or from the
# file's folder.
resolve_include <- function(root, file, target) {
  for (candidate in c(file.path("src", target), file.path(dirname(file), target))) {
    if (file.exists(file.path(root, candidate))) return(candidate)
  }
  NA_character_
}

# All headers that a file reaches. The file itself is included only if it is part of a cycle.
reached_headers <- function(root, file) {
  seen <- character()
  waiting <- file
  while (length(waiting)) {
    now <- waiting[1]
    waiting <- waiting[-1]
    includes <- includes_of(root, now)
    fresh <- setdiff(includes, seen)
    seen <- c(seen, fresh)
    waiting <- c(waiting, fresh)
  }
  sort(seen)
}

# The existing quoted includes, cached because many files include the same headers.
includes_of <- local({
  memory <- new.env()
  function(root, file) {
    path <- file.path(root, file)
    key <- paste(normalizePath(path), file.mtime(path), file.size(path))
    if (is.null(memory[[key]])) {
      quoted <- cpp_includes(root, file)
      quoted <- quoted$target[!quoted$system]
      found <- vapply(quoted, function(target) resolve_include(root, file, target), "")
      memory[[key]] <- unique(unname(found[!is.na(found)]))
    }
    memory[[key]]
  }
})

# Runs `main(arguments)` if this is the script that Rscript runs, and not if another script sources
# it.
run_tool <- function(main, frames) {
  if (frames == 0L) quit(save = "no", status = main(commandArgs(TRUE)))
}
