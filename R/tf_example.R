# tf$train$Example and what it is made of: messages of protobuf, built in R.

example_symbols <- function() {
  list(
    train.Int64List = function(value = NULL) example_list("int64_list", as.numeric(unlist(value))),
    train.FloatList = function(value = NULL) example_list("float_list", as.numeric(unlist(value))),
    train.BytesList = function(value = NULL) {
      value <- if (is.raw(value)) list(value) else as.list(value)
      bytes <- lapply(value, function(x) if (is.raw(x)) x else charToRaw(enc2utf8(as.character(x))))
      example_list("bytes_list", bytes)
    },
    train.Feature = function(bytes_list = NULL, float_list = NULL, int64_list = NULL) {
      given <- Filter(Negate(is.null), list(bytes_list, float_list, int64_list))
      check_arg(length(given) == 1, given, "one list of values", "Feature", environment())
      given[[1]]
    },
    train.Features = function(feature = NULL) {
      good <- is.list(feature) && (length(feature) == 0 || !is.null(names(feature)))
      check_arg(good, feature, "a named list of features", "feature", environment())
      example_message("Features", list(feature = feature))
    },
    train.Example = function(features = NULL) {
      example_message("Example", list(features = features))
    }
  )
}

example_list <- function(kind, value) example_message(kind, list(value = value))

example_message <- function(kind, fields) {
  structure(c(fields, kind = kind), class = "tensorflow.example_message")
}

#' @export
`$.tensorflow.example_message` <- function(x, name) {
  if (name == "SerializeToString") return(function() example_bytes(x))
  unclass(x)[[name]]
}

#' @export
print.tensorflow.example_message <- function(x, ...) {
  cat("<tf.train ", unclass(x)$kind, ">\n", sep = "") # lint: allow stdout
  invisible(x)
}

# --- protobuf's wire format

example_bytes <- function(x) {
  fields <- unclass(x)
  switch(fields$kind,
    Example = if (is.null(fields$features)) raw() else wire(1, example_bytes(fields$features)),
    Features = {
      names <- sort(names(fields$feature), method = "radix")
      do.call(c, c(list(raw()), lapply(names, function(name) {
        value <- feature_bytes(fields$feature[[name]])
        wire(1, c(wire(1, charToRaw(enc2utf8(name))), wire(2, value)))
      })))
    },
    feature_bytes(x)
  )
}

feature_bytes <- function(x) {
  fields <- unclass(x)
  value <- fields$value
  switch(fields$kind,
    bytes_list = wire(1, do.call(c, c(list(raw()), lapply(value, function(b) wire(1, b))))),
    float_list = {
      packed <- writeBin(value, raw(), size = 4, endian = "little")
      wire(2, if (length(value)) wire(1, packed) else raw())
    },
    int64_list = {
      packed <- do.call(c, c(list(raw()), lapply(value, varint)))
      wire(3, if (length(value)) wire(1, packed) else raw())
    }
  )
}

# A field of bytes.
wire <- function(field, bytes) c(as.raw(field * 8 + 2), varint(length(bytes)), bytes)

# Below 0 the other numbers from 2^64 down, which take ten bytes.
varint <- function(x) {
  is_negative <- x < 0
  rest <- if (is_negative) -x - 1 else x
  digits <- integer()
  repeat {
    digits <- c(digits, rest %% 128)
    rest <- rest %/% 128
    if (rest == 0) break
  }
  if (is_negative) {
    digits <- 127 - c(digits, rep(0, 9 - length(digits)))
    digits <- c(digits, 1)
  }
  more <- c(rep(128, length(digits) - 1), 0)
  as.raw(digits + more)
}
