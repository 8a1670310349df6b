# Missing values in models from a formula.

# Converts `na.action` of a constructor to a list. Its `kind` is "fail", "omit", "exclude", "pass"
# or "constants"; `constants` replace NA and are named by columns.
as_na_action <- function(x, data, blueprint, call, stream = NULL) {
  recorded <- blueprint$known$na
  name <- na_action_name(x)
  if (name == "pass") return(na_pass_settings(recorded, blueprint, call))
  if (name %in% c("fail", "omit", "exclude")) return(list(kind = name))
  if (!is.null(recorded$constants)) return(recorded)
  constants <- if (name %in% c("mean", "median")) {
    column_centers(data, blueprint, name, stream, call)
  } else if (is_list_of_constants(x)) {
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

is_list_of_constants <- function(x) {
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

# Returns the means or medians of all numeric columns, even of those without NA, because later data
# may have NA there.
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
  invalid <- setdiff(names(constants), names(data))
  if (length(invalid)) {
    abort_runhooks(
      c(
        "{.arg na.action} names {.val {invalid}}, which the formula does not use.",
        i = abbreviated_names(names(data))
      ),
      kind = "not_found", call = call
    )
  }
  invalid <- intersect(names(constants), blueprint$response_variables)
  if (length(invalid)) {
    abort_runhooks(
      c(
        "{.arg na.action} cannot fill in the response {.val {invalid[[1]]}}.",
        i = "Drop rows without a response from the data, or use {.code na.action = na.omit}."
      ),
      call = call
    )
  }
  for (name in names(constants)) {
    is_text <- is.factor(data[[name]]) || is.character(data[[name]])
    if (is_text != is.character(constants[[name]])) {
      abort_runhooks(
        "{.arg na.action} has {describe(constants[[name]])} for {.val {name}}, which is
         {kind_descriptions[[column_kind(data[[name]])]]}.",
        call = call
      )
    }
  }
}

# Returns the settings for na.pass: `numbers` are the names of numeric variables with NA, and
# `words` are the additional levels for missing values of factors.
na_pass_settings <- function(recorded, blueprint, call) {
  if (identical(recorded$kind, "pass")) return(recorded)
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

passes_na <- function(blueprint) identical(blueprint$na$kind, "pass")

# Records which variables have missing values, unless a trained model determines them.
record_variables_with_na <- function(blueprint, variables) {
  if (!passes_na(blueprint)) return(blueprint)
  if (is.null(blueprint$known)) {
    has_levels <- vapply(blueprint$variables[variables], function(v) !is.null(v$levels), NA)
    blueprint$na$numbers <- as.list(variables[!has_levels])
    for (name in variables[has_levels]) {
      levels <- blueprint$variables[[name]]$levels
      level <- new_level("(missing)", levels)
      blueprint$variables[[name]]$levels <- c(levels, level)
      blueprint$na$words[[name]] <- level
    }
  }
  blueprint
}

# Returns the keys of numeric features with missing values.
missing_features <- function(blueprint) {
  is_missing_number <- vapply(blueprint$features, function(parts) {
    any(parts %in% unlist(blueprint$na$numbers)) &&
      all(vapply(blueprint$variables[parts], function(v) is.null(v$levels), NA))
  }, NA)
  unname(blueprint$keys[names(blueprint$features)[is_missing_number]])
}

replace_na_by_level <- function(values, blueprint) {
  if (!passes_na(blueprint)) return(values)
  for (name in names(values)) {
    x <- values[[name]]
    level <- blueprint$na$words[[name]]
    if (!is.null(level)) {
      x[is.na(x)] <- level
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
  is_text <- is.character(x) || is.factor(x)
  if (is.list(x) || is_sparse_matrix(x) || (is_text && !words)) return(logical(n_rows(x)))
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

# Expands values of the complete rows to all rows: those for which `rows` is FALSE get NA.
scatter_rows_to_na <- function(complete_rows, rows) {
  positions <- cumsum(rows)
  positions[!rows] <- NA
  if (is.null(dim(complete_rows))) return(complete_rows[positions])
  scattered <- complete_rows[positions, , drop = FALSE]
  # poly() and similar functions store in attributes how to compute them for other data
  attrs <- attributes(complete_rows)
  names <- setdiff(names(attrs), c("dim", "dimnames"))
  attributes(scattered)[names] <- attrs[names]
  scattered
}

# Counts missing rows, in total and by column. `firsts` are the numbers of the first missing rows.
missing_counts <- function(missing) {
  list(
    rows = sum(Reduce(`|`, missing, FALSE)), all = length(missing[[1]]),
    counts = vapply(missing, sum, 0), firsts = vapply(missing, function(x) which(x)[1], 0L)
  )
}

add_missing_counts <- function(total, chunk, rows_before) {
  if (is.null(total)) return(chunk)
  list(
    rows = total$rows + chunk$rows, all = total$all + chunk$all,
    counts = total$counts + chunk$counts,
    firsts = ifelse(is.na(total$firsts), chunk$firsts + rows_before, total$firsts)
  )
}

missing_lines <- function(missing) {
  columns <- names(missing$counts)[missing$counts > 0]
  vapply(columns, function(name) {
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
  columns <- names(missing$counts)[missing$counts > 0]
  has_response <- blueprint$response$name %in% columns
  features <- setdiff(columns, blueprint$response$name)
  example <- utils::head(c(intersect(features, make.names(features)), "x"), 1) # nolint: used by cli
  levels <- blueprint$variables[[example]]$levels
  # nolint: used by cli
  value <- if (is.null(levels)) "0" else paste0('"', c(setdiff(levels, ""), "")[[1]], '"')
  has_levels <- vapply(features, function(name) !is.null(blueprint$variables[[name]]$levels), NA)
  advice <- c(
    i = "{.code na.action = na.omit} in the constructor drops these rows.",
    i = if (length(features) && all(has_levels)) {
      "{.code na.action = list({example} = {value})} replaces NA by a level."
    } else if (length(features)) {
      "{.code na.action = \"mean\"}, {.code \"median\"} or {.code list({example} = {value})}
       replaces NA by constants."
    },
    i = if (has_response && blueprint$na$kind == "constants") "Responses are not filled in."
  )
  names(lines) <- rep("x", length(lines))
  abort_runhooks(
    c("{rows} of {all} rows {cli::qty(rows)}{?has/have} NA.", lines, advice), call = call
  )
}

# If a column of strings contains numbers and a single other string that usually means a missing
# value, such as "NA" in files of write.csv(), returns this string; otherwise NULL.
na_like_level <- function(x) {
  if (!is.character(x) || !is.null(dim(x))) return(NULL)
  levels <- setdiff(unique(x), c(NA, ""))
  non_numbers <- levels[is.na(suppressWarnings(as.numeric(levels)))]
  is_single <- length(non_numbers) == 1 && length(levels) > 1
  if (is_single && ascii_lower(non_numbers) %in% na_like_strings) non_numbers
}

na_like_strings <- c(
  "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "unknown", "?", ".", "-", "--"
)

na_level_advice <- function(x) {
  level <- na_like_level(x)
  if (is.null(level)) return(NULL)
  cli::format_inline(
    "All others are numbers. If {.val {level}} means a missing value, read the file with
     {.code make_csv_dataset(na_value = \"{level}\")} or
     {.code read.csv(na.strings = \"{level}\")}.",
    keep_whitespace = FALSE
  )
}

inform_na_like_level <- function(x, name) {
  level <- na_like_level(x)
  if (is.null(level)) return(invisible())
  cli::cli_inform(
    c(
      "{.val {name}} is strings, so each of its values is a level: {.val {level}}, and numbers.",
      i = na_level_advice(x)
    ),
    class = "runhooks_message_na_word"
  )
}

# Reports dropped rows, once for each use of data.
inform_omitted <- function(missing) {
  rows <- sum(Reduce(`|`, missing)) # nolint: used by cli
  all <- length(missing[[1]]) # nolint: used by cli
  columns <- names(missing)[vapply(missing, any, NA)] # nolint: used by cli
  cli::cli_inform(
    "Dropped {rows} of {all} rows because of NA in {.val {columns}}.",
    class = "runhooks_message_omitted"
  )
}
