# Brings the generated files up to date before an install: Makevars, deps.mk, Rcpp's wrappers.
source("tools/objects.R")
source("tools/deps.R")
source("tools/attributes.R")

if (!file.exists("NAMESPACE")) {
  cat("install: there is no NAMESPACE; `make docs` writes it\n")
  quit(save = "no", status = 1)
}
stale <- write_makevars(".")
if (length(binding_files("."))) stale <- c(stale, write_wrappers("."))
if (length(stale)) cat("install: rewrote", paste(stale, collapse = ", "), "(commit it)\n")
write_deps(".")
