library(testthat)
library(runhooks)

test_check("runhooks")
