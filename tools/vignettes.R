# Precomputes vignettes with long trainings. `make docs` knits the source vignettes/<name>.Rmd.orig
# to <name>.Rmd, which R CMD check renders without running code. The result contains the checksum of
# its source, so that `make lint` detects outdated results. `Rscript tools/vignettes.R` knits all of
# them with the installed package.
source("tools/common.R")

vignette_sources <- function(root) {
  tree_files(root, "vignettes", "[.]Rmd[.]orig$", recursive = FALSE)
}

checksum_line <- function(root, source) {
  sum <- unname(tools::md5sum(file.path(root, source)))
  name <- basename(source)
  sprintf("<!-- Knitted by `make docs` from %s (md5 %s); edit that file. -->", name, sum)
}

# Results that are older than their sources, as relative paths.
stale_vignettes <- function(root) {
  sources <- vignette_sources(root)
  results <- sub("[.]orig$", "", sources)
  is_fresh <- vapply(seq_along(sources), function(i) {
    file.exists(file.path(root, results[[i]])) &&
      checksum_line(root, sources[[i]]) %in% read_lines(root, results[[i]])
  }, NA)
  results[!is_fresh]
}

# Replaces names of temporary folders, which differ in each run, so that the same source gives the
# same page.
replace_temporary_folders <- function(lines) {
  gsub("[^ `\"]*/Rtmp[[:alnum:]]+/([a-z]+-)*[0-9a-f]+", "<temporary folder>", lines)
}

# Knits each page in a separate process, so that pages do not affect each other.
knit_vignette <- function(root, source) {
  name <- sub("[.]Rmd[.]orig$", "", basename(source))
  code <- sprintf(
    "knitr::opts_chunk$set(fig.path = 'figures/%1$s-')
    knitr::knit('%1$s.Rmd.orig', '%1$s.Rmd', quiet = TRUE)",
    name
  )
  old <- setwd(file.path(root, "vignettes"))
  on.exit(setwd(old))
  unlink(Sys.glob(sprintf("figures/%s-*", name)))
  status <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = FALSE)
  if (status != 0) stop(source, " cannot be knitted")
  setwd(old)
  result <- file.path(root, "vignettes", paste0(name, ".Rmd"))
  lines <- replace_temporary_folders(readLines(result, encoding = "UTF-8"))
  header_end <- grep("^---$", lines)[[2]]
  writeLines(append(lines, c("", checksum_line(root, source)), header_end), result, useBytes = TRUE)
}

run_tool(function(arguments) {
  for (source in vignette_sources(".")) knit_vignette(".", source)
  0L
}, sys.nframe())
