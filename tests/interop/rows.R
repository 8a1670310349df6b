# The models of rows.py, from the same variables and data: Rscript rows.R <folder>.
suppressPackageStartupMessages(library(runhooks))
folder <- commandArgs(TRUE)[[1]]
cases <- jsonlite::read_json(file.path(folder, "rows.json"))
batch <- 4L
width <- 3L

matrix_of <- function(rows) do.call(rbind, lapply(rows, unlist))
optimizers <- list(
  GradientDescent = function() tf$train$GradientDescentOptimizer(0.2),
  Momentum = function() tf$train$MomentumOptimizer(0.1, 0.9),
  Adagrad = function() tf$train$AdagradOptimizer(0.2),
  Adam = function() tf$train$AdamOptimizer(0.1),
  RMSProp = function() tf$train$RMSPropOptimizer(0.05, momentum = 0.5),
  Ftrl = function() {
    tf$train$FtrlOptimizer(
      0.2, l1_regularization_strength = 0.01, l2_regularization_strength = 0.02
    )
  },
  Adadelta = function() tf$train$AdadeltaOptimizer(1),
  ProximalAdagrad = function() {
    tf$train$ProximalAdagradOptimizer(0.2, l1_regularization_strength = 0.01)
  }
)

# One row per example.
looked_up <- function(kind, table, ids, flags, x) {
  none <- tf$zeros(list(batch, width))
  is_large <- tf$reduce_sum(x) > 0.1
  column <- function(i) tf$gather(table, tf$gather(ids, i, axis = 1L))
  n <- 3L
  loop <- function(step) {
    body <- function(i, s) list(i + 1L, s + step(i))
    tf$while_loop(function(i, s) i < n, body, list(tf$constant(0L), none))[[2]]
  }
  switch(kind,
    plain = tf$reduce_mean(tf$gather(table, ids), 1L),
    loop = loop(function(i) column(i) * tf$cast(i + 1L, "float32")),
    branch = tf$cond(is_large, function() column(0L) * 2, function() none),
    branches = tf$cond(is_large, function() column(0L), function() column(1L) * 3),
    map = tf$map_fn(
      function(row) tf$reduce_sum(tf$gather(table, row), 0L), ids, dtype = tf$float32
    ),
    branch_in_loop = loop(function(i) {
      tf$cond(tf$greater(i, 0L), function() column(i), function() none)
    }),
    carried = tf$while_loop(function(i, s, t) i < 2L, function(i, s, t) {
      list(i + 1L, s + tf$gather(t, tf$gather(ids, i, axis = 1L)), t)
    }, list(tf$constant(0L), none, table * 0.5))[[2]],
    masked = {
      first <- tf$gather(ids, 0L, axis = 1L)
      none + tf$reduce_sum(tf$gather(table, tf$boolean_mask(first, flags)), 0L)
    }
  )
}

clipped <- function(kind, grads, limit) {
  switch(kind,
    none = grads,
    global_norm = tf$clip_by_global_norm(grads, limit)[[1]],
    norm = lapply(grads, tf$clip_by_norm, limit),
    value = lapply(grads, tf$clip_by_value, -limit, limit),
    identity = with(tf$control_dependencies(grads), lapply(grads, tf$identity)),
    add_n = lapply(grads, function(g) tf$add_n(list(g, g)))
  )
}

trained <- function(spec) {
  ids <- tf$placeholder("int32", list(batch, 3L))
  flags <- tf$placeholder("bool", list(batch))
  x <- tf$placeholder("float32", list(batch, 2L))
  y <- tf$placeholder("float32", list(batch))
  variables <- lapply(c("table", "w"), function(name) {
    initial <- tf$constant(matrix_of(spec[[name]]), dtype = "float32")
    tf$get_variable(name, initializer = initial, use_resource = spec$resource)
  })
  found <- lapply(spec$lookups, looked_up, variables[[1]], ids, flags, x)
  net <- tf$matmul(tf$concat(list(tf$add_n(found), x), 1L), variables[[2]])
  loss <- tf$reduce_mean(tf$square(tf$reduce_sum(tf$nn[[spec$activation]](net), 1L) - y))
  optimizer <- optimizers[[spec$optimizer]]()
  pairs <- optimizer$compute_gradients(loss, variables)
  grads <- clipped(spec$clip, lapply(pairs, `[[`, 1), spec$limit)
  train <- optimizer$apply_gradients(Map(function(g, pair) list(g, pair[[2]]), grads, pairs))
  session <- tf$Session()
  on.exit(session$close())
  session$run(tf$global_variables_initializer())
  losses <- vapply(spec$steps, function(step) {
    given <- list(
      matrix_of(step$ids), as.array(unlist(step$flags)), matrix_of(step$x), as.array(unlist(step$y))
    )
    names(given) <- vapply(list(ids, flags, x, y), function(t) t$name, "")
    session$run(list(loss, train), feed_dict = do.call(dict, given))[[1]]
  }, 0)
  list(
    losses = losses, kinds = vapply(grads, inherits, NA, "tensorflow.indexed_slices"),
    variables = lapply(session$run(variables), function(v) as.vector(t(v)))
  )
}

near <- function(a, b) {
  length(a) == length(b) && identical(is.nan(a), is.nan(b)) &&
    all(is.nan(a) | abs(a - b) <= 2e-4 * pmax(1, abs(b)))
}

differ <- 0
for (spec in cases$models) {
  found <- with(tf$Graph()$as_default(), trained(spec))
  wanted <- spec$result
  good <- near(found$losses, unlist(wanted$losses)) &&
    identical(unname(found$kinds), unlist(wanted$kinds)) &&
    all(mapply(near, found$variables, lapply(wanted$variables, unlist)))
  if (good) next
  differ <- differ + 1
  cat("rows: differs: ", toString(spec$lookups), " | ", spec$clip, " ", spec$limit, " | ",
    spec$activation, " | ", spec$optimizer, " | rows here ", toString(found$kinds), ", there ",
    toString(unlist(wanted$kinds)), "\n  losses here: ", toString(signif(found$losses, 6)),
    "\n  losses there: ", toString(signif(unlist(wanted$losses), 6)), "\n", sep = "")
}
cat("rows: ", length(cases$models), " models (seed ", cases$seed, "), ", differ, " differ\n", sep = "")
quit(save = "no", status = differ > 0)
