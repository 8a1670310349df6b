# Random ops, seeds and initializers match TensorFlow 1.15 bit for bit (golden/random.json, from
# tests/golden/make_random.py).

random_kinds <- function() {
  list(
    uniform = function(seed) tf$random_uniform(7, seed = seed),
    normal = function(seed) tf$random_normal(7, mean = 1, stddev = 2, seed = seed),
    truncated = function(seed) tf$truncated_normal(11, seed = seed),
    uniform64 = function(seed) tf$random_uniform(5, -1, 3, dtype = tf$float64, seed = seed),
    normal64 = function(seed) tf$random_normal(5, dtype = "float64", seed = seed),
    truncated64 = function(seed) tf$truncated_normal(7, dtype = "float64", seed = seed),
    int32 = function(seed) tf$random_uniform(6, -5, 10, dtype = tf$int32, seed = seed),
    int64 = function(seed) tf$random_uniform(5, -5, 1e12, dtype = tf$int64, seed = seed)
  )
}

# Returns the values of `times` runs of the tensors of `build()`, in a graph with a seed.
run_seeded <- function(graph_seed, build, times = 1) {
  graph <- tf$Graph()
  session <- with_graph(graph, {
    if (!is.null(graph_seed)) tf$set_random_seed(graph_seed)
    tensor <- build()
    init <- tf$global_variables_initializer()
    tf$Session()
  })
  on.exit(session$close())
  session$run(init)
  lapply(seq_len(times), function(i) session$run(tensor))
}

test_that("random ops match TensorFlow's numbers for any seeds, in each run", {
  golden <- read_golden("random.json")
  kinds <- random_kinds()
  for (case in golden$draws) {
    actual <- run_seeded(case$graph_seed, function() kinds[[case$kind]](case$op_seed), 3)
    label <- paste(case$kind, "of seeds", case$graph_seed, case$op_seed)
    for (i in 1:3) {
      expect_identical(as.numeric(actual[[i]]), as.numeric(unlist(case$values[[i]])), label = label)
    }
  }
  expect_length(golden$draws, 40)
})

test_that("large random tensors match TensorFlow's", {
  golden <- read_golden("random.json")$large
  kinds <- list(
    uniform = tf$random$uniform, normal = tf$random$normal, truncated = tf$random$truncated_normal
  )
  for (kind in names(golden)) {
    actual <- run_seeded(1, function() kinds[[kind]](100003, seed = 2), 3)
    for (i in 1:3) {
      expected <- as.numeric(unlist(golden[[kind]][[i]]))
      expect_identical(as.numeric(tail(actual[[i]], 4)), expected)
    }
  }
})

test_that("initial values of variables match TensorFlow's", {
  golden <- read_golden("random.json")$initializers
  named <- tf$initializers
  initializers <- list(
    default = NULL, glorot_uniform = tf$glorot_uniform_initializer(),
    glorot_normal = tf$glorot_normal_initializer(), he_normal = named$he_normal(seed = 3),
    he_uniform = named$he_uniform(), lecun_normal = named$lecun_normal(),
    lecun_uniform = named$lecun_uniform(),
    random_uniform = tf$random_uniform_initializer(-1, 2, seed = 4),
    random_normal = tf$random_normal_initializer(1, 2),
    truncated_normal = tf$truncated_normal_initializer(0, 0.5),
    uniform_unit_scaling = tf$uniform_unit_scaling_initializer(1.5),
    variance_scaling = tf$variance_scaling_initializer(2, "fan_out", "uniform"),
    untruncated = tf$variance_scaling_initializer(2, "fan_avg", "untruncated_normal"),
    orthogonal = tf$orthogonal_initializer(1.3),
    orthogonal_tall = tf$orthogonal_initializer(seed = 2),
    identity = named$identity(2), constant = tf$constant_initializer(0.5),
    ones = tf$ones_initializer()
  )
  expect_setequal(names(initializers), names(golden))
  for (name in names(golden)) {
    shape <- unlist(golden[[name]]$shape)
    build <- function() tf$get_variable("w", shape, initializer = initializers[[name]])
    actual <- row_major(run_seeded(1, build)[[1]])
    expected <- as.numeric(unlist(golden[[name]]$values))
    # TensorFlow's QR decomposition works in float32.
    tolerance <- if (startsWith(name, "orthogonal")) 1e-6 else 0
    expect_lte(max(abs(actual - expected)), tolerance, label = paste("difference of", name))
  }
})

test_that("a session continues its generators, and a new session restarts them", {
  graph <- tf$Graph()
  x <- with_graph(graph, {
    tf$set_random_seed(7)
    tf$random_uniform(3)
  })
  draw <- function() {
    session <- with_graph(graph, tf$Session())
    on.exit(session$close())
    list(session$run(x), session$run(x))
  }
  first <- draw()
  expect_false(identical(first[[1]], first[[2]]))
  expect_identical(draw(), first)
})

test_that("without seeds, set.seed() makes numbers reproducible", {
  draw <- function() run_seeded(NULL, function() tf$random_normal(c(2, 2)))[[1]]
  set.seed(20261121)
  first <- draw()
  second <- draw()
  set.seed(20261121)
  expect_identical(draw(), first)
  expect_false(identical(first, second))
})

test_that("initializers are also functions of a shape, and print their settings", {
  values <- run_seeded(3, function() tf$glorot_uniform_initializer(seed = 1)(c(20, 30)))[[1]]
  expect_equal(dim(values), c(20, 30))
  expect_lte(max(abs(values)), sqrt(6 / 50))
  expect_output(print(tf$random_normal_initializer(stddev = 0.1)), "stddev = 0.1")
  constant <- run_seeded(3, function() {
    tf$get_variable("w", c(2, 2), initializer = tf$constant_initializer(c(1, 2, 3, 4)))
  })[[1]]
  expect_equal(constant, matrix(1:4, 2, byrow = TRUE))
  own <- run_seeded(3, function() {
    tf$get_variable("w", 3, initializer = function(shape, dtype, ...) tf$zeros(shape, dtype) + 2)
  })[[1]]
  expect_equal(as.vector(own), c(2, 2, 2))
})

test_that("invalid distributions are errors", {
  with_graph(tf$Graph(), {
    expect_error(tf$random_uniform(3, dtype = "int32"), "maxval", class = "runhooks_error")
    expect_error(tf$random_normal(3, dtype = "int32"), "floating")
    expect_error(
      tf$get_variable("a", c(2, 2), initializer = tf$variance_scaling_initializer(-1)), "scale"
    )
    expect_error(
      tf$get_variable("b", c(2, 2), initializer = tf$variance_scaling_initializer(mode = "fan")),
      "fan_in, fan_out, fan_avg"
    )
    expect_error(tf$get_variable("c", 2, initializer = tf$orthogonal_initializer()), "two-dim")
  })
  draw <- function() run_seeded(1, function() tf$random_uniform(3, 5, 5, dtype = "int32"))
  expect_error(draw(), "minval < maxval")
})
