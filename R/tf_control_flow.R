# tf$cond(), tf$case(), loops and custom gradients. As in TensorFlow, their values can be nested
# lists of tensors.

control_symbols <- function() {
  list(
    cond = tf_cond, case = tf_case, while_loop = tf_while_loop, map_fn = tf_map_fn,
    foldl = fold_function(FALSE, "foldl"), foldr = fold_function(TRUE, "foldr"), scan = tf_scan,
    custom_gradient = custom_gradient
  )
}

# --- nested values

# Returns whether `x` is a nested list. The other functions below handle nested lists. Their leaves
# are the elements that are not plain lists.
is_nest <- function(x) is.list(x) && !is_graph_element(x) && !is.object(x)

nest_leaves <- function(x, depth = 1L) {
  if (!is_nest(x)) return(list(x))
  check_nesting(depth)
  unlist(lapply(unname(x), nest_leaves, depth + 1L), recursive = FALSE)
}

# Returns `leaves` in the structure of `x`.
nest_pack <- function(x, leaves) {
  num_packed <- 0
  pack <- function(part) {
    if (is_nest(part)) {
      part[] <- lapply(part, pack)
      return(part)
    }
    num_packed <<- num_packed + 1
    if (is_tensor_array(part)) with_flow(part, leaves[[num_packed]]) else leaves[[num_packed]]
  }
  pack(x)
}

# Returns the structure of a nested list, in which "." stands for a leaf.
nest_structure <- function(x, depth = 1L) {
  if (!is_nest(x)) return(".")
  check_nesting(depth)
  lapply(x, nest_structure, depth + 1L)
}

check_same_structure <- function(x, y, subject, call = parent.frame()) {
  if (identical(nest_structure(x), nest_structure(y))) return(invisible())
  # a list of one tensor is equivalent to the tensor
  if (length(nest_leaves(x)) == 1 && length(nest_leaves(y)) == 1) return(invisible())
  abort_runhooks(
    c(
      "{subject} must have the same nested structure.",
      x = "One has {length(nest_leaves(x))} value{?s}{names_suffix(x)}, the other {length(
        nest_leaves(y))}{names_suffix(y)}."
    ),
    call = call
  )
}

names_suffix <- function(x) {
  names <- if (is_nest(x)) names(x)
  if (length(names)) paste0(" (", toString(names), ")") else ""
}

# Returns the leaves as tensors. `dtypes`: their data types, or NULL.
nest_tensors <- function(x, dtypes = NULL) {
  leaves <- nest_leaves(x)
  Map(as_loop_tensor, leaves, if (is.null(dtypes)) list(NULL) else dtypes)
}

as_loop_tensor <- function(x, dtype = NULL) {
  if (is.null(x)) abort_runhooks("A value of a loop or a branch is {.code NULL}.")
  if (is_tensor_array(x)) x$flow else as_tensor(x, dtype)
}

# Removes unnamed lists around a single value.
unwrap_single <- function(x) {
  while (is_nest(x) && length(x) == 1 && is.null(names(x))) x <- x[[1]]
  x
}

# --- cond and case

# Returns a function that builds the graph of a branch. It passes the value of `fn` to `record()`.
# It replaces an operation in the value by the constant `flag`, which depends on the operation.
branch_builder <- function(fn, label, flag, record) {
  function(arguments) {
    value <- fn()
    if (is.null(value)) abort_runhooks("{.arg {label}} must have a return value.")
    record(value)
    lapply(nest_leaves(value), function(x) {
      if (inherits(x, "tensorflow.operation")) {
        return(with(control_dependencies(list(x)), tf$constant(flag)))
      }
      as_loop_tensor(x)
    })
  }
}

tf_cond <- function(pred, true_fn = NULL, false_fn = NULL, strict = FALSE, name = NULL, fn1 = NULL,
                    fn2 = NULL) {
  true_fn <- either_argument(true_fn, fn1, "true_fn", "fn1")
  false_fn <- either_argument(false_fn, fn2, "false_fn", "fn2")
  check_function(true_fn)
  check_function(false_fn)
  check_flag(strict)
  if (is.logical(pred)) {
    abort_runhooks(
      c("{.arg pred} must not be a flag of R.", i = "Use {.code if} for values that R knows.")
    )
  }
  structure <- NULL
  record_structure <- function(value) structure <<- value
  check_structure <- function(value) {
    check_same_structure(structure, value, "The values of true_fn and false_fn")
  }
  results <- cpp_cond(
    as_tensor(pred, "bool"), branch_builder(true_fn, "true_fn", TRUE, record_structure),
    branch_builder(false_fn, "false_fn", FALSE, check_structure),
    if (is.null(name)) "cond" else name
  )
  result <- nest_pack(structure, results)
  if (strict) result else unwrap_single(result)
}

# Returns the value of an argument that also has an old name. At most one of both may be given.
either_argument <- function(x, old, name, old_name, call = parent.frame()) {
  if (!is.null(x) && !is.null(old)) {
    abort_runhooks("Give only one of {.arg {name}} and {.arg {old_name}}.", call = call)
  }
  if (is.null(x)) old else x
}

tf_case <- function(pred_fn_pairs, default = NULL, exclusive = FALSE, strict = FALSE,
                    name = "case") {
  check_flag(exclusive)
  check_function(default, null = TRUE)
  pairs <- case_pairs(pred_fn_pairs)
  preds <- lapply(pairs, `[[`, 1)
  with(name_scope(name), {
    checks <- list()
    if (exclusive) checks <- list(assert_true_count(preds, TRUE))
    if (is.null(default)) {
      checks <- c(checks, list(assert_true_count(preds, FALSE)))
      default <- pairs[[length(pairs)]][[2]]
      pairs <- pairs[-length(pairs)]
    }
    with(control_dependencies(checks), {
      choose <- default
      for (pair in rev(pairs)) choose <- case_step(pair, choose, strict)
      choose()
    })
  })
}

# Returns a function that adds a conditional: it calls the function of `pair` if the condition of
# `pair` is TRUE, and `otherwise` if not.
case_step <- function(pair, otherwise, strict) {
  force(pair)
  force(otherwise)
  function() tf_cond(pair[[1]], pair[[2]], otherwise, strict = strict)
}

case_pairs <- function(pairs, call = parent.frame()) {
  is_pair <- function(pair) is.list(pair) && length(pair) == 2 && is.function(pair[[2]])
  # put a single pair in a list
  if (is_pair(pairs)) pairs <- list(pairs)
  if (!is.list(pairs) || !length(pairs) || !all(vapply(pairs, is_pair, NA))) {
    abort_runhooks(
      c(
        "{.arg pred_fn_pairs} must be a list of pairs.",
        i = "A pair is {.code list(pred, fn)}: a bool tensor and a function without arguments."
      ),
      call = call
    )
  }
  pairs
}

# Adds an assertion about the number of conditions that are TRUE: at most one if `at_most_one`,
# otherwise at least one.
assert_true_count <- function(preds, at_most_one) {
  count <- tf$reduce_sum(tf$stack(lapply(preds, function(pred) tf$cast(pred, "int32"))))
  names <- toString(vapply(preds, function(pred) pred$name, ""))
  if (at_most_one) {
    is_valid <- tf$less_equal(count, tf$constant(1L))
    text <- paste0("Input error: More than one condition evaluated as True: ", names)
  } else {
    is_valid <- tf$greater(count, tf$constant(0L))
    text <- paste0("None of the conditions evaluated as True. Conditions: ", names)
  }
  tf$Assert(is_valid, list(tf$constant(text)))
}

# --- loops

tf_while_loop <- function(cond, body, loop_vars, shape_invariants = NULL, parallel_iterations = 10,
                          back_prop = TRUE, swap_memory = FALSE, name = NULL,
                          maximum_iterations = NULL, return_same_structure = FALSE) {
  check_positive_whole(parallel_iterations)
  check_function(cond)
  check_function(body)
  check_flag(back_prop)
  check_flag(return_same_structure)
  if (length(nest_leaves(loop_vars)) == 0) abort_runhooks("{.arg loop_vars} must not be empty.")
  if (!is_nest(loop_vars)) loop_vars <- list(loop_vars)
  tensors <- nest_tensors(loop_vars)
  pack <- function(leaves) unname(nest_pack(loop_vars, leaves))
  results <- cpp_while(
    function(leaves) list(as_loop_tensor(do.call(cond, pack(leaves)))),
    function(leaves) {
      value <- do.call(body, pack(leaves))
      if (!is_nest(value)) value <- list(value)
      check_same_structure(unname(loop_vars), unname(value), "loop_vars and the value of body")
      nest_tensors(value, lapply(leaves, function(leaf) leaf$dtype))
    },
    tensors, invariant_shapes(shape_invariants, loop_vars, tensors), parallel_iterations,
    if (!is.null(maximum_iterations)) as_loop_tensor(maximum_iterations, "int32"),
    if (is.null(name)) "while" else name
  )
  if (!back_prop) results <- lapply(results, tf$stop_gradient)
  result <- nest_pack(loop_vars, results)
  if (length(loop_vars) == 1 && !return_same_structure) result[[1]] else result
}

# Returns the dimensions of the loop variables, with NA for those that may change between
# iterations. Returns NULL if the user gave no `shape_invariants`.
invariant_shapes <- function(shapes, loop_vars, tensors, call = parent.frame()) {
  if (is.null(shapes)) return(NULL)
  if (length(shapes) == length(loop_vars)) {
    shapes <- shapes_in_structure(shapes, loop_vars, "shape_invariants", call)
  }
  if (length(shapes) != length(tensors)) {
    abort_runhooks(
      "{.arg shape_invariants} must have {length(tensors)} element{?s}, as {.arg loop_vars} has, not
      {length(shapes)}.",
      call = call
    )
  }
  lapply(shapes, as_dims)
}

# Returns the dimensions of a tensor, with NA for unknown ones; NULL if the rank is unknown.
static_dims <- function(x) cpp_element_info(x)$dims

# Converts tensors to tensor lists of their rows. In the result, `count` is the number of rows as a
# tensor. `rows` is the same number, or NULL if it is unknown before the graph runs.
rows_as_tensor_lists <- function(tensors) {
  first <- tensors[[1]]
  rows <- static_dims(first)[1]
  list(
    rows = if (is.null(rows) || is.na(rows)) NULL else as.integer(rows),
    count = if (is.null(rows) || is.na(rows)) tf$shape(first)[1] else tf$constant(as.integer(rows)),
    dtypes = lapply(tensors, function(x) x$dtype),
    shapes = lapply(tensors, function(x) static_dims(x)[-1]),
    lists = lapply(tensors, function(x) {
      cpp_op_create("TensorListFromTensor", list(x, list_shape(static_dims(x)[-1])), NULL, NULL)
    })
  )
}

# Converts a shape for ops of tensor lists, where -1 means an unknown dimension.
list_shape <- function(dims) {
  if (is.null(dims)) return(tf$constant(-1L))
  dims <- ifelse(is.na(dims), -1L, as.integer(dims))
  cpp_constant(array(as.integer(dims), length(dims)), "int32", "element_shape")
}

# Returns the tensors of row `i`.
row_at <- function(rows, i) {
  Map(function(list, dtype, dims) {
    item <- cpp_op_create(
      "TensorListGetItem", list(list, i, list_shape(dims)),
      list(element_dtype = dtype_name(dtype)), NULL
    )
    if (!is.null(dims)) cpp_tensor_set_shape(item, as.double(dims))
    item
  }, rows$lists, rows$dtypes, rows$shapes)
}

empty_lists <- function(dtypes) {
  lapply(dtypes, function(dtype) {
    cpp_op_create(
      "EmptyTensorList", list(tf$constant(-1L), tf$constant(-1L)),
      list(element_dtype = dtype_name(dtype)), NULL
    )
  })
}

# Appends each tensor to the list with the same position.
push_to_lists <- function(lists, tensors) {
  Map(function(list, x) {
    cpp_op_create(
      "TensorListPushBack", list(list, x), list(element_dtype = dtype_name(x$dtype)), NULL
    )
  }, lists, tensors)
}

# Stacks the elements of each list in one tensor.
stack_lists <- function(lists, row_specs, rows) {
  Map(function(list, row_spec) {
    attrs <- list(
      element_dtype = dtype_name(row_spec$dtype), num_elements = if (is.null(rows)) -1 else rows
    )
    inputs <- list(list, list_shape(row_spec$dims))
    stacked <- cpp_op_create("TensorListStack", inputs, attrs, NULL)
    if (!is.null(row_spec$dims)) {
      dims <- c(if (is.null(rows)) NA else rows, row_spec$dims)
      cpp_tensor_set_shape(stacked, as.double(dims))
    }
    stacked
  }, lists, row_specs)
}

# Adds a loop over rows to the graph. `step(i, state)` returns list(state, results). Returns the
# last state and the stacked results.
loop_rows <- function(count, rows, state, dtypes, step, reverse, parallel_iterations, back_prop) {
  check_positive_whole(parallel_iterations, call = user_frame())
  num_states <- length(state)
  row_specs <- NULL
  last_index <- if (reverse) count - tf$constant(1L)
  results <- cpp_while(
    function(vars) list(vars[[1]] < count),
    function(vars) {
      i <- vars[[1]]
      step_value <- step(if (reverse) last_index - i else i, vars[1 + seq_len(num_states)])
      row_specs <<- lapply(step_value$results, function(x) {
        list(dtype = x$dtype, dims = static_dims(x))
      })
      lists <- vars[-seq_len(num_states + 1)]
      c(list(i + tf$constant(1L)), step_value$state, push_to_lists(lists, step_value$results))
    },
    c(list(tf$constant(0L)), state, empty_lists(dtypes)), NULL, parallel_iterations, NULL, "while"
  )
  state <- results[1 + seq_len(num_states)]
  stacked <- stack_lists(results[-seq_len(num_states + 1)], row_specs, rows)
  if (!back_prop) stacked <- lapply(stacked, tf$stop_gradient)
  list(state = state, results = stacked)
}

tf_map_fn <- function(fn, elems, dtype = NULL, parallel_iterations = NULL, back_prop = TRUE,
                      swap_memory = FALSE, infer_shape = TRUE, name = NULL) {
  check_function(fn)
  check_flag(back_prop)
  with(name_scope(name, "map"), {
    rows <- rows_as_tensor_lists(nest_tensors(elems))
    # without `dtype`, the results must have the structure and types of `elems`
    structure <- if (is.null(dtype)) elems else dtype
    dtypes <- if (is.null(dtype)) rows$dtypes else lapply(nest_leaves(dtype), as_dtype)
    step <- function(i, state) {
      value <- fn(nest_pack(elems, row_at(rows, i)))
      check_same_structure(structure, value, "The value of fn and dtype (or elems)")
      list(state = list(), results = require_dtypes(nest_tensors(value, dtypes), dtypes))
    }
    num_parallel <- if (is.null(parallel_iterations)) 10 else parallel_iterations
    loop <- loop_rows(rows$count, rows$rows, list(), dtypes, step, FALSE, num_parallel, back_prop)
    nest_pack(structure, loop$results)
  })
}

# Returns the tensors. Raises an error unless they have the given data types.
require_dtypes <- function(tensors, dtypes, call = parent.frame()) {
  for (i in seq_along(tensors)) {
    if (tensors[[i]]$dtype != dtypes[[i]]) {
      abort_runhooks(
        "{.arg fn} returns a tensor of type {dtype_name(tensors[[i]]$dtype)}, but
        {.arg dtype} is {dtype_name(dtypes[[i]])}.",
        call = call
      )
    }
  }
  tensors
}

# Returns the initial state and the rows of a fold. Without `initializer`, the first row of the
# iteration is the initial state.
fold_input <- function(elems, initializer, reverse) {
  rows <- rows_as_tensor_lists(nest_tensors(elems))
  if (!is.null(initializer)) return(list(state = initializer, rows = rows, skip = 0L))
  first_index <- if (reverse) rows$count - tf$constant(1L) else tf$constant(0L)
  list(state = nest_pack(elems, row_at(rows, first_index)), rows = rows, skip = 1L)
}

fold_step <- function(fn, elems, input, reverse) {
  dtypes <- lapply(nest_tensors(input$state), function(x) x$dtype)
  function(i, state) {
    if (input$skip && !reverse) i <- i + tf$constant(1L)
    row <- nest_pack(elems, row_at(input$rows, i))
    value <- fn(nest_pack(input$state, state), row)
    check_same_structure(input$state, value, "The initializer and the value of fn")
    require_dtypes(nest_tensors(value, dtypes), dtypes)
  }
}

# Returns the number of rows for the loop. It is one less if the first row is the initial state.
remaining_rows <- function(input) {
  if (!input$skip) return(list(count = input$rows$count, rows = input$rows$rows))
  list(
    count = input$rows$count - tf$constant(1L),
    rows = if (!is.null(input$rows$rows)) input$rows$rows - 1L
  )
}

# Returns the function tf$foldl(), or tf$foldr() if `reverse`.
fold_function <- function(reverse, default_name) {
  force(reverse)
  force(default_name)
  function(fn, elems, initializer = NULL, parallel_iterations = 10, back_prop = TRUE,
           swap_memory = FALSE, name = NULL) {
    check_function(fn)
    check_flag(back_prop)
    with(name_scope(name, default_name), {
      input <- fold_input(elems, initializer, reverse)
      one_step <- fold_step(fn, elems, input, reverse)
      remaining <- remaining_rows(input)
      step <- function(i, state) list(state = one_step(i, state), results = list())
      loop <- loop_rows(
        remaining$count, remaining$rows, nest_tensors(input$state), list(), step, reverse,
        parallel_iterations, back_prop
      )
      state <- if (back_prop) loop$state else lapply(loop$state, tf$stop_gradient)
      nest_pack(input$state, state)
    })
  }
}

tf_scan <- function(fn, elems, initializer = NULL, parallel_iterations = 10, back_prop = TRUE,
                    swap_memory = FALSE, infer_shape = TRUE, reverse = FALSE, name = NULL) {
  check_function(fn)
  check_flag(back_prop)
  check_flag(reverse)
  with(name_scope(name, "scan"), {
    input <- fold_input(elems, initializer, reverse)
    one_step <- fold_step(fn, elems, input, reverse)
    remaining <- remaining_rows(input)
    step <- function(i, state) {
      value <- one_step(i, state)
      list(state = value, results = value)
    }
    initial_state <- nest_tensors(input$state)
    dtypes <- lapply(initial_state, function(x) x$dtype)
    loop <- loop_rows(
      remaining$count, remaining$rows, initial_state, dtypes, step, reverse, parallel_iterations,
      back_prop
    )
    results <- loop$results
    if (input$skip) {
      prepend_row <- function(row, rows) tf$concat(list(tf$expand_dims(row, 0L), rows), 0L)
      results <- Map(prepend_row, initial_state, results)
    }
    if (reverse) results <- lapply(results, function(x) tf$reverse(x, list(0L)))
    nest_pack(input$state, results)
  })
}

# Implements tf$custom_gradient(). `f` returns list(result, gradient function).
custom_gradient <- function(f) {
  check_function(f)
  function(...) {
    arguments <- list(...)
    is_input <- !vapply(arguments, function(x) is.null(x) || is.function(x), NA)
    inputs <- lapply(arguments[is_input], function(x) tf$identity(as_loop_tensor(x)))
    arguments[is_input] <- inputs
    value <- do.call(f, arguments)
    check_custom_gradient(value)
    result <- value[[1]]
    leaves <- nest_tensors(result)
    variables <- cpp_variables_in_ancestors(leaves, unname(inputs))
    values <- lapply(variables, cpp_variable_snapshot)
    closure <- function(grads) custom_gradients_of(value[[2]], grads, length(inputs), variables)
    nest_pack(result, cpp_with_gradient(leaves, unname(c(inputs, values)), closure))
  }
}

check_custom_gradient <- function(value, call = parent.frame()) {
  if (is.list(value) && length(value) == 2 && is.function(value[[2]])) return(invisible())
  abort_runhooks(
    c(
      "The function of {.code tf$custom_gradient()} must return a list of two elements.",
      i = "Return {.code list(y, grad)}: the result, and a function that converts its gradient to
      the gradients of the arguments."
    ),
    call = call
  )
}

# Calls the gradient function of a user. Returns the gradients with respect to the `n` arguments and
# to the variables.
custom_gradients_of <- function(grad_fn, grads, n, variables, call = parent.frame()) {
  variable_gradients <- NULL
  if (length(variables)) {
    if (!any(c("variables", "...") %in% names(formals(grad_fn)))) {
      abort_runhooks(
        "If using {.code tf$custom_gradient()} with a function that uses variables, then grad_fn
        must accept a {.arg variables} keyword argument.",
        call = call
      )
    }
    gradients <- do.call(grad_fn, c(grads, list(variables = variables)))
    argument_gradients <- as_gradients(gradients[[1]])
    variable_gradients <- as_gradients(gradients[[2]])
    if (length(variable_gradients) != length(variables)) {
      abort_runhooks("Must return gradient for each variable from {.code grad_fn}.", call = call)
    }
  } else {
    argument_gradients <- as_gradients(do.call(grad_fn, grads))
  }
  if (length(argument_gradients) != n) {
    abort_runhooks(
      "{.code grad_fn} must return one gradient for each of {n} argument{?s}, not
      {length(argument_gradients)}.",
      call = call
    )
  }
  lapply(c(argument_gradients, variable_gradients), function(x) if (!is.null(x)) as_loop_tensor(x))
}

as_gradients <- function(x) if (is_nest(x)) unname(x) else list(x)
