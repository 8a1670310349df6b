# Errors for R functions that need the value of a tensor. A tensor has no value while the graph is
# built.

# Raises an error. Names ifelse() if it is the caller, because ifelse() calls as.logical().
#' @export
as.logical.tensorflow.tensor <- function(x, ...) {
  is_ifelse <- any(vapply(sys.calls(), function(call) identical(call[[1]], quote(ifelse)), NA))
  if (is_ifelse) abort_unsupported_generic("ifelse", environment())
  abort_generic("as.logical", "Use {.code tf$cast(x, tf$bool)} to change the type.", environment())
}

# Raises an error that names the caller: paste(), toupper() and others call as.character().
#' @export
as.character.tensorflow.tensor <- function(x, ...) {
  caller <- calling_function("as.character")
  if (caller %in% names(string_functions)) abort_string_function(caller, environment())
  abort_unsupported_generic("as.character", environment())
}

# R's functions of strings, and the functions of `tf` to use instead.
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

# Evaluates user code. `if`, `while` and other functions do not call methods for a tensor, so their
# errors are replaced by errors that name the function of tf to use.
with_tensor_generics <- function(expr, call = parent.frame()) {
  withCallingHandlers(expr, simpleError = function(error) {
    function_symbol <- conditionCall(error)[[1]]
    if (!is.symbol(function_symbol) || is_value_error(error)) return()
    name <- as.character(function_symbol)
    if (name %in% names(unsupported_generics)) abort_unsupported_generic(name, call)
  })
}

# Returns whether `if` or `while` failed because of an R value, not because of a tensor.
is_value_error <- function(error) {
  messages <- vapply(
    c(
      "argument is of length zero", "missing value where TRUE/FALSE needed",
      "the condition has length > 1"
    ),
    gettext, "", domain = "R"
  )
  conditionMessage(error) %in% messages
}

# Functions that need values, and the functions of tf to use instead.
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

abort_unsupported_generic <- function(name, call) {
  # nolint: used by cli
  subject <- if (name == "as.character") "`paste0()` and the like need values" else {
    paste0("`", name, "` needs a value")
  }
  abort_runhooks(
    c(
      "{subject}, but a tensor has none when the function is called: runhooks calls the function
       once, to build a graph.",
      i = unsupported_generics[[name]],
      i = "In {.fn dataset_map}, {.code on_values(function(record) ...)} calls the function with the
           values of each element."
    ),
    call = call
  )
}
