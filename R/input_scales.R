# Whether weights belong to a model with the same scales of numbers.

# Another model may have trained in the directory since this object was created. `arg`: the argument
# that selects the directory.
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

# NULL if the scales of the record are those of the model.
differing_scales <- function(record, object) {
  own <- formula_record(object$blueprint)
  scales <- function(record) {
    of_all <- list(response = record$response, basis = record$basis, slopes = record$slopes)
    Filter(length, c(record$terms, of_all))
  }
  if (identical(scales(record), scales(own))) return(NULL)
  lines <- scale_differences(recorded_scales(record), recorded_scales(own))
  if (length(lines)) lines else "The numbers are standardized differently."
}

# A checkpoint of another directory must fit the model, too.
check_checkpoint <- function(object, path, call) {
  if (is.null(path)) return(invisible())
  check_checkpoint_prefix(path, call)
  if (is.null(object$spec)) return(invisible())
  folder <- dirname(absolute_path(path, "checkpoint_path"))
  if (identical(folder, model_dir(object)) || !dir.exists(folder)) return(invisible())
  folder <- open_folder(folder)
  check_scales(object, call, folder, "checkpoint_path")
  check_model_compatible(object, "infer", call, folder, "checkpoint_path")
}

# A checkpoint is named by the common part of its files, without suffix.
check_checkpoint_prefix <- function(path, call) {
  if (file.exists(paste0(path.expand(path), ".index"))) return(invisible())
  prefix <- sub("[.](index|meta|data-[0-9]+-of-[0-9]+)$", "", path)
  newest <- if (dir.exists(path)) newest_by_state(path) else if (prefix != path) prefix
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
  of_basis <- lapply(seq_along(basis$terms), function(i) {
    at <- seq(to = ends[[i]], length.out = basis$widths[[i]])
    list(center = basis$center[at], scale = basis$scale[at])
  })
  all <- c(record$terms, setNames(of_basis, basis$terms), list(`the response` = record$response))
  lapply(Filter(length, all), `[`, c("center", "scale"))
}

scale_differences <- function(known, own) {
  words <- function(scale) {
    if (is.null(scale$scale)) return("not standardized")
    format_digits <- function(x) paste(format(x, digits = 4, trim = TRUE), collapse = ", ")
    paste0("mean ", format_digits(scale$center), " and standard deviation ", format_digits(scale$scale))
  }
  names <- union(names(known), names(own))
  differs <- !vapply(names, function(name) identical(known[[name]], own[[name]]), NA)
  vapply(utils::head(names[differs], 6), function(name) {
    text <- paste0(name, ": ", words(known[[name]]), " there, ", words(own[[name]]), " here.")
    gsub("([{}])", "\\1\\1", text)
  }, "", USE.NAMES = FALSE)
}
