# Statistics of a stream in one pass: levels, classes, means, scales, and a QR decomposition.

# `wants` selects the statistics. Returns the equivalent of a frame, with the updated blueprint.
scan_stream <- function(blueprint, stream, columns, wants, call) {
  state <- new_stream_statistics(blueprint, wants)
  visit <- function(chunk) {
    frame <- blueprint_frame(blueprint, chunk, TRUE, call)
    update_level_counts(state, blueprint, frame$values)
    state$missing <- add_missing_counts(state$missing, missing_counts(frame$missing), state$read)
    state$passed <- union(state$passed, frame$passed)
    state$read <- state$read + frame$n
    rows <- !Reduce(`|`, frame$missing, logical(frame$n))
    if (any(rows)) update_row_statistics(state, blueprint, select_frame_rows(frame, rows), call)
  }
  each_chunk(stream, columns, visit)
  check_statistics(state, blueprint, call)
  blueprint <- with_levels(state, blueprint, call)
  list(
    blueprint = blueprint, n = state$n, read = state$read, moments = state$moments,
    passed = state$passed,
    numbers = if (!is.null(state$triangle)) stream_numbers(state, blueprint$has_bias),
    response = response_values(state, blueprint$response$name, call)
  )
}

# `wants`: `features` to scale, terms of the `basis` to orthogonalize, and flags for the response.
new_stream_statistics <- function(blueprint, wants) {
  list2env(
    list(
      wants = wants, n = 0, read = 0, missing = NULL, levels = list(), crosses = list(),
      moments = list(), classes = NULL, response = NULL, triangle = NULL
    ),
    parent = emptyenv()
  )
}

update_row_statistics <- function(state, blueprint, frame, call) {
  for (name in state$wants$features) {
    x <- feature_value(blueprint$features[[name]], frame$values)
    state$moments[[name]] <- add_moments(state$moments[[name]], x)
  }
  if (length(state$wants$basis)) {
    x <- number_matrix(blueprint, state$wants$basis, frame$values)
    update_triangle(state, x)
  }
  if (!is.null(frame$offset)) {
    state$moments$.offset <- add_moments(state$moments$.offset, frame$offset)
  }
  y <- frame$response
  if (is.null(state$response)) state$response <- y
  if (state$wants$classes) {
      # fractions are invalid classes; without this check, there could be one class per row
    if (is.numeric(y) && any(y != trunc(y))) response_classes(y, blueprint$response$name, call)
    state$classes <- add_levels(state$classes, y)
  } else if (state$wants$response && is.numeric(y)) {
    state$moments$.response <- add_moments(state$moments$.response, y)
  }
  state$n <- state$n + n_rows(y)
}

check_statistics <- function(state, blueprint, call) {
  if (state$read == 0) abort_runhooks("The data have no rows.", call = call)
  is_left_out <- blueprint$na$kind %in% c("omit", "exclude")
  if (state$missing$rows > 0 && !is_left_out) abort_missing_rows(state$missing, blueprint, call)
  if (state$n == 0) abort_runhooks("All rows have NA.", call = call)
}

stream_means <- function(stream, columns) {
  moments <- list()
  each_chunk(stream, columns, function(chunk) {
    for (name in columns) {
      x <- chunk[[name]]
      if (!is.numeric(x) || !is.null(dim(x))) next
      moments[[name]] <<- add_moments(moments[[name]], x[is.finite(x)])
    }
  })
  lapply(moments, `[[`, "mean")
}

add_moments <- function(was, x) {
  columns <- matrix(as.numeric(x), n_rows(x))
  n <- nrow(columns)
  if (n == 0) return(was)
  mean <- colMeans(columns)
  now <- list(
    n = n, mean = mean, squares = colSums(sweep(columns, 2, mean)^2),
    largest = apply(abs(columns), 2, max)
  )
  if (is.null(was)) return(now)
  n <- was$n + now$n
  step <- now$mean - was$mean
  list(
    n = n, mean = was$mean + step * now$n / n,
    squares = was$squares + now$squares + step^2 * was$n * now$n / n,
    largest = pmax(was$largest, now$largest)
  )
}

moments_scale <- function(moments, is_centered) {
  center <- if (is_centered) moments$mean else 0 * moments$mean
  spread <- sqrt(moments$squares / moments$n + (moments$mean - center)^2)
  scale_of(center, spread, moments$largest)
}

# A QR decomposition of (1, x - shift) keeps full precision, unlike the crossproducts.
update_triangle <- function(state, x) {
  if (is.null(state$shift)) state$shift <- colMeans(x)
  wide <- rbind(state$triangle, cbind(1, sweep(x, 2, state$shift)))
  # with fewer rows than columns there is no triangle yet
  state$triangle <- if (nrow(wide) > ncol(wide)) qr.R(qr(wide, tol = 0)) else wide
  state$moments$.basis <- add_moments(state$moments$.basis, x)
}

stream_numbers <- function(state, has_bias) {
  k <- length(state$shift)
  scale <- moments_scale(state$moments$.basis, has_bias)
  raw <- rbind(c(1, state$shift), cbind(0, diag(k)))
  if (!has_bias) raw <- raw[, -1, drop = FALSE]
  standard <- rbind((state$shift - scale$center) / scale$scale, diag(1 / scale$scale, k))
  standardized <- state$triangle %*% standard
  list(
    scale = scale, k = k, kept = known_columns(qr(state$triangle %*% raw, tol = 1e-7), has_bias),
    triangle = function(kept) {
      qr.R(qr(standardized[, kept, drop = FALSE], tol = 0)) / sqrt(state$n)
    }
  )
}

update_level_counts <- function(state, blueprint, values) {
  words <- Filter(function(variable) !is.null(variable$levels), blueprint$variables)
  for (name in names(words)) state$levels[[name]] <- add_levels(state$levels[[name]], values[[name]])
  for (name in names(blueprint$crosses)) {
    parts <- as.data.frame(lapply(values[blueprint$features[[name]]], as.character), optional = TRUE)
    state$crosses[[name]] <- unique(rbind(state$crosses[[name]], parts))
  }
}

# Updates the levels, and which orders are consistent with all chunks.
add_levels <- function(was, x) {
  own <- if (is.factor(x)) levels(x) else unique(as.vector(x[!is.na(x)]))
  words <- as.character(own)
  numbers <- suppressWarnings(as.numeric(words))
  now <- list(
    values = own, is_factor = is.factor(x), is_same = TRUE,
    is_numeric = !anyNA(numbers) && !is.unsorted(numbers), is_sorted = !is.unsorted(words)
  )
  if (is.null(was)) return(now)
  for (way in c("is_numeric", "is_sorted")) now[[way]] <- was[[way]] && now[[way]]
  now$is_same <- was$is_same && identical(was$values, own)
  now$values <- if (now$is_same) own else union(was$values, own)
  now
}

# The levels of a factor in the order that all of the data would have.
ordered_levels <- function(seen, name, call) {
  if (seen$is_same) return(seen$values)
  if (seen$is_numeric) return(seen$values[order(as.numeric(seen$values))])
  if (seen$is_sorted) return(sort(seen$values))
  abort_runhooks(
    c(
      "The levels of {.code {name}} differ between chunks of the stream, and their order is
       ambiguous.",
      i = "Specify the levels: {.code factor(x, levels = c(...))}."
    ),
    call = call
  )
}

with_levels <- function(state, blueprint, call) {
  for (name in names(state$levels)) {
    if (!is.null(blueprint$known$variables[[name]]$levels)) next
    seen <- state$levels[[name]]
    levels <- if (seen$is_factor) ordered_levels(seen, name, call) else plain_strings(seen$values)
    check_has_levels(levels, name, call)
    blueprint$variables[[name]]$levels <- levels
  }
  for (name in names(blueprint$crosses)) {
    words <- blueprint$features[[name]]
    blueprint$crosses[[name]] <- crossed_levels(state$crosses[[name]], blueprint, words)
  }
  blueprint
}

response_values <- function(state, name, call) {
  seen <- state$classes
  if (is.null(seen)) return(state$response)
  if (!seen$is_factor) return(seen$values)
  levels <- ordered_levels(seen, name, call)
  factor(levels, levels = levels)
}

# Rejects terms such as poly(x, 2) or x - mean(x), whose values differ in a part of the rows.
check_by_row <- function(blueprint, chunk, call) {
  n <- n_rows(chunk[[1]])
  some <- unique(list(seq_len(ceiling(n / 2)), setdiff(seq_len(n), seq_len(ceiling(n / 2))), 1L, n))
  for (name in names(blueprint$variables)) {
    if (!is.call(blueprint$variables[[name]]$expr)) next
    whole <- formula_value(name, chunk, blueprint, call)
    for (rows in some[lengths(some) > 0]) {
      is_in <- seq_len(n) %in% rows
      part <- tryCatch(
        formula_value(name, lapply(chunk, select_rows, is_in), blueprint, call),
        error = function(error) NULL
      )
      if (!have_same_values(part, select_rows(whole, is_in))) abort_not_by_row(name, call)
    }
  }
}

have_same_values <- function(a, b) {
  if (is.factor(a) || is.factor(b)) {
    a <- as.character(a)
    b <- as.character(b)
  }
  isTRUE(all.equal(as.vector(a), as.vector(b), tolerance = 1e-12))
}

abort_not_by_row <- function(name, call) {
  abort_runhooks(
    c(
      "{.code {name}} depends on all rows, but a stream is read in chunks.",
      i = "Write the numbers that it computes from the data into the formula, as in
           {.code I(x - 3.2)}, {.code cut(x, c(0, 1, 2))} or {.code poly(x, 2, raw = TRUE)}."
    ),
    call = call
  )
}
