# Fingerprints, crosses and hash buckets match TensorFlow's bit for bit.

run_op <- function(build) {
  graph <- tf$Graph()
  with(graph$as_default(), {
    tensor <- build()
    value <- tf$Session(graph = graph)$run(tensor)
    if (length(dim(value)) == 2) as.vector(t(value)) else as.vector(value)
  })
}

test_that("string_to_hash_bucket_fast() matches TensorFlow's buckets", {
  golden <- read_golden("unit", "hashes.json")
  strings <- vapply(golden$strings, function(case) as.character(case$string), "")
  for (k in seq_along(golden$buckets)) {
    expected <- vapply(golden$strings, function(case) as.numeric(case$bucket[[k]]), 0)
    buckets <- golden$buckets[[k]]
    actual <- run_op(function() tf$string_to_hash_bucket_fast(tf$constant(strings), buckets))
    expect_identical(actual, expected)
  }
})

test_that("integers are hashed as their decimal text", {
  golden <- read_golden("unit", "hashes.json")
  # R's doubles are exact for integers up to 2^53.
  cases <- Filter(function(case) abs(as.numeric(case$int64)) < 2^53, golden$integers)
  expect_gt(length(cases), 30)
  numbers <- vapply(cases, function(case) as.numeric(case$int64), 0)
  for (k in seq_along(golden$buckets)) {
    expected <- vapply(cases, function(case) as.numeric(case$bucket[[k]]), 0)
    for (kind in c("text", "ids")) {
      actual <- run_op(function() {
        x <- tf$constant(numbers, dtype = tf$int64)
        if (kind == "text") {
          tf$string_to_hash_bucket_fast(tf$as_string(x), golden$buckets[[k]])
        } else {
          tf$raw_ops$HashIds(x, num_buckets = golden$buckets[[k]])
        }
      })
      # -1 marks a missing value of a feature.
      counts <- if (kind == "ids") numbers != -1 else TRUE
      expect_identical(actual[counts], expected[counts])
    }
  }
})

# Returns the values of one key as a padded matrix.
key_matrix <- function(rows, type) {
  pad <- if (type == "string") "" else -2^63 # marks absent ids
  width <- max(lengths(rows), 1)
  padded <- lapply(rows, function(row) c(unlist(row), rep(pad, width - length(row))))
  matrix(unlist(padded), nrow = length(rows), byrow = TRUE)
}

test_that("crosses match TensorFlow's ids", {
  for (case in read_golden("unit", "crosses.json")$cases) {
    actual <- run_op(function() {
      keys <- lapply(seq_along(case$types), function(j) {
        rows <- lapply(case$rows, `[[`, j)
        type <- case$types[[j]]
        tf$constant(key_matrix(rows, type), dtype = type)
      })
      key <- case$hash_key
      is_text <- unlist(case$types) == "string"
      # Masks that are TRUE for values and FALSE for padding.
      present <- lapply(which(is_text), function(j) {
        tf$constant(key_matrix(lapply(case$rows, `[[`, j), "string") != "")
      })
      tf$raw_ops$CrossIds(
        c(keys, present),
        num_buckets = case$hash_bucket_size,
        # TensorFlow replaces the key 0 by its default key.
        hash_key = if (is.null(key) || key == "0") "956888297470" else key,
        is_sparse = as.integer(is_text)
      )
    })
    expect_identical(actual[actual >= 0], as.numeric(unlist(case$ids)))
  }
})

test_that("buckets include their left boundary", {
  for (case in read_golden("unit", "bucketize.json")$cases) {
    input <- as.numeric(unlist(case$input))
    actual <- run_op(function() {
      tf$raw_ops$BucketIds(
        tf$constant(input, dtype = case$dtype), boundaries = as.numeric(unlist(case$boundaries))
      )
    })
    expect_identical(actual, as.numeric(unlist(case$bucket)))
  }
})
