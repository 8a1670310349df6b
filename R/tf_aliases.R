# Other names of members of `tf` that scripts for TensorFlow 1.x use.

alias_symbols <- function(symbols) {
  hooks <- grep("^train[.].*(Hook|CheckpointSaverListener|SecondOrStepTimer)$", names(symbols))
  hooks <- symbols[hooks]
  short_names <- sub("^train[.]", "", names(hooks))
  stop_hooks <- list(
    stop_if_higher_hook = hook_stop_if_higher, stop_if_lower_hook = hook_stop_if_lower,
    stop_if_no_increase_hook = hook_stop_if_no_increase,
    stop_if_no_decrease_hook = hook_stop_if_no_decrease,
    make_early_stopping_hook = hook_early_stopping,
    make_stop_at_checkpoint_step_hook = hook_stop_at_checkpoint_step,
    InMemoryEvaluatorHook = hook_in_memory_evaluator
  )
  modes <- unclass(mode_keys())
  collections <- unclass(graph_keys())
  c(
    setNames(hooks, paste0("estimator.", short_names)),
    setNames(collections, paste0("GraphKeys.", names(collections))),
    setNames(hooks, paste0("python.training.basic_session_run_hooks.", short_names)),
    setNames(stop_hooks, paste0("estimator.experimental.", names(stop_hooks))),
    setNames(stop_hooks, paste0("contrib.estimator.", names(stop_hooks))),
    setNames(modes, paste0("estimator.ModeKeys.", names(modes))),
    list(estimator.RunConfig = run_config, estimator.WarmStartSettings = warm_start_settings),
    setNames(
      symbols[c("train.SessionRunContext", "train.SessionRunValues", "train.SessionRunArgs")],
      paste0("estimator.SessionRun", c("Context", "Values", "Args"))
    ),
    setNames(
      rep(symbols["train.NanLossDuringTrainingError"], 2),
      paste0(
        c("estimator", "python.training.basic_session_run_hooks"), ".NanLossDuringTrainingError"
      )
    ),
    list(contrib.estimator.add_metrics = add_metrics),
    list(contrib.framework.get_global_step = symbols[["train.get_global_step"]])
  )
}

# Members of modules that are also direct members of `tf`, such as tf$math$abs and tf$abs.
aliases_by_module <- list(
  math = "abs accumulate_n acos acosh add add_n argmax argmin asin asinh atan atan2 atanh ceil
    confusion_matrix cos cosh count_nonzero cumprod cumsum digamma divide equal erf erfc exp expm1
    floor floordiv floormod greater greater_equal invert_permutation is_finite is_inf is_nan less
    less_equal lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum
    minimum mod multiply negative not_equal pow reciprocal reduce_all reduce_any reduce_logsumexp
    reduce_max reduce_mean reduce_min reduce_prod reduce_sum rint round rsqrt scalar_mul segment_max
    segment_mean segment_min segment_prod segment_sum sigmoid sign sin sinh sqrt square
    squared_difference subtract tan tanh truediv unsorted_segment_max unsorted_segment_mean
    unsorted_segment_sqrt_n unsorted_segment_sum polygamma zeta accumulate_n zero_fraction",
  random = "set_random_seed truncated_normal multinomial",
  linalg = "cholesky cross einsum eye global_norm matmul norm qr svd tensordot trace",
  dtypes = "as_string cast float16 float32 float64 int8 int16 int32 int64 uint8 bool string",
  manip = "gather_nd reshape reverse roll scatter_nd tile",
  python.ops.math_ops = "add subtract multiply divide sin cos exp log sqrt square abs reduce_mean
    reduce_sum reduce_max reduce_min matmul cast argmax equal greater less maximum minimum pow
    sigmoid tanh to_float to_int32 to_int64 linspace range",
  python.ops.array_ops = "slice reshape expand_dims squeeze concat stack unstack split transpose
    gather one_hot shape size rank zeros ones zeros_like ones_like fill pad tile where identity
    placeholder boolean_mask reverse strided_slice",
  python.ops.random_ops = "random_uniform random_normal truncated_normal",
  python.ops.init_ops = "zeros_initializer ones_initializer constant_initializer
    random_uniform_initializer random_normal_initializer truncated_normal_initializer",
  python.ops.variables = "global_variables trainable_variables local_variables Variable",
  python.framework.dtypes = "float16 float32 float64 int8 int16 int32 int64 uint8 bool string",
  python.framework.ops = "get_collection add_to_collection control_dependencies name_scope Graph
    get_default_graph reset_default_graph convert_to_tensor",
  debugging = "assert_all_finite assert_equal assert_greater assert_greater_equal assert_integer
    assert_less assert_less_equal assert_near assert_negative assert_non_negative
    assert_non_positive assert_none_equal assert_positive assert_rank assert_rank_at_least
    assert_rank_in assert_scalar assert_type check_numerics is_finite is_inf is_nan",
  io = "decode_base64 decode_compressed decode_json_example encode_base64 matching_files
    parse_sequence_example parse_single_sequence_example parse_tensor read_file serialize_tensor
    write_file",
  contrib.framework = "argsort is_tensor local_variable sort",
  contrib.metrics = "confusion_matrix"
)

alias_names <- function(all_names) {
  aliases <- lapply(names(aliases_by_module), function(module) {
    members <- strsplit(trimws(aliases_by_module[[module]]), "[[:space:]]+")[[1]]
    setNames(members, paste0(module, ".", members))
  })
  aliases <- c(
    unlist(aliases), python.training.saver.latest_checkpoint = "train.latest_checkpoint",
    python.training.training_util.get_global_step = "train.get_global_step",
    contrib.framework.get_or_create_global_step = "train.get_or_create_global_step",
    contrib.framework.init_from_checkpoint = "train.init_from_checkpoint",
    contrib.framework.list_variables = "train.list_variables",
    contrib.framework.load_variable = "train.load_variable",
    contrib.framework.create_global_step = "train.create_global_step",
    contrib.framework.get_model_variables = "model_variables",
    contrib.framework.get_trainable_variables = "trainable_variables",
    contrib.framework.get_variables = "global_variables",
    contrib.framework.zero_initializer = "zeros_initializer",
    math.in_top_k = "nn.in_top_k", math.l2_normalize = "nn.l2_normalize",
    math.log_softmax = "nn.log_softmax", math.softmax = "nn.softmax",
    linalg.l2_normalize = "nn.l2_normalize", linalg.matrix_transpose = "matrix_transpose",
    linalg.tensor_diag = "diag", linalg.tensor_diag_part = "diag_part",
    io.write_graph = "train.write_graph",
    sparse.SparseTensor = "SparseTensor", sparse.add = "sparse_add",
    sparse.segment_mean = "sparse_segment_mean", sparse.segment_sum = "sparse_segment_sum",
    sparse.segment_sqrt_n = "sparse_segment_sqrt_n",
    initialize_local_variables = "local_variables_initializer",
    initialize_all_tables = "tables_initializer", initialize_variables = "variables_initializer",
    all_variables = "global_variables", floor_div = "floordiv",
    verify_tensor_all_finite = "debugging.assert_all_finite",
    python.ops.functional_ops.map_fn = "map_fn", math.zero_fraction = "nn.zero_fraction",
    sparse.placeholder = "sparse_placeholder", sparse.reorder = "sparse_reorder",
    sparse.reshape = "sparse_reshape", sparse.retain = "sparse_retain",
    sparse.transpose = "sparse_transpose", sparse.reduce_sum = "sparse_reduce_sum",
    sparse.to_indicator = "sparse_to_indicator",
    sparse.sparse_dense_matmul = "sparse_tensor_dense_matmul",
    initializers.global_variables = "global_variables_initializer",
    initializers.local_variables = "local_variables_initializer",
    initializers.tables_initializer = "tables_initializer",
    initialize_all_variables = "global_variables_initializer",
    python.framework.constant_op.constant = "constant",
    python.ops.state_ops.assign_add = "assign_add", python.ops.state_ops.assign_sub = "assign_sub"
  )
  aliases[aliases %in% all_names & !names(aliases) %in% all_names]
}
