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
  input_fn.data.frame(
    baked, features = c(named("predictor"), weights), response = if (length(response)) response, ...
  )
}
