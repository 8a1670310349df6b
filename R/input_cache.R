# Caches the encoded data of an input function per model.

# Larger data are not cached: the memory would cost more than encoding them again.
max_cached_values <- 1e5

# Converts columns to vectors for the core. Doubles in `floats` become float32 here, instead of in
# each step. Factors in `texts` become strings, other factors codes. `messages` in the result tell
# the user about these codes.
encoded_rows <- function(columns, n_features, texts = character(), floats = character()) {
  column_names <- names(columns)
  is_factor <- vapply(columns, is.factor, NA)
  is_text <- is_factor & column_names %in% texts
  columns[is_text] <- lapply(columns[is_text], as.character)
  is_code <- is_factor & !is_text
  messages <- mapply(encoding_message, columns[is_code], column_names[is_code], SIMPLIFY = FALSE)
  columns[is_code] <- lapply(columns[is_code], factor_codes)
  types <- vapply(columns, declared_type, "")
  is_float <- column_names %in% floats & is.na(types) & seq_along(columns) <= n_features
  types[is_float & vapply(columns, is.double, NA)] <- "float32"
  list(columns = columns, types = unname(types), messages = unname(messages))
}

# Caches the value of `encode()` for repeated evaluations, as long as model, mode and schema do not
# change. Training is not cached, because it updates the schema. Calls that signal a condition are
# not cached, because later calls must signal it, too.
cached_rows <- function(input, estimator, n_values, encode) {
  mode <- the$reading$mode
  is_cacheable <- !is.null(handle_fields(estimator)) && !identical(mode, "train") &&
    is.null(the$reading$shard) && n_values <= max_cached_values
  if (!is_cacheable) return(encode())
  cache <- model_cache(estimator)
  key <- list(
    input, mode, model_cache_key(estimator), estimator$blueprint, training_record(estimator)
  )
  if (identical(cache$rows$key, key)) return(cache$rows$value)
  is_quiet <- TRUE
  rows <- withCallingHandlers(encode(), condition = function(condition) is_quiet <<- FALSE)
  if (is_quiet) cache$rows <- list(key = key, value = rows)
  rows
}
