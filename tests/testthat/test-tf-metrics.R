# tf$metrics, batch by batch, compared with TensorFlow's values.

golden_metric <- function(name, p) {
  weights <- if (grepl("_weighted$", name)) p$weights
  name <- sub("_weighted$", "", name)
  metrics <- tf$metrics
  is_positive <- function() tf$greater(p$prob, 0.5)
  thresholds <- c(0, 0.25, 0.5, 0.75, 1)
  if (startsWith(name, "auc_")) {
    parts <- strsplit(name, "_")[[1]]
    method <- sub("_20_thresholds", "", paste(parts[-(1:2)], collapse = "_"))
    return(
      metrics$auc(
        p$labels01, p$prob, weights = weights, curve = parts[[2]], summation_method = method,
        num_thresholds = if (grepl("20_thresholds", name)) 20 else 200
      )
    )
  }
  if (name %in% c("precision", "recall") || grepl("^(true|false)_", name)) {
    return(metrics[[name]](p$labels01, is_positive(), weights = weights))
  }
  switch(name,
    accuracy = metrics$accuracy(p$classes, p$pred_classes, weights = weights),
    mean = metrics$mean(p$y, weights = weights),
    mean_relative_error = metrics$mean_relative_error(
      p$y, p$yhat, tf$abs(p$y) + 0.5, weights = weights
    ),
    precision_at_thresholds = , recall_at_thresholds = metrics[[name]](
      p$labels01, p$prob, thresholds, weights = weights
    ),
    mean_per_class_accuracy = , mean_iou = metrics[[name]](
      p$classes, p$pred_classes, 3, weights = weights
    ),
    sensitivity_at_specificity_0.6 = metrics$sensitivity_at_specificity(
      p$labels01, p$prob, 0.6, weights = weights
    ),
    specificity_at_sensitivity_0.6 = metrics$specificity_at_sensitivity(
      p$labels01, p$prob, 0.6, weights = weights
    ),
    percentage_below_0.3 = metrics$percentage_below(p$y, 0.3),
    mean_tensor = metrics$mean_tensor(tf$slice(p$logits3, c(0L, 0L), c(2L, 3L))),
    mean_cosine_distance = metrics$mean_cosine_distance(
      tf$nn$l2_normalize(p$logits3, 1),
      tf$nn$l2_normalize(p$logits3 * array(c(1, -1, 0.5), c(1, 3)), 1),
      dim = 1
    ),
    recall_at_k_2 = , precision_at_k_2 = ,
    average_precision_at_k_2 = metrics[[sub("_2$", "", name)]](
      tf$cast(p$classes, "int64"), p$logits3, 2
    ),
    metrics[[name]](p$y, p$yhat, weights = weights)
  )
}

golden_placeholders <- function(batch, rows = length(batch$y)) {
  fields <- setNames(nm = names(batch))
  lapply(fields, function(field) {
    whole <- field %in% c("labels01", "classes", "pred_classes")
    shape <- if (field == "logits3") list(rows, 3) else list(rows)
    tf$placeholder(if (whole) "int32" else "float32", shape, name = field)
  })
}

batch_feeds <- function(batch) {
  feeds <- lapply(batch, golden_array)
  setNames(feeds, paste0(names(feeds), ":0"))
}

test_that("every metric matches TensorFlow's after every batch", {
  golden <- read_golden("unit", "metrics.json")
  graph <- tf$Graph()
  built <- with_graph(graph, {
    p <- golden_placeholders(golden$batches[[1]])
    metrics <- lapply(setNames(nm = names(golden$metrics)), golden_metric, p)
    list(metrics = metrics, init = tf$local_variables_initializer())
  })
  values <- lapply(built$metrics, `[[`, 1)
  updates <- lapply(built$metrics, `[[`, 2)
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  session$run(built$init)
  feeds <- lapply(golden$batches, batch_feeds)
  check <- function(actual, what) {
    for (name in names(actual)) {
      expect_close(actual[[name]], what(golden$metrics[[name]]), paste("metric", name))
    }
  }
  check(session$run(values), function(entry) entry$value_before_any_batch)
  for (i in seq_along(feeds)) {
    check(session$run(updates, feed_dict = feeds[[i]]), function(entry) entry$update_op[[i]])
    check(session$run(values), function(entry) entry$value[[i]])
  }
  expect_length(values, 58)
})

test_that("metrics do not depend on the batch size", {
  golden <- read_golden("unit", "metrics.json")
  all <- lapply(setNames(nm = names(golden$batches[[1]])), function(field) {
    parts <- lapply(golden$batches, function(batch) golden_array(batch[[field]]))
    if (field == "logits3") do.call(rbind, parts) else unlist(lapply(parts, as.vector))
  })
  names <- setdiff(names(golden$metrics), "mean_tensor")
  run <- function(size) {
    graph <- tf$Graph()
    built <- with_graph(graph, {
      p <- golden_placeholders(golden$batches[[1]], rows = NA)
      list(
        metrics = lapply(setNames(nm = names), golden_metric, p),
        init = tf$local_variables_initializer()
      )
    })
    session <- with_graph(graph, tf$Session())
    on.exit(session$close())
    session$run(built$init)
    for (rows in split(1:28, (0:27) %/% size)) {
      part <- lapply(all, function(x) if (is.matrix(x)) x[rows, , drop = FALSE] else array(x[rows]))
      session$run(
        lapply(built$metrics, `[[`, 2), feed_dict = setNames(part, paste0(names(part), ":0"))
      )
    }
    session$run(lapply(built$metrics, `[[`, 1))
  }
  whole <- run(28)
  for (size in c(1, 5)) {
    parts <- run(size)
    for (name in names) {
      expect_close(parts[[name]], whole[[name]], paste(name, "in batches of", size), 2e-6)
    }
  }
})

test_that("variables of metrics are local and have TensorFlow's names", {
  graph <- tf$Graph()
  with_graph(graph, {
    x <- tf$constant(c(1, 0))
    tf$metrics$accuracy(x, x)
    tf$metrics$precision(x, x)
    tf$metrics$auc(x, x, name = "own", updates_collections = "updates")
    names <- vapply(graph$get_collection("metric_variables"), function(v) v$name, "")
    local <- vapply(graph$get_collection("local_variables"), function(v) v$name, "")
    expect_length(graph$get_collection("updates"), 1)
  })
  expect_identical(names, local)
  expect_identical(
    names,
    c(
      "accuracy/total:0", "accuracy/count:0", "precision/true_positives/count:0",
      "precision/false_positives/count:0", "own/true_positives:0", "own/false_positives:0",
      "own/true_negatives:0", "own/false_negatives:0"
    )
  )
})

test_that("metrics reject invalid input", {
  with_graph(tf$Graph(), {
    x <- tf$constant(c(0.1, 0.2))
    expect_error(tf$metrics$auc(x, x, curve = "XYZ"), "XYZ", class = "runhooks_error")
    expect_error(tf$metrics$auc(x, x, summation_method = "best"), "trapezoidal")
    expect_error(tf$metrics$auc(x, x, num_thresholds = 1), "num_thresholds")
    expect_error(tf$metrics$accuracy(x, tf$constant(c(1, 2, 3))), "incompatible")
    expect_error(tf$metrics$recall_at_k(x, tf$zeros(c(2, 3)), 2), "integer")
    expect_error(tf$metrics$sensitivity_at_specificity(x, x, 1.5), "between 0 and 1")
  })
})
