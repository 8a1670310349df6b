# Input functions for recipes: predictors are features, and the outcome is the response.

#' @rdname input_fn
#' @export
input_fn.recipe <- function(object, data = NULL, ...) {
  rlang::check_installed("recipes", "to read data by a recipe.")
  # the steps are estimated from the data of the recipe, not from `data`
  if (!recipes::fully_trained(object)) object <- recipes::prep(object, verbose = FALSE)
  baked <- recipes::bake(object, new_data = data)
  variables <- summary(object)
  columns_with_role <- function(role) {
    intersect(variables$variable[variables$role %in% role], names(baked))
  }
  weights <- columns_with_role("case_weights")
  # weights have a class of the package hardhat
  baked[weights] <- lapply(baked[weights], as.numeric)
  response <- columns_with_role("outcome")
  input <- input_fn.data.frame(
    baked, features = c(columns_with_role("predictor"), weights),
    response = if (length(response)) response, ...
  )
  structure(input, recipe = object)
}

# Applies the recipe of the training to new data.
bake_newdata <- function(object, newdata, call) {
  recipe <- unclass(object$estimator)$shared_state$recipe
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
          "The recipe of the training cannot prepare {.arg newdata}.",
          i = "Give unprepared data with all columns that the recipe reads."
        ),
        parent = error, class = error_classes("invalid_argument"), call = call
      )
    }
  )
  if (nrow(baked) == nrow(rows)) return(baked)
  abort_runhooks(
    c(
      "The recipe of the training changes the number of rows of {.arg newdata} from {nrow(rows)} to
       {nrow(baked)}.",
      i = "Set {.code skip = TRUE} in steps that drop rows."
    ),
    call = call
  )
}

abort_no_recipe <- function(call) {
  abort_runhooks(
    c(
      "The model was trained on data from a recipe, but this object does not have the recipe.",
      i = "Use {.code input_fn(recipe, data = newdata)} instead of {.code newdata = newdata}."
    ),
    kind = "failed_precondition", call = call
  )
}
