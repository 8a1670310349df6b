# Converts dates, times and time differences (in days) to numbers, as lm() does. Also converts
# columns of the package units.

# Returns "Date", "POSIXct" or "difftime" for a column of dates or times, and NULL for other
# columns.
time_class <- function(x) {
  classes <- c(Date = "Date", POSIXt = "POSIXct", difftime = "difftime")
  matching <- Filter(function(class) inherits(x, class), names(classes))
  if (length(matching)) classes[[matching[[1]]]]
}

time_numbers <- function(x) {
  switch(time_class(x),
    Date = as.numeric(x),
    POSIXct = as.numeric(as.POSIXct(x)),
    difftime = as.numeric(x, units = "days")
  )
}

# Returns a number to subtract from a column before it becomes float32, or NULL. Times need one,
# because float32 cannot represent seconds since 1970 exactly. So do large numbers in tree models;
# other models standardize them.
number_origin <- function(x, name, time_class, blueprint) {
  if (identical(time_class, "POSIXct")) return(min_finite(floor(x)))
  if (!isTRUE(blueprint$has_trees) || !is.numeric(x) || !is.null(dim(x))) return(NULL)
  x <- unique(x[is.finite(x)])
  origin <- if (any(abs(x) > 2^24) && any(round_to_float32(x) != x)) min_finite(x)
  if (!is.null(origin)) inform_equal_numbers(x - origin, name)
  origin
}

min_finite <- function(x) {
  x <- x[is.finite(x)]
  if (length(x)) min(x) else 0
}

# Rounds numbers to the precision of float32.
round_to_float32 <- function(x) {
  unit <- 2^(floor(log2(abs(x))) - 23)
  ifelse(x == 0, 0, round(x / unit) * unit)
}

inform_equal_numbers <- function(x, name) {
  n_lost <- length(x) - length(unique(round_to_float32(x))) # nolint: used by cli
  if (n_lost == 0) return(invisible())
  cli::cli_inform(
    "Trees read {.val {name}} in single precision, which makes {n_lost} of its {length(x)}
     different numbers equal to others.",
    class = "runhooks_message_precision"
  )
}

check_time <- function(x, name, trained_class, call) {
  current <- time_class(x)
  if (identical(current, trained_class)) return(invisible())
  if (is.null(current)) current <- class(x)
  abort_runhooks(
    c(
      "The feature {.val {name}} has a different type than in training.",
      x = "It was {.cls {trained_class}}, but is now {.cls {current}}.",
      i = if (trained_class %in% c("Date", "POSIXct")) "Convert it with {.fn as.{trained_class}}."
    ),
    call = call
  )
}

# Returns the unit of a column of the package units; NULL for other columns.
measurement_unit <- function(x) {
  if (!inherits(x, "units")) return(NULL)
  tryCatch(getExportedValue("units", "deparse_unit")(x), error = function(error) NULL)
}

# Converts a column to the unit of the training data. Numbers without a unit are assumed to have it.
convert_unit <- function(x, unit, name, call) {
  if (is.null(unit) || !inherits(x, "units")) return(x)
  set_units <- getExportedValue("units", "set_units")
  tryCatch(set_units(x, unit, mode = "standard"), error = function(error) {
    abort_runhooks(
      "{.val {name}} is in {.val {measurement_unit(x)}}, which cannot be converted to {.val {unit}},
       the unit of the training data.",
      call = call
    )
  })
}

# Converts thresholds of trees to the units of the data. Questions show dates and times, as in
# "day <= 2020-02-29".
format_time_thresholds <- function(nodes, blueprint) {
  for (name in names(blueprint$terms)) {
    term <- blueprint$terms[[name]]
    if (length(term$numbers) != 1 || length(term$words)) next
    time_class <- blueprint$variables[[term$numbers]]$time
    is_time <- !is.null(time_class) && time_class != "difftime"
    rows <- which(nodes$feature %in% blueprint$keys[[name]] & !is.na(nodes$threshold))
    if (length(rows) == 0 || !is_time && is.null(term$center)) next
    number <- nodes$threshold[rows] + if (is.null(term$center)) 0 else term$center
    nodes$threshold[rows] <- number
    text <- if (!is_time) {
      format(number, digits = 15, trim = TRUE)
    } else if (time_class == "Date") {
      format(as.Date(floor(number), origin = "1970-01-01"))
    } else {
      format(as.POSIXct(number, origin = "1970-01-01", tz = "UTC"), "%Y-%m-%d %H:%M:%S UTC")
    }
    nodes$question[rows] <- paste(nodes$feature[rows], "<=", text)
  }
  nodes
}
