# The layers of src/, from the ground up (DESIGN), and what each may include beside itself
# (CONTRIBUTING has the table). Families of a layer are folders in it, one deep.

layers <- local({
  ground <- c("base", "tensor", "graph")
  engine <- c(ground, "ops", "autodiff", "io", "import", "session", "data", "control", "nn")
  list(
    base = character(),
    tensor = "base",
    kernels = character(),
    graph = c("base", "tensor"),
    ops = c(ground, "kernels"),
    # gradients arrive by registry, so no ops
    autodiff = ground,
    io = ground,
    import = c(ground, "io"),
    # io has the forms of a trace
    session = c(ground, "io"),
    # rows are turned into columns by a hot loop
    data = c(ground, "io", "kernels", "session"),
    # operations that call functions, which run by plans
    control = c(ground, "autodiff", "io", "session"),
    # functions that add several ops
    nn = c(ground, "ops", "autodiff", "io"),
    columns = engine,
    # processes that compute one graph together
    cluster = ground,
    # one MPI, in a shared object of its own: plain C
    mpi = character(),
    # updates of optimizers are hot loops
    training = c(engine, "kernels"),
    # histograms are a hot loop; several processes add theirs up
    trees = c(engine, "cluster", "kernels"),
    # these meet in session/run_hook.h
    hooks = c(engine, "cluster", "training"),
    monitored = c(engine, "cluster", "training"),
    estimators = c(engine, "cluster", "kernels", "training", "columns", "trees", "hooks", "monitored")
  )
})

# The bindings: all of src/r/, in one folder a module.
binding_files <- function(root) {
  sort(tree_files(root, "src/r", "[.]cpp$"), method = "radix")
}

# Single headers beyond that: kernels hand parts of their work to threads by plain C, and the shared
# objects of MPI have a table in it.
extra_headers <- list(kernels = "base/thread_pool.h", mpi = "cluster/mpi_calls.h")

# The modules of R/, the prefixes of its files, lowest first: each may call those before it.
r_modules <- c(
  "base", "tensor", "builtin", "graph", "session", "optimizer", "column", "estimator", "checkpoint",
  "model_dir", "dataset", "input", "formula", "hook", "model", "file", "run", "method", "monitored",
  "script", "tf"
)

# Single functions beyond that: the members of a tensor are functions of `tf`; a model's object has
# members that look into its folder, and prints itself as its formula does.
r_extra_calls <- list(
  tensor = c("name_scope", "session_or_default", "tf_cond", "scatter_rows", "variable_assign"),
  estimator = c(
    "checkpoint_names", "latest_checkpoint", "model_signature", "describe_formula_model", "custom_model"
  ),
  # a CSV's columns may be chosen as those of a data frame are
  dataset = c("select_names", "parse_formula"),
  # what a formula reads, and what is remembered of it
  model_dir = "formula_record", input = c("formula_record", "is_formula_data", "formula_batches")
)
