# Datasets of elements that functions of R make, one stream for each iterator.

#' Elements that a function of R makes
#'
#' Each iterator reads the generator from its beginning and knows nothing of others. A plain
#' function can be read once: a second iterator (a further training, an evaluation beside one) is
#' refused. A function that makes generators is called for each, and one with `save` and `restore`
#' is brought to where the iterator stands.
#'
#' @param generator A function without arguments that returns the next element, a value or a list
#'   of values, and at the end `NULL`, or calls [stop_iteration()]. Or a function without arguments
#'   that makes such a generator: it returns a function, or a list of `generator`, `save` and
#'   `restore`.
#' @param output_types,output_shapes Types and shapes of the elements, in their form: names of
#'   types or `tf$float32` and the like; vectors with NA for unknown dimensions. `NULL`: those of
#'   the first element, which is then made when the dataset is.
#' @param save,restore Functions that make the position of the generator savable: `save()` returns
#'   its state as plain data (numbers, strings, lists of these), `restore(state)` takes it over.
#'   With them each pass through the data, and each iterator, begins where the generator stood when
#'   the dataset was made; without, a further pass just calls the function on, and a pipeline with
#'   it cannot be saved.
#' @return A dataset, see [datasets].
#' @section Errors: One of the generator comes back with the number of the element.
#'   `runhooks_error_invalid_argument` for an element of another form, type or shape;
#'   `runhooks_error_failed_precondition` where it is to be saved without `save`, and for a second
#'   iterator of what can be read once.
#' @family datasets
#' @export
#' @examples
#' at <- 0
#' squares <- generator_dataset(
#'   function() {
#'     at <<- at + 1
#'     if (at <= 3) at^2
#'   },
#'   save = function() at,
#'   restore = function(state) at <<- state
#' )
#' squares %>% dataset_repeat(2) %>% dataset_collect() %>% unlist()
#'
#' # a function that makes a generator
#' count_down <- function() {
#'   left <- 3
#'   function() {
#'     left <<- left - 1
#'     if (left >= 0) left
#'   }
#' }
#' counts <- generator_dataset(count_down)
#' zip_datasets(counts, counts) %>% dataset_collect()
generator_dataset <- function(generator, output_types = NULL, output_shapes = NULL, save = NULL,
                              restore = NULL) {
  check_function(generator)
  check_function(save, null = TRUE)
  check_function(restore, null = TRUE)
  if (is.null(save) != is.null(restore)) {
    abort_runhooks("{.arg save} and {.arg restore} belong together: give both or none.")
  }
  streams <- if (is.null(save)) {
    generator_streams(generator)
  } else {
    positioned_streams(generator, save, restore)
  }
  if (is.null(output_types)) {
    first <- streams$peek()
    if (is.null(first)) {
      abort_runhooks(
        c("The generator has no element to learn types from.", i = "Give {.arg output_types}.")
      )
    }
    first <- as_components(first, name = "element")
    form <- form_of(first)
    types <- vapply(flatten_form(first), value_type, "")
    shapes <- lapply(flatten_form(first), function(x) as.numeric(unlist(value_shape(x))))
  } else {
    form <- form_of(output_types)
    types <- vapply(flatten_form(output_types), dtype_name, "")
    shapes <- vector("list", length(types))
  }
  if (!is.null(output_shapes)) shapes <- lapply(shapes_in_form(output_shapes, form), plain_shape)
  streams$form <- form
  source_dataset(streams$open, form, types, shapes)
}

# Streams of a generator, one for each iterator. What the first call of the function gives says
# whether it is a generator, which can be read once, or makes generators.
generator_streams <- function(generator) {
  self <- new.env(parent = emptyenv())
  first <- NULL # what that call gave, in a list, until somebody has taken it
  makes <- NA
  is_begun <- FALSE
  begin <- function() {
    first <<- list(call_generator(generator, 1))
    makes <<- is_generator(first[[1]])
  }
  take <- function(number) {
    value <- if (is.null(first)) call_generator(generator, number) else first[[1]]
    first <<- NULL
    value
  }
  self$peek <- function() {
    begin()
    if (makes) call_generator(as_generator(take(1))$generator, 1) else first[[1]]
  }
  self$open <- function() {
    if (is.na(makes)) begin()
    if (makes) return(made_stream(self, function() as_generator(take(1))))
    if (is_begun) abort_read_once()
    is_begun <<- TRUE
    list(
      draw = function(number) self$components(take(number), number), rewind = function() NULL,
      save = abort_not_savable, restore = function(state) abort_not_savable()
    )
  }
  self$components <- function(value, number) form_components(value, number, self$form)
  self
}

# A stream that has a generator of its own, and makes another one for another pass.
made_stream <- function(streams, make) {
  made <- make()
  list(
    draw = function(number) streams$components(call_generator(made$generator, number), number),
    rewind = function() made <<- make(),
    save = function() if (is.null(made$save)) abort_not_savable() else made$save(),
    restore = function(state) made$restore(state)
  )
}

# Streams of one generator that can go to any of its positions: it is brought to that of the stream
# that is read.
positioned_streams <- function(generator, save, restore) {
  self <- new.env(parent = emptyenv())
  beginning <- save()
  reader <- NULL # the stream where whose position the generator stands
  self$peek <- function() {
    value <- call_generator(generator, 1)
    restore(beginning)
    value
  }
  self$open <- function() {
    own <- new.env(parent = emptyenv())
    go_to <- function(state) {
      if (!is.null(reader) && !identical(reader, own)) reader$state <- save()
      reader <<- NULL # where restore() fails it stands nowhere
      restore(state)
      reader <<- own
    }
    own$state <- beginning
    list(
      draw = function(number) {
        if (!identical(reader, own)) go_to(own$state)
        form_components(call_generator(generator, number), number, self$form)
      },
      rewind = function() go_to(beginning),
      save = function() if (identical(reader, own)) save() else own$state,
      restore = go_to
    )
  }
  self
}

# The next value of a generator; NULL at the end.
call_generator <- function(generator, number) {
  tryCatch(
    with_element_number(generator(), number, "A generator"),
    runhooks_error_stop_iteration = function(e) NULL,
    runhooks_error_out_of_range = function(e) NULL
  )
}

# A function, or a list of `generator`, `save` and `restore`.
is_generator <- function(x) is.function(x) || is.list(x) && is.function(x[["generator"]])

as_generator <- function(made, call = parent.frame()) {
  if (is.function(made)) made <- list(generator = made)
  good <- is_generator(made) && is.null(made$save) == is.null(made$restore)
  if (!good) {
    abort_runhooks(
      "A function that makes generators must make one each time: a function, or a list of
       {.code generator}, {.code save} and {.code restore}."
    )
  }
  made
}

form_components <- function(value, number, form) {
  if (is.null(value)) return(NULL)
  value <- as_components(value, name = "element")
  if (!identical(form_of(value), form)) {
    abort_runhooks("Element {number} of a generator has another form than is expected.")
  }
  flatten_form(value)
}

abort_read_once <- function() {
  abort_runhooks(
    c(
      "The generator cannot be begun anew: another iterator of this dataset has read it.",
      i = "Give {.fn generator_dataset} a function that makes a generator, or the functions
           {.arg save} and {.arg restore}."
    ),
    kind = "failed_precondition"
  )
}

abort_not_savable <- function() {
  abort_runhooks(
    c(
      "The position of a generator cannot be saved.",
      i = "Give {.fn generator_dataset} the functions {.arg save} and {.arg restore}."
    ),
    kind = "failed_precondition"
  )
}

# A dataset of what streams give. `open()` begins one, a list of functions: draw(number) gives the
# components of an element, NULL at the end; rewind(), save() and restore(state) go elsewhere.
# `declared` says what the elements are.
source_dataset <- function(open, form, types, shapes, declared = "") {
  handle <- cpp_generator(open, types, shapes, declared)
  tf_dataset(cpp_dataset("GeneratorDataset", list(source = handle), "generator_dataset()"), form)
}
