# Derives arguments of a model, such as its classes, from the response of its formula.

response_arguments <- function(args, supplied, blueprint, value, mode, call) {
  name <- blueprint$response$name
  if (mode == "regression") {
    if (is.character(value) || is.factor(value)) {
      abort_runhooks(
        c(
          "The response {.val {name}} of a regressor must be numbers, not
           {kind_descriptions[[column_kind(value)]]}.",
          x = "The value in row 1 is {.val {first_value(value[1])}}.",
          i = na_level_advice(value),
          i = number_text_advice(value, name),
          i = "To predict classes, use a classifier such as {.fn linear_classifier}."
        ),
        call = call
      )
    }
    check_column(value, name, TRUE, call)
    if (length(dim(value)) == 2 && !"label_dimension" %in% supplied) {
      args$label_dimension <- ncol(value)
    }
  }
  if (mode == "classification") {
    if (!"label_vocabulary" %in% supplied || is.null(args$label_vocabulary)) {
      inform_empty_classes(value, name)
      args$label_vocabulary <- response_classes(value, name, call)
    }
    n <- length(args$label_vocabulary)
    if (!"n_classes" %in% supplied) args$n_classes <- n
    if (!"label_vocabulary" %in% supplied && is_number(args$n_classes) && args$n_classes != n) {
      abort_runhooks(
        c(
          "The response {.val {name}} has {n} classes, but {.arg n_classes} is
           {describe(args$n_classes)}.",
          i = "A formula needs no {.arg n_classes}: leave it out."
        ),
        call = call
      )
    }
  }
  args
}

# The advice for a response of strings that are all numbers, or NULL.
number_text_advice <- function(value, name) {
  strings <- unique(as.character(value))
  is_number <- !is.na(suppressWarnings(as.numeric(strings[!is.na(strings) & strings != "NA"])))
  if (length(is_number) == 0 || !all(is_number)) return(NULL)
  text <- if (is.factor(value)) sprintf("as.character(%s)", name) else name # nolint: used by cli
  cli::format_inline("The text consists of numbers; convert it with {.code as.numeric({text})}.")
}

# Reports classes without rows. They remain classes, because later data may contain them.
inform_empty_classes <- function(x, name) {
  empty <- if (is.factor(x)) setdiff(levels(x), as.character(x))
  if (length(empty) == 0) return(invisible())
  cli::cli_inform(
    c(
      "No row has the class{cli::qty(length(empty))}{?/es} {.val {empty}} of {.val {name}}. Without
       rows, the probability of a class tends to 0 and the loss has no minimum.",
      i = "Use {.fn droplevels} to drop such classes."
    ),
    class = "runhooks_message_empty_class"
  )
}

response_classes <- function(x, name, call) {
  classes <- if (is.factor(x)) {
    levels(x)
  } else if (is.logical(x)) {
    c("FALSE", "TRUE")
  } else {
    as.character(sort_bytewise(unique(as.vector(x))))
  }
  has_fractions <- is.numeric(x) && any(x != trunc(x), na.rm = TRUE)
  if (length(classes) > 1 && !has_fractions) return(classes)
  abort_runhooks(
    c(
      "The response {.val {name}} of a classifier must have at least two classes.",
      x = if (has_fractions) "It has fractions." else "It has {length(classes)}: {.val {classes}}."
    ),
    call = call
  )
}
