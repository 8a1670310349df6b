.onLoad <- function(libname, pkgname) {
  cpp_log_setup()
  complete_constructors(topenv())
  the$pid <- Sys.getpid()
  promise_reexports(parent.env(topenv()))
  register_on_load("parsnip", register_parsnip)
  register_on_load("mlr3", register_mlr3)
}
