# Brings the generated files up to date before an install: Makevars, deps.mk, Rcpp's wrappers.
source("tools/objects.R")
source("tools/deps.R")

if (!file.exists("NAMESPACE")) {
  cat("install: there is no NAMESPACE; `make docs` writes it\n")
  quit(save = "no", status = 1)
}
stale <- write_makevars(".")
exports <- c("src/RcppExports.cpp", "R/RcppExports.R")
before <- tools::md5sum(exports)
if (length(list.files("src", "^r_.*[.]cpp$"))) Rcpp::compileAttributes(".")
after <- tools::md5sum(exports)
stale <- c(stale, exports[!mapply(identical, before, after, USE.NAMES = FALSE)])
if (length(stale)) cat("install: rewrote", paste(stale, collapse = ", "), "(commit it)\n")
write_deps(".")
