# Errors for unknown members in `object$name`, for which base R would return NULL.

abort_no_member <- function(x, name, member_names = NULL, call = parent.frame()) {
  columns <- attr(x, "columns") # nolint: used by cli
  abort_runhooks(
    c(
      "{describe_type(x)} has no member {.field {name}}.",
      if (!is.null(member_names)) did_you_mean(name, member_names[!startsWith(member_names, ".")]),
      i = if (!is.null(columns)) "Its columns are {.val {unique(columns)}}."
    ),
    kind = "not_found", call = call
  )
}

# Makes `$` abort for unknown members of an environment. Do not use it for the objects that hooks
# receive in each step, because a method for `$` takes as long as a short step. For these objects,
# missing_member_note() explains the error afterwards.
with_checked_members <- function(x) {
  if (!inherits(x, "runhooks_checked_members")) class(x) <- c("runhooks_checked_members", class(x))
  x
}

#' @export
`$.runhooks_checked_members` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value)) get_member(x, name) else value
}

get_member <- function(x, name, optional = NULL) {
  value <- .subset2(x, name)
  if (!is.null(value) || name %in% c(names(x), optional)) return(value)
  abort_no_member(x, name, names(x), call = parent.frame())
}
