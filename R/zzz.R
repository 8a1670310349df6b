.onLoad <- function(libname, pkgname) {
  cpp_log_setup()
  complete_constructors(topenv())
  the$pid <- Sys.getpid()
  promise_reexports(parent.env(topenv()))
  register_parsnip_on_load()
}
