# Counts calls from R into the core.

# Returns the names of the core functions that `expr` calls, in order. Calls are skipped while
# `except()` is TRUE, for example in user code.
border_crossings <- function(expr, except = function() FALSE) {
  core <- asNamespace("runhooks")
  # These functions read or extend R objects; they do not count as calls of the core.
  names <- setdiff(ls(core, pattern = "^cpp_"), c("cpp_ephemeron_value", "cpp_attach_ephemeron"))
  originals <- mget(names, envir = core)
  crossed <- character()
  # Errors search for frames of the package, so the wrappers' environment must inherit from it.
  home <- new.env(parent = core)
  counting <- function(name, f) {
    counted <- function(...) NULL
    body(counted) <- bquote({
      .(function() if (!except()) crossed <<- c(crossed, name))()
      .(f)(...)
    })
    environment(counted) <- home
    counted
  }
  set <- function(functions) {
    for (name in names) {
      unlockBinding(name, core)
      assign(name, functions[[name]], envir = core)
      lockBinding(name, core)
    }
  }
  on.exit(set(originals))
  set(Map(counting, names, originals))
  force(expr)
  crossed
}

folder_reads <- function(expr) {
  before <- cpp_folder_reads()
  force(expr)
  cpp_folder_reads() - before
}
