# tf$train$Example() and its parts, which are serialized as protobuf messages, and TFRecord files.

example_symbols <- function() {
  list(
    python_io.TFRecordWriter = record_writer, io.TFRecordWriter = record_writer,
    python_io.tf_record_iterator = record_iterator, io.tf_record_iterator = record_iterator,
    python_io.TFRecordOptions = record_options, io.TFRecordOptions = record_options,
    python_io.TFRecordCompressionType.NONE = "", python_io.TFRecordCompressionType.ZLIB = "ZLIB",
    python_io.TFRecordCompressionType.GZIP = "GZIP",
    train.Int64List = function(value = NULL) {
      example_list("int64_list", numeric_values(value, "whole numbers"))
    },
    train.FloatList = function(value = NULL) {
      example_list("float_list", numeric_values(value, "numbers"))
    },
    train.BytesList = function(value = NULL) example_list("bytes_list", raw_values(value)),
    train.Feature = function(bytes_list = NULL, float_list = NULL, int64_list = NULL) {
      values <- Filter(Negate(is.null), list(bytes_list, float_list, int64_list))
      check_arg(length(values) == 1, values, "one list of values", "Feature", environment())
      values[[1]]
    },
    train.Features = function(feature = NULL) {
      is_valid <- is.list(feature) && (length(feature) == 0 || !is.null(names(feature)))
      check_arg(is_valid, feature, "a named list of features", "feature", environment())
      for (value in feature) check_message(value, "a feature from tf$train$Feature()", "feature")
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

# Creates a writer that collects records, and writes the file when it is closed or flushed.
record_writer <- function(path, options = NULL) {
  check_string(path)
  check_string(options, null = TRUE)
  records <- list()
  self <- new.env(parent = emptyenv())
  check_open <- add_close_methods(self, path, function() {
    compression <- if (is.null(options)) "" else options
    cpp_write_tfrecord(unname(records), path.expand(path), compression)
  })
  self$write <- function(record) {
    check_open()
    records[[length(records) + 1]] <<- raw_values(record)[[1]]
    invisible()
  }
  class(self) <- c("tensorflow.TFRecordWriter", "runhooks_context")
  with_checked_members(self)
}

# Returns an iterator over the records of a file, which are raw vectors.
record_iterator <- function(path, options = NULL) {
  check_string(path)
  check_string(options, null = TRUE)
  records <- cpp_read_records(path.expand(path), if (is.null(options)) "" else options)
  num_read <- 0
  next_item <- function() {
    if (num_read == length(records)) return(NULL)
    num_read <<- num_read + 1
    records[[num_read]]
  }
  structure(list(next_item = next_item, close = function() NULL), class = "runhooks_iterator")
}

numeric_values <- function(value, expected, call = parent.frame()) {
  numbers <- unlist(value)
  if (is.null(value)) return(numeric())
  is_valid <- (is.null(numbers) || is.numeric(numbers) || is.logical(numbers)) &&
    !contains_encoded_numbers(value)
  if (expected == "whole numbers") {
    is_valid <- is_valid && !anyNA(numbers) && all(numbers == trunc(numbers))
  }
  check_arg(is_valid, value, expected, "value", call)
  as.numeric(numbers)
}

raw_values <- function(value, call = parent.frame()) {
  if (is.raw(value)) return(list(value))
  is_valid <- is.null(value) || is.character(value) || is.list(value) && !is.object(value)
  check_arg(is_valid, value, "strings, or a list of strings and raw vectors", "value", call)
  lapply(unname(as.list(value)), function(x) {
    check_arg(is.raw(x) || is_string(x), x, "strings or raw vectors", "value", call)
    if (is.raw(x)) x else charToRaw(enc2utf8(x))
  })
}

check_message <- function(x, expected, arg, call = parent.frame()) {
  check_arg(inherits(x, "tensorflow.example_message"), x, expected, arg, call)
}

example_list <- function(kind, value) example_message(kind, list(value = value))

example_message <- function(kind, fields) {
  structure(c(fields, kind = kind), class = "tensorflow.example_message")
}

#' @export
`$.tensorflow.example_message` <- function(x, name) {
  if (name == "SerializeToString") return(function() serialize_example(x))
  unclass(x)[[name]]
}

#' @export
print.tensorflow.example_message <- function(x, ...) {
  cat("<tf.train ", unclass(x)$kind, ">\n", sep = "") # lint: allow stdout
  invisible(x)
}

# Serializes a message. The field numbers are those in TensorFlow's files core/example/*.proto.
serialize_example <- function(x) {
  fields <- unclass(x)
  switch(fields$kind,
    Example = if (is.null(fields$features)) {
      raw()
    } else {
      delimited_field(1, serialize_example(fields$features))
    },
    Features = {
      names <- sort_bytewise(names(fields$feature))
      do.call(c, c(list(raw()), lapply(names, function(name) {
        key <- delimited_field(1, charToRaw(enc2utf8(name)))
        value <- delimited_field(2, serialize_feature(fields$feature[[name]]))
        delimited_field(1, c(key, value))
      })))
    },
    serialize_feature(x)
  )
}

serialize_feature <- function(x) {
  fields <- unclass(x)
  value <- fields$value
  switch(fields$kind,
    bytes_list = {
      elements <- lapply(value, function(bytes) delimited_field(1, bytes))
      delimited_field(1, do.call(c, c(list(raw()), elements)))
    },
    float_list = {
      packed <- writeBin(value, raw(), size = 4, endian = "little")
      delimited_field(2, if (length(value)) delimited_field(1, packed) else raw())
    },
    int64_list = {
      packed <- do.call(c, c(list(raw()), lapply(value, varint)))
      delimited_field(3, if (length(value)) delimited_field(1, packed) else raw())
    }
  )
}

# Serializes a field of protobuf's wire type 2: the tag, the length and the bytes.
delimited_field <- function(field, bytes) c(as.raw(field * 8 + 2), varint(length(bytes)), bytes)

# Serializes a number as a protobuf varint. Negative numbers are two's complements of 64 bits, which
# take ten bytes.
varint <- function(x) {
  is_negative <- x < 0
  remaining <- if (is_negative) -x - 1 else x
  septets <- integer()
  repeat {
    septets <- c(septets, remaining %% 128)
    remaining <- remaining %/% 128
    if (remaining == 0) break
  }
  if (is_negative) {
    septets <- 127 - c(septets, rep(0, 9 - length(septets)))
    septets <- c(septets, 1)
  }
  continuation_bits <- c(rep(128, length(septets) - 1), 0)
  as.raw(septets + continuation_bits)
}
