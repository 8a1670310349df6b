# Scatter updates, assertions and templates in `tf`, and members that are not available.

variable_symbols <- function() {
  list(
    scatter_add = scatter_function("Add"), scatter_sub = scatter_function("Sub"),
    scatter_update = scatter_function("Update"),
    get_variable_scope = function() current_variable_scope(),
    get_local_variable = get_local_variable,
    assert_equal = comparison_assertion("assert_equal", "x == y", "equal"),
    assert_none_equal = comparison_assertion("assert_none_equal", "x != y", "not_equal"),
    assert_less = comparison_assertion("assert_less", "x < y", "less"),
    assert_less_equal = comparison_assertion("assert_less_equal", "x <= y", "less_equal"),
    assert_greater = comparison_assertion("assert_greater", "x > y", "greater"),
    assert_greater_equal = comparison_assertion("assert_greater_equal", "x >= y", "greater_equal"),
    assert_positive = sign_assertion("assert_positive", "x > 0", "greater"),
    assert_negative = sign_assertion("assert_negative", "x < 0", "less"),
    assert_non_negative = sign_assertion("assert_non_negative", "x >= 0", "greater_equal"),
    assert_non_positive = sign_assertion("assert_non_positive", "x <= 0", "less_equal"),
    assert_rank = assert_rank,
    make_template = make_template,
    report_uninitialized_variables = report_uninitialized_variables,
    InteractiveSession = interactive_session,
    GPUOptions = function(...) list(...),
    estimator.Estimator = estimator_with_tf_signature
  )
}

# Returns tf$scatter_add() or a similar function. `update_type`: "Add", "Sub" or "Update".
scatter_function <- function(update_type) {
  force(update_type)
  f <- function(ref, indices, updates, use_locking = FALSE, name = NULL) {
    check_flag(use_locking)
    check_arg(is_tensor(ref) || is_variable(ref), ref, "a variable", "ref", environment())
    indices <- as_tensor(indices, "int32")
    updates <- as_tensor(updates, ref$dtype)
    # a scalar updates all rows
    if (identical(length(dim(updates)), 0L)) {
      rows <- tf$gather(ref, indices)
      updates <- tf$zeros_like(rows) + updates
    }
    if (cpp_element_info(ref)$is_ref) {
      return(tf_op(paste0("Scatter", update_type), ref, indices, updates, name = name))
    }
    change <- cpp_op_create(
      paste0("ResourceScatter", update_type), list(ref, indices, updates), list(), name
    )
    with(control_dependencies(change), cpp_variable_read(ref))
  }
  if (update_type == "Update") formals(f)$use_locking <- TRUE
  f
}

scatter_rows <- function(variable, update_type, rows, name, call = parent.frame()) {
  if (!inherits(rows, "tensorflow.indexed_slices")) {
    abort_runhooks("sparse_delta is not IndexedSlices: {describe_type(rows)}.", call = call)
  }
  scatter_function(update_type)(variable, rows$indices, rows$values, name = name)
}

get_local_variable <- function(name, shape = NULL, dtype = NULL, initializer = NULL,
                               regularizer = NULL, trainable = FALSE, collections = NULL,
                               caching_device = NULL, partitioner = NULL, validate_shape = TRUE,
                               use_resource = NULL, custom_getter = NULL, constraint = NULL,
                               synchronization = "auto", aggregation = "none") {
  abort_unsupported_arguments(trainable)
  get_variable(
    name, shape, dtype, initializer, regularizer, FALSE,
    unique(c("local_variables", collections_or(collections, NULL))), caching_device, partitioner,
    validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation
  )
}

# --- assertions

# Returns a function such as tf$assert_less(), which compares two tensors.
comparison_assertion <- function(scope, text, comparison) {
  force(scope)
  force(text)
  force(comparison)
  function(x, y, data = NULL, summarize = NULL, message = NULL, name = NULL) {
    check_string(message, null = TRUE)
    with(name_scope(name, scope), {
      x <- as_tensor(x, if (is_graph_element(y)) y$dtype)
      y <- as_tensor(y, x$dtype)
      condition <- tf$reduce_all(tf[[comparison]](x, y))
      condition_text <- paste0("Condition ", text, " did not hold element-wise:")
      default_data <- list(
        tf$constant(paste(c(message, condition_text), collapse = " ")),
        tf$constant(paste0("x (", x$name, ") = ")), x, tf$constant(paste0("y (", y$name, ") = ")), y
      )
      tf$Assert(condition, if (is.null(data)) default_data else data, summarize = summarize)
    })
  }
}

# Returns a function such as tf$assert_positive(), which compares a tensor with 0.
sign_assertion <- function(scope, text, comparison) {
  assert_comparison <- comparison_assertion(scope, text, comparison)
  function(x, data = NULL, summarize = NULL, message = NULL, name = NULL) {
    x <- as_tensor(x)
    assert_comparison(x, tf$zeros(list(), dtype = x$dtype), data, summarize, message, name)
  }
}

assert_rank <- function(x, rank, data = NULL, summarize = NULL, message = NULL, name = NULL) {
  abort_unsupported_arguments(data, summarize)
  check_string(message, null = TRUE)
  check_whole(rank)
  x <- as_tensor(x)
  if (is.null(dim(x))) {
    abort_runhooks("The rank of {.val {x$name}} is not known.", kind = "unimplemented")
  }
  if (length(dim(x)) != rank) {
    abort_runhooks("{message} Tensor {x$name} must have rank {rank}. Received rank
      {length(dim(x))}, shape {x$shape$text}")
  }
  tf$no_op(name = name_or_default(name, "static_checks_determined_all_ok"))
}

# Implements tf$make_template(), which returns a function. The calls of this function share the
# variables that the first call creates.
make_template <- function(name_, func_, create_scope_now_ = FALSE, unique_name_ = NULL,
                          custom_getter_ = NULL, ...) {
  abort_unsupported_arguments(create_scope_now_, custom_getter_)
  check_string(name_)
  check_string(unique_name_, null = TRUE)
  check_function(func_)
  arguments <- list(...)
  scope <- NULL
  function(...) {
    is_first <- is.null(scope)
    if (is_first) {
      opened <- if (is.null(unique_name_)) {
        variable_scope(NULL, name_)
      } else {
        variable_scope(unique_name_)
      }
      return(with(opened %as% current, {
        scope <<- current
        do.call(func_, c(list(...), arguments), quote = TRUE)
      }))
    }
    with(variable_scope(scope, reuse = TRUE), do.call(func_, c(list(...), arguments), quote = TRUE))
  }
}

interactive_session <- function(target = "", graph = NULL, config = NULL) {
  session <- session_symbols()$Session(target, graph, config)
  push_session(session)
  close <- session$close
  session$close <- function() {
    session$close <- close
    the$sessions <- Filter(function(other) !identical(other, session), the$sessions)
    cpp_graph_pop_default()
    close()
  }
  session
}

# Implements tf$report_uninitialized_variables(): returns a tensor with the names of the variables
# that have no value yet.
report_uninitialized_variables <- function(var_list = NULL,
                                           name = "report_uninitialized_variables") {
  variables <- if (is.null(var_list)) c(tf$global_variables(), tf$local_variables()) else var_list
  if (is_variable(variables)) variables <- list(variables)
  is_valid <- is.list(variables) && all(vapply(variables, is_variable, NA))
  check_arg(is_valid, variables, "a list of variables", "var_list", environment())
  with(name_scope(name, "report_uninitialized_variables"), {
    if (length(variables) == 0) return(tf$constant(character(), shape = 0L, dtype = "string"))
    are_missing <- lapply(variables, function(v) {
      is_ref <- cpp_element_info(v)$is_ref
      tf$logical_not(tf_op(if (is_ref) "IsVariableInitialized" else "VarIsInitializedOp", v))
    })
    names <- vapply(variables, function(v) v$op$name, "")
    tf$boolean_mask(tf$constant(array(names)), tf$stack(are_missing))
  })
}

# --- tf$estimator$Estimator(), with TensorFlow's order of arguments

estimator_with_tf_signature <- function(model_fn, model_dir = NULL, config = NULL, params = NULL,
                                    warm_start_from = NULL) {
  estimator(model_fn, model_dir, config, params, warm_start_from = warm_start_from)
}

# --- members that are not available

unavailable_symbols <- function() {
  unavailable_function <- function(name, advice) {
    force(name)
    force(advice)
    function(...) {
      abort_runhooks(c("{.code tf${name}} is not available.", i = advice), kind = "unimplemented")
    }
  }
  dataset_advice <- "Read the files yourself: use {.fn tensor_slices_dataset} for arrays, and
    {.fn csv_record_spec} and {.fn text_line_dataset} for text."
  list(
    contrib.learn.datasets.load_dataset = unavailable_function(
      "contrib$learn$datasets$load_dataset", dataset_advice
    ),
    contrib.learn.datasets.mnist.read_data_sets = unavailable_function(
      "contrib$learn$datasets$mnist$read_data_sets", dataset_advice
    ),
    keras.Sequential = unavailable_function(
      "keras$Sequential", "Build the layers in a model function, with {.code tf$layers}."
    ),
    keras.Model = unavailable_function(
      "keras$Model", "Build the layers in a model function, with {.code tf$layers}."
    ),
    app.flags = flags
  )
}
