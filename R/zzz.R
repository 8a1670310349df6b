.onLoad <- function(libname, pkgname) {
  cpp_log_setup()
  promise_reexports(topenv())
}
