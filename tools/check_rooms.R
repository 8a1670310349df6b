# Checks who calls whom in R/: a file's prefix is its room, and a room calls the functions of the rooms
# above it in tools/layers.R's list, never those below. The object `tf` holds them all and is free.
source("tools/common.R")
source("tools/layers.R")

room_of <- function(file) sub("[_.].*$", "", basename(file))

# The files of rooms: what the package is loaded with belongs to none.
room_files <- function(root) {
  files <- tree_files(root, "R", "[.]R$")
  files[!basename(files) %in% c("zzz.R", "runhooks-package.R")]
}

# What a file defines at its top, and which functions it calls by their plain names, with lines. A name
# that is an argument or a local in the file is none of another room.
look_into <- function(root, file) {
  code <- parse(file.path(root, file), keep.source = TRUE)
  is_definition <- vapply(code, function(e) {
    is.call(e) && identical(e[[1]], quote(`<-`)) && is.name(e[[2]])
  }, NA)
  defined <- vapply(code[is_definition], function(e) as.character(e[[2]]), "")
  tokens <- utils::getParseData(code)
  calls <- tokens[tokens$token == "SYMBOL_FUNCTION_CALL", ]
  beside <- split(tokens$token, tokens$parent)
  is_member <- vapply(as.character(calls$parent), function(parent) {
    any(c("NS_GET", "NS_GET_INT", "'$'", "'@'") %in% beside[[parent]])
  }, NA)
  # the name stands before the expression that it is
  assigned <- tokens$text[which(tokens$token == "LEFT_ASSIGN") - 2L]
  locals <- c(tokens$text[tokens$token == "SYMBOL_FORMALS"], setdiff(assigned, defined))
  calls <- calls[!is_member & !calls$text %in% c(locals, defined), ]
  list(defined = defined, name = calls$text, line = calls$line1)
}

check_rooms <- function(root) {
  files <- room_files(root)
  strange <- files[!room_of(files) %in% r_rooms]
  text <- sprintf("%s is no room of R/: tools/layers.R lists them", room_of(strange))
  found <- violations(strange, rep(1L, length(strange)), "room", text)
  files <- setdiff(files, strange)
  looks <- lapply(stats::setNames(nm = files), function(file) look_into(root, file))
  home <- unlist(lapply(files, function(file) {
    defined <- looks[[file]]$defined
    stats::setNames(rep(room_of(file), length(defined)), defined)
  }))
  wrong <- lapply(files, function(file) {
    look <- looks[[file]]
    from <- room_of(file)
    to <- unname(home[look$name])
    bad <- match(to, r_rooms) > match(from, r_rooms) & !look$name %in% r_extra_calls[[from]]
    bad[is.na(bad)] <- FALSE
    text <- sprintf("%s() lives in `%s`, which `%s` must not know", look$name, to, from)
    violations(file, look$line[bad], "rooms", text[bad])
  })
  do.call(rbind, c(list(found), wrong))
}

run_tool(function(arguments) {
  report("check_rooms", check_rooms("."), "rooms of R/ call the rooms above them only")
}, sys.nframe())
