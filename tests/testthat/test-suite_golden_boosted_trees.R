# Compares boosted trees with TensorFlow 1.15 (2.8 for more than two classes): all losses,
# evaluation, predictions, trees and summaries.

boosted_cases <- function() sub("[.]json$", "", list.files(golden_path("boosted"), "[.]json$"))

boosted_golden <- function(name) read_golden("boosted", paste0(name, ".json"))

# Returns the largest error relative to the tolerance of the goldens, so 1 is the limit.
boosted_error <- function(x, y) max(abs(x - y) / (1e-5 + 2e-5 * abs(y)))

# Centers the logits of each row, because a constant that is added to all of them has no effect.
centered <- function(x) x - rowMeans(x)

as_rows <- function(x) do.call(rbind, lapply(x, function(row) as.numeric(unlist(row))))

run_boosted <- function(golden, model_dir) {
  case <- golden$case
  model <- golden_model(case, model_dir, save_summary_steps = 1)
  data <- golden_data(case)
  losses <- c()
  record <- session_run_hook(
    before_run = function(context) session_run_args("loss"),
    after_run = function(context, values) losses <<- c(losses, values$results[[1]])
  )
  endless <- golden_input(case, data, batch_size = case$batch_size, num_epochs = NULL)
  suppressMessages(suppressWarnings(train(model, endless, steps = case$steps, hooks = record)))
  scalars <- read_events(model_dir)
  list(
    model = model, loss = losses, scalars = scalars,
    eval = evaluate(
      model, golden_input(case, data, batch_size = case$eval_batch_size), simplify = FALSE
    ),
    predict = predict(
      model, golden_input(case, data, 1:12, batch_size = case$eval_batch_size), simplify = FALSE,
      predict_keys = unlist(prediction_keys())
    )
  )
}

# Parses a protobuf message into its fields, in order. Each value is a number, bytes or four bytes.
wire_fields <- function(bytes) {
  at <- 1
  varint <- function() {
    value <- 0
    for (shift in 0:9) {
      byte <- as.integer(bytes[[at]])
      at <<- at + 1
      value <- value + (byte %% 128) * 128^shift
      if (byte < 128) return(value)
    }
    stop("a number without an end")
  }
  taken <- function(n) {
    force(n)
    at <<- at + n
    bytes[seq_len(n) + at - n - 1]
  }
  fields <- list()
  while (at <= length(bytes)) {
    tag <- varint()
    value <- switch(as.character(tag %% 8), "0" = varint(), "2" = taken(varint()), "5" = taken(4))
    fields <- c(fields, list(list(number = tag %/% 8, value = value)))
  }
  fields
}

field <- function(fields, number, default) {
  for (one in fields) if (one$number == number) return(one$value)
  default
}

floats <- function(bytes) readBin(bytes, "double", length(bytes) / 4, 4, endian = "little")

leaf_numbers <- function(leaf, width) {
  fields <- wire_fields(leaf)
  values <- floats(c(field(fields, 3, raw()), field(wire_fields(field(fields, 1, raw())), 1, raw())))
  c(values, rep(0, width - length(values)))
}

# Parses TensorFlow's tree ensemble. Returns, for each tree, a matrix of its structure (one row
# per node), its gains, and the values of its nodes: of split nodes, their values as leaves.
ensemble_trees <- function(bytes, width) {
  ensemble <- Filter(function(one) one$number == 1, wire_fields(bytes))
  lapply(ensemble, function(tree) {
    nodes <- lapply(Filter(function(one) one$number == 1, wire_fields(tree$value)), `[[`, "value")
    nodes <- lapply(nodes, wire_fields)
    kind <- vapply(nodes, function(node) {
      c(setdiff(vapply(node, `[[`, 0, "number"), 777), 0)[[1]]
    }, 0)
    split <- Map(function(node, kind) if (kind > 1) wire_fields(field(node, kind, raw())), nodes, kind)
    said <- lapply(nodes, function(node) wire_fields(field(node, 777, raw())))
    list(
      structure = cbind(kind, t(vapply(split, function(of) {
        wanted <- c(feature = 1, threshold = 2, left = 3, right = 4, dimension = 5, missing = 6)
        vapply(wanted, function(number) as.numeric(field(of, number, 0)), 0)
      }, numeric(6)))),
      gain = vapply(said, function(of) sum(floats(field(of, 1, raw()))), 0),
      value = do.call(rbind, lapply(seq_along(nodes), function(i) {
        leaf <- if (kind[[i]] > 1) field(said[[i]], 2, raw()) else field(nodes[[i]], 1, raw())
        leaf_numbers(leaf, width)
      }))
    )
  })
}

# If all rows of a node have one label, gains are rounding errors, and the last bits of gradients
# select the split. This is the number of such nodes that differ.
tied_nodes <- c(bt_cls_default_params = 8)

# Returns the number of nodes with different splits of equal gain. Nodes below them are skipped; all
# others must match.
expect_same_trees <- function(ours, theirs, width) {
  ours <- ensemble_trees(ours, width)
  theirs <- ensemble_trees(theirs, width)
  expect_length(ours, length(theirs))
  tied <- 0
  for (i in seq_along(theirs)) {
    a <- ours[[i]]
    b <- theirs[[i]]
    numbers <- c("kind", "left", "right")
    expect_identical(a$structure[, numbers], b$structure[, numbers], label = paste("tree", i))
    differs <- rowSums(a$structure != b$structure) > 0
    is_below <- logical(length(differs))
    for (node in which(b$structure[, "kind"] > 1)) {
      children <- b$structure[node, c("left", "right")] + 1
      is_below[children] <- is_below[[node]] || differs[[node]]
    }
    tied <- tied + sum(differs & !is_below)
    # The tolerance is that of the largest gain, because a gain is the difference of two large
    # numbers.
    most <- 1e-5 + 2e-5 * max(abs(b$gain))
    expect_lt(max(abs(a$gain - b$gain)[!is_below]), most, label = paste("gains of tree", i))
    # Values are centered over the classes, because TensorFlow's mean over all classes is a rounding
    # error.
    value <- function(of) {
      values <- of$value[!is_below, , drop = FALSE]
      if (width > 1) centered(values) else values
    }
    expect_lt(boosted_error(value(a), value(b)), 1, label = paste("values of tree", i))
  }
  tied
}

for (name in boosted_cases()) {
  test_that(paste("golden", name), {
    golden <- boosted_golden(name)
    ours <- run_boosted(golden, withr::local_tempdir())
    expected <- golden$expected
    expect_length(ours$loss, length(expected$loss))
    expect_lt(boosted_error(ours$loss, unlist(expected$loss)), 1)
    for (key in names(expected$eval)) {
      expect_lt(boosted_error(ours$eval[[key]], expected$eval[[key]]), 1, label = key)
    }
    for (key in names(expected$predict)) {
      ours_rows <- lapply(ours$predict, `[[`, key)
      if (key %in% c("classes", "all_classes")) {
        expect_equal(unlist(ours_rows), unlist(expected$predict[[key]]))
        next
      }
      a <- as_rows(ours_rows)
      b <- as_rows(expected$predict[[key]])
      # The classes have one more logit than degrees of freedom. The mean of TensorFlow's logits is
      # a rounding error.
      if (key == "logits" && ncol(b) > 1) {
        a <- centered(a)
        b <- centered(b)
      }
      expect_lt(boosted_error(a, b), 1, label = key)
    }
    for (tag in names(expected$summaries)) {
      own <- ours$scalars[ours$scalars$tag == tag, ]
      values <- as_rows(expected$summaries[[tag]])
      expect_equal(own$step, values[, 1], label = tag)
      expect_lt(boosted_error(own$value, values[, 2]), 1, label = tag)
    }
    stamp <- variable_value(ours$model, "boosted_trees:0_stamp")[[1]]
    expect_equal(stamp, expected$boosted_trees$stamp)
    file <- test_path("golden", "boosted", paste0(name, ".ensemble"))
    tied <- expect_same_trees(
      variable_value(ours$model, "boosted_trees:0_serialized")[[1]],
      readBin(file, "raw", file.size(file)), if (is.null(golden$case$args$n_classes)) 1 else 3
    )
    expect_lte(tied, if (name %in% names(tied_nodes)) tied_nodes[[name]] else 0)
  })
}
