# Missing values in models from a formula.

# `kind` is "fail", "omit", "exclude", "pass" or "constants"; `constants` are by column.
as_na_action <- function(x, data, blueprint, call, stream = NULL) {
  known <- blueprint$known$na
  name <- na_action_name(x)
  if (name == "pass") return(na_pass_settings(known, blueprint, call))
  if (name %in% c("fail", "omit", "exclude")) return(list(kind = name))
  if (!is.null(known$constants)) return(known)
  constants <- if (name %in% c("mean", "median")) {
    column_centers(data, blueprint, name, stream, call)
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
      "{.arg na.action} must be one of the following, not {describe(x)}.",
      "*" = "{.code na.fail}: rows with NA are an error.",
      "*" = "{.code na.pass}, for tree models: a split sends NA to the side with the larger gain.",
      "*" = "{.code na.omit} or {.code na.exclude}: drop rows with NA.",
      "*" = "{.code \"mean\"} or {.code \"median\"}: replace NA by that of the column.",
      "*" = "{.code list(<column> = <number>)}: replace NA by this number."
    ),
    call = call
  )
}

# Computed for all numeric columns, because later data may have NA in other columns.
column_centers <- function(data, blueprint, name, stream, call) {
  is_number <- vapply(data, function(x) is.numeric(x) && is.null(dim(x)), NA)
  is_feature <- !names(data) %in% c(blueprint$response_variables, blueprint$weight)
  columns <- names(data)[is_number & is_feature]
  data[columns] <- lapply(data[columns], unclassed_column)
  if (is.null(stream)) {
    middle <- if (name == "mean") mean else stats::median
    return(lapply(data[columns], function(x) middle(x[is.finite(x)])))
  }
  if (name == "mean") return(stream_means(stream, columns))
  abort_runhooks(
    c(
      "{.code na.action = \"median\"} needs all rows in memory, but the data are a stream.",
      i = "Use {.code \"mean\"}, {.code na.omit} or {.code list(<column> = <number>)}."
    ),
    call = call
  )
}

check_constants <- function(constants, data, blueprint, call) {
  odd <- setdiff(names(constants), names(data))
  if (length(odd)) {
    abort_runhooks(
      c(
        "{.arg na.action} names {.val {odd}}, which the formula does not use.",
        i = abbreviated_names(names(data))
      ),
      kind = "not_found", call = call
    )
  }
  odd <- intersect(names(constants), blueprint$response_variables)
  if (length(odd)) {
    abort_runhooks(
      c(
        "{.arg na.action} cannot fill in the response {.val {odd[[1]]}}.",
        i = "Drop rows without a response from the data, or use {.code na.action = na.omit}."
      ),
      call = call
    )
  }
  for (name in names(constants)) {
    wants_word <- is.factor(data[[name]]) || is.character(data[[name]])
    if (wants_word != is.character(constants[[name]])) {
      abort_runhooks(
        "{.arg na.action} has {describe(constants[[name]])} for {.val {name}}, which is
         {kind_descriptions[[column_kind(data[[name]])]]}.",
        call = call
      )
    }
  }
}

# `numbers` are numeric variables with NA, `words` the additional levels for missing values.
na_pass_settings <- function(known, blueprint, call) {
  if (identical(known$kind, "pass")) return(known)
  if (!blueprint$has_trees) {
    abort_runhooks(
      c(
        "{.code na.action = na.pass} requires a tree model, which sends NA to one side of a split.",
        i = "{.code na.omit} drops rows with NA; {.code \"mean\"}, {.code \"median\"} and constants
             replace NA."
      ),
      call = call
    )
  }
  list(kind = "pass", numbers = list(), words = list())
}

passes_missing <- function(blueprint) identical(blueprint$na$kind, "pass")

# Records which variables have missing values, unless a trained model determines them.
record_missing <- function(blueprint, variables) {
  if (!passes_missing(blueprint)) return(blueprint)
  if (is.null(blueprint$known)) {
    is_word <- vapply(blueprint$variables[variables], function(v) !is.null(v$levels), NA)
    blueprint$na$numbers <- as.list(variables[!is_word])
    for (name in variables[is_word]) {
      levels <- blueprint$variables[[name]]$levels
      word <- new_level("(missing)", levels)
      blueprint$variables[[name]]$levels <- c(levels, word)
      blueprint$na$words[[name]] <- word
    }
  }
  blueprint
}

missing_features <- function(blueprint) {
  is_missing <- vapply(blueprint$features, function(parts) any(parts %in% unlist(blueprint$na$numbers)), NA)
  is_number <- vapply(blueprint$features, function(parts) {
    all(vapply(blueprint$variables[parts], function(v) is.null(v$levels), NA))
  }, NA)
  unname(blueprint$keys[names(blueprint$features)[is_missing & is_number]])
}

with_missing_level <- function(values, blueprint) {
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
    data[[name]] <- fill_column(unclassed_column(data[[name]]), constants[[name]])
  }
  data
}

# Whether each row has NA or NaN. `words`: also check strings and factors.
is_missing_row <- function(x, words = TRUE) {
  is_word <- is.character(x) || is.factor(x)
  if (is.list(x) || is_sparse_matrix(x) || (is_word && !words)) return(logical(n_rows(x)))
  missing <- is.na(x)
  if (is.null(dim(x))) missing else rowSums(matrix(missing, n_rows(x))) > 0
}

select_rows <- function(x, rows) {
  if (all(rows)) return(x)
  if (is.null(dim(x))) return(x[rows])
  if (length(dim(x)) == 2) return(x[rows, , drop = FALSE])
  cells <- array(as.vector(x)[rep(rows, length.out = length(x))], c(sum(rows), dim(x)[-1]))
  structure(cells, class = oldClass(x))
}

# The inverse of select_rows(): rows that are FALSE get NA.
scatter_rows_to_na <- function(few, rows) {
  place <- cumsum(rows)
  place[!rows] <- NA
  if (is.null(dim(few))) return(few[place])
  spread <- few[place, , drop = FALSE]
  # attributes of poly() and similar functions are needed to compute them for other data
  kept <- attributes(few)
  attributes(spread)[setdiff(names(kept), c("dim", "dimnames"))] <-
    kept[setdiff(names(kept), c("dim", "dimnames"))]
  spread
}

missing_counts <- function(missing) {
  list(
    rows = sum(Reduce(`|`, missing, FALSE)), all = length(missing[[1]]),
    counts = vapply(missing, sum, 0), firsts = vapply(missing, function(x) which(x)[1], 0L)
  )
}

add_missing_counts <- function(was, now, before) {
  if (is.null(was)) return(now)
  list(
    rows = was$rows + now$rows, all = was$all + now$all, counts = was$counts + now$counts,
    firsts = ifelse(is.na(was$firsts), now$firsts + before, was$firsts)
  )
}

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
  levels <- blueprint$variables[[example]]$levels
  # nolint: used by cli
  value <- if (is.null(levels)) "0" else paste0('"', c(setdiff(levels, ""), "")[[1]], '"')
  is_word <- vapply(numbers, function(name) !is.null(blueprint$variables[[name]]$levels), NA)
  advice <- c(
    i = "{.code na.action = na.omit} in the constructor drops these rows.",
    i = if (length(numbers) && all(is_word)) {
      "{.code na.action = list({example} = {value})} replaces NA by a level."
    } else if (length(numbers)) {
      "{.code na.action = \"mean\"}, {.code \"median\"} or {.code list({example} = {value})}
       replaces NA by constants."
    },
    i = if (has_response && blueprint$na$kind == "constants") "Responses are not filled in."
  )
  abort_runhooks(
    c("{rows} of {all} rows {cli::qty(rows)}{?has/have} NA.", setNames(lines, rep("x", length(lines))), advice),
    call = call
  )
}

# The word for missing values among numbers, such as the "NA" that write.csv() writes, or NULL.
na_like_level <- function(x) {
  if (!is.character(x) || !is.null(dim(x))) return(NULL)
  words <- setdiff(unique(x), c(NA, ""))
  others <- words[is.na(suppressWarnings(as.numeric(words)))]
  if (length(others) == 1 && length(words) > 1 && ascii_lower(others) %in% na_like_strings) others
}

na_like_strings <- c(
  "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "unknown", "?", ".", "-", "--"
)

na_level_advice <- function(x) {
  word <- na_like_level(x)
  if (is.null(word)) return(NULL)
  cli::format_inline(
    "All others are numbers. If {.val {word}} means a missing value, read the file with
     {.code make_csv_dataset(na_value = \"{word}\")} or {.code read.csv(na.strings = \"{word}\")}.",
    keep_whitespace = FALSE
  )
}

inform_na_like_level <- function(x, name) {
  word <- na_like_level(x)
  if (is.null(word)) return(invisible())
  cli::cli_inform(
    c(
      "{.val {name}} is strings, so each of its values is a level: {.val {word}}, and numbers.",
      i = na_level_advice(x)
    ),
    class = "runhooks_message_na_word"
  )
}

# Reported once for each use of data.
inform_omitted <- function(missing) {
  rows <- sum(Reduce(`|`, missing)) # nolint: used by cli
  all <- length(missing[[1]]) # nolint: used by cli
  by <- names(missing)[vapply(missing, any, NA)] # nolint: used by cli
  cli::cli_inform(
    "Dropped {rows} of {all} rows because of NA in {.val {by}}.",
    class = "runhooks_message_omitted"
  )
}
