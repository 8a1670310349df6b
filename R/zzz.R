.onLoad <- function(libname, pkgname) {
  cpp_log_setup()
  the$pid <- Sys.getpid()
  promise_reexports(topenv())
}
