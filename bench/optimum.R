# Coefficients and standard errors of linear formula models, compared with lm() and glm() on R's
# data sets, including collinear terms: a row for each formula of tests/testthat/helper-optimum.R.
#   Rscript bench/optimum.R
library(runhooks)

cases <- new.env()
sys.source("tests/testthat/helper-optimum.R", cases)
found <- suppressMessages(do.call(rbind, lapply(cases$optimum_cases(), cases$compare_optimum)))
short <- ifelse(nchar(found$formula) > 44, paste0(substr(found$formula, 1, 41), "..."), found$formula)
cat(sprintf(
  "%-44s %-17s %-8s %5s %3s %10s %10s\n", "formula", "data", "family", "steps", "NA", "coef", "std.err"
))
cat(sprintf(
  "%-44s %-17s %-8s %5d %3d %10.1e %10.1e%s\n", short, found$data, found$kind,
  as.integer(found$steps), found$missing, found$coefficients, found$standard_errors,
  ifelse(found$same_terms, "", " other terms")
), sep = "")
cat(sprintf(
  "%d formulas: coefficients within %.1e, standard errors within %.1e; %.2f s a fit\n", nrow(found),
  max(found$coefficients), max(found$standard_errors), stats::median(found$seconds)
))
