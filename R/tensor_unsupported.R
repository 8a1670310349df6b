# Words of R's that need the value of a tensor, which is not there while a function of tensors is
# called: an error that says which functions of `tf` do the same.

# ifelse() asks for it
#' @export
as.logical.tensorflow.tensor <- function(x, ...) {
  abort_tensor_word("ifelse", environment())
}

# paste() and paste0() ask for it
#' @export
as.character.tensorflow.tensor <- function(x, ...) {
  abort_tensor_word("as.character", environment())
}

# An R function of tensors is called: `if` and its like fail before any method of ours is asked.
with_tensor_words <- function(expr, call = parent.frame()) {
  withCallingHandlers(expr, simpleError = function(error) {
    word <- conditionCall(error)[[1]]
    if (is.symbol(word) && as.character(word) %in% names(tensor_words)) {
      abort_tensor_word(as.character(word), call)
    }
  })
}

tensor_words <- c(
  `if` = "{.code tf$where(test, yes, no)} chooses element by element, {.code tf$cond()} between
          functions.",
  ifelse = "{.code tf$where(test, yes, no)} chooses element by element.",
  `while` = "{.code tf$while_loop()} repeats as long as a tensor says so.",
  `for` = "{.code tf$map_fn()} calls a function for each row of a tensor.",
  `switch` = "{.code tf$case()} chooses among functions.",
  nchar = "{.code tf$strings$length()} counts bytes or letters.",
  `&&` = "{.code a & b} is of tensors.", `||` = "{.code a | b} is of tensors.",
  as.character = "{.code tf$string_join(list(a, b))} puts strings together ({.code tf$strings$join()}),
            {.code tf$as_string(x)} makes them of numbers."
)

abort_tensor_word <- function(word, call) {
  # nolint: used by cli
  what <- if (word == "as.character") "`paste0()` and its like need values" else {
    paste0("`", word, "` needs a value")
  }
  abort_runhooks(
    c(
      "{what}, and a tensor has none when the function is called: it is called once, to build a
       graph.",
      i = tensor_words[[word]],
      i = "In {.fn dataset_map}: {.code on_values(function(record) ...)} calls the function with
           values, element by element."
    ),
    call = call
  )
}
