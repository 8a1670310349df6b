# The layers of src/, from the bottom up, with the layers whose headers each may include (see
# CONTRIBUTING.md). A layer may contain folders of one level, its families.

layers <- local({
  ground <- c("base", "tensor", "graph")
  engine <- c(ground, "ops", "autodiff", "io", "import", "session", "data", "control", "nn")
  list(
    base = character(),
    tensor = "base",
    kernels = character(),
    graph = c("base", "tensor"),
    ops = c(ground, "kernels"),
    # Ops register their gradients, so this layer does not include ops.
    autodiff = ground,
    io = ground,
    import = c(ground, "io"),
    # io defines the format of traces.
    session = c(ground, "io"),
    # Converting rows to columns is a hot loop.
    data = c(ground, "io", "kernels", "session"),
    # Ops that call functions run the plans of these functions.
    control = c(ground, "autodiff", "io", "session"),
    # Functions of this layer add several ops to a graph.
    nn = c(ground, "ops", "autodiff", "io"),
    columns = engine,
    # This layer connects processes that compute one graph together.
    cluster = ground,
    # This layer is a shared object for one MPI library, in plain C.
    mpi = character(),
    # Optimizer updates are hot loops.
    training = c(engine, "kernels"),
    # Histograms are a hot loop, and are summed over processes.
    trees = c(engine, "cluster", "kernels"),
    # hooks and monitored do not include each other: both use session/run_hook.h.
    hooks = c(engine, "cluster", "training"),
    monitored = c(engine, "cluster", "training"),
    estimators = c(
      engine, "cluster", "kernels", "training", "columns", "trees", "hooks", "monitored"
    )
  )
})

# Returns the binding files: all of src/r/, with one folder per module.
binding_files <- function(root) {
  sort(tree_files(root, "src/r", "[.]cpp$"), method = "radix")
}

# Additional single headers: kernels use threads through a plain C interface, and MPI's shared
# objects contain a table of functions.
extra_headers <- list(kernels = "base/thread_pool.h", mpi = "cluster/mpi_calls.h")

# The modules of R/, as prefixes of files, from the bottom up. Each may call earlier ones.
r_modules <- c(
  "base", "tensor", "builtin", "graph", "session", "optimizer", "column", "estimator", "checkpoint",
  "model_dir", "dataset", "input", "formula", "hook", "model", "file", "run", "method", "monitored",
  "script", "tf", "parsnip", "mlr3"
)

# Single functions that a module may call although a later module defines them. Members of a tensor
# are functions of `tf`. A model object has members that read its directory, and is printed with its
# formula.
r_extra_calls <- list(
  tensor = c("name_scope", "session_or_default", "tf_cond", "scatter_rows", "variable_assign"),
  estimator = c(
    "checkpoint_names", "latest_checkpoint", "model_signature", "describe_formula_model",
    "custom_model", "script_methods"
  ),
  graph = "underlying_session",
  # Columns of a CSV are selected like those of a data frame.
  dataset = c("select_names", "parse_formula"),
  # These modules read the columns that a formula uses, and the record of a formula.
  model_dir = "formula_record", input = c("formula_record", "is_formula_data", "formula_batches")
)
