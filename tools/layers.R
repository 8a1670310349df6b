# The layers of src/, from the ground up (DESIGN), and what each may include beside itself
# (CONTRIBUTING has the table).

layers <- local({
  ground <- c("tensor", "graph", "ops", "autodiff", "io", "session", "data")
  list(
    tensor = character(),
    kernels = character(),
    graph = "tensor",
    ops = c("tensor", "graph", "kernels"),
    # gradients arrive by registry, so no ops
    autodiff = c("tensor", "graph"),
    io = c("tensor", "graph"),
    # io has the forms of a trace
    session = c("tensor", "graph", "io"),
    data = c("tensor", "graph", "io"),
    # updates of optimizers are hot loops
    training = c(ground, "kernels"),
    columns = ground,
    # histograms are a hot loop
    trees = c(ground, "kernels"),
    # these meet in session/run_hook.h
    hooks = c(ground, "training"),
    monitored = c(ground, "training"),
    estimators = c(ground, "kernels", "training", "columns", "trees", "hooks", "monitored")
  )
})

# Single headers beyond that: kernels hand parts of their work to threads by plain C.
extra_headers <- list(kernels = "tensor/shared_work.h")
