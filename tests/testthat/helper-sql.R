# Data, models and databases of the tests of SQL.

sql_data <- function(n = 200) {
  withr::local_seed(4)
  data <- data.frame(x = round(rnorm(n), 1), w = rexp(n))
  data$f <- factor(sample(c("a", "b c", "d"), n, TRUE))
  data$l <- data$w > 1
  data$y <- data$x + (data$f == "d") * data$w + 0.1 * rnorm(n)
  data$two <- factor(ifelse(data$y + rnorm(n) > 0.5, "yes", "no"))
  data$three <- cut(data$y + rnorm(n), c(-Inf, 0, 1, Inf), c("low", "mid", "high"))
  data$count <- rpois(n, exp(data$x / 2))
  data
}

gappy <- function(data) {
  data$x[c(1, 5)] <- NA
  data$f[c(2, 5)] <- NA
  data
}

fitted_model <- function(make, ...) {
  model <- make(...)
  suppressWarnings(suppressMessages(train(model)))
  model
}

# Returns the columns that the expressions of a model give in R and in SQLite.
computed <- function(model, data) {
  found <- tidypredict::tidypredict_fit(model)
  if (!is.list(found)) found <- list(found)
  here <- lapply(found, function(expr) eval(expr, data, globalenv()))
  is_factor <- vapply(data, is.factor, NA)
  data[is_factor] <- lapply(data[is_factor], as.character)
  for (connection in databases()) {
    DBI::dbWriteTable(connection, "data", data)
    for (i in seq_along(found)) {
      sql <- dbplyr::translate_sql(!!found[[i]], con = connection)
      values <- DBI::dbGetQuery(connection, paste("SELECT", sql, "AS p FROM data"))$p
      expect_equal(as.numeric(values), as.numeric(here[[i]]), tolerance = 1e-12)
    }
    DBI::dbDisconnect(connection)
  }
  lapply(here, as.numeric)
}

databases <- function() {
  has <- function(package) requireNamespace(package, quietly = TRUE)
  if (!has("dbplyr")) return(list())
  list(
    if (has("RSQLite")) DBI::dbConnect(RSQLite::SQLite(), ":memory:"),
    if (has("duckdb")) DBI::dbConnect(duckdb::duckdb())
  ) |> Filter(f = Negate(is.null))
}
