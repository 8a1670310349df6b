# The seed of a graph, and the initializers of variables.

random_symbols <- function() {
  set_seed <- function(seed) {
    check_whole(seed, null = TRUE)
    invisible(cpp_graph_seed(cpp_graph_default(), seed))
  }
  list(
    set_random_seed = set_seed, random.set_random_seed = set_seed, random.set_seed = set_seed
  )
}

# Creates an initializer, which is an R function of a shape. The C++ core does not call it, but
# reads its attribute `spec`.
new_initializer <- function(type, default_dtype, ...) {
  spec <- list(type = type, ...)
  check_initializer(spec[-1], parent.frame())
  default_dtype <- as_dtype(default_dtype)
  values <- function(shape, dtype = NULL, partition_info = NULL) {
    abort_unsupported_arguments(partition_info)
    if (is.null(dtype)) dtype <- default_dtype
    cpp_tf_call("_initializer_values", list(initializer = spec, shape = shape, dtype = dtype))
  }
  structure(values, spec = spec, class = c("runhooks_initializer", "function"))
}

check_initializer <- function(arguments, call) {
  for (name in names(arguments)) {
    x <- arguments[[name]]
    if (name == "seed") {
      check_whole(x, null = TRUE, arg = name, call = call)
    } else if (name %in% c("mode", "distribution")) {
      check_string(x, arg = name, call = call)
    } else if (name %in% c("mean", "stddev", "scale", "factor", "gain", "minval")) {
      check_arg(is_number(x) || is_graph_element(x), x, "a number", name, call)
    }
  }
}

#' @export
print.runhooks_initializer <- function(x, ...) {
  spec <- attr(x, "spec")
  arguments <- Filter(Negate(is.null), spec[-1])
  text <- paste0(names(arguments), " = ", vapply(arguments, format, ""), collapse = ", ")
  # lint: allow stdout
  cat("<initializer ", spec$type, "(", if (length(arguments)) text, ")>\n", sep = "")
  invisible(x)
}

initializer_symbols <- function() {
  variance_scaling_function <- function(scale, mode, distribution) {
    force(scale)
    function(seed = NULL, dtype = "float32") {
      new_initializer(
        "variance_scaling", dtype,
        scale = scale, mode = mode, distribution = distribution, seed = seed
      )
    }
  }
  symbols <- list(
    zeros = function(dtype = "float32") new_initializer("zeros", dtype),
    ones = function(dtype = "float32") new_initializer("ones", dtype),
    constant = function(value = 0, dtype = "float32", verify_shape = FALSE) {
      abort_unsupported_arguments(verify_shape)
      new_initializer("constant", dtype, value = value)
    },
    random_uniform = function(minval = 0, maxval = NULL, seed = NULL, dtype = "float32") {
      new_initializer("random_uniform", dtype, minval = minval, maxval = maxval, seed = seed)
    },
    random_normal = function(mean = 0, stddev = 1, seed = NULL, dtype = "float32") {
      new_initializer("random_normal", dtype, mean = mean, stddev = stddev, seed = seed)
    },
    truncated_normal = function(mean = 0, stddev = 1, seed = NULL, dtype = "float32") {
      new_initializer("truncated_normal", dtype, mean = mean, stddev = stddev, seed = seed)
    },
    uniform_unit_scaling = function(factor = 1, seed = NULL, dtype = "float32") {
      new_initializer("uniform_unit_scaling", dtype, factor = factor, seed = seed)
    },
    variance_scaling = function(scale = 1, mode = "fan_in", distribution = "truncated_normal",
                                seed = NULL, dtype = "float32") {
      new_initializer(
        "variance_scaling", dtype,
        scale = scale, mode = mode, distribution = distribution, seed = seed
      )
    },
    glorot_uniform = variance_scaling_function(1, "fan_avg", "uniform"),
    glorot_normal = variance_scaling_function(1, "fan_avg", "truncated_normal"),
    orthogonal = function(gain = 1, seed = NULL, dtype = "float32") {
      new_initializer("orthogonal", dtype, gain = gain, seed = seed)
    },
    identity = function(gain = 1, dtype = "float32") new_initializer("identity", dtype, gain = gain)
  )
  keras_initializers <- list(
    he_uniform = variance_scaling_function(2, "fan_in", "uniform"),
    he_normal = variance_scaling_function(2, "fan_in", "truncated_normal"),
    lecun_uniform = variance_scaling_function(1, "fan_in", "uniform"),
    lecun_normal = variance_scaling_function(1, "fan_in", "truncated_normal")
  )
  # mark the constructors: scripts may pass one uncalled, as `initializer = tf$zeros_initializer`
  as_class <- function(f) structure(f, class = c("runhooks_initializer_class", "function"))
  symbols <- lapply(symbols, as_class)
  keras_initializers <- lapply(keras_initializers, as_class)
  old_names <- symbols[names(symbols) != "identity"]
  xavier <- function(uniform = TRUE, seed = NULL, dtype = "float32") {
    symbols[[if (uniform) "glorot_uniform" else "glorot_normal"]](seed, dtype)
  }
  classes <- c(symbols, keras_initializers)
  c(
    setNames(old_names, paste0(names(old_names), "_initializer")),
    setNames(classes, paste0("initializers.", names(classes))),
    list(contrib.layers.xavier_initializer = as_class(xavier))
  )
}
