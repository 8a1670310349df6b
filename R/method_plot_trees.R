# Plots of one tree of a model. Inner nodes show conditions, with "yes" to the left; leaves show
# their values.

check_tree_plot <- function(which, object, call) {
  if (4 %in% which) return(invisible())
  advice <- if (is_tree_model(object)) {
    "Use {.code which = 4} for the plot of a tree."
  } else {
    "This model has no trees."
  }
  abort_runhooks(c("{.arg tree} needs the plot of a tree.", i = advice), call = call)
}

# Returns a data frame with the position and the text of each node of the first `levels` levels.
# Nodes without visible children have consecutive positions, and other nodes are centered above
# their children. `from_x` and `from_y` are the position of the parent; `more` counts hidden nodes.
tree_plot_data <- function(object, tree, levels, call) {
  nodes <- as.data.frame(object)
  check_positive_whole(tree, call = call)
  check_positive_whole(levels, call = call)
  num_trees <- length(unique(nodes$tree))
  if (!tree %in% nodes$tree) {
    abort_runhooks(
      "There is no tree {tree}: the model has {num_trees} tree{?s}.",
      kind = "not_found", call = call
    )
  }
  nodes <- nodes[nodes$tree == tree, ]
  nodes$text <- node_labels(nodes)
  nodes$hidden <- nodes_below(nodes) * (nodes$depth == levels - 1)
  nodes <- nodes[nodes$depth < levels, ]
  is_end <- nodes$is_leaf | nodes$hidden > 0
  row_of <- function(id) match(id, nodes$node)
  place <- numeric(nrow(nodes))
  next_end <- 1
  set_position <- function(row) {
    if (is_end[[row]]) {
      place[[row]] <<- next_end
      next_end <<- next_end + 1
      return(invisible())
    }
    children <- row_of(c(nodes$left[[row]], nodes$right[[row]]))
    for (child in children) set_position(child)
    place[[row]] <<- mean(place[children])
  }
  set_position(1)
  parent <- integer(nrow(nodes))
  inner <- which(!is_end)
  parent[1] <- 1L
  parent[row_of(nodes$left[inner])] <- inner
  parent[row_of(nodes$right[inner])] <- inner
  structure(
    data.frame(
      x = place, y = -nodes$depth, from_x = place[parent], from_y = -nodes$depth[parent],
      is_leaf = nodes$is_leaf, text = nodes$text,
      more = ifelse(nodes$hidden > 0, paste("...", nodes$hidden, "more"), ""),
      answer = c("", ifelse(nodes$node %in% nodes$left, "yes", "no")[-1])
    ),
    title = sprintf("Tree %.0f of %d", tree, num_trees)
  )
}

# Returns the values of leaves and the conditions of inner nodes, in which thresholds have two
# digits. The condition is on the line after the feature.
node_labels <- function(nodes) {
  two_digits <- function(x) vapply(x, function(x) format(x, digits = 2), "")
  value <- as.matrix(nodes[grep("^value(_[0-9]+)?$", names(nodes))])
  values <- apply(value, 1, function(x) paste(two_digits(x), collapse = "\n"))
  number_at_end <- "(?<= )-?[0-9][-+.e0-9]*$"
  question <- nodes$question
  has_number <- grepl(number_at_end, question, perl = TRUE) & !is.na(nodes$threshold)
  position <- regexpr(number_at_end, question[has_number], perl = TRUE)
  regmatches(question[has_number], position) <- two_digits(nodes$threshold[has_number])
  # names of features may contain spaces, so the prefix is removed by its length
  condition <- substring(question, nchar(nodes$feature) + 1)
  has_feature <- !is.na(question) & startsWith(question, paste0(nodes$feature, " "))
  question[has_feature] <- paste0(nodes$feature, "\n", trimws(condition))[has_feature]
  ifelse(nodes$is_leaf, values, question)
}

# Returns the number of descendants of each node. Children come after their parents in `nodes`.
nodes_below <- function(nodes) {
  below <- numeric(nrow(nodes))
  for (i in rev(which(!nodes$is_leaf))) {
    below[[i]] <- 2 + sum(below[match(c(nodes$left[[i]], nodes$right[[i]]), nodes$node)])
  }
  below
}

draw_tree <- function(data) {
  old <- graphics::par(mar = c(1, 1, 3, 1))
  on.exit(graphics::par(old))
  deepest <- -min(data$y)
  graphics::plot(
    range(data$x) + c(-0.6, 0.6), c(-deepest - 0.45, 0.3), type = "n", axes = FALSE, xlab = "",
    ylab = "", main = attr(data, "title"), font.main = 1
  )
  graphics::segments(data$from_x, data$from_y, data$x, data$y, col = "grey60")
  # neither the boxes of a level nor those of consecutive levels may overlap
  widths <- graphics::strwidth(data$text) * 1.15
  heights <- graphics::strheight(data$text) * 1.6
  gaps <- tapply(data$x, data$y, function(x) if (length(x) > 1) min(diff(sort(x))) else Inf)
  space <- as.vector(gaps[as.character(data$y)])
  size <- max(min(1, 0.95 * space / widths, 0.5 / heights), 0.3)
  widths <- widths * size / 2
  heights <- heights * size / 2
  fill <- ifelse(data$is_leaf, "white", "grey92")
  graphics::rect(
    data$x - widths, data$y - heights, data$x + widths, data$y + heights, col = fill,
    border = "grey60"
  )
  graphics::text(data$x, data$y, data$text, cex = size)
  graphics::text(
    data$x, data$y - heights, data$more, cex = size, pos = 1, offset = 0.3, col = "grey40"
  )
  edges <- edge_labels(data)
  graphics::rect(
    edges$x - graphics::strwidth("yes") * size * 0.6, edges$y - graphics::strheight("y") * size,
    edges$x + graphics::strwidth("yes") * size * 0.6, edges$y + graphics::strheight("y") * size,
    col = "white", border = NA
  )
  graphics::text(edges$x, edges$y, edges$answer, cex = size * 0.9, col = "grey40")
}

# Returns the labels "yes" and "no", in the middle of the edges.
edge_labels <- function(data) {
  data <- data[-1, ]
  data.frame(
    x = (data$x + data$from_x) / 2, y = (data$y + data$from_y) / 2, answer = data$answer
  )
}

tree_ggplot2 <- function(data) {
  size <- max(min(3.2, 28 / length(unique(data$x[data$y == min(data$y)]))), 1.5)
  ggplot2::ggplot(data, ggplot2::aes(x = !!quote(x), y = !!quote(y))) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = !!quote(from_x), yend = !!quote(from_y)), colour = "grey60"
    ) +
    ggplot2::geom_label(
      ggplot2::aes(label = !!quote(answer)), edge_labels(data), size = 0.9 * size,
      colour = "grey40", fill = "white", label.size = 0
    ) +
    ggplot2::geom_label(
      ggplot2::aes(label = !!quote(text), fill = !!quote(is_leaf)), size = size,
      show.legend = FALSE
    ) +
    ggplot2::geom_text(
      ggplot2::aes(label = !!quote(more)), size = 0.9 * size, colour = "grey40", nudge_y = -0.3
    ) +
    ggplot2::scale_fill_manual(values = c(`FALSE` = "grey92", `TRUE` = "white")) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(0.1)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(add = c(0.5, 0.3))) +
    ggplot2::labs(title = attr(data, "title")) +
    ggplot2::theme_void()
}
