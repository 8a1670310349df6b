# Missing values of models made from a formula: refused, left out with their row, replaced by
# constants, which are plain data, or passed on to models that ask for them. Of words "" is missing,
# too: no level of a model is called so.

# `kind` is "fail", "omit", "exclude", "pass" or "constants", with `constants` by column. `data` are
# those that the formula reads.
as_na_action <- function(x, data, blueprint, call, stream = NULL) {
  known <- blueprint$known$na
  name <- na_action_name(x)
  if (name == "pass") return(passing_action(known, blueprint, call))
  if (name %in% c("fail", "omit", "exclude")) return(list(kind = name))
  if (!is.null(known$constants)) return(known)
  constants <- if (name %in% c("mean", "median")) {
    middle_values(data, blueprint, name, stream, call)
  } else if (is_constants(x)) {
    lapply(as.list(x), function(constant) {
      if (is.factor(constant)) as.character(constant) else constant
    })
  } else {
    abort_na_action(x, call)
  }
  check_constants(constants, data, blueprint, call)
  list(kind = "constants", constants = constants)
}

na_action_name <- function(x) {
  for (name in c("fail", "omit", "exclude", "pass")) {
    full <- paste0("na.", name)
    if (identical(x, getExportedValue("stats", full)) || identical(x, full)) return(name)
  }
  if (is_string(x) && is.null(names(x))) x else ""
}

is_constants <- function(x) {
  is_one <- function(x) is_atomic(x) && length(x) == 1 && !is.na(x)
  (is_atomic(x) || (is.list(x) && !is.object(x))) && length(x) > 0 && !is.null(names(x)) &&
    all(nzchar(names(x))) && all(vapply(x, is_one, NA))
}

abort_na_action <- function(x, call) {
  abort_runhooks(
    c(
      "{.arg na.action} must be one of the below, not {describe(x)}.",
      "*" = "{.code na.fail}: rows with NA are an error.",
      "*" = "{.code na.pass}, of models of trees: a split sends NA to the side where it gains more.",
      "*" = "{.code na.omit} or {.code na.exclude}: they are left out.",
      "*" = "{.code \"mean\"}, {.code \"median\"}: of the column, take the place of NA.",
      "*" = "{.code list(<column> = <number>)}: this takes the place of NA."
    ),
    call = call
  )
}

# Of each column of numbers, whether it has NA here or not: later data may.
middle_values <- function(data, blueprint, name, stream, call) {
  is_number <- vapply(data, function(x) is.numeric(x) && is.null(dim(x)), NA)
  is_feature <- !names(data) %in% c(blueprint$response_variables, blueprint$weight)
  columns <- names(data)[is_number & is_feature]
  if (is.null(stream)) {
    middle <- if (name == "mean") mean else stats::median
    return(lapply(data[columns], function(x) middle(x[is.finite(x)])))
  }
  if (name == "mean") return(stream_means(stream, columns))
  abort_runhooks(
    c(
      "{.code na.action = \"median\"} needs all rows at once, which a stream does not have.",
      i = "{.code \"mean\"}, {.code na.omit} and {.code list(<column> = <number>)} do without."
    ),
    call = call
  )
}

check_constants <- function(constants, data, blueprint, call) {
  odd <- setdiff(names(constants), names(data))
  if (length(odd)) {
    abort_runhooks(
      c(
        "{.arg na.action} names {.val {odd}}, which the formula does not read.",
        i = existing_names(names(data))
      ),
      kind = "not_found", call = call
    )
  }
  odd <- intersect(names(constants), blueprint$response_variables)
  if (length(odd)) {
    abort_runhooks(
      c(
        "{.arg na.action} cannot make up the response {.val {odd[[1]]}}.",
        i = "Leave rows without it out of the data, or give {.code na.action = na.omit}."
      ),
      call = call
    )
  }
  for (name in names(constants)) {
    wants_word <- is.factor(data[[name]]) || is.character(data[[name]])
    if (wants_word != is.character(constants[[name]])) {
      abort_runhooks(
        "{.arg na.action} has {describe(constants[[name]])} for {.val {name}}, which is
         {kind_words[[column_kind(data[[name]])]]}.",
        call = call
      )
    }
  }
}

# --- passed on

# `numbers` are the variables that may miss some, `words` the words that those of words have instead.
# A folder's model knows its own.
passing_action <- function(known, blueprint, call) {
  if (identical(known$kind, "pass")) return(known)
  if (!blueprint$has_trees) {
    abort_runhooks(
      c(
        "{.code na.action = na.pass} is for models of trees, which send NA to one side of a split.",
        i = "{.code na.omit} leaves rows with NA out; {.code \"mean\"}, {.code \"median\"} and constants take the
             place of NA."
      ),
      call = call
    )
  }
  list(kind = "pass", numbers = list(), words = list())
}

passes_missing <- function(blueprint) identical(blueprint$na$kind, "pass")

# The blueprint that knows which of its variables miss some, unless it is a folder's.
learn_missing <- function(blueprint, variables) {
  if (!passes_missing(blueprint)) return(blueprint)
  if (is.null(blueprint$known)) {
    is_word <- vapply(blueprint$variables[variables], function(v) !is.null(v$levels), NA)
    blueprint$na$numbers <- as.list(variables[!is_word])
    for (name in variables[is_word]) {
      levels <- blueprint$variables[[name]]$levels
      word <- last_of(make.unique(c(levels, "(missing)")))
      blueprint$variables[[name]]$levels <- c(levels, word)
      blueprint$na$words[[name]] <- word
    }
  }
  blueprint
}

# The features of numbers of which some are missing.
missing_features <- function(blueprint) {
  is_missing <- vapply(blueprint$features, function(parts) any(parts %in% unlist(blueprint$na$numbers)), NA)
  is_number <- vapply(blueprint$features, function(parts) {
    all(vapply(blueprint$variables[parts], function(v) is.null(v$levels), NA))
  }, NA)
  unname(blueprint$keys[names(blueprint$features)[is_missing & is_number]])
}

# The values of variables, words in the place of those that are missing and numbers as doubles, which
# alone have NA in the core.
with_missing_words <- function(values, blueprint) {
  if (!passes_missing(blueprint)) return(values)
  for (name in names(values)) {
    x <- values[[name]]
    word <- blueprint$na$words[[name]]
    if (!is.null(word)) {
      x[is.na(x)] <- word
    } else if (is.integer(x) && !is.factor(x) || is.logical(x)) {
      storage.mode(x) <- "double"
    }
    values[[name]] <- x
  }
  values
}

fill_missing <- function(data, constants) {
  for (name in intersect(names(constants), names(data))) {
    x <- data[[name]]
    if (is.character(x) || is.factor(x)) x[is_blank(x)] <- NA
    data[[name]] <- fill_column(x, constants[[name]])
  }
  data
}

# Which rows have NA or NaN: numbers and logicals; words where they are asked for, also "".
is_missing_row <- function(x, words = TRUE, blanks = words) {
  is_word <- is.character(x) || is.factor(x)
  if (is.list(x) || is_sparse_matrix(x) || (is_word && !words)) return(logical(n_rows(x)))
  missing <- is.na(x)
  if (is_word && blanks) missing <- missing | is_blank(x)
  if (is.null(dim(x))) missing else rowSums(matrix(missing, n_rows(x))) > 0
}

is_blank <- function(x) {
  if (is.character(x)) return(!is.na(x) & !nzchar(x))
  blank <- !nzchar(levels(x))
  if (any(blank)) as.integer(x) %in% which(blank) else logical(length(x))
}

keep_rows <- function(x, rows) {
  if (all(rows)) return(x)
  if (is.null(dim(x))) return(x[rows])
  if (length(dim(x)) == 2) return(x[rows, , drop = FALSE])
  cells <- array(as.vector(x)[rep(rows, length.out = length(x))], c(sum(rows), dim(x)[-1]))
  structure(cells, class = oldClass(x))
}

# `few` in the rows that are TRUE, NA in the others.
spread_rows <- function(few, rows) {
  place <- cumsum(rows)
  place[!rows] <- NA
  if (is.null(dim(few))) return(few[place])
  spread <- few[place, , drop = FALSE]
  # poly() and its like say by attributes how to compute them of other data
  kept <- attributes(few)
  attributes(spread)[setdiff(names(kept), c("dim", "dimnames"))] <-
    kept[setdiff(names(kept), c("dim", "dimnames"))]
  spread
}

# How many rows have NA, of how many, and of each variable in how many and where the first is.
missing_counts <- function(missing) {
  list(
    rows = sum(Reduce(`|`, missing, FALSE)), all = length(missing[[1]]),
    counts = vapply(missing, sum, 0), firsts = vapply(missing, function(x) which(x)[1], 0L)
  )
}

# The same with those of more rows, which are behind the first `before`.
add_counts <- function(was, now, before) {
  if (is.null(was)) return(now)
  list(
    rows = was$rows + now$rows, all = was$all + now$all, counts = was$counts + now$counts,
    firsts = ifelse(is.na(was$firsts), now$firsts + before, was$firsts)
  )
}

# Which variables have NA in how many rows, as lines of a message.
missing_lines <- function(missing) {
  some <- names(missing$counts)[missing$counts > 0]
  vapply(some, function(name) {
    n <- missing$counts[[name]] # nolint: used by cli
    first <- missing$firsts[[name]] # nolint: used by cli
    cli::format_inline(
      "{.val {name}}: {n} {cli::qty(n)}{?row/rows}, the first is row {first}.",
      keep_whitespace = FALSE
    )
  }, "", USE.NAMES = FALSE)
}

abort_missing_rows <- function(missing, blueprint, call) {
  rows <- missing$rows # nolint: used by cli
  all <- missing$all # nolint: used by cli
  lines <- missing_lines(missing)
  lines <- gsub("([{}])", "\\1\\1", lines)
  some <- names(missing$counts)[missing$counts > 0]
  has_response <- blueprint$response$name %in% some
  numbers <- setdiff(some, blueprint$response$name)
  example <- utils::head(c(intersect(numbers, make.names(numbers)), "x"), 1) # nolint: used by cli
  is_word <- !is.null(blueprint$variables[[example]]$levels)
  # nolint: used by cli
  value <- if (is_word) paste0('"', plain_words(blueprint$variables[[example]]$levels)[[1]], '"') else "0"
  advice <- c(
    i = "{.code na.action = na.omit} in the constructor leaves these rows out.",
    i = if (length(numbers)) {
      "{.code na.action = \"mean\"}, {.code \"median\"} or {.code list({example} = {value})} puts
       constants in their place."
    },
    i = if (has_response && blueprint$na$kind == "constants") "A response is not made up."
  )
  abort_runhooks(
    c("{rows} of {all} rows {cli::qty(rows)}{?has/have} NA.", setNames(lines, rep("x", length(lines))), advice),
    call = call
  )
}

# What na.omit() leaves out is said once for each use of data.
inform_omitted <- function(missing) {
  rows <- sum(Reduce(`|`, missing)) # nolint: used by cli
  all <- length(missing[[1]]) # nolint: used by cli
  by <- names(missing)[vapply(missing, any, NA)] # nolint: used by cli
  cli::cli_inform(
    "{rows} of {all} rows {cli::qty(rows)}{?is/are} left out, because of NA in {.val {by}}.",
    class = "runhooks_message_omitted"
  )
}

# --- models made of columns

