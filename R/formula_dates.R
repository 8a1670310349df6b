# Converts dates, times and time differences (in days) to numbers, as lm() does.

time_kind <- function(x) {
  kinds <- c(Date = "Date", POSIXt = "POSIXct", difftime = "difftime")
  found <- Filter(function(class) inherits(x, class), names(kinds))
  if (length(found)) kinds[[found[[1]]]]
}

time_numbers <- function(x) {
  switch(time_kind(x),
    Date = as.numeric(x),
    POSIXct = as.numeric(as.POSIXct(x)),
    difftime = as.numeric(x, units = "days")
  )
}

# The origin of times: float32 cannot represent seconds since 1970 exactly.
first_time <- function(seconds) {
  seconds <- seconds[is.finite(seconds)]
  if (length(seconds)) floor(min(seconds)) else 0
}

check_time <- function(x, name, was, call) {
  now <- time_kind(x)
  if (identical(now, was)) return(invisible())
  abort_runhooks(
    c(
      "The feature {.val {name}} has a different type than in training.",
      x = "It was {.cls {was}}, but is now {.cls {if (is.null(now)) class(x) else now}}."
    ),
    call = call
  )
}

# Formats thresholds of dates and times in the splits of a tree: "day <= 2020-02-29".
with_time_questions <- function(nodes, blueprint) {
  for (name in names(blueprint$terms)) {
    term <- blueprint$terms[[name]]
    time <- if (length(term$numbers) == 1) blueprint$variables[[term$numbers]]$time
    if (is.null(time) || time == "difftime" || length(term$words)) next
    at <- which(nodes$feature %in% blueprint$keys[[name]] & !is.na(nodes$threshold))
    if (length(at) == 0) next
    number <- nodes$threshold[at] + if (is.null(term$center)) 0 else term$center
    shown <- if (time == "Date") {
      format(as.Date(floor(number), origin = "1970-01-01"))
    } else {
      format(as.POSIXct(number, origin = "1970-01-01", tz = "UTC"), "%Y-%m-%d %H:%M:%S UTC")
    }
    nodes$question[at] <- paste(nodes$feature[at], "<=", shown)
  }
  nodes
}
