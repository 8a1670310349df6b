# Child process of test-suite_random_calls.R. Calls every exported function and every function of tf
# with random valid and invalid arguments. Writes each call to a file before making it, so that a
# crash or hang can be attributed. Lists errors that are not informative.
arguments <- commandArgs(TRUE)
seed <- as.integer(arguments[[1]])
calls <- as.integer(arguments[[2]])
place <- arguments[[3]]
silent <- arguments[[4]]
suppressMessages(library(runhooks))
options(runhooks.threads = 1, warn = 1, browser = "false", cli.num_colors = 1L)
path <- Sys.getenv("PATH")
Sys.setenv(PATH = "") # prevents calls of external programs
core <- asNamespace("runhooks")
mine <- "this error is the user's own"

# Calls may write files, so work in a separate folder.
home <- file.path(tempdir(), "home")
at_home <- function() {
  dir.create(home, showWarnings = FALSE)
  setwd(home)
}
at_home()

functions_to_call <- function() {
  exported <- sort(getNamespaceExports("runhooks"))
  exported <- Filter(function(name) {
    f <- get(name, core)
    # Re-exported functions raise their packages' errors.
    is.function(f) && !is.primitive(f) && identical(environment(f), core)
  }, setdiff(exported, c("%>%", "until_out_of_range"))) # never returns by design
  below <- core$tf_names()
  below <- below[vapply(below, function(name) is.function(core$tf_symbol(name)), NA)]
  below <- setNames(lapply(below, core$tf_symbol), paste0("tf$", gsub(".", "$", below, fixed = TRUE)))
  c(mget(exported, envir = core), below, tensor_generics())
}

# Returns the generics of R that have a method for tensors or variables.
tensor_generics <- function() {
  methods <- ls(core$.__S3MethodsTable__., all.names = TRUE)
  of_tensors <- "[.]tensorflow[.](tensor|variable)$"
  names <- sort(unique(sub(of_tensors, "", grep(of_tensors, methods, value = TRUE))))
  names <- setdiff(Filter(exists, names), getNamespaceExports("runhooks"))
  lapply(setNames(nm = names), get)
}

# --- arguments, which are evaluated anew for each call in the current graph

good <- list(
  float = quote(tf$constant(c(1, 2))), matrix = quote(tf$constant(rbind(c(1, 2), c(3, 4)))),
  scalar = quote(tf$constant(1)), int = quote(tf$constant(c(0L, 1L))), int_scalar = quote(tf$constant(1L)),
  text = quote(tf$constant(c("a", "b"))), bool = quote(tf$constant(c(TRUE, FALSE))),
  images = quote(tf$constant(array(0.5, c(2, 4, 4, 3)))),
  variable = quote(tf$Variable(c(1, 2))), one = 1, two = 2L, half = 0.5, yes = TRUE, no = FALSE,
  word = "word", float32 = quote(tf$float32), string_type = "int32", shape = quote(shape(2, 2)),
  list = quote(list(tf$constant(1), tf$constant(2))), numbers = quote(c(1, 2)), whole = quote(1:2),
  identity = quote(function(x) x), any = quote(function(...) tf$constant(TRUE)),
  dataset = quote(range_dataset(0, 3)), rows = quote(tensor_slices_dataset(mtcars)),
  column = quote(column_numeric("drat")), columns = quote(list(column_numeric("drat"))),
  category = quote(column_categorical_with_identity("cyl", 9)), frame = quote(mtcars),
  features = quote(list(drat = tf$constant(cbind(c(1, 2))))), formula = quote(mpg ~ drat),
  model = quote(linear_regressor(column_numeric("drat"))),
  input = quote(input_fn(mpg ~ drat, mtcars, batch_size = 8)), graph = quote(tf$Graph()),
  session = quote(tf$Session()), hook = quote(session_run_hook()),
  optimizer = quote(tf$train$AdamOptimizer()), head = quote(regression_head()),
  initializer = quote(tf$zeros_initializer()), sparse = quote(some_sparse()),
  config = quote(run_config()), iterator = quote(make_iterator_one_shot(range_dataset(0, 3))),
  path = "file", folder = ".", words = quote(c("a", "b"))
)

some_sparse <- function() tf$SparseTensor(rbind(c(0, 1), c(1, 0)), c(1, 2), c(2, 2))
closed_session <- function() {
  session <- tf$Session()
  session$close()
  session
}
deep_list <- function(depth) {
  x <- 1
  for (i in seq_len(depth)) x <- list(x)
  x
}
of_other_graph <- function() {
  x <- NULL
  with(tf$Graph()$as_default(), x <- tf$constant(c(1, 2)))
  x
}
saved <- function(x) unserialize(serialize(x, NULL))

ill <- list(
  none = NULL, missing = NA, missing_number = NA_real_, missing_whole = NA_integer_,
  missing_word = NA_character_, nan = NaN, infinite = Inf, minus = -1, five = 5, huge = 1e300,
  large = quote(2^53 + 2), below = quote(-2^31), tiny = 1e-320, nothing = quote(integer()),
  no_words = quote(character()), no_flag = quote(logical()), empty = quote(list()),
  of_none = quote(list(NULL)), of_nones = quote(list(NULL, NULL)), named_none = quote(list(a = NULL)),
  odd_names = quote(setNames(list(1, 2), c("", NA))), mixed = quote(list(1, "a", NULL)),
  failing = quote(function(...) stop(mine)), no_arguments = quote(function() 1),
  gives_null = quote(function(...) NULL), environment = quote(new.env()), world = quote(globalenv()),
  symbol = quote(as.name("x")), call = quote(quote(x + y)), formula = quote(~ .x + nowhere),
  bytes = quote(as.raw(0:3)), no_bytes = quote(raw()), complex = quote(1i), factor = quote(factor("a")),
  date = quote(as.Date("2020-01-01")), time = quote(as.POSIXlt("2020-01-01")),
  list_matrix = quote(matrix(list(1, "a", NULL, 2), 2)), no_rows = quote(mtcars[0, ]),
  no_columns = quote(mtcars[, 0]), blank = "", lines = "a\nb", braces = "{x} {.arg y} {", percent = "%s %n %",
  odd_bytes = quote("\xff\xfe"), accent = quote("\u00e9\u4e2d"), latin = quote(iconv("\u00e9", to = "latin1")),
  unknown = quote(tf$placeholder("float32")), unknown_int = quote(tf$placeholder("int32")),
  unknown_size = quote(tf$placeholder("float32", list(NULL, 2L))),
  unknown_text = quote(tf$placeholder("string")), closed = quote(closed_session()),
  other_graph = quote(of_other_graph()), saved_tensor = quote(saved(tf$constant(1))),
  bogus = quote(structure(list(), class = "bogus")), bogus_tensor = quote(structure(1, class = "tensorflow.tensor")),
  deep = quote(deep_list(50)), deepest = quote(deep_list(1e5)),
  many = quote(as.list(1:200)), flags = quote(c(TRUE, NA)),
  no_dims = quote(array(1, c(2, 0, 3))), operation = quote(tf$no_op()), primitive = quote(sum),
  pointer = quote(methods::new("externalptr")), class = quote(methods::getClass("numeric")),
  integer64 = quote(structure(c(4.94e-324, 9.9e-324), class = "integer64")),
  factors = quote(factor(c("b", NA, "a"))), ordered = quote(ordered(c("low", "high"))),
  dates = quote(as.Date(c("2020-01-01", NA))), times = quote(as.POSIXct(c(0, 1.5), "UTC", "1970-01-01")),
  spans = quote(as.difftime(c(1, 2), units = "hours")),
  units = quote(structure(c(1, 2), units = structure(
    list(numerator = "km", denominator = character()), class = "symbolic_units"
  ), class = "units")),
  hms = quote(structure(c(60, NA), units = "secs", class = c("hms", "difftime"))),
  labelled = quote(structure(c(1, 2), labels = c(no = 1), class = c("haven_labelled", "vctrs_vctr", "double"))),
  as_is = quote(I(c(1, 2))), table = quote(table(c(1, 1, 2))), version = quote(numeric_version("1.2")),
  classed_frame = quote(data.frame(d = as.Date("2020-01-01") + 0:2, f = factor(c("a", "b", NA)))),
  latin_words = quote(iconv(c("\u00e9t\u00e9", "a"), to = "latin1")),
  byte_words = quote(`Encoding<-`("\xe9t\xe9", "bytes")),
  odd_names_list = quote(setNames(list(1, 2), c("\xff", iconv("\u00e9", to = "latin1"))))
)
tensors <- c(
  "float", "matrix", "scalar", "int", "int_scalar", "text", "bool", "images", "variable", "sparse"
)

# Kinds of likely values by argument name, so that checks of the other arguments are reached.
likely <- list(
  x = c("float", "matrix"), y = c("float", "matrix"), a = "matrix", b = "matrix", value = "float",
  values = c("list", "float"), input = c("matrix", "images"), inputs = c("matrix", "images", "list"),
  input_tensor = "float", tensor = "float", tensors = "list", logits = "matrix", labels = "matrix",
  predictions = "matrix", weights = "one", data = c("frame", "float"), image = "images",
  images = "images", name = "word", scope = "word", dtype = "float32", shape = "shape",
  dataset = c("dataset", "rows"), model = "model", object = "model", estimator = "model",
  input_fn = "input", features = "features", feature_columns = "columns", columns = "columns",
  indices = "int", axis = "int_scalar", session = "session", sess = "session", graph = "graph",
  hooks = "hook", fn = "identity", f = "identity", func = "identity", map_func = "identity",
  predicate = "any", condition = "bool", optimizer = "optimizer", loss = "scalar",
  initializer = "initializer", var_list = "variable", ref = "variable", var = "variable",
  categorical_column = "category", head = "head", config = "config", iterator = "iterator",
  file = "path", path = "path", filename = "path", filenames = "path", files = "path"
)

draw <- function(from) from[[sample.int(length(from), 1)]]

draw_argument <- function(name) {
  if (runif(1) < 0.4) return(draw(ill))
  if (name %in% names(likely) && runif(1) < 0.8) return(good[[draw(likely[[name]])]])
  draw(good)
}

draw_call <- function(f, name) {
  if (name %in% names(generics)) return(draw_generic_call(f, name))
  parameters <- formals(args(f))
  given <- list()
  for (parameter in names(parameters)) {
    if (parameter == "...") {
      for (i in seq_len(sample(0:2, 1))) given <- c(given, list(draw_argument("...")))
      next
    }
    is_required <- identical(parameters[[parameter]], quote(expr = ))
    if (is_required && runif(1) < 0.03) next
    if (!is_required && runif(1) < 0.6) next
    given <- c(given, setNames(list(draw_argument(parameter)), parameter))
  }
  target <- if (startsWith(name, "tf$")) str2lang(gsub("[$]([^$]+)", "$`\\1`", name)) else as.name(name)
  as.call(c(target, given))
}

# Draws a call of a generic of R: a tensor comes first, and other arguments have no names.
draw_generic_call <- function(f, name) {
  most <- if (is.primitive(f) || is.null(formals(f))) 1 else 2
  others <- lapply(seq_len(sample(0:most, 1)), function(i) {
    if (runif(1) < 0.5) good[[draw(tensors)]] else draw_argument("...")
  })
  as.call(c(as.name(name), good[[draw(tensors)]], others))
}

# --- errors that are not informative

says_nothing <- c(
  "Could not evaluate cli", "std::", "subscript out of bounds", "of length zero", "length zero",
  "embedded nul", "invalid first argument", "invalid second argument", "invalid argument type",
  "non-numeric argument", "missing value where", "not subsettable", "cannot coerce",
  "is not TRUE", "condition has length", "non-function", "could not find function",
  "object '[^']*' not found", "invalid '[a-z_.]+' argument", "invalid multibyte", "basic_string",
  "vector::_M", "bad_alloc", "map::at", "replacement has length", "incorrect number of dimensions",
  "no applicable method", "must have the same length", "C stack usage", "Internal error", "\\bat\\(\\)",
  "promise already under evaluation", "infinite recursion", "cannot open the connection"
)
# R's own messages for calls that do not match the function's arguments.
of_matching <- paste(
  "^unused arguments? ", "^argument \".*\" is missing, with no default", "matched by multiple actual",
  "^argument [0-9]+ matches multiple", "^argument [0-9]+ is empty",
  sep = "|"
)

# Returns a complaint about an uninformative error, or NULL if the error is informative.
complaint <- function(error) {
  text <- paste(conditionMessage(error), collapse = "\n")
  if (grepl(mine, text, fixed = TRUE)) return(NULL)
  if (grepl(of_matching, text)) return(NULL)
  # Users or other packages provide the text of these errors.
  if (inherits(error, c("runhooks_error_stop_iteration", "rlib_error_package_not_found"))) return(NULL)
  nothing <- says_nothing[vapply(says_nothing, grepl, NA, x = text)]
  if (length(nothing)) return(paste0("[", nothing[[1]], "] ", text))
  if (!inherits(error, "runhooks_error")) return(paste0("[", class(error)[[1]], "] ", text))
  if (!nzchar(trimws(text))) return("[empty]")
  NULL
}

attempt <- function(call) {
  sink(nowhere)
  on.exit(sink())
  setTimeLimit(elapsed = 10, transient = TRUE)
  on.exit(setTimeLimit(), add = TRUE)
  tryCatch(
    {
      suppressMessages(suppressWarnings(eval(call, list2env(list(), parent = globalenv()))))
      NULL
    },
    error = complaint
  )
}

tidy_up <- function(options) {
  the <- core$the
  the$sessions <- list()
  base::options(options)
  while (sink.number() > 0) sink()
  at_home()
  if (length(list.files(home)) > 50) unlink(home, recursive = TRUE)
  at_home()
}

nowhere <- file(file.path(tempdir(), "printed"), "w+")
set.seed(seed)
generics <- tensor_generics()
functions <- functions_to_call()
is_raw <- startsWith(names(functions), "tf$raw_ops")
weights <- ifelse(startsWith(names(functions), "tf$"), ifelse(is_raw, 0.5, 1), 3)
# Call each function once before any is repeated.
order <- unlist(lapply(seq_len(ceiling(calls / length(functions)) + 1), function(i) {
  sample(length(functions), prob = weights)
}))
kept <- options()
before <- .Random.seed
for (i in seq_len(calls)) {
  name <- names(functions)[[order[[i]]]]
  set.seed(seed + i)
  call <- draw_call(functions[[order[[i]]]], name)
  text <- paste(deparse(call, width.cutoff = 500), collapse = " ")
  writeLines(c(i, text), place)
  found <- NULL
  tryCatch(
    with(tf$Graph()$as_default(), found <- attempt(call)),
    error = function(e) found <<- paste("[afterwards]", conditionMessage(e))
  )
  if (!is.null(found)) {
    cat(sprintf("%d %s\n    %s\n", seed + i, text, gsub("\n", " | ", found)), file = silent, append = TRUE)
  }
  tidy_up(kept)
}
Sys.setenv(PATH = path)
writeLines("done", place)
