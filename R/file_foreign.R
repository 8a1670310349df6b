# Help page about files from untrusted sources.

#' Security: files from untrusted sources
#'
#' Describes what models, graphs, checkpoints and data from untrusted sources can do when this
#' package reads them. In short, they can compute, but they cannot write files or call R functions.
#'
#' @section Models (`load_savedmodel()`): A model can read only files in its own directory, after
#'   resolving symbolic links; this includes assets, variables and files that the graph names.
#'   Loading fails if a signature or an initializer needs an operation that writes, replaces or
#'   removes files (`SaveV2`, `MergeV2Checkpoints`) or that calls R functions (`PyFunc`). Operations
#'   that only save the model again, which every export has, are dropped. The directory may be
#'   a link and may be moved.
#' @section Graphs (`tf$import_graph_def()`, `tf$train$import_meta_graph()`): Imported operations
#'   become part of your graph, which runs with your permissions. Operations that write files, read
#'   files (`RestoreV2`, `InitializeTableFromTextFileV2`) or call functions are therefore errors.
#'   Use `trust = TRUE` to import them from graphs that you created. Without it, the operations of a
#'   meta graph's saver are dropped; the saver that `import_meta_graph()` returns replaces them.
#' @section Resource limits: A model can require a lot of computation; `predict()` can be
#'   interrupted. Reading a file takes time and memory proportional to its size. Limits:
#'   * conditionals: 50 nested levels;
#'   * graphs: one million outputs more than operations;
#'   * tensors in compact form: 256 MB each, and 1 GB per graph or event file;
#'   * tensors that a saved model creates when it is loaded, apart from its variables: 256 MB;
#'   * records in compressed files: 256 MB.
#'
#'   Exceeding a limit is an error of class `runhooks_error_resource_exhausted` or
#'   `runhooks_error_data_loss`.
#' @section Pipes, devices and links: Input must be a regular file, because a pipe or device may
#'   never end. Output is written to a new file with an unpredictable name, which then replaces the
#'   old file. Existing pipes and devices are written to directly; a directory is an error.
#' @section Not protected: Predictions of an untrusted model can be wrong, and strings in them are
#'   not escaped for web pages. R code is not restricted: `readRDS()`, `source()` and a `model_fn`
#'   in a script from an untrusted source can do anything.
#' @section Errors:
#'   * `runhooks_error_permission_denied`: an operation that writes or calls functions (the message
#'     has its name), or a path outside the model's directory.
#'   * `runhooks_error_data_loss`: a file is damaged.
#'   * `runhooks_error_resource_exhausted`: a file requires too much memory.
#'   * `runhooks_error_failed_precondition`: a path is a pipe, a device or a directory.
#' @name foreign_files
#' @family exported models
NULL
