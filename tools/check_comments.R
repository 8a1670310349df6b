# Checks comments: file names, such as `plan.cpp` or `R/hook.R`, must exist in the tree. A line that
# names an external file contains `lint: allow file`.
source("tools/common.R")

# Files of the scripts that recorded the goldens, of other packages and of users.
external_files <- c(
  "formats.py", "g_builtin.py", "g_misc.py", "g_session.py", "hooks_common.py", "run.json",
  "train.R", "RcppEigen.h", "crc32c.json"
)

comments_of <- function(lines, file) {
  if (basename(file) == "COPYRIGHTS") return(lines)
  mark <- if (grepl("[.](cpp|h|inc)$", file)) "//" else "#"
  at <- regexpr(paste0("(^|\\s)", mark, ".*$"), lines)
  comments <- character(length(lines))
  comments[at > 0] <- regmatches(lines, at)
  comments
}

check_comments <- function(root) {
  folders <- c("R", "src", "tests", "tools", "bench", "inst", "Makefile")
  sources <- tree_files(root, folders, "(^|/)(Makefile|COPYRIGHTS)$|[.](cpp|h|inc|R|py|sh)$")
  # these sources name files of the scratch trees that they create
  sources <- setdiff(sources, sprintf("tools/test_%s.R", c("tools", "units", "release")))
  files_in_tree <- tree_files(root, folders, ".")
  files_in_tree <- c(files_in_tree, "src/RcppExports.cpp", "R/RcppExports.R")
  known_paths <- unlist(lapply(strsplit(files_in_tree, "/", fixed = TRUE), function(parts) {
    vapply(seq_along(parts), function(from) paste(parts[from:length(parts)], collapse = "/"), "")
  }))
  name <- "(?<![\\w*<>/.-])[\\w./-]*\\w[.](cpp|h|inc|R|py|sh|json|tsv)(?![\\w(*])"
  do.call(rbind, c(list(violations()), lapply(sources, function(file) {
    lines <- read_lines(root, file)
    names <- regmatches(comments <- comments_of(lines, file), gregexpr(name, comments, perl = TRUE))
    names <- lapply(names, function(files) setdiff(files, c(known_paths, external_files)))
    at <- which(lengths(names) > 0 & !grepl("lint: allow file", lines, fixed = TRUE))
    files <- vapply(names[at], paste, "", collapse = "`, `")
    do.call(rbind, Map(function(line, files) {
      violations(file, line, "file", sprintf("the comment names `%s`, which does not exist", files))
    }, at, files))
  })))
}

run_tool(function(arguments) {
  report("check_comments", check_comments("."), "comments name existing files")
}, sys.nframe())
