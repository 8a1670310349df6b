# Learning rates that change with the global step, and the clipping of gradients.

decay_symbols <- function() {
  decay <- function(name, own) {
    first <- alist(learning_rate = , global_step = )
    if (name == "piecewise_constant") first <- NULL
    arguments <- c(first, own, alist(name = NULL))
    core_function(paste0("train.", name), arguments, scoped = TRUE)
  }
  by_steps <- alist(decay_steps = , decay_rate = , staircase = FALSE)
  waves <- alist(num_periods = 0.5, alpha = 0, beta = 0.001)
  symbols <- list(
    exponential_decay = decay("exponential_decay", by_steps),
    natural_exp_decay = decay("natural_exp_decay", by_steps),
    inverse_time_decay = decay("inverse_time_decay", by_steps),
    polynomial_decay = decay(
      "polynomial_decay",
      alist(decay_steps = , end_learning_rate = 1e-4, power = 1, cycle = FALSE)
    ),
    piecewise_constant = decay("piecewise_constant", alist(x = , boundaries = , values = )),
    cosine_decay = decay("cosine_decay", alist(decay_steps = , alpha = 0)),
    cosine_decay_restarts = decay(
      "cosine_decay_restarts", alist(first_decay_steps = , t_mul = 2, m_mul = 1, alpha = 0)
    ),
    linear_cosine_decay = decay("linear_cosine_decay", c(alist(decay_steps = ), waves)),
    noisy_linear_cosine_decay = decay(
      "noisy_linear_cosine_decay",
      c(alist(decay_steps = , initial_variance = 1, variance_decay = 0.55), waves)
    )
  )
  symbols$piecewise_constant_decay <- symbols$piecewise_constant
  symbols
}

clip_symbols <- function() {
  list(
    clip_by_value = function(t, clip_value_min, clip_value_max, name = NULL) {
      tf_op("Maximum", tf_op("Minimum", t, clip_value_max), clip_value_min, name = name)
    },
    clip_by_norm = core_function("clip_by_norm", alist(t = , clip_norm = , axes = NULL)),
    clip_by_average_norm = core_function("clip_by_average_norm", alist(t = , clip_norm = )),
    global_norm = core_function("global_norm", alist(t_list = )),
    clip_by_global_norm = core_function(
      "clip_by_global_norm", alist(t_list = , clip_norm = , use_norm = NULL)
    ),
    linalg.global_norm = core_function("global_norm", alist(t_list = ))
  )
}
