# is.atomic(NULL) is FALSE since R 4.4 and TRUE before. use_is_atomic_of_r44() gives the package's
# functions the newer meaning, so that an older R tests both. It replaces the name in each function
# body, because byte code refers to base's is.atomic(). Returns the number of changed functions.
use_is_atomic_of_r44 <- function(package = asNamespace("runhooks")) {
  newer <- function(x) base::is.atomic(x) && !is.null(x)
  changed <- 0
  change <- function(f) {
    if (!is.function(f) || !"is.atomic" %in% all.names(body(f))) return(f)
    changed <<- changed + 1
    attributes <- attributes(f)
    body(f) <- do.call(substitute, list(body(f), list(is.atomic = newer)))
    attributes(f) <- attributes[setdiff(names(attributes), "srcref")]
    f
  }
  change_all_in <- function(place) {
    for (name in ls(place, all.names = TRUE)) {
      x <- get(name, place)
      new <- if (is.list(x) && !is.object(x)) lapply(x, change) else change(x)
      if (identical(new, x)) next
      was_locked <- bindingIsLocked(name, place)
      if (was_locked) unlockBinding(name, place)
      assign(name, new, place)
      if (was_locked) lockBinding(name, place)
    }
  }
  change_all_in(package)
  change_all_in(package$.__S3MethodsTable__.)
  changed
}

# `make nightly` runs the whole suite in this mode.
if (nzchar(Sys.getenv("RUNHOOKS_IS_ATOMIC_R44"))) use_is_atomic_of_r44()
