# What R does by the locale, done the same way in all of them.

ascii_capitals <- "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_small <- "abcdefghijklmnopqrstuvwxyz"

# tolower() and toupper() of a Turkish locale make no "i" of "I".
ascii_lower <- function(x) chartr(ascii_capitals, ascii_small, x)
ascii_upper <- function(x) chartr(ascii_small, ascii_capitals, x)

# Evaluates `code` with a decimal point in texts of numbers.
with_decimal_point <- function(code) {
  old <- options(OutDec = ".")
  on.exit(options(old))
  locale <- Sys.getlocale("LC_NUMERIC")
  if (locale != "C") {
    Sys.setlocale("LC_NUMERIC", "C")
    # R warns of every locale but this one
    on.exit(suppressWarnings(Sys.setlocale("LC_NUMERIC", locale)), add = TRUE)
  }
  code
}

# A number as code has it.
number_text <- function(x) with_decimal_point(format(x, digits = 15))

# R writes a character of a symbol as <U+00E9> where the locale does not have it.
without_escapes <- function(text) {
  if (l10n_info()[["UTF-8"]] || !any(grepl("<U+", text, fixed = TRUE))) return(enc2utf8(text))
  found <- gregexpr("<U\\+[0-9A-F]{4,8}>", text)
  regmatches(text, found) <- lapply(regmatches(text, found), function(codes) {
    vapply(strtoi(gsub("[^0-9A-F]|U", "", codes), 16L), intToUtf8, "")
  })
  enc2utf8(text)
}

symbol_text <- function(symbol) without_escapes(as.character(symbol))

# The text of code on one line, by which terms and columns are found again.
code_text <- function(code, width = 500L) {
  if (is.symbol(code)) return(symbol_text(code))
  without_escapes(paste(with_decimal_point(deparse(code, width)), collapse = ""))
}

# The names of the variables in code, as columns are called.
variables_of <- function(code) without_escapes(all.vars(code))
