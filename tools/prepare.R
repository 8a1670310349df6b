# Updates the generated files before an install: units, Makevars, the files that make reads before
# them (deps.mk, separate.mk), and Rcpp's wrappers.
source("tools/objects.R")
source("tools/deps.R")
source("tools/attributes.R")

if (!file.exists("NAMESPACE")) {
  cat("install: NAMESPACE is missing; run `make docs`\n")
  quit(save = "no", status = 1)
}
# The units contain the wrappers.
stale <- if (length(binding_files("."))) write_wrappers(".")
stale <- c(stale, write_makevars("."))
if (length(stale)) cat("install: rewrote", paste(stale, collapse = ", "), "(commit it)\n")
write_deps(".")
write_separate(".")
