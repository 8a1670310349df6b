# Names of TensorFlow that scripts use must exist in `tf`. golden/tf_namespace.tsv lists them with a
# priority: must, should or nice. Several paths to one object are the same function.

namespace_of_scripts <- function() {
  read.delim(
    test_path("golden", "tf_namespace.tsv"), header = FALSE, col.names = c("rank", "name")
  )
}

reach <- function(name) {
  path <- strsplit(name, ".", fixed = TRUE)[[1]]
  Reduce(function(at, part) do.call(`$`, list(at, part)), path, tf)
}
resolves <- function(name) {
  tryCatch(!is.null(reach(name)), runhooks_error_not_found = function(e) FALSE)
}

# Missing names, with the reason.
exceptions <- c(
  contrib.estimator.forward_features = "of canned estimators",
  real = "no complex numbers", imag = "no complex numbers", conj = "no complex numbers",
  angle = "no complex numbers"
)

test_that("every required name exists", {
  names <- namespace_of_scripts()
  expect_gt(nrow(names), 500)
  missing <- names$name[!vapply(names$name, resolves, NA)]
  expect_setequal(missing, names(exceptions))
})

test_that("several paths to one object give one function", {
  same <- list(
    c("train.get_global_step", "contrib.framework.get_global_step"),
    c("math.argmax", "argmax"), c("math.lgamma", "lgamma"), c("math.segment_max", "segment_max"),
    c("linalg.einsum", "einsum"), c("linalg.norm", "norm"), c("strings.join", "string_join"),
    c("image.resize", "image.resize_images"),
    c("contrib.layers.conv2d", "contrib.layers.convolution2d"),
    c("python.ops.state_ops.assign_add", "assign_add"), c("random.shuffle", "random_shuffle")
  )
  for (paths in same) {
    body_of <- function(name) {
      f <- reach(name)
      list(formals(f), body(f))
    }
    expect_identical(body_of(paths[[1]]), body_of(paths[[2]]), info = toString(paths))
  }
})

test_that("a missing name is an error that suggests similar ones", {
  expect_error(tf$math$lgama, "tf\\$math\\$lgama.*Did you mean.*lgamma",
    class = "runhooks_error_not_found"
  )
  expect_error(tf$layers$conv4d, "conv", class = "runhooks_error_not_found")
  expect_error(tf$keras$Sequential(), "tf\\$layers", class = "runhooks_error_unimplemented")
  expect_error(
    tf$contrib$learn$datasets$load_dataset("mnist"), "tensor_slices_dataset",
    class = "runhooks_error_unimplemented"
  )
})

test_that("tf$train$Example() matches TensorFlow's bytes", {
  f <- tf$train
  example <- f$Example(f$Features(list(
    c = f$Feature(bytes_list = f$BytesList(list("hi", ""))),
    a = f$Feature(int64_list = f$Int64List(c(1, 300, -5))),
    b = f$Feature(float_list = f$FloatList(c(1.5, -2)))
  )))
  # The expected bytes are those of TensorFlow 1.15's e.SerializeToString(deterministic=True).
  expected <- paste0(
    "0a3a0a160a016112111a0f0a0d01ac02fbffffffffffffffff010a110a0162120c120a0a080000c03f000000c0",
    "0a0d0a016312080a060a0268690a00"
  )
  expect_identical(paste(format(example$SerializeToString()), collapse = ""), expected)
  expect_error(f$Feature(), class = "runhooks_error_invalid_argument")
})
