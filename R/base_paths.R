# Absolute paths, for paths that must still be valid after setwd().

# Makes a path absolute. Does not resolve `..`, whose meaning would change after a symbolic link.
absolute_path <- function(path, arg = "model_dir", call = parent.frame()) {
  if (is.null(path) || identical(path, "")) return(path)
  check_string(path, arg = arg, call = call)
  # R's file functions reject strings that are marked as bytes
  if (Encoding(path) == "bytes") Encoding(path) <- "unknown"
  path <- path.expand(path)
  if (is_absolute_path(path)) return(path)
  working_dir <- getwd()
  if (is.null(working_dir)) {
    abort_runhooks(
      c(
        "{.arg {arg}} is the relative path {.path {path}}, but the working directory is gone.",
      i = "Give an absolute path, or change to an existing directory with {.fn setwd}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  path <- sub(if (on_windows()) "^([.][/\\\\]+)+" else "^([.]/+)+", "", path)
  if (path == ".") return(working_dir)
  paste0(sub("/$", "", working_dir), "/", path)
}

# TRUE if a path is absolute. A backslash separates directories only on Windows.
is_absolute_path <- function(path, windows = on_windows()) {
  startsWith(path, "/") | (windows & grepl("^(\\\\|[A-Za-z]:)", path))
}

# Whether `path` is `folder` or below it.
is_within <- function(path, folder) {
  slashes <- function(x) if (on_windows()) chartr("\\", "/", x) else x
  startsWith(paste0(slashes(path), "/"), paste0(slashes(folder), "/"))
}

on_windows <- function() .Platform$OS.type == "windows"
