# Plots of a single tree: questions at inner nodes, "yes" to the left, values at leaves.

check_tree_plot <- function(which, object, call) {
  if (4 %in% which) return(invisible())
  advice <- if (is_tree_model(object)) {
    "Use {.code which = 4} for the plot of a tree."
  } else {
    "This model has no trees."
  }
  abort_runhooks(c("{.arg tree} needs the plot of a tree.", i = advice), call = call)
}

# Positions of nodes: leaves side by side, a node centered above its children. `from_x` and
# `from_y` are the position of the parent.
tree_plot_data <- function(object, tree, call) {
  nodes <- as.data.frame(object)
  check_positive_whole(tree, call = call)
  if (!tree %in% nodes$tree) {
    most <- length(unique(nodes$tree)) # nolint: used by cli
    abort_runhooks(
      "There is no tree {tree}: the model has {most} tree{?s}.", kind = "not_found", call = call
    )
  }
  nodes <- nodes[nodes$tree == tree, ]
  value <- as.matrix(nodes[grep("^value(_[0-9]+)?$", names(nodes))])
  shown <- apply(value, 1, function(x) paste(format(signif(x, 3), trim = TRUE), collapse = "\n"))
  nodes$text <- ifelse(nodes$is_leaf, shown, nodes$question)
  row_of <- function(id) match(id, nodes$node)
  place <- numeric(nrow(nodes))
  next_leaf <- 1
  settle <- function(row) {
    if (nodes$is_leaf[[row]]) {
      place[[row]] <<- next_leaf
      next_leaf <<- next_leaf + 1
      return(invisible())
    }
    children <- row_of(c(nodes$left[[row]], nodes$right[[row]]))
    for (child in children) settle(child)
    place[[row]] <<- mean(place[children])
  }
  settle(1)
  parent <- integer(nrow(nodes))
  inner <- which(!nodes$is_leaf)
  parent[1] <- 1L
  parent[row_of(nodes$left[inner])] <- inner
  parent[row_of(nodes$right[inner])] <- inner
  data.frame(
    x = place, y = -nodes$depth, from_x = place[parent], from_y = -nodes$depth[parent],
    is_leaf = nodes$is_leaf, text = nodes$text
  )
}

draw_tree <- function(data) {
  old <- graphics::par(mar = c(1, 1, 1, 1))
  on.exit(graphics::par(old))
  graphics::plot(
    range(data$x) + c(-0.5, 0.5), range(data$y) + c(-0.3, 0.3), type = "n", axes = FALSE, xlab = "", ylab = ""
  )
  graphics::segments(data$from_x, data$from_y, data$x, data$y, col = "grey")
  size <- min(1, 12 / sum(data$is_leaf))
  graphics::text(data$x, data$y, data$text, cex = max(size, 0.4), font = ifelse(data$is_leaf, 1, 2))
}

tree_ggplot2 <- function(data) {
  ggplot2::ggplot(data, ggplot2::aes(x = !!quote(x), y = !!quote(y))) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = !!quote(from_x), yend = !!quote(from_y)), colour = "grey"
    ) +
    ggplot2::geom_label(
      ggplot2::aes(label = !!quote(text), fill = !!quote(is_leaf)), size = 3, show.legend = FALSE
    ) +
    ggplot2::scale_fill_manual(values = c(`FALSE` = "grey92", `TRUE` = "white")) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(0.1)) +
    ggplot2::theme_void()
}
