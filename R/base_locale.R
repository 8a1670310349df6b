# Locale-independent versions of operations on text.

ascii_uppercase <- "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_lowercase <- "abcdefghijklmnopqrstuvwxyz"

# Not tolower(), which does not convert "I" to "i" in a Turkish locale.
ascii_lower <- function(x) chartr(ascii_uppercase, ascii_lowercase, x)
ascii_upper <- function(x) chartr(ascii_lowercase, ascii_uppercase, x)

# Evaluates `code`, which formats numbers, with "." as the decimal mark.
with_decimal_point <- function(code) {
  old <- options(OutDec = ".")
  on.exit(options(old))
  locale <- Sys.getlocale("LC_NUMERIC")
  if (locale != "C") {
    Sys.setlocale("LC_NUMERIC", "C")
    # R warns about every locale except "C"
    on.exit(suppressWarnings(Sys.setlocale("LC_NUMERIC", locale)), add = TRUE)
  }
  code
}

number_text <- function(x) with_decimal_point(format(x, digits = 15))

# Converts escapes such as <U+00E9> to characters. R writes them if the locale cannot represent a
# character of a symbol.
decode_unicode_escapes <- function(text) {
  if (l10n_info()[["UTF-8"]] || !any(grepl("<U+", text, fixed = TRUE))) return(enc2utf8(text))
  escapes <- gregexpr("<U\\+[0-9A-F]{4,8}>", text)
  regmatches(text, escapes) <- lapply(regmatches(text, escapes), function(codes) {
    vapply(strtoi(gsub("[^0-9A-F]|U", "", codes), 16L), intToUtf8, "")
  })
  enc2utf8(text)
}

symbol_text <- function(symbol) decode_unicode_escapes(as.character(symbol))

# Returns code as one line of text, which identifies terms and columns.
code_text <- function(code, width = 500L) {
  if (is.symbol(code)) return(symbol_text(code))
  decode_unicode_escapes(paste(with_decimal_point(deparse(code, width)), collapse = ""))
}

variables_of <- function(code) decode_unicode_escapes(all.vars(code))
