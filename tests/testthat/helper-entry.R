# How often the border between R and the core is crossed.

# The names of the core's functions that `expr` calls, in order. `except`: a function of no argument
# that says whether the call is one of the user's own code, which is not counted.
border_crossings <- function(expr, except = function() FALSE) {
  core <- asNamespace("runhooks")
  # what is a part of an R object is R's; the core is not asked
  names <- setdiff(ls(core, pattern = "^cpp_"), c("cpp_part", "cpp_attach_ephemeron"))
  originals <- mget(names, envir = core)
  crossed <- character()
  # errors look for the frames of the package: these are among them
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

# How often a model's folder is read in the meantime.
folder_reads <- function(expr) {
  before <- cpp_folder_reads()
  force(expr)
  cpp_folder_reads() - before
}
