# tf$gfile and tf$io$gfile: files and directories.

gfile_symbols <- function() {
  functions <- list(
    Exists = gfile_exists, MakeDirs = gfile_make_dirs, DeleteRecursively = gfile_remove_tree,
    Glob = gfile_glob, IsDirectory = gfile_is_directory, ListDirectory = gfile_list,
    MkDir = gfile_make_dirs, Remove = gfile_remove, Rename = gfile_rename, Copy = gfile_copy,
    Stat = gfile_stat, GFile = gfile_open, Open = gfile_open, FastGFile = gfile_open
  )
  tf2_functions <- c(
    lapply(
      list(
        exists = gfile_exists, isdir = gfile_is_directory, makedirs = gfile_make_dirs,
        mkdir = gfile_make_dirs, rmtree = gfile_remove_tree, listdir = gfile_list,
        remove = gfile_remove, stat = gfile_stat
      ),
      function_of_path
    ),
    list(
      glob = function(pattern) {
        check_path(pattern)
        gfile_glob(pattern)
      },
      rename = function(src, dst, overwrite = FALSE) {
        move_file(list(src = src, dst = dst), overwrite, file.rename)
      },
      copy = function(src, dst, overwrite = FALSE) {
        move_file(list(src = src, dst = dst), overwrite, replace_by_copy)
      },
      GFile = gfile_open
    )
  )
  c(
    setNames(functions, paste0("gfile.", names(functions))),
    setNames(tf2_functions, paste0("io.gfile.", names(tf2_functions)))
  )
}

# TensorFlow 2 calls the argument `path`.
function_of_path <- function(f) {
  force(f)
  function(path) {
    check_path(path)
    f(path)
  }
}

gfile_exists <- function(filename) {
  check_path(filename)
  file.exists(path.expand(filename))
}

gfile_make_dirs <- function(dirname) {
  check_path(dirname)
  invisible(dir.create(path.expand(dirname), showWarnings = FALSE, recursive = TRUE))
}

gfile_remove_tree <- function(dirname) {
  check_path(dirname)
  check_path_exists(dirname)
  invisible(unlink(path.expand(dirname), recursive = TRUE))
}

gfile_glob <- function(filename) {
  check_path(filename)
  Sys.glob(path.expand(filename))
}

gfile_is_directory <- function(dirname) {
  check_path(dirname)
  dir.exists(path.expand(dirname))
}

gfile_list <- function(dirname) {
  check_path(dirname)
  check_path_exists(dirname)
  list.files(path.expand(dirname), all.files = TRUE, no.. = TRUE)
}

gfile_remove <- function(filename) {
  check_path(filename)
  check_path_exists(filename)
  invisible(unlink(path.expand(filename)))
}

gfile_rename <- function(oldname, newname, overwrite = FALSE) {
  move_file(list(oldname = oldname, newname = newname), overwrite, file.rename)
}

gfile_copy <- function(oldpath, newpath, overwrite = FALSE) {
  move_file(list(oldpath = oldpath, newpath = newpath), overwrite, replace_by_copy)
}

replace_by_copy <- function(from, to) file.copy(from, to, overwrite = TRUE) # lint: allow file

# `paths`: the old and the new path, named by the arguments of the caller.
move_file <- function(paths, overwrite, move, call = parent.frame()) {
  for (name in names(paths)) check_path(paths[[name]], name, call)
  check_flag(overwrite, call = call)
  from <- paths[[1]]
  to <- paths[[2]]
  check_path_exists(from, call)
  if (!overwrite && file.exists(path.expand(to))) {
    abort_runhooks(
      c("{.path {to}} already exists.", i = "Use {.code overwrite = TRUE} to replace it."),
      kind = "already_exists", call = call
    )
  }
  if (!move(path.expand(from), path.expand(to))) {
    abort_runhooks("Cannot write {.path {to}}.", kind = "permission_denied", call = call)
  }
  invisible()
}

gfile_stat <- function(filename) {
  check_path(filename)
  check_path_exists(filename)
  info <- file.info(path.expand(filename))
  list(
    length = info$size, mtime_nsec = as.numeric(info$mtime) * 1e9, is_directory = info$isdir
  )
}

check_path_exists <- function(path, call = parent.frame()) {
  if (file.exists(path.expand(path))) return(invisible())
  abort_runhooks("{.path {path}} does not exist.", kind = "not_found", call = call)
}

# Opens a file that is read or written as a whole.
gfile_open <- function(name, mode = "r") {
  check_path(name)
  modes <- c("r", "rb", "w", "wb", "a", "ab")
  is_mode <- is_string(mode) && mode %in% modes
  check_arg(is_mode, mode, "\"r\", \"w\" or \"a\"", "mode", environment())
  path <- path.expand(name)
  is_text <- !endsWith(mode, "b")
  is_reader <- startsWith(mode, "r")
  if (is_reader) check_path_exists(name)
  has_contents <- is_reader || (startsWith(mode, "a") && file.exists(path))
  bytes <- if (has_contents) cpp_read_file(path) else raw()
  position <- 0
  self <- new.env(parent = emptyenv())
  check_open <- add_close_methods(self, name, function() {
    if (!is_reader) cpp_write_file(path, bytes)
  })
  check_mode <- function(reads) {
    check_open()
    if (reads == is_reader) return(invisible())
    purpose <- if (is_reader) "reading" else "writing"
    abort_runhooks(
      "{.path {name}} is open for {purpose}: its mode is {.val {mode}}.",
      kind = "failed_precondition"
    )
  }
  next_bytes <- function(n) {
    check_mode(reads = TRUE)
    selected <- utils::head(bytes[seq_along(bytes) > position], n)
    position <<- position + length(selected)
    if (is_text) text_of_bytes(selected) else selected
  }
  self$read <- function(n = -1) next_bytes(if (n < 0) length(bytes) else n)
  self$readline <- function() {
    newlines <- which(bytes == as.raw(10))
    newlines <- newlines[newlines > position]
    next_bytes(if (length(newlines)) newlines[[1]] - position else length(bytes))
  }
  self$readlines <- function() {
    lines <- list()
    while (position < length(bytes)) lines[[length(lines) + 1]] <- self$readline()
    if (is_text) unlist(lines) else lines
  }
  self$write <- function(file_content) {
    check_mode(reads = FALSE)
    bytes <<- c(bytes, raw_values(file_content)[[1]])
    invisible()
  }
  self$seek <- function(offset) {
    check_whole(offset)
    position <<- offset
    invisible()
  }
  self$tell <- function() position
  self$size <- function() length(bytes)
  class(self) <- c("tensorflow.GFile", "runhooks_context")
  with_checked_members(self)
}

text_of_bytes <- function(bytes) {
  text <- rawToChar(bytes[bytes != as.raw(0)])
  if (validUTF8(text)) Encoding(text) <- "UTF-8"
  text
}
