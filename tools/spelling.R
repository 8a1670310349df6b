# Words of the pages, vignettes, README and NEWS that are neither in hunspell's dictionary nor in
# inst/WORDLIST: Rscript tools/spelling.R
source("tools/common.R")

run_tool(function(arguments) {
  found <- spelling::spell_check_package(".", vignettes = TRUE)
  if (nrow(found) == 0) {
    cat("spelling: no unknown words\n")
    return(0L)
  }
  print(found)
  cat(sprintf("spelling: %d unknown words; correct them or add them to inst/WORDLIST\n", nrow(found)))
  1L
}, sys.nframe())
