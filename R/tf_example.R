# tf$train$Example and its parts: protobuf messages that R serializes.

example_symbols <- function() {
  list(
    python_io.TFRecordWriter = record_writer, io.TFRecordWriter = record_writer,
    python_io.tf_record_iterator = record_iterator, io.tf_record_iterator = record_iterator,
    python_io.TFRecordOptions = record_options, io.TFRecordOptions = record_options,
    python_io.TFRecordCompressionType.NONE = "", python_io.TFRecordCompressionType.ZLIB = "ZLIB",
    python_io.TFRecordCompressionType.GZIP = "GZIP",
    train.Int64List = function(value = NULL) {
      example_list("int64_list", numbers_of(value, "whole numbers"))
    },
    train.FloatList = function(value = NULL) {
      example_list("float_list", numbers_of(value, "numbers"))
    },
    train.BytesList = function(value = NULL) example_list("bytes_list", bytes_of(value)),
    train.Feature = function(bytes_list = NULL, float_list = NULL, int64_list = NULL) {
      given <- Filter(Negate(is.null), list(bytes_list, float_list, int64_list))
      check_arg(length(given) == 1, given, "one list of values", "Feature", environment())
      given[[1]]
    },
    train.Features = function(feature = NULL) {
      good <- is.list(feature) && (length(feature) == 0 || !is.null(names(feature)))
      check_arg(good, feature, "a named list of features", "feature", environment())
      for (one in feature) check_message(one, "a feature from tf$train$Feature()", "feature")
      example_message("Features", list(feature = feature))
    },
    train.Example = function(features = NULL) {
      if (!is.null(features)) {
        check_message(features, "features from tf$train$Features()", "features")
      }
      example_message("Example", list(features = features))
    }
  )
}

# The compression, as record_writer() takes it.
record_options <- function(compression_type = NULL, ...) {
  check_string(compression_type, null = TRUE)
  if (is.null(compression_type)) "" else compression_type
}

# Collects the records and writes the file when it is closed.
record_writer <- function(path, options = NULL) {
  check_string(path)
  check_string(options, null = TRUE)
  records <- list()
  is_open <- TRUE
  self <- new.env(parent = emptyenv())
  self$write <- function(record) {
    if (!is_open) abort_runhooks("The writer is closed.", kind = "failed_precondition")
    records[[length(records) + 1]] <<- bytes_of(record)[[1]]
    invisible()
  }
  self$flush <- function() {
    compression <- if (is.null(options)) "" else options
    cpp_write_tfrecord(unname(records), path.expand(path), compression)
    invisible()
  }
  self$close <- function() {
    if (is_open) self$flush()
    is_open <<- FALSE
    invisible()
  }
  as_context(self, enter = function() self, exit = function(condition) self$close())
  class(self) <- c("tensorflow.TFRecordWriter", "runhooks_context")
  self
}

# An iterator over the records of a file, raw vectors.
record_iterator <- function(path, options = NULL) {
  check_string(path)
  check_string(options, null = TRUE)
  records <- cpp_read_records(path.expand(path), if (is.null(options)) "" else options)
  taken <- 0
  next_item <- function() {
    if (taken == length(records)) return(NULL)
    taken <<- taken + 1
    records[[taken]]
  }
  structure(list(next_item = next_item, close = function() NULL), class = "runhooks_iterator")
}

numbers_of <- function(value, wanted, call = parent.frame()) {
  numbers <- unlist(value)
  if (is.null(value)) return(numeric())
  good <- is.null(numbers) || is.numeric(numbers) || is.logical(numbers)
  if (wanted == "whole numbers") {
    good <- good && !anyNA(numbers) && all(numbers == trunc(numbers))
  }
  check_arg(good, value, wanted, "value", call)
  as.numeric(numbers)
}

bytes_of <- function(value, call = parent.frame()) {
  if (is.raw(value)) return(list(value))
  good <- is.null(value) || is.character(value) || is.list(value) && !is.object(value)
  check_arg(good, value, "strings, or a list of strings and raw vectors", "value", call)
  lapply(unname(as.list(value)), function(x) {
    check_arg(is.raw(x) || is_string(x), x, "strings or raw vectors", "value", call)
    if (is.raw(x)) x else charToRaw(enc2utf8(x))
  })
}

check_message <- function(x, wanted, arg, call = parent.frame()) {
  check_arg(inherits(x, "tensorflow.example_message"), x, wanted, arg, call)
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

example_bytes <- function(x) {
  fields <- unclass(x)
  switch(fields$kind,
    Example = if (is.null(fields$features)) raw() else wire(1, example_bytes(fields$features)),
    Features = {
      names <- sort_bytewise(names(fields$feature))
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

wire <- function(field, bytes) c(as.raw(field * 8 + 2), varint(length(bytes)), bytes)

# A varint. Negative numbers are in two's complement of 64 bits, which takes ten bytes.
varint <- function(x) {
  is_negative <- x < 0
  rest <- if (is_negative) -x - 1 else x
  septets <- integer()
  repeat {
    septets <- c(septets, rest %% 128)
    rest <- rest %/% 128
    if (rest == 0) break
  }
  if (is_negative) {
    septets <- 127 - c(septets, rep(0, 9 - length(septets)))
    septets <- c(septets, 1)
  }
  more <- c(rep(128, length(septets) - 1), 0)
  as.raw(septets + more)
}
