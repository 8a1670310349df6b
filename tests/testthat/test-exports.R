# Exports beside TensorFlow's: golden/exports has models that TensorFlow 1.15 trained, what their
# exports look like and what these answer (tests/golden/make_exports.py).
set.seed(1)

export_cases <- list.dirs(golden_path("exports"), recursive = FALSE)

# TensorFlow's SavedModels of some of the cases lie beside them, packed.
unpacked_case <- function(folder, frame = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = frame)
  utils::untar(golden_path("exports", "theirs.tar.gz"), exdir = dir)
  made <- file.path(dir, basename(folder))
  dir.create(made, showWarnings = FALSE)
  file.copy(list.files(folder, full.names = TRUE), made)
  made
}

test_that("there is a case of each canned estimator", {
  families <- sub("_[0-9]$", "", basename(export_cases))
  wanted <- outer(c("linear", "dnn", "dnn_linear_combined", "baseline"), c("classifier", "regressor"),
    paste, sep = "_"
  )
  expect_setequal(families, wanted)
})

for (folder in export_cases) {
  test_that(paste("an export looks and answers like TensorFlow's:", basename(folder)), {
    vocabulary <- golden_path("exports", "words.txt")
    expect_equal(export_problems(unpacked_case(folder), vocabulary), character())
  })
}

test_that("TensorFlow's exports are among them", {
  found <- utils::untar(golden_path("exports", "theirs.tar.gz"), list = TRUE)
  expect_length(grep("saved_model.pb$", found), 4)
})

test_that("an answer that is another is noticed", {
  case <- unpacked_case(golden_path("exports", "linear_regressor_2"))
  words <- readLines(golden_path("exports", "words.txt"))
  other <- withr::local_tempfile(lines = rev(words))
  problems <- export_problems(case, other)
  expect_match(problems, "ours answers predict predictions off by", all = FALSE)
  expect_false(any(grepl("theirs answers", problems)))
})
