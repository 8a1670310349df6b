# An exported model behind a web service:
#   plumber::pr_run(plumber::pr(system.file("examples/serving/plumber.R", package = "runhooks")))
# The environment variable RUNHOOKS_MODEL names the folder of the export. A request is a POST to
# /predict of JSON rows, {"rows": [{"drat": 3.9, "cyl": 6}]}; the answer has what the signature gives
# for each row, or 400 and what is wrong with the request.
library(runhooks)

model <- load_savedmodel(Sys.getenv("RUNHOOKS_MODEL"))

# plumber's own parser of JSON answers 500 to a text that is none.
plumber::register_parser(
  "as_text", function(...) function(value, ...) rawToChar(value), regex = "^", verbose = FALSE
)

# The rows of a request, as a data frame.
rows_of <- function(body) {
  bad <- function(...) rlang::abort(paste0(...), class = "bad_request")
  request <- tryCatch(
    jsonlite::fromJSON(if (length(body) && nzchar(body)) body else "null"),
    error = function(error) bad("The request is no JSON: ", conditionMessage(error))
  )
  rows <- if (is.list(request)) request$rows
  if (!is.data.frame(rows)) {
    bad("The request must be {\"rows\": [...]} with an object of named cells for each row.")
  }
  rows
}

refuse <- function(res, error) {
  res$status <- 400
  list(error = conditionMessage(error))
}

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
#* @parser as_text
#* @serializer json list(digits = NA)
function(req, res, signature = NULL) {
  tryCatch(
    {
      arguments <- list(object = model, newdata = rows_of(req$postBody), simplify = FALSE)
      if (!is.null(signature)) arguments$signature <- signature
      list(predictions = lapply(do.call(predict, arguments), plain))
    },
    bad_request = function(error) refuse(res, error),
    runhooks_error = function(error) refuse(res, error)
  )
}
