# Functions of tf compared with TensorFlow 1.15: values, shapes and gradients. golden/names.json
# comes from make_names.py, which has the same functions under the same names.

waves <- function(shape, pace = 1) {
  values <- sin(pace * seq_len(prod(shape)))
  if (length(shape) == 1) return(array(values, shape))
  aperm(array(values, rev(shape)), rev(seq_along(shape)))
}
row_major <- function(x) if (length(dim(x)) < 2) as.vector(x) else as.vector(aperm(x))

sparse_34 <- function(values) {
  tf$SparseTensor(rbind(c(0, 1), c(1, 0), c(1, 3), c(2, 2)), values, c(3, 4))
}
some_ids <- function() {
  at <- rbind(c(0, 0), c(0, 2), c(1, 1), c(2, 0))
  tf$SparseTensor(at, tf$constant(c(2, 0, 2, 1), dtype = "int64"), c(3, 3))
}
parts <- function(x) list(x$indices, x$values, x$dense_shape)
float <- function(x) tf$cast(x, "float32")

a <- c(3, 4)
images <- c(2, 4, 5, 3)
of_segments <- function(f, ids) function(x) f(x, ids)

cases <- list(
  tan = list(list(a), tf$tan), asin = list(list(a), function(x) tf$asin(x * 0.9)),
  acos = list(list(a), function(x) tf$acos(x * 0.9)), atan = list(list(a), tf$atan),
  sinh = list(list(a), tf$sinh), cosh = list(list(a), tf$cosh), asinh = list(list(a), tf$asinh),
  acosh = list(list(a), function(x) tf$acosh(x + 2.5)),
  atanh = list(list(a), function(x) tf$atanh(x * 0.9)), expm1 = list(list(a), tf$expm1),
  rint = list(list(a), tf$rint), lgamma = list(list(a), function(x) tf$lgamma(x * 3 + 0.05)),
  digamma = list(list(a), function(x) tf$digamma(x * 3 + 0.05)),
  polygamma = list(list(a), function(x) tf$polygamma(tf$ones_like(x) * 2, x + 1.5)),
  zeta = list(list(a), function(x) tf$zeta(x + 3, tf$ones_like(x) * 1.5)),
  atan2 = list(list(a, a), tf$atan2),
  xlogy = list(list(a, a), function(x, y) tf$math$xlogy(x, y + 2)),
  xdivy = list(list(a, a), function(x, y) tf$math$xdivy(x, y + 2)),
  einsum_matmul = list(list(c(2, 3, 4), c(4, 5)), function(x, y) tf$einsum("abc,cd->abd", x, y)),
  einsum_sum = list(list(a, a), function(x, y) tf$einsum("ij,ij->j", x, y)),
  einsum_outer = list(list(3, 4), function(x, y) tf$einsum("i,j->ij", x, y)),
  einsum_three = list(list(a, c(4, 2), c(2, 3)), function(x, y, z) {
    tf$einsum("ij,jk,kl->li", x, y, z)
  }),
  einsum_batch = list(list(c(2, 3, 4), c(2, 5, 4)), function(x, y) tf$einsum("bij,bkj->bik", x, y)),
  tensordot_1 = list(list(c(2, 3, 4), c(4, 5)), function(x, y) tf$tensordot(x, y, 1L)),
  tensordot_2 = list(list(c(2, 3, 4), c(4, 3, 2)), function(x, y) {
    tf$tensordot(x, y, list(c(1L, 2L), c(1L, 0L)))
  }),
  norm = list(list(a), tf$norm), norm_axis = list(list(a), function(x) {
    tf$norm(x, axis = 1L, keepdims = TRUE)
  }),
  norm_1 = list(list(a), function(x) tf$norm(x, 1, 0L)),
  norm_inf = list(list(a), function(x) tf$norm(x, Inf)),
  norm_3 = list(list(a), function(x) tf$norm(x, 3, axis = 1L)),
  div = list(list(a, a), function(x, y) tf$div(x, y + 2)),
  accumulate_n = list(list(a, a), function(x, y) tf$accumulate_n(list(x, y))),
  sort = list(list(a), tf$sort), argsort = list(list(a), function(x) {
    tf$argsort(x, 0L, "DESCENDING")
  }),
  meshgrid = list(list(3, 2), function(x, y) tf$meshgrid(x, y)), diag = list(list(a), tf$diag),
  segment_mean = list(list(a), of_segments(tf$segment_mean, c(0L, 0L, 2L))),
  segment_max = list(list(a), of_segments(tf$segment_max, c(0L, 0L, 2L))),
  segment_min = list(list(a), of_segments(tf$segment_min, c(0L, 0L, 2L))),
  segment_prod = list(list(a), function(x) {
    tf$stop_gradient(tf$segment_prod(x, c(0L, 0L, 2L)))
  }),
  unsorted_segment_max = list(list(a), function(x) {
    tf$unsorted_segment_max(x, c(1L, 0L, 1L), 2L)
  }),
  unsorted_segment_min = list(list(a), function(x) {
    tf$unsorted_segment_min(x, c(1L, 0L, 1L), 2L)
  }),
  unsorted_segment_prod = list(list(a), function(x) {
    tf$unsorted_segment_prod(x, c(1L, 0L, 1L), 2L)
  }),
  unsorted_segment_mean = list(list(a), function(x) {
    tf$unsorted_segment_mean(x, c(1L, 0L, 1L), 3L)
  }),
  unsorted_segment_sqrt_n = list(list(a), function(x) {
    tf$unsorted_segment_sqrt_n(x, c(1L, 0L, 1L), 3L)
  }),
  conv1d = list(list(c(2, 6, 3), c(2, 3, 4)), function(x, w) tf$nn$conv1d(x, w, 2L, "SAME")),
  resize_bilinear = list(list(images), function(x) tf$image$resize_bilinear(x, c(7L, 3L))),
  resize_bilinear_aligned = list(list(images), function(x) {
    tf$image$resize_bilinear(x, c(7L, 8L), TRUE)
  }),
  resize_nearest = list(list(images), function(x) tf$image$resize_nearest_neighbor(x, c(7L, 3L))),
  resize_images = list(list(images), function(x) {
    tf$image$resize_images(x[1, , , ], c(2L, 9L), method = 1)
  }),
  flip = list(list(images), function(x) {
    list(tf$image$flip_left_right(x), tf$image$flip_up_down(x[1, , , ]))
  }),
  turn = list(list(images), function(x) {
    list(tf$image$transpose_image(x), tf$image$rot90(x, 1L), tf$image$rot90(x[1, , , ], 3L))
  }),
  central_crop = list(list(images), function(x) tf$image$central_crop(x[1, , , ], 0.5)),
  crop_or_pad = list(list(images), function(x) tf$image$resize_image_with_crop_or_pad(x, 6L, 3L)),
  standardization = list(list(images), function(x) {
    tf$square(tf$image$per_image_standardization(x[1, , , ]) + x[1, , , ])
  }),
  total_variation = list(list(images), tf$image$total_variation),
  lrn = list(list(images), function(x) tf$nn$lrn(float(x), 1, 1.5, 0.8, 0.6)),
  grayscale = list(list(images), function(x) tf$image$rgb_to_grayscale(float(x))),
  colours = list(list(images), function(x) {
    image <- float((x + 1) / 2)
    changes <- list(
      tf$image$rgb_to_hsv, tf$image$hsv_to_rgb, function(i) tf$image$adjust_hue(i, 0.2),
      function(i) tf$image$adjust_saturation(i, 0.4), function(i) tf$image$adjust_contrast(i, 1.7),
      function(i) tf$image$adjust_brightness(i, 0.1), function(i) tf$image$adjust_gamma(i, 2)
    )
    lapply(changes, function(f) tf$stop_gradient(f(image)))
  }),
  sparse_matmul = list(list(4, c(4, 2)), function(v, b) {
    tf$sparse_tensor_dense_matmul(sparse_34(v), b)
  }),
  sparse_matmul_adjoint = list(list(4, c(2, 3)), function(v, b) {
    tf$sparse_tensor_dense_matmul(sparse_34(v), b, adjoint_a = TRUE, adjoint_b = TRUE)
  }),
  sparse_reduce_sum = list(list(4), function(v) tf$sparse_reduce_sum(sparse_34(v), 1L)),
  sparse_transpose = list(list(4), function(v) parts(tf$sparse_transpose(sparse_34(v)))),
  sparse_add = list(list(4, a), function(v, b) tf$sparse_add(sparse_34(v), b)),
  lookup_mean = list(list(a), function(p) {
    tf$nn$embedding_lookup_sparse(p, some_ids(), NULL, combiner = "mean")
  }),
  lookup_sqrtn = list(list(a, 4), function(p, w) {
    ids <- some_ids()
    weights <- tf$SparseTensor(ids$indices, w + 2, ids$dense_shape)
    tf$nn$embedding_lookup_sparse(p, ids, weights, combiner = "sqrtn")
  }),
  lookup_safe = list(list(a), function(p) {
    ids <- tf$SparseTensor(
      rbind(c(0, 0), c(2, 1)), tf$constant(c(1, -1), dtype = "int64"), c(4, 2)
    )
    tf$nn$safe_embedding_lookup_sparse(p, ids)
  }),
  layer_norm = list(list(a), tf$contrib$layers$layer_norm),
  batch_norm = list(list(a), function(x) tf$contrib$layers$batch_norm(float(x), scale = TRUE)),
  maxout = list(list(a), function(x) tf$contrib$layers$maxout(x, 2L)),
  unit_norm = list(list(a), function(x) tf$contrib$layers$unit_norm(x, 1L))
)

run_case <- function(case) {
  with(tf$Graph()$as_default(), {
    input <- function(shape, pace) tf$constant(waves(shape, pace), dtype = "float64")
    inputs <- Map(input, case[[1]], seq_along(case[[1]]))
    out <- do.call(case[[2]], unname(inputs))
    outs <- if (inherits(out, "tensorflow.tensor")) list(out) else out
    floats <- Filter(function(y) y$dtype$is_floating, outs)
    totals <- Map(function(y, i) tf$cast(y, "float64") * i, floats, seq_along(floats))
    grads <- if (length(totals)) tf$gradients(totals, inputs) else vector("list", length(inputs))
    grads <- Map(function(x, g) {
      if (is.null(g)) tf$zeros_like(x) else tf$convert_to_tensor(g)
    }, inputs, grads)
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      list(outputs = session$run(unname(outs)), gradients = session$run(unname(grads)))
    })
  })
}

golden <- jsonlite::fromJSON(test_path("golden", "names.json"), simplifyVector = FALSE)
numbers <- function(x) as.numeric(unlist(x))
# A case with a float32 operation has the tolerance of float32.
tolerance_of <- function(name) {
  single <- c("lrn", "grayscale", "colours", "batch_norm", "standardization")
  if (name %in% single || grepl("^resize_bil", name)) 2e-5 else 1e-9
}

test_that("values, shapes and gradients match TensorFlow's", {
  expect_setequal(names(cases), names(golden$cases))
  for (name in names(cases)) {
    expected <- golden$cases[[name]]
    found <- run_case(cases[[name]])
    expect_equal(lapply(found$outputs, row_major), lapply(expected$outputs, numbers),
      tolerance = tolerance_of(name), info = name
    )
    shape_of <- function(x) if (is.null(dim(x))) numeric() else as.numeric(dim(x))
    expect_equal(lapply(found$outputs, shape_of), lapply(expected$shapes, numbers), info = name)
    expect_equal(lapply(found$gradients, row_major), lapply(expected$gradients, numbers),
      tolerance = tolerance_of(name), info = paste("gradients of", name)
    )
  }
})

texts <- c("", "a", "tensor", "tensorflow", "a b c d e f g h")
values <- list(
  confusion = function() {
    tf$confusion_matrix(c(1L, 2L, 4L, 1L), c(2L, 2L, 4L, 1L), weights = c(1L, 2L, 3L, 4L))
  },
  integer_div = function() tf$div(c(-5L, 5L), c(2L, 2L)),
  shuffle = function() tf$random_shuffle(0:19, seed = 3),
  shuffle_rows = function() tf$random_shuffle(matrix(0:19, 5, byrow = TRUE), seed = 4),
  multinomial = function() {
    tf$multinomial(tf$constant(waves(c(3, 5)), dtype = "float32"), 7L, seed = 5)
  },
  random_crop = function() tf$random_crop(matrix(0:19 + 0, 5, byrow = TRUE), c(2L, 3L), seed = 6),
  hash = function() tf$string_to_hash_bucket(texts, 2^30),
  hash_strong = function() tf$string_to_hash_bucket_strong(texts, 2^30, c(7, 9)),
  split = function() parts(tf$string_split(c("a b", " c  d", ""))),
  split_letters = function() {
    parts(tf$string_split(tf$constant(array("a,b;c", 1)), ",;", skip_empty = FALSE))
  },
  join = function() tf$string_join(list("x", c("a", "b")), "-"),
  substr = function() tf$substr(c("hello", "you"), c(1L, -2L), c(3L, 1L)),
  regex = function() tf$regex_replace(c("a12b3", "none"), "([0-9])", "<\\1>"),
  regex_first = function() tf$regex_replace("a1b1", "1", "$", replace_global = FALSE),
  full_match = function() tf$strings$regex_full_match(c("ab", "abc"), "a.*b"),
  strip = function() tf$string_strip(c(" a b ", "\tc")),
  length = function() tf$strings$length(c("a", "hi")),
  upper = function() list(tf$strings$upper("aB"), tf$strings$lower("aB")),
  indicator = function() tf$sparse_to_indicator(some_ids(), 4L),
  uint8 = function() {
    pixels <- tf$constant(array(c(0, 0.5, 1), c(1, 1, 3)), dtype = "float32")
    tf$cast(tf$image$convert_image_dtype(pixels, "uint8"), "int32")
  },
  text_summary = function() tf$summary$text("words", tf$constant(c("a", "b"))),
  audio_summary = function() tf$summary$audio("sound", waves(c(2, 9)), 44100, 2)
)

as_hex <- function(x) {
  bytes <- if (is.raw(x)) list(x) else lapply(row_major(x), charToRaw)
  vapply(bytes, function(b) paste(format(b), collapse = ""), "")
}

test_that("strings, hashes, random orders and bytes of summaries match TensorFlow's", {
  expect_setequal(names(values), names(golden$values))
  for (name in names(values)) {
    found <- with(tf$Graph()$as_default(), {
      tf$set_random_seed(1)
      out <- values[[name]]()
      outs <- if (inherits(out, "tensorflow.tensor")) list(out) else out
      with(tf$Session() %as% session, lapply(outs, function(x) session$run(x)))
    })
    plain <- function(x) {
      if (is.character(x) || is.raw(x)) as_hex(x) else as.numeric(row_major(x))
    }
    expect_equal(lapply(found, plain), lapply(golden$values[[name]], unlist), info = name)
  }
})

test_that("an image summary contains the pixels", {
  # The pixels are between two shades of grey, so that rounding does not matter.
  pixels <- array((sample(0:254, 2 * 3 * 4, TRUE) + 0.5) / 255, c(2, 3, 4, 1))
  pixels[1, 1, 1, 1] <- 1
  bytes <- with(tf$Graph()$as_default(), {
    summary <- tf$summary$image("im age", tf$constant(pixels, dtype = "float32"), max_outputs = 1)
    expect_match(summary$name, "^im_age:0$")
    with(tf$Session() %as% session, session$run(summary))
  })
  begin <- function(text) grepRaw(text, bytes, fixed = TRUE)
  expect_gt(begin(as.raw(c(0x89, 0x50, 0x4e, 0x47))), 0)
  # In the decompressed PNG data, each row of pixels follows the number of its filter.
  at <- begin("IDAT")
  size <- sum(as.integer(bytes[at - 4:1]) * 256^(3:0))
  rows <- matrix(as.integer(memDecompress(bytes[at + 3 + seq_len(size)], "gzip")), 3, byrow = TRUE)
  expect_identical(rows[, 1], rep(0L, 3))
  expect_equal(rows[, -1], floor(pixels[1, , , 1] * 255 / max(pixels[1, , , 1])), tolerance = 1e-6)
})
