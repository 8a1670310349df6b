# An exported model behind a web service:
#   plumber::pr_run(plumber::pr(system.file("examples/serving/plumber.R", package = "runhooks")))
# The environment variable RUNHOOKS_MODEL names the folder of the export. A request is a POST to
# /predict of JSON rows, {"rows": [{"drat": 3.9, "cyl": 6}]}; the answer has what the signature gives
# for each row.
library(runhooks)

model <- load_savedmodel(Sys.getenv("RUNHOOKS_MODEL"))

plain <- function(row) lapply(row, function(cell) as.vector(unclass(cell)))

#* What the model answers, and what it takes
#* @get /signatures
#* @serializer unboxedJSON
function() {
  lapply(model$signatures, function(signature) {
    features <- names(signature$example_features)
    list(
      takes = if (length(features)) features else names(signature$inputs),
      gives = names(signature$outputs)
    )
  })
}

#* Predictions for rows
#* @post /predict
#* @serializer json list(digits = NA)
function(req, res, signature = NULL) {
  request <- jsonlite::fromJSON(req$postBody)
  arguments <- list(object = model, newdata = request$rows, simplify = FALSE)
  if (!is.null(signature)) arguments$signature <- signature
  tryCatch(
    list(predictions = lapply(do.call(predict, arguments), plain)),
    runhooks_error = function(error) {
      res$status <- 400
      list(error = conditionMessage(error))
    }
  )
}
