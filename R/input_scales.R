# Checks that the weights in a directory belong to a model with the same scales.

# Aborts if the model in the directory has other scales than `object`: another model may have
# trained there since the object was created. `arg`: the argument that selects the directory.
check_scales <- function(object, call, folder = current_model_dir(object), arg = "model_dir") {
  if (is.null(folder) || !folder$has_checkpoint) return(invisible())
  record <- read_metadata(folder)
  if (is.null(record$formula) && is.null(object$blueprint)) return(invisible())
  lines <- differing_scales(record$formula, object)
  if (is.null(lines)) return(invisible())
  check_columns_compatible(object, folder, record, call)
  if (!folder$has_metadata) {
    abort_runhooks(
      c(
        "The model directory {.path {folder$path}} has a checkpoint, but no file
         {.file {record_file}}.",
        x = "The scales and levels of its training are unknown.",
        i = "Restore the file from a copy, or use another {.arg {arg}}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  abort_runhooks(
    c(
      "The model in {.path {folder$path}} was trained with numbers that were standardized
       differently than those of this object.",
      setNames(lines, rep("x", length(lines))),
      i = if (arg == "model_dir") {
        "This object is older than the training. Create it again with this {.arg model_dir}, or
         use another one."
      } else {
        "{.arg {arg}} must be of a model that was created from the same data."
      }
    ),
    call = call
  )
}

# Describes the differences between the scales of a record and of a model; NULL if they are equal.
differing_scales <- function(record, object) {
  current <- formula_record(object$blueprint)
  scales <- function(record) {
    fields <- list(response = record$response, basis = record$basis, slopes = record$slopes)
    Filter(length, c(record$terms, fields))
  }
  if (identical(scales(record), scales(current))) return(NULL)
  lines <- scale_differences(recorded_scales(record), recorded_scales(current))
  if (length(lines)) lines else "The numbers are standardized differently."
}

# Checks that a checkpoint in another directory belongs to a compatible model.
check_checkpoint <- function(object, path, call) {
  if (is.null(path)) return(invisible())
  check_checkpoint_prefix(path, call)
  if (is.null(object$spec)) return(invisible())
  folder <- dirname(absolute_path(path, "checkpoint_path"))
  if (identical(folder, model_dir(object)) || !dir.exists(folder)) return(invisible())
  folder <- read_model_dir(folder)
  check_scales(object, call, folder, "checkpoint_path")
  check_model_compatible(object, "infer", call, folder, "checkpoint_path")
}

# A checkpoint is named by the common part of its files, without suffix.
check_checkpoint_prefix <- function(path, call) {
  if (file.exists(paste0(path.expand(path), ".index"))) return(invisible())
  prefix <- sub("[.](index|meta|data-[0-9]+-of-[0-9]+)$", "", path)
  newest <- if (dir.exists(path)) latest_listed_checkpoint(path) else if (prefix != path) prefix
  if (is.null(newest)) return(invisible())
  abort_runhooks(
    c(
      "{.arg checkpoint_path} must be the prefix of a checkpoint, not a
       {if (dir.exists(path)) 'directory' else 'file of it'}: {.path {path}}.",
      i = "Use {.code checkpoint_path = {encodeString(newest, quote = '\"')}}."
    ),
    call = call
  )
}

recorded_scales <- function(record) {
  basis <- record$basis
  ends <- cumsum(basis$widths)
  basis_scales <- lapply(seq_along(basis$terms), function(i) {
    columns <- seq(to = ends[[i]], length.out = basis$widths[[i]])
    list(center = basis$center[columns], scale = basis$scale[columns])
  })
  names(basis_scales) <- basis$terms
  scales <- c(record$terms, basis_scales, list(`the response` = record$response))
  lapply(Filter(length, scales), `[`, c("center", "scale"))
}

scale_differences <- function(recorded, current) {
  describe_scale <- function(scale) {
    if (is.null(scale$scale)) return("not standardized")
    format_digits <- function(x) paste(format(x, digits = 4, trim = TRUE), collapse = ", ")
    paste0(
      "mean ", format_digits(scale$center), " and standard deviation ", format_digits(scale$scale)
    )
  }
  names <- union(names(recorded), names(current))
  differs <- !vapply(names, function(name) identical(recorded[[name]], current[[name]]), NA)
  vapply(utils::head(names[differs], 6), function(name) {
    text <- paste0(
      name, ": ", describe_scale(recorded[[name]]), " there, ", describe_scale(current[[name]]),
      " here."
    )
    gsub("([{}])", "\\1\\1", text)
  }, "", USE.NAMES = FALSE)
}
