# What files of somebody else can do: a page.

#' Files of somebody else
#'
#' What a model, a graph, a checkpoint or data that somebody else has made can do when this package
#' reads them, and what they cannot. In short: they compute, they never act.
#'
#' @section A model (`load_savedmodel()`):
#'   It runs with the rights to its own folder. An operation that writes, replaces or removes files
#'   (`SaveV2`, `MergeV2Checkpoints`) or calls a function of R (`PyFunc`) is refused by its name when
#'   the model is loaded, wherever a signature or what is run at first needs it. What only saves the
#'   model again, as each export has it, is left out. Files are opened below the model's folder only,
#'   with links followed to where they lead: not its assets, its variables, nor what the graph itself
#'   names. The folder may be a link, and may be moved.
#' @section A graph (`tf$import_graph_def()`, `tf$train$import_meta_graph()`):
#'   The operations join a graph of yours, which runs with your rights. So those that write files,
#'   read them (`RestoreV2`, `InitializeTableFromTextFileV2`) or call functions are refused by name.
#'   `trust = TRUE` imports them: say it of what you have made yourself. The operations of a meta
#'   graph's own saver are left out without it; the saver that `import_meta_graph()` gives does their
#'   work.
#' @section What it may cost:
#'   Whoever runs a model pays for its computation, and a model may ask for much of it: `predict()`
#'   can be interrupted. Reading a file takes time and memory as the file is long: conditionals may
#'   lie 50 deep, the operations of a graph have a million outputs more than it has operations, the
#'   tensors of a graph or a file of events 1 GB that a few elements stand for (256 MB each), a record
#'   of a compressed file 256 MB. What wants more is an error of class
#'   `runhooks_error_resource_exhausted` or `runhooks_error_data_loss`.
#' @section Pipes, devices and links:
#'   What is read must be a regular file: a pipe or a device may never end. Writers make a new file
#'   with a name that nobody can foresee, and put it in the place of the old one when it is whole. A
#'   pipe or a device that stands there is written to as it is; a folder is refused.
#' @section What is not looked after:
#'   The answers. A model of somebody else may say anything, and its texts are not made safe for a web
#'   page. What R itself runs is beyond this package: `readRDS()`, `source()` and a `model_fn` of
#'   somebody else's script act as they like.
#' @section Errors: `runhooks_error_permission_denied` for what is refused of a stranger: an operation
#'   that writes or calls, by its name, or a path beyond the model's folder; `runhooks_error_data_loss` for a
#'   file that is damaged; `runhooks_error_resource_exhausted` for one that asks for too much;
#'   `runhooks_error_failed_precondition` for a pipe, a device or a folder in the place of a file.
#' @name foreign_files
#' @family exported models
NULL
