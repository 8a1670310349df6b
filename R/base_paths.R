# Paths that are kept beyond the call that they were given in: absolute, so that they mean the same
# after setwd().

# Links stay as they are, and what `..` means with them: only the front is completed. NULL stays.
absolute_path <- function(path, arg = "model_dir", call = parent.frame()) {
  if (is.null(path) || identical(path, "")) return(path)
  check_string(path, arg = arg, call = call)
  path <- path.expand(path)
  if (is_absolute_path(path)) return(path)
  here <- getwd()
  if (is.null(here)) {
    abort_runhooks(
      c(
        "{.arg {arg}} is the relative path {.path {path}}, but the working directory is gone.",
        i = "Give an absolute path, or go to another directory with {.fn setwd}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  path <- sub(if (on_windows()) "^([.][/\\\\]+)+" else "^([.]/+)+", "", path)
  if (path == ".") return(here)
  paste0(sub("/$", "", here), "/", path)
}

# From the root, a drive or a server. Elsewhere than on Windows a backslash is part of a name.
is_absolute_path <- function(path, windows = on_windows()) {
  startsWith(path, "/") | (windows & grepl("^(\\\\|[A-Za-z]:)", path))
}

on_windows <- function() .Platform$OS.type == "windows"
