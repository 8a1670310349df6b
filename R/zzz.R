.onLoad <- function(libname, pkgname) {
  cpp_log_setup()
}
