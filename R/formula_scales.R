# Standardizes terms and the response. Columns and head contain the scales, so the graph reads
# unscaled data. The model directory contains them, too, for models that are created again from
# other data.

add_scales <- function(blueprint, frame, is_scaled, scales_labels, scales_terms = TRUE) {
  recorded <- blueprint$known
  blueprint <- add_offset_center(blueprint, frame, is_scaled)
  for (name in names(blueprint$terms)) {
    term <- blueprint$terms[[name]]
    is_alone <- length(term$numbers) == 1 && length(term$words) == 0
    scale <- recorded$terms[[name]]
    origin <- if (is_alone) blueprint$variables[[term$numbers]]$origin
    # a trained tree model has recorded whether an origin is subtracted from the numbers
    is_recorded <- is_alone && !is.null(recorded) && isTRUE(blueprint$has_trees)
    if (is_recorded || !is.null(origin) && !is.null(scale$center)) {
      blueprint$terms[[name]][c("center", "scale")] <- scale[c("center", "scale")]
    } else if (!is.null(origin)) {
      blueprint$terms[[name]]$center <- if (blueprint$has_bias) origin else 0
      blueprint$terms[[name]]$scale <- 1
    }
    if (!is_scaled || !scales_terms || length(term$numbers) == 0) next
    if (is_orthogonalized(blueprint, name)) next
    if (is.null(scale$scale)) {
      # centering is possible only if each level also has a bias
      is_centered <- if (length(term$words) == 0) blueprint$has_bias else {
        product_name(term$words) %in% names(blueprint$terms)
      }
      values <- if (is.null(frame$moments)) feature_value(term$numbers, frame$values)
      scale <- frame_scale(frame, values, product_name(term$numbers), is_centered)
    }
    blueprint$terms[[name]][c("center", "scale")] <- scale[c("center", "scale")]
  }
  if (is_scaled && scales_labels && is.numeric(frame$response)) {
    scale <- recorded$response
    if (is.null(scale)) {
      scale <- frame_scale(frame, frame$response, ".response", blueprint$has_bias)
    }
    blueprint$response[c("center", "scale")] <- scale[c("center", "scale")]
    check_loss_range(blueprint$response, frame$n)
  }
  blueprint
}

# The loss is the sum of the squared errors in the units of the response, in single precision.
check_loss_range <- function(response, n) {
  largest <- max(response$scale)
  if (largest * sqrt(n) < 1e19) return(invisible())
  abort_runhooks(
    c(
      "The response {.code {response$name}} is too large: its squared errors exceed 3.4e38, the
       largest number of single precision.",
      x = "Its standard deviation is {format(largest, digits = 3)}.",
      i = "Divide it, as in {.code I({response$name} / {format(10^floor(log10(largest)))})}."
    ),
    call = user_frame()
  )
}

is_orthogonalized <- function(blueprint, name) {
  name %in% blueprint$basis$terms || !is.null(slopes_of(blueprint, name))
}

# Returns center and scale of `values`. For a stream, they are computed from the statistics
# `frame$moments[[name]]`.
frame_scale <- function(frame, values, name, is_centered) {
  if (is.null(frame$moments)) return(column_scale(values, is_centered, frame$scale_weight))
  moments_scale(frame$moments[[name]], is_centered)
}

head_scales_labels <- function(head) {
  is_head(head) && "label_scale" %in% cpp_specs("head", head$type)$name
}

feature_value <- function(numbers, values) {
  if (length(numbers) == 1) return(values[[numbers]])
  Reduce(`*`, lapply(values[numbers], as.numeric))
}

# Returns center and scale of columns: mean and standard deviation, or 0 and root mean square if not
# centered. Constant columns are not scaled.
column_scale <- function(x, is_centered, weights = NULL) {
  columns <- matrix(as.numeric(x), n_rows(x))
  if (!is.null(weights)) return(weighted_scale(columns, is_centered, as.numeric(weights)))
  center <- if (is_centered) colMeans(columns) else numeric(ncol(columns))
  spread <- spread_about_zero(sweep(columns, 2, center), colMeans)
  scale_from_spread(center, spread, apply(abs(columns), 2, max))
}

weighted_scale <- function(columns, is_centered, weights) {
  mean_of <- function(columns) colSums(columns * weights) / sum(weights)
  center <- if (is_centered) mean_of(columns) else numeric(ncol(columns))
  spread <- spread_about_zero(sweep(columns, 2, center), mean_of)
  scale_from_spread(center, spread, apply(abs(columns), 2, max))
}

# The root mean square of each column. The squares of numbers such as 1e-200 are 0 in double
# precision, so such columns are scaled first.
spread_about_zero <- function(columns, mean_of) {
  root <- sqrt(mean_of(columns^2))
  for (i in which(is.infinite(root) | root < 1e-140)) {
    size <- max(abs(columns[, i]))
    if (!is.finite(size) || size == 0) next
    root[[i]] <- size * sqrt(mean_of((columns[, i, drop = FALSE] / size)^2))
  }
  root
}

scale_from_spread <- function(center, spread, largest) {
  is_constant <- !is.finite(spread) | spread <= 1e-12 * largest
  list(center = center, scale = ifelse(is_constant, 1, spread))
}

label_scale_arguments <- function(blueprint) {
  response <- blueprint$response
  if (is.null(response$scale)) return(list())
  list(label_center = as.list(response$center), label_scale = as.list(response$scale))
}

# Returns the directory whose training determines levels and scales: `folder`, or before its first
# training that of a warm start.
recorded_model_folder <- function(folder, warm_start) {
  if (folder$has_checkpoint) return(folder)
  source <- warm_start_folder(warm_start)
  if (is.null(source) || is.null(recorded_formula(source))) return(folder)
  source$arg <- "warm_start_from"
  source
}

recorded_formula <- function(folder) {
  if (!folder$has_metadata || !folder$has_checkpoint) return(NULL)
  recorded <- read_metadata(folder)$formula
  if (is_recorded_formula(recorded)) recorded
}

is_recorded_formula <- function(x) {
  is_scale <- function(x) {
    is.null(x$scale) || (is.double(x$scale) && is.double(x$center) && all(x$scale > 0))
  }
  is_plain_list(x) && is_plain_list(x$variables) && is_plain_list(x$terms) &&
    is_plain_list(x$crosses) && is_plain_list(x$response) &&
    all(vapply(x$variables, function(v) is_plain_list(v) && is_plain_strings(v$levels), NA)) &&
    all(vapply(x$terms, is_plain_list, NA)) && all(vapply(x$terms, is_scale, NA)) &&
    is_scale(x$response) && is_recorded_basis(x$basis) && are_recorded_slopes(x$slopes) &&
    (is.null(x$has_bias) || is_flag(x$has_bias))
}

# Converts a blueprint to plain data, which the model directory stores. Calls, such as poly() with
# its coefficients, are stored as text, only for comparison.
formula_record <- function(blueprint) {
  if (is.null(blueprint)) return(NULL)
  non_null <- function(...) Filter(Negate(is.null), list(...))
  response <- blueprint$response
  record <- list(
    variables = lapply(blueprint$variables, function(variable) {
      non_null(
        levels = variable$levels, na_level = variable$na_level,
        basis = call_text(variable$expr), time = variable$time, unit = variable$unit
      )
    }),
    crosses = blueprint$crosses,
    terms = lapply(blueprint$terms, function(term) {
      non_null(center = term$center, scale = term$scale)
    }),
    response = non_null(center = response$center, scale = response$scale, unit = response$unit),
    na = blueprint$na
  )
  offset <- blueprint$offset
  if (!is.null(offset)) record$terms[[offset$name]] <- list(center = offset$center, scale = 1)
  record$basis <- basis_record(blueprint$basis)
  record$slopes <- slopes_record(blueprint$slopes)
  if (isFALSE(blueprint$has_bias)) record$has_bias <- FALSE
  record
}

call_text <- function(expr) if (is.call(expr)) code_text(expr)

check_recorded_basis <- function(name, expr, recorded, call) {
  if (is.null(recorded) || identical(recorded$basis, call_text(expr))) return(invisible())
  abort_runhooks(
    c(
      "{.code {name}} differs between these data and the training data of the model whose weights
       are used.",
      i = "Create the model with the training data, or use another {.arg model_dir} or
           {.arg warm_start_from}."
    ),
    call = call
  )
}

folder_arg <- function(folder) if (is.null(folder$arg)) "model_dir" else folder$arg

warn_no_record <- function(path, call) {
  rlang::warn(
    c(
      paste0("The model directory ", path, " has a checkpoint, but no file ", record_file, "."),
      x = "The scales and levels of its training are unknown: numbers are not standardized here.",
      i = "If the model was trained from a formula, its predictions are wrong: restore the file from
           a copy, or train the model in another directory."
    ),
    class = c("runhooks_warning_no_record", "runhooks_warning"), call = call
  )
}

# Returns the value of `normalize`. It must agree with the trained model in the directory, if one
# exists.
resolve_normalize <- function(matched, recorded, folder, call) {
  normalize <- matched$args$normalize
  if (!folder$has_checkpoint) return(normalize)
  if (normalize && !folder$has_metadata) warn_no_record(folder$path, call)
  was_normalized <- !is.null(recorded$response$scale) || !is.null(recorded$basis) ||
    !is.null(recorded$slopes) ||
    any(vapply(recorded$terms, function(term) !is.null(term$scale), NA))
  if (normalize == was_normalized || !"normalize" %in% matched$given) return(was_normalized)
  abort_runhooks(
    c(
      "The model in {.path {folder$path}} was trained with {.code normalize = {was_normalized}}.",
      i = "Use {.code normalize = {was_normalized}}, or another {.arg {folder_arg(folder)}}."
    ),
    call = call
  )
}

