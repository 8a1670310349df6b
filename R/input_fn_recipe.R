# Input functions for recipes: predictors are features, and the outcome is the response.

#' @rdname input_fn
#' @export
input_fn.recipe <- function(object, data = NULL, ...) {
  rlang::check_installed("recipes", "to read data by a recipe.")
  # the steps are estimated from the data of the recipe, not from `data`
  if (!recipes::fully_trained(object)) object <- recipes::prep(object, verbose = FALSE)
  baked <- bake_by_role(object, data)
  response <- baked$outcome
  input <- input_fn.data.frame(
    baked$data, features = c(baked$predictors, baked$weights),
    response = if (length(response)) response, ...
  )
  structure(input, recipe = object)
}

# Prepares data by a trained recipe. Returns the data and the names of their columns by role.
bake_by_role <- function(recipe, data) {
  baked <- recipes::bake(recipe, new_data = data)
  variables <- summary(recipe)
  columns <- function(role) intersect(variables$variable[variables$role %in% role], names(baked))
  weights <- columns("case_weights")
  # weights have a class of the package hardhat
  baked[weights] <- lapply(baked[weights], as.numeric)
  list(
    data = baked, outcome = columns("outcome"), predictors = columns("predictor"),
    weights = weights
  )
}

# Applies the recipe of the training to new data.
bake_newdata <- function(object, newdata, call) {
  recipe <- handle_fields(object)$shared_state$recipe
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
