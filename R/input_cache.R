# Caches the encoded data of an input function per model.

# For larger data, memory for the cached copies costs more than encoding them again.
max_cached_values <- 1e5

# Doubles in `floats` become float32 once, instead of in each step; factors in `texts` become
# strings. `messages` are messages about factors.
encoded_rows <- function(columns, n_features, texts = character(), floats = character()) {
  words <- names(columns)
  is_factor <- vapply(columns, is.factor, NA)
  is_text <- is_factor & words %in% texts
  columns[is_text] <- lapply(columns[is_text], as.character)
  is_code <- is_factor & !is_text
  messages <- mapply(encoding_message, columns[is_code], words[is_code], SIMPLIFY = FALSE)
  columns[is_code] <- lapply(columns[is_code], factor_codes)
  types <- vapply(columns, wanted_type, "")
  narrow <- words %in% floats & is.na(types) & seq_along(columns) <= n_features
  types[narrow & vapply(columns, is.double, NA)] <- "float32"
  list(columns = columns, types = unname(types), messages = unname(messages))
}

# Caches `make()` while model, mode and schema are unchanged, for repeated evaluations. Training
# updates the schema, and conditions must be repeated, so both are not cached.
cached_rows <- function(input, estimator, n_values, make) {
  mode <- the$reading$mode
  changes <- is.null(estimator$estimator) || identical(mode, "train") || !is.null(the$reading$shard)
  if (changes || n_values > max_cached_values) return(make())
  cache <- model_cache(estimator)
  key <- list(
    input, mode, model_cache_key(estimator), estimator$blueprint, training_record(estimator)
  )
  if (identical(cache$rows$key, key)) return(cache$rows$value)
  is_quiet <- TRUE
  rows <- withCallingHandlers(make(), condition = function(condition) is_quiet <<- FALSE)
  if (is_quiet) cache$rows <- list(key = key, value = rows)
  rows
}
