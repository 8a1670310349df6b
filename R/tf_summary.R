# tf$summary: operations that make summaries.

summary_symbols <- function() {
  summary_op <- function(is_histogram) {
    force(is_histogram)
    function(name, values, collections, family) {
      check_string(name)
      check_string(family, null = TRUE)
      cpp_summary_op(
        is_histogram, name, as_summary_value(values), collections_or(collections, "summaries"),
        text_or_none(family)
      )
    }
  }
  scalar <- summary_op(FALSE)
  histogram <- summary_op(TRUE)
  list(
    summary.scalar = function(name, tensor, collections = NULL, family = NULL) {
      scalar(name, tensor, collections, family)
    },
    summary.histogram = function(name, values, collections = NULL, family = NULL) {
      histogram(name, values, collections, family)
    },
    summary.merge = function(inputs, collections = NULL, name = NULL) {
      if (is_tensor(inputs)) inputs <- list(inputs)
      cpp_summary_merge(inputs, collections_or(collections, character()), text_or_none(name))
    },
    summary.merge_all = function(key = "summaries", scope = NULL, name = NULL) {
      cpp_summary_merge_all(key, text_or_none(scope), text_or_none(name))
    }
  )
}

as_summary_value <- function(x) {
  if (is_tensor(x) || is_variable(x)) x else cpp_constant(x, NULL, "values")
}

collections_or <- function(collections, default) {
  if (is.null(collections)) default else as.character(unlist(collections))
}

text_or_none <- function(x) if (is.null(x)) "" else x
