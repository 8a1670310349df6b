# tf$gfile and tf$io$gfile: files and directories.

gfile_symbols <- function() {
  functions <- list(
    Exists = gfile_exists, MakeDirs = gfile_make_dirs, DeleteRecursively = gfile_remove_tree,
    Glob = gfile_glob, IsDirectory = gfile_is_directory, ListDirectory = gfile_list,
    MkDir = gfile_make_dirs, Remove = gfile_remove, Rename = gfile_rename, Copy = gfile_copy,
    Stat = gfile_stat, GFile = gfile_open, Open = gfile_open, FastGFile = gfile_open
  )
  # TensorFlow 2 renamed functions and arguments
  of_path <- list(
    exists = gfile_exists, isdir = gfile_is_directory, makedirs = gfile_make_dirs,
    mkdir = gfile_make_dirs, rmtree = gfile_remove_tree, listdir = gfile_list,
    remove = gfile_remove, stat = gfile_stat
  )
  later <- c(
    lapply(of_path, function_of_path),
    list(
      glob = function(pattern) gfile_glob(pattern),
      rename = function(src, dst, overwrite = FALSE) gfile_rename(src, dst, overwrite),
      copy = function(src, dst, overwrite = FALSE) gfile_copy(src, dst, overwrite),
      GFile = gfile_open
    )
  )
  c(
    setNames(functions, paste0("gfile.", names(functions))),
    setNames(later, paste0("io.gfile.", names(later)))
  )
}

function_of_path <- function(f) {
  force(f)
  function(path) f(path)
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
  move_file(oldname, newname, overwrite, file.rename)
}

gfile_copy <- function(oldpath, newpath, overwrite = FALSE) {
  copy <- function(from, to) file.copy(from, to, overwrite = TRUE) # lint: allow file
  move_file(oldpath, newpath, overwrite, copy)
}

move_file <- function(from, to, overwrite, move, call = parent.frame()) {
  check_path(from, call = call)
  check_path(to, call = call)
  check_flag(overwrite, call = call)
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

# A file that is read or written as a whole, as scripts for TensorFlow open text and graphs.
gfile_open <- function(name, mode = "r") {
  check_path(name)
  modes <- c("r", "rb", "w", "wb", "a", "ab")
  is_mode <- is_string(mode) && mode %in% modes
  check_arg(is_mode, mode, "\"r\", \"w\" or \"a\"", "mode", environment())
  path <- path.expand(name)
  is_text <- !endsWith(mode, "b")
  reads <- startsWith(mode, "r")
  if (reads) check_path_exists(name)
  bytes <- if (reads || startsWith(mode, "a") && file.exists(path)) cpp_read_file(path) else raw()
  position <- 0
  is_open <- TRUE
  self <- new.env(parent = emptyenv())
  take <- function(n) {
    if (!reads) abort_runhooks("The file is open for writing.", kind = "failed_precondition")
    taken <- utils::head(bytes[seq_along(bytes) > position], n)
    position <<- position + length(taken)
    if (is_text) text_of_bytes(taken) else taken
  }
  self$read <- function(n = -1) take(if (n < 0) length(bytes) else n)
  self$readline <- function() {
    rest <- which(bytes == as.raw(10))
    rest <- rest[rest > position]
    take(if (length(rest)) rest[[1]] - position else length(bytes))
  }
  self$readlines <- function() {
    lines <- list()
    while (position < length(bytes)) lines[[length(lines) + 1]] <- self$readline()
    if (is_text) unlist(lines) else lines
  }
  self$write <- function(file_content) {
    if (reads) abort_runhooks("The file is open for reading.", kind = "failed_precondition")
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
  self$flush <- function() {
    if (!reads) cpp_write_file(path, bytes)
    invisible()
  }
  self$close <- function() {
    if (is_open) self$flush()
    is_open <<- FALSE
    invisible()
  }
  add_context_methods(self, enter = function() self, exit = function(condition) self$close())
  class(self) <- c("tensorflow.GFile", "runhooks_context")
  with_checked_members(self)
}

text_of_bytes <- function(bytes) {
  text <- rawToChar(bytes[bytes != as.raw(0)])
  if (validUTF8(text)) Encoding(text) <- "UTF-8"
  text
}
