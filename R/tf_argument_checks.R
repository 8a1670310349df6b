# Argument checks for the functions of `tf` that are written in R. Functions of the core declare
# their checks.

whole_number <- "a whole number"
whole_numbers <- "whole numbers"
single_string <- "a single string"
true_or_false <- "TRUE or FALSE"
one_tensor <- "a tensor"
list_or_vector <- "a list or a vector"
size_or_tensor <- "whole numbers or a tensor"

argument_predicates <- list(
  "a whole number" = function(x) is_whole(x),
  "whole numbers" = function(x) are_whole(x),
  "a number" = function(x) is_number(x),
  "a number or a tensor" = function(x) is_number(x) || is_tensor_or_variable(x),
  "numbers or a tensor" = function(x) is.numeric(x) && length(x) > 0 || is_tensor_or_variable(x),
  "a single string" = function(x) is_string(x),
  "strings" = function(x) all(vapply(as_plain_list(x), is_string, NA)) && !is.environment(x),
  "TRUE or FALSE" = function(x) is_flag(x),
  "TRUE, FALSE or a tensor" = function(x) is_flag(x) || is_tensor_or_variable(x),
  "a tensor" = function(x) is_tensor_or_variable(x),
  "a function" = function(x) is.function(x),
  "a list of functions" = function(x) is.list(x) && all(vapply(x, is_null_or_function, NA)),
  "a list or a vector" = function(x) is.list(x) || is.atomic(x) && !is.null(x),
  "whole numbers or a tensor" = function(x) are_whole(x) || is_tensor_or_variable(x),
  "a number or a string" = function(x) is_number(x) || is_string(x),
  "a session" = function(x) is_session(x)
)

# Returns TRUE for graph elements that have a value. Operations have none.
is_tensor_or_variable <- function(x) is_tensor(x) || is_variable(x)
are_whole <- function(x) all(vapply(as_plain_list(x), is_whole, NA))
is_null_or_function <- function(x) is.null(x) || is.function(x)
# Converts to a list. An object that is neither a list nor a vector becomes its only element.
as_plain_list <- function(x) if (is.list(x) || is_atomic(x)) as.list(x) else list(x)

# Returns for each function the arguments to check, and what each must be.
checked_arguments <- function() {
  box_sizes <- c(
    offset_height = whole_number, offset_width = whole_number, target_height = whole_number,
    target_width = whole_number
  )
  sort_arguments <- c(axis = whole_number, direction = single_string)
  masks <- c("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
  xavier_arguments <- c(uniform = true_or_false)
  summary_arguments <- c(summarizer = "a function")
  resize_arguments <- c(size = size_or_tensor, method = "a number or a string")
  numbers <- "numbers or a tensor"
  list_arguments <- c(value = list_or_vector)
  list(
    sort = sort_arguments, argsort = sort_arguments,
    norm = c(ord = "a number or a string", axis = whole_numbers, keepdims = true_or_false),
    nn.conv1d = c(stride = whole_numbers, padding = single_string, data_format = single_string),
    strided_slice = c(
      begin = size_or_tensor, end = size_or_tensor, strides = size_or_tensor,
      setNames(rep(whole_number, length(masks)), masks)
    ),
    decode_csv = c(
      record_defaults = list_or_vector, field_delim = single_string, na_value = single_string,
      select_cols = whole_numbers
    ),
    io.decode_csv = c(
      record_defaults = list_or_vector, field_delim = single_string, na_value = single_string,
      select_cols = whole_numbers
    ),
    image.adjust_gamma = c(gamma = numbers, gain = numbers),
    image.resize = resize_arguments, image.resize_images = resize_arguments,
    image.crop_to_bounding_box = box_sizes, image.pad_to_bounding_box = box_sizes,
    image.resize_image_with_crop_or_pad = box_sizes[3:4],
    image.resize_with_crop_or_pad = box_sizes[3:4],
    contrib.layers.layer_norm = c(
      center = true_or_false, scale = true_or_false, begin_norm_axis = whole_number,
      begin_params_axis = whole_number
    ),
    contrib.layers.batch_norm = c(
      center = true_or_false, scale = true_or_false, is_training = "TRUE, FALSE or a tensor"
    ),
    contrib.layers.unit_norm = c(dim = whole_numbers),
    contrib.layers.maxout = c(num_units = whole_number, axis = whole_number),
    contrib.layers.dropout = c(keep_prob = "a number or a tensor"),
    contrib.layers.sum_regularizer = c(regularizer_list = "a list of functions"),
    contrib.layers.stack = c(stack_args = list_or_vector),
    contrib.layers.optimize_loss = c(summaries = "strings"),
    contrib.layers.variance_scaling_initializer = c(mode = single_string, xavier_arguments),
    contrib.layers.xavier_initializer = xavier_arguments,
    contrib.layers.xavier_initializer_conv2d = xavier_arguments,
    contrib.layers.summarize_tensor = c(tag = single_string),
    contrib.layers.summarize_activation = c(op = one_tensor),
    contrib.layers.summarize_tensors = summary_arguments,
    contrib.layers.summarize_collection = summary_arguments,
    graph_util.convert_variables_to_constants = c(
      sess = "a session", output_node_names = "strings"
    ),
    train.global_step = c(sess = "a session", global_step_tensor = one_tensor),
    train.BytesList = list_arguments, train.FloatList = list_arguments,
    train.Int64List = list_arguments,
    meshgrid = c(indexing = single_string)
  )
}

# Adds the checks to the bodies of the functions, because wrapping them would change their
# sys.call() and parent.frame().
with_argument_checks <- function(symbols) {
  kinds <- checked_arguments()
  for (name in names(kinds)) symbols[[name]] <- with_argument_check(symbols[[name]], kinds[[name]])
  symbols
}

with_argument_check <- function(f, kinds) {
  attrs <- attributes(f)
  body(f) <- call("{", bquote(check_declared_arguments(.(kinds), environment())), body(f))
  attributes(f) <- attrs[setdiff(names(attrs), "srcref")]
  f
}

# Checks the arguments of a running function, whose environment is `frame`. NULL is valid if it is
# the default of the argument.
check_declared_arguments <- function(kinds, frame) {
  for (arg in names(kinds)) {
    if (eval(call("missing", as.name(arg)), frame)) next
    x <- frame[[arg]]
    expected <- kinds[[arg]]
    default <- formals(sys.function(sys.parent()))[[arg]]
    if (is.null(x) && is.null(default)) next
    check_arg(argument_predicates[[expected]](x), x, expected, arg, frame)
  }
}
