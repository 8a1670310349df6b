# Data by way of a recipe: predictors are features, the outcome is the response.

#' @rdname input_fn
#' @export
input_fn.recipe <- function(object, data = NULL, ...) {
  rlang::check_installed("recipes", "to read data by a recipe.")
  # steps learn from the data that the recipe was made of, whatever is read by it
  if (!recipes::fully_trained(object)) object <- recipes::prep(object, verbose = FALSE)
  baked <- recipes::bake(object, new_data = data)
  variables <- summary(object)
  named <- function(role) intersect(variables$variable[variables$role %in% role], names(baked))
  weights <- named("case_weights")
  # weights have a class of their own
  baked[weights] <- lapply(baked[weights], as.numeric)
  response <- named("outcome")
  input <- input_fn.data.frame(
    baked, features = c(named("predictor"), weights), response = if (length(response)) response, ...
  )
  structure(input, recipe = object)
}

# New data as the training's were prepared.
bake_newdata <- function(object, newdata, call) {
  recipe <- unclass(object$estimator)$kept$recipe
  if (is.null(recipe)) recipe <- object$recipe
  if (isTRUE(attr(newdata, "is_baked", exact = TRUE))) return(newdata)
  if (is.null(recipe)) {
    if (isTRUE(training_record(object)$recipe)) abort_no_recipe(call)
    return(newdata)
  }
  rlang::check_installed("recipes", "to prepare `newdata` by the recipe of the training.")
  rows <- as.data.frame(newdata, optional = TRUE)
  baked <- tryCatch(
    recipes::bake(recipe, new_data = rows, recipes::all_predictors()),
    error = function(error) {
      cli::cli_abort(
        c(
          "{.arg newdata} cannot be prepared by the recipe of the training.",
          i = "Give data as they are before the recipe, with all columns that it reads."
        ),
        parent = error, class = error_classes("invalid_argument"), call = call
      )
    }
  )
  if (nrow(baked) == nrow(rows)) return(baked)
  abort_runhooks(
    c(
      "The recipe of the training makes {nrow(baked)} row{?s} of the {nrow(rows)} of
       {.arg newdata}.",
      i = "A step that drops rows needs {.code skip = TRUE}."
    ),
    call = call
  )
}

abort_no_recipe <- function(call) {
  abort_runhooks(
    c(
      "The model was trained on data that a recipe had prepared, which this object does not have.",
      i = "Predict with {.code input_fn(recipe, data = newdata)} in the place of
           {.code newdata = newdata}."
    ),
    kind = "failed_precondition", call = call
  )
}
