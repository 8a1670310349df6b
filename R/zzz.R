.onLoad <- function(libname, pkgname) {
  cpp_log_setup()
  define_builtin_constructors(topenv())
  the$pid <- Sys.getpid()
  define_reexports_lazily(parent.env(topenv()))
  register_on_load("parsnip", register_parsnip)
  register_on_load("mlr3", register_mlr3)
}
