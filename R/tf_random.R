# tf$random and initializers: what draws numbers, and what variables begin with.

random_symbols <- function() {
  uniform <- function(shape, minval = 0, maxval = NULL, dtype = "float32", seed = NULL,
                      name = NULL) {
    draw("random_uniform", shape, dtype, seed, name, minval = minval, maxval = maxval)
  }
  normal <- function(type) {
    force(type)
    function(shape, mean = 0, stddev = 1, dtype = "float32", seed = NULL, name = NULL) {
      draw(type, shape, dtype, seed, name, mean = mean, stddev = stddev)
    }
  }
  random_normal <- normal("random_normal")
  truncated_normal <- normal("truncated_normal")
  set_seed <- function(seed) {
    check_whole(seed, null = TRUE)
    invisible(cpp_graph_seed(cpp_graph_default(), seed))
  }
  list(
    set_random_seed = set_seed, random.set_random_seed = set_seed, random.set_seed = set_seed,
    random_uniform = uniform, random.uniform = uniform,
    random_normal = random_normal, random.normal = random_normal,
    truncated_normal = truncated_normal, random.truncated_normal = truncated_normal,
    python.ops.random_ops.random_uniform = uniform
  )
}

draw <- function(type, shape, dtype, seed, name, ...) {
  if (!is_tensor(shape)) shape <- as_dims(shape)
  arguments <- list(
    shape = shape, ..., dtype = dtype_name(dtype), seed = seed,
    name = if (is.null(name)) type else name
  )
  cpp_graph_function(type, arguments)
}

# --- initializers

# A function of shape and type that gives values. The core makes them itself from the specification
# that goes with the function.
new_initializer <- function(type, ...) {
  spec <- list(type = type, ...)
  values <- function(shape, dtype = "float32", partition_info = NULL) {
    arguments <- list(initializer = spec, shape = as_dims(shape), dtype = dtype_name(dtype))
    cpp_graph_function("initializers.values", arguments)
  }
  structure(values, spec = spec, class = c("runhooks_initializer", "function"))
}

# What the core makes of it.
initializer_spec <- function(initializer) {
  spec <- attr(initializer, "spec")
  if (is.null(spec)) initializer else spec
}

#' @export
print.runhooks_initializer <- function(x, ...) {
  spec <- attr(x, "spec")
  given <- Filter(Negate(is.null), spec[-1])
  text <- paste0(names(given), " = ", vapply(given, format, ""), collapse = ", ")
  # lint: allow stdout
  cat("<initializer ", spec$type, "(", if (length(given)) text, ")>\n", sep = "")
  invisible(x)
}

initializer_symbols <- function() {
  scaling <- function(scale, mode, distribution) {
    force(scale)
    function(seed = NULL, dtype = "float32") {
      new_initializer(
        "variance_scaling", scale = scale, mode = mode, distribution = distribution, seed = seed
      )
    }
  }
  symbols <- list(
    zeros = function(dtype = "float32") new_initializer("zeros"),
    ones = function(dtype = "float32") new_initializer("ones"),
    constant = function(value = 0, dtype = "float32", verify_shape = FALSE) {
      new_initializer("constant", value = value)
    },
    random_uniform = function(minval = 0, maxval = NULL, seed = NULL, dtype = "float32") {
      new_initializer("random_uniform", minval = minval, maxval = maxval, seed = seed)
    },
    random_normal = function(mean = 0, stddev = 1, seed = NULL, dtype = "float32") {
      new_initializer("random_normal", mean = mean, stddev = stddev, seed = seed)
    },
    truncated_normal = function(mean = 0, stddev = 1, seed = NULL, dtype = "float32") {
      new_initializer("truncated_normal", mean = mean, stddev = stddev, seed = seed)
    },
    uniform_unit_scaling = function(factor = 1, seed = NULL, dtype = "float32") {
      new_initializer("uniform_unit_scaling", factor = factor, seed = seed)
    },
    variance_scaling = function(scale = 1, mode = "fan_in", distribution = "truncated_normal",
                                seed = NULL, dtype = "float32") {
      new_initializer(
        "variance_scaling", scale = scale, mode = mode, distribution = distribution, seed = seed
      )
    },
    glorot_uniform = scaling(1, "fan_avg", "uniform"),
    glorot_normal = scaling(1, "fan_avg", "truncated_normal"),
    orthogonal = function(gain = 1, seed = NULL, dtype = "float32") {
      new_initializer("orthogonal", gain = gain, seed = seed)
    },
    identity = function(gain = 1, dtype = "float32") new_initializer("identity", gain = gain)
  )
  more <- list(
    he_uniform = scaling(2, "fan_in", "uniform"),
    he_normal = scaling(2, "fan_in", "truncated_normal"),
    lecun_uniform = scaling(1, "fan_in", "uniform"),
    lecun_normal = scaling(1, "fan_in", "truncated_normal")
  )
  short <- symbols[names(symbols) != "identity"]
  xavier <- function(uniform = TRUE, seed = NULL, dtype = "float32") {
    symbols[[if (uniform) "glorot_uniform" else "glorot_normal"]](seed)
  }
  c(
    setNames(short, paste0(names(short), "_initializer")),
    setNames(c(symbols, more), paste0("initializers.", c(names(symbols), names(more)))),
    list(contrib.layers.xavier_initializer = xavier)
  )
}
