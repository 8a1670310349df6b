# Converts dates, times and time differences (in days) to numbers, as lm() does.

time_class <- function(x) {
  kinds <- c(Date = "Date", POSIXt = "POSIXct", difftime = "difftime")
  found <- Filter(function(class) inherits(x, class), names(kinds))
  if (length(found)) kinds[[found[[1]]]]
}

time_numbers <- function(x) {
  switch(time_class(x),
    Date = as.numeric(x),
    POSIXct = as.numeric(as.POSIXct(x)),
    difftime = as.numeric(x, units = "days")
  )
}

# The number to subtract in double precision from times, because float32 cannot represent seconds
# since 1970 exactly, and from large numbers of trees. Other models standardize large numbers.
number_origin <- function(x, name, time_class, blueprint) {
  if (identical(time_class, "POSIXct")) return(first_number(floor(x)))
  if (!isTRUE(blueprint$has_trees) || !is.numeric(x) || !is.null(dim(x))) return(NULL)
  x <- unique(x[is.finite(x)])
  origin <- if (any(abs(x) > 2^24) && any(as_single(x) != x)) first_number(x)
  if (!is.null(origin)) inform_equal_numbers(x - origin, name)
  origin
}

first_number <- function(x) {
  x <- x[is.finite(x)]
  if (length(x)) min(x) else 0
}

as_single <- function(x) {
  unit <- 2^(floor(log2(abs(x))) - 23)
  ifelse(x == 0, 0, round(x / unit) * unit)
}

inform_equal_numbers <- function(x, name) {
  lost <- length(x) - length(unique(as_single(x))) # nolint: used by cli
  if (lost == 0) return(invisible())
  cli::cli_inform(
    "Trees read {.val {name}} in single precision, which makes {lost} of its {length(x)} different
     numbers equal to others.",
    class = "runhooks_message_precision"
  )
}

check_time <- function(x, name, was, call) {
  now <- time_class(x)
  if (identical(now, was)) return(invisible())
  abort_runhooks(
    c(
      "The feature {.val {name}} has a different type than in training.",
      x = "It was {.cls {was}}, but is now {.cls {if (is.null(now)) class(x) else now}}.",
      i = if (was %in% c("Date", "POSIXct")) "Convert it with {.fn as.{was}}."
    ),
    call = call
  )
}

# The unit of a column of the package units; NULL for other columns.
unit_of <- function(x) {
  if (!inherits(x, "units")) return(NULL)
  tryCatch(getExportedValue("units", "deparse_unit")(x), error = function(error) NULL)
}

# A column in the unit of the training. Numbers without a unit are taken to be in this unit.
in_unit <- function(x, unit, name, call) {
  if (is.null(unit) || !inherits(x, "units")) return(x)
  tryCatch(getExportedValue("units", "set_units")(x, unit, mode = "standard"), error = function(error) {
    abort_runhooks(
      "{.val {name}} is in {.val {unit_of(x)}}, which cannot be converted to {.val {unit}}, the unit
       of the training.",
      call = call
    )
  })
}

# Thresholds in the units of the data, with dates and times as in "day <= 2020-02-29".
format_time_thresholds <- function(nodes, blueprint) {
  for (name in names(blueprint$terms)) {
    term <- blueprint$terms[[name]]
    if (length(term$numbers) != 1 || length(term$words)) next
    time_class <- blueprint$variables[[term$numbers]]$time
    is_time <- !is.null(time_class) && time_class != "difftime"
    at <- which(nodes$feature %in% blueprint$keys[[name]] & !is.na(nodes$threshold))
    if (length(at) == 0 || !is_time && is.null(term$center)) next
    number <- nodes$threshold[at] + if (is.null(term$center)) 0 else term$center
    nodes$threshold[at] <- number
    shown <- if (!is_time) {
      format(number, digits = 15, trim = TRUE)
    } else if (time_class == "Date") {
      format(as.Date(floor(number), origin = "1970-01-01"))
    } else {
      format(as.POSIXct(number, origin = "1970-01-01", tz = "UTC"), "%Y-%m-%d %H:%M:%S UTC")
    }
    nodes$question[at] <- paste(nodes$feature[at], "<=", shown)
  }
  nodes
}
