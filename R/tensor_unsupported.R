# Errors for R functions that need the value of a tensor, which does not exist in graph mode.

# ifelse() calls it
#' @export
as.logical.tensorflow.tensor <- function(x, ...) {
  is_ifelse <- any(vapply(sys.calls(), function(call) identical(call[[1]], quote(ifelse)), NA))
  if (is_ifelse) abort_unsupported_generic("ifelse", environment())
  abort_generic("as.logical", "Use {.code tf$cast(x, tf$bool)} to change the type.", environment())
}

# paste(), toupper() and other functions of strings call it.
#' @export
as.character.tensorflow.tensor <- function(x, ...) {
  caller <- calling_function("as.character")
  if (caller %in% names(string_functions)) abort_string_function(caller, environment())
  abort_unsupported_generic("as.character", environment())
}

string_functions <- c(
  toupper = "tf$strings$upper()", tolower = "tf$strings$lower()", sub = "tf$strings$regex_replace()",
  gsub = "tf$strings$regex_replace()", substr = "tf$strings$substr()",
  substring = "tf$strings$substr()", strsplit = "tf$string_split()", trimws = "tf$strings$strip()",
  grepl = "tf$strings$regex_full_match()", regexpr = "tf$strings$regex_full_match()",
  chartr = "tf$strings$regex_replace()", sprintf = "tf$as_string() and tf$strings$join()"
)

abort_string_function <- function(name, call) {
  abort_runhooks(
    c(
      "{.fn {name}} does not work on tensors. Use {.code {string_functions[[name]]}}.",
      i = "In {.fn dataset_map}, {.code on_values(function(record) ...)} calls R functions with the
           values of each element."
    ),
    kind = "unimplemented", call = call
  )
}

# `if` and the like fail without dispatch, so their errors are replaced.
with_tensor_generics <- function(expr, call = parent.frame()) {
  withCallingHandlers(expr, simpleError = function(error) {
    word <- conditionCall(error)[[1]]
    if (!is.symbol(word) || is_value_error(error)) return()
    if (as.character(word) %in% names(unsupported_generics)) abort_unsupported_generic(as.character(word), call)
  })
}

# Whether `if` or `while` failed for a vector of R, not for a tensor.
is_value_error <- function(error) {
  words <- vapply(
    c("argument is of length zero", "missing value where TRUE/FALSE needed", "the condition has length > 1"),
    gettext, "", domain = "R"
  )
  conditionMessage(error) %in% words
}

unsupported_generics <- c(
  `if` = "Use {.code tf$where(test, yes, no)} for each element, or {.code tf$cond()} for functions.",
  ifelse = "Use {.code tf$where(test, yes, no)} for each element.",
  `while` = "Use {.code tf$while_loop()} for a condition that is a tensor.",
  `for` = "Use {.code tf$map_fn()} to call a function for each row of a tensor.",
  `switch` = "Use {.code tf$case()} to select a function.",
  var = "Use {.code tf$nn$moments(x, axes)} for the mean and the variance.",
  pmin = "Use {.fn tf$minimum}.", pmax = "Use {.fn tf$maximum}.",
  which = "Use {.fn tf$where} for the positions of TRUE.",
  which.max = "Use {.fn tf$argmax}.", which.min = "Use {.fn tf$argmin}.",
  match = "Use {.code tf$equal(x, value)} for each value.",
  rowSums = "Use {.code tf$reduce_sum(x, 1L)}.", colSums = "Use {.code tf$reduce_sum(x, 0L)}.",
  rowMeans = "Use {.code tf$reduce_mean(x, 1L)}.", colMeans = "Use {.code tf$reduce_mean(x, 0L)}.",
  crossprod = "Use {.code tf$matmul(x, y, transpose_a = TRUE)}.", cut = "Use {.fn column_bucketized}.",
  nchar = "Use {.code tf$strings$length()} to count bytes or characters.",
  `&&` = "Use {.code a & b} for tensors.", `||` = "Use {.code a | b} for tensors.",
  as.character = "Use {.code tf$string_join(list(a, b))} to concatenate strings
            ({.code tf$strings$join()}), and {.code tf$as_string(x)} to convert numbers."
)

abort_unsupported_generic <- function(word, call) {
  # nolint: used by cli
  what <- if (word == "as.character") "`paste0()` and the like need values" else {
    paste0("`", word, "` needs a value")
  }
  abort_runhooks(
    c(
      "{what}, but a tensor has none when the function is called: it is called once, to build a
       graph.",
      i = unsupported_generics[[word]],
      i = "In {.fn dataset_map}, {.code on_values(function(record) ...)} calls the function with the
           values of each element."
    ),
    call = call
  )
}
