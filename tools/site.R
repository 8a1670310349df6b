# The pages for a browser, in .build/site: Rscript tools/site.R. Nothing is asked of the network: pkgdown
# looks up packages that are not installed at CRAN, for links, and finds an empty list instead.
folder <- tempfile("cran")
dir.create(file.path(folder, "web", "packages"), recursive = TRUE)
columns <- list(NULL, c("Package", "URL", "BugReports", "MD5sum"))
saveRDS(
  matrix(character(), 0, length(columns[[2]]), dimnames = columns),
  file.path(folder, "web", "packages", "packages.rds")
)
Sys.setenv(R_CRAN_WEB = paste0("file://", folder))
options(pkgdown.internet = FALSE)
pkgdown::check_pkgdown()
pkgdown::build_site(preview = FALSE, install = FALSE, devel = FALSE)
