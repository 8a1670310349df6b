# Lists the words of the pages, vignettes, README and NEWS that are neither in hunspell's dictionary
# nor in inst/WORDLIST: Rscript tools/spelling.R
source("tools/common.R")

run_tool(function(arguments) {
  unknown <- spelling::spell_check_package(".", vignettes = TRUE)
  if (nrow(unknown) == 0) {
    cat("spelling: no unknown words\n")
    return(0L)
  }
  print(unknown)
  text <- "spelling: %d unknown words; correct them or add them to inst/WORDLIST\n"
  cat(sprintf(text, nrow(unknown)))
  1L
}, sys.nframe())
