# Shared functions of the tools: lists of files, text of C++ sources without comments, and reports.

# Creates a table of violations; an empty one means success.
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
report <- function(tool, problems, success) {
  if (nrow(problems) == 0) {
    cat(sprintf("%s: %s\n", tool, success))
    return(0L)
  }
  problems <- problems[order(problems$file, problems$line), ]
  lines <- with(problems, sprintf("%s:%d: %s [%s]\n", file, line, message, rule))
  cat(lines, sprintf("%s: %d to fix\n", tool, nrow(problems)), sep = "")
  1L
}

# Returns the files under `folders` of `root` whose names match, as relative paths, without
# generated files.
tree_files <- function(root, folders, pattern, recursive = TRUE) {
  folders <- folders[file.exists(file.path(root, folders))]
  files <- unlist(lapply(folders, function(folder) {
    path <- file.path(root, folder)
    if (!dir.exists(path)) return(if (grepl(pattern, folder)) folder)
    matching <- list.files(path, pattern, recursive = recursive, all.files = TRUE)
    if (length(matching)) file.path(folder, matching)
  }))
  files <- files[!grepl("(^|/)RcppExports[.](cpp|R)$|^src/units/", files)]
  files[!dir.exists(file.path(root, files))]
}

read_lines <- function(root, file) {
  readLines(file.path(root, file), warn = FALSE, encoding = "UTF-8")
}

# Returns C++ lines with blanked comments (and, on request, blanked strings). Line numbers do not
# change.
cpp_code <- function(lines, keep_strings = FALSE) {
  if (!length(lines)) return(lines)
  text <- paste(lines, collapse = "\n")
  pattern <- paste(
    "//[^\\n]*+", "/[*](?s:.*?)[*]/", 'R"([^(\\s"]*+)[(](?s:.*?)[)]\\1"',
    '"(?:[^"\\\\\\n]++|\\\\.)*+"', "(?<![0-9a-fA-F])'(?:[^'\\\\\\n]++|\\\\.)*+'",
    sep = "|"
  )
  spans <- gregexpr(pattern, text, perl = TRUE)
  regmatches(text, spans) <- list(vapply(regmatches(text, spans)[[1]], function(span) {
    if (startsWith(span, "/")) return(gsub("[^\n]", " ", span))
    if (keep_strings) span else paste0('"', gsub("[^\n]", "", span), '"')
  }, "", USE.NAMES = FALSE))
  # strsplit() drops empty lines at the end, so restore them.
  out <- strsplit(text, "\n", fixed = TRUE)[[1]]
  c(out, rep("", length(lines) - length(out)))
}

# Returns the includes of a C++ file: line, target, and whether the target is in <>.
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

# Returns all headers that a file includes, directly or through others. The file itself is one of
# them only if it is part of a cycle.
reached_headers <- function(root, file) {
  reached <- character()
  queue <- file
  while (length(queue)) {
    current <- queue[1]
    queue <- queue[-1]
    includes <- includes_of(root, current)
    unreached <- setdiff(includes, reached)
    reached <- c(reached, unreached)
    queue <- c(queue, unreached)
  }
  sort(reached)
}

# Returns the existing quoted includes, cached because many files include the same headers.
includes_of <- local({
  cache <- new.env()
  function(root, file) {
    path <- file.path(root, file)
    key <- paste(normalizePath(path), file.mtime(path), file.size(path))
    if (is.null(cache[[key]])) {
      quoted <- cpp_includes(root, file)
      quoted <- quoted$target[!quoted$system]
      paths <- vapply(quoted, function(target) resolve_include(root, file, target), "")
      cache[[key]] <- unique(unname(paths[!is.na(paths)]))
    }
    cache[[key]]
  }
})

# Runs `main(arguments)` and quits, unless another script sources the file that calls this function.
run_tool <- function(main, frames) {
  if (frames == 0L) quit(save = "no", status = main(commandArgs(TRUE)))
}
