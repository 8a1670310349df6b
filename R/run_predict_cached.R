# Fast path of predict() for data frames (src/r/loop/predictor.cpp). A predict plan contains the
# predictor of the core, which maps columns of the data to features of the model. A plan is valid
# while the model, its directory and its checkpoint are unchanged.

# Predicts with the cached plan for `type`. Returns NULL if no plan is valid for these data.
predict_from_cache <- function(object, data, type) {
  # a restored model may belong to another directory (R/estimator_snapshot.R)
  if (is.list(handle_fields(object)$shared_state$files)) return(NULL)
  plan <- model_cache(object)$plans[[plan_name(type)]]
  if (is.null(plan) || !identical(plan$source, predict_plan_key(object))) return(NULL)
  values <- cpp_predictor_run(plan$predictor, data)
  if (is.null(values)) return(NULL)
  plan$to_tibble(lapply(values, as_row_matrix))
}

plan_name <- function(type) if (is_string(type)) type else if (is.null(type)) "all" else ""

as_row_matrix <- function(values) {
  if (length(dim(values)) == 2) values else matrix(values, nrow = n_rows(values))
}

# Returns the parts of the object on which predictions depend. The C++ core checks the model
# directory.
predict_plan_key <- function(object) {
  object <- unclass(object) # as in model_cache_key()
  handle <- handle_fields(object)
  list(
    model_cache_key(object), object$blueprint, object$recipe, handle$shared_state$recipe,
    handle$model_dir, handle$config
  )
}

# Caches the plan for later calls. `checkpoint`: the number of the checkpoint in the core, or NULL
# if the core has not cached the checkpoint.
cache_predict_plan <- function(object, newdata, type, format, checkpoint) {
  if (!is.data.frame(newdata) || is.null(checkpoint)) return(invisible())
  fields <- predict_plan_features(object)
  if (is.null(fields)) return(invisible())
  predictor <- cpp_predictor_make(
    core_model(object), model_dir(object), checkpoint, fields$features, fields$columns,
    fields$dtypes, fields$levels, unname(format$keys), prediction_batch_size(object)
  )
  if (is.null(predictor)) return(invisible())
  cache <- model_cache(object)
  cache$plans[[plan_name(type)]] <- list(
    source = predict_plan_key(object), predictor = predictor, to_tibble = format$to_tibble
  )
}

# Returns the column, the data type and the levels of each feature; with NULL as levels, any value
# is valid. Returns NULL if a feature is not a plain column.
predict_plan_features <- function(object) {
  record <- training_record(object)
  has_recipe <- !is.null(object$recipe) || isTRUE(record$recipe) ||
    !is.null(handle_fields(object)$shared_state$recipe)
  if (has_recipe || !is.null(record$order) || is_custom(object)) return(NULL)
  reads <- model_reads(object)
  columns <- plan_columns(object, reads)
  if (length(columns) == 0) return(NULL)
  features <- sort_bytewise(names(columns))
  # ids need a check of their range, which the fast path lacks
  limited_features <- feature_keys(Filter(function(read) read$num_ids > 0, reads))
  if (any(features %in% limited_features)) return(NULL)
  string_names <- string_features(reads)
  float_names <- float_features(reads)
  open_features <- feature_keys(Filter(function(read) read$accepts_unknown_strings, reads))
  levels <- lapply(setNames(nm = features), function(name) {
    levels <- if (!name %in% open_features) record$features[[name]]$levels
    if (!is.null(levels)) return(levels)
    object$blueprint$variables[[columns[[name]]]]$levels
  })
  kinds <- vapply(features, function(name) {
    kind <- record$features[[name]]$kind
    if (is.null(kind)) "" else kind
  }, "")
  dtypes <- ifelse(features %in% string_names & kinds %in% c("factor", "character"), "string",
    ifelse(kinds == "double", ifelse(features %in% float_names, "float32", "float64"),
      c(integer = "int32", logical = "bool")[kinds]
    )
  )
  if (anyNA(dtypes)) return(NULL)
  list(
    features = features, columns = unname(columns[features]), dtypes = unname(dtypes),
    levels = unname(levels)
  )
}

# Returns the columns of the features, named by feature, or NULL if a feature is computed.
plan_columns <- function(object, reads) {
  blueprint <- object$blueprint
  if (is.null(blueprint)) {
    keys <- feature_keys(reads)
    return(setNames(keys, keys))
  }
  if (!is.null(blueprint$offset) || length(blueprint$features) == 0) return(NULL)
  if (any(lengths(blueprint$features) != 1)) return(NULL)
  variables <- unlist(blueprint$features)
  is_plain <- vapply(variables, function(name) {
    variable <- blueprint$variables[[name]]
    is.null(variable$expr) && is.null(variable$time)
  }, NA)
  if (all(is_plain)) setNames(variables, blueprint$keys[names(blueprint$features)])
}
