#!/bin/sh
# Installs missing requirements for building and testing: R and a compiler, DESCRIPTION's packages,
# tools. `deps.sh install` installs only what an install needs, and `deps.sh with NAME` adds an R
# package. Uses apt-get as root on Debian or Ubuntu, else install.packages(). Quick if nothing is
# missing.
cd "$(dirname "$0")/.." || exit 1

say() { echo "deps: $*"; }
have() { command -v "$1" > /dev/null 2>&1; }
is_apt_root() { [ "$(id -u)" = 0 ] && have apt-get; }

# Prints the packages of one field of DESCRIPTION, without versions.
field() {
  awk -v field="$1:" '/^[^ \t]/ { inside = ($1 == field); sub(/^[^:]*:/, "") } inside' DESCRIPTION |
    tr ',\n' '  ' | sed 's/([^)]*)//g'
}

required="$(field Imports) $(field LinkingTo) testthat"
# Enhances is left out: its packages have dozens of dependencies that take long to compile, and the
# tests of their methods do not need them.
optional="$(field Suggests) roxygen2 lintr bench"
optional_tools="pandoc qpdf ccache checkbashisms clang-format chromium mpicc.openmpi mpicc.mpich"
if [ "$1" = with ]; then optional="$optional $2"; fi
if [ "$1" = install ]; then
  required="$(field Imports) $(field LinkingTo)"
  optional=
  optional_tools=
fi
# Locales for tests.
locales="tr_TR.UTF-8 az_AZ.UTF-8 de_DE.UTF-8 de_DE.ISO-8859-1 ja_JP.EUC-JP"
[ "$1" != install ] || locales=
# Packages that were not found are not searched again; `make clean` resets this.
unavailable=.build/deps.unavailable

was_unavailable() { [ -f "$unavailable" ] && grep -qx "$1" "$unavailable"; }

# Prints those of the arguments after the first that R does not find as packages, and "R" if R is
# too old.
missing_packages() {
  Rscript -e 'p <- unique(commandArgs(TRUE))
    if (getRversion() < "4.1") cat("R ")
    cat(p[!nzchar(vapply(p, function(x) system.file(package = x), ""))])' $1
}

# Sets missing_system, missing_required and missing_optional.
look() {
  missing_system=
  have Rscript || missing_system="R"
  have make || missing_system="$missing_system make"
  have c++ || have g++ || have clang++ || missing_system="$missing_system c++"
  missing_required=$required
  missing_optional=
  if have Rscript; then
    missing=" $(missing_packages "$required $optional") "
    missing_required=
    for package in R $required; do
      case $missing in *" $package "*) missing_required="$missing_required $package" ;; esac
    done
    for package in $optional; do
      case "$missing_required " in *" $package "*) continue ;; esac
      case $missing in *" $package "*) missing_optional="$missing_optional $package" ;; esac
    done
  else
    missing_optional=$optional
  fi
  for tool in $optional_tools; do
    have "$tool" || missing_optional="$missing_optional $tool"
  done
}

# Prints the missing optional packages that have not been searched before.
worth_seeking() {
  for name in $missing_optional; do
    was_unavailable "$name" || echo "$name"
  done
}

apt_name() {
  case $1 in
    R) echo r-base-core r-base-dev ;;
    make | c++) echo r-base-dev ;;
    mpicc.openmpi) echo libopenmpi-dev openmpi-bin ;;
    mpicc.mpich) echo libmpich-dev mpich ;;
    checkbashisms) echo devscripts ;;
    pandoc | qpdf | ccache | clang-format | chromium) echo "$1" ;;
    *) echo "r-cran-$(echo "$1" | tr '[:upper:]' '[:lower:]')" ;;
  esac
}

apt_known() {
  for name; do
    for package in $(apt_name "$name"); do
      apt-cache show "$package" > /dev/null 2>&1 && echo "$package"
    done
  done
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >> "$log" 2>&1
}

install_by_apt() {
  say "apt-get update (see $log)"
  apt-get update > "$log" 2>&1 || say "apt-get update failed; using the existing package lists"
  must=$(apt_known $missing_system $missing_required | sort -u)
  may=$(apt_known $(worth_seeking) | sort -u)
  [ -z "$must$may" ] || say "installing" $must $may
  # Installs all packages together if possible. An optional package that fails must not prevent the
  # others.
  if [ -n "$must$may" ] && ! apt_install $must $may; then
    [ -z "$must" ] || apt_install $must || tail -n 15 "$log"
    for package in $may; do apt_install "$package"; done
  fi
}

# Prints the locales that the C library lacks. Systems spell them differently.
missing_locales() {
  spelled() { tr '[:upper:]' '[:lower:]' | tr -d '-'; }
  known=$(locale -a 2> /dev/null | spelled)
  for locale in $locales; do
    echo "$known" | grep -qx "$(echo "$locale" | spelled)" || echo "$locale"
  done
}

make_locales() {
  if [ ! -e /usr/share/i18n/locales/tr_TR ]; then
    apt_install locales || { apt-get update >> "$log" 2>&1; apt_install locales; }
  fi
  for locale in $(missing_locales); do
    say "making the locale $locale"
    localedef -i "${locale%%.*}" -f "${locale#*.}" "$locale" >> "$log" 2>&1
  done
}

install_by_r() {
  [ -n "$*" ] || return 0
  say "install.packages:" "$@"
  Rscript -e '
    library <- .libPaths()[1]
    if (file.access(library, 2) != 0) {
      library <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1]][1]
      dir.create(library, recursive = TRUE, showWarnings = FALSE)
    }
    repos <- getOption("repos")
    if (!length(repos) || "@CRAN@" %in% repos) repos <- "https://cloud.r-project.org"
    install.packages(commandArgs(TRUE), lib = library, repos = repos, Ncpus = 2L)' "$@"
}

look
mkdir -p .build
log=.build/deps.log
if is_apt_root && [ -n "$(missing_locales)" ]; then make_locales; fi
[ -z "$missing_system$missing_required$(worth_seeking)" ] && exit 0
if is_apt_root; then
  install_by_apt
  look
  case $missing_system in *R*) ;; *) install_by_r $missing_required ;; esac
else
  case " $missing_system " in
    *" R "*)
      say "R is missing: install R (>= 4.1), from https://cran.r-project.org or as a system package"
      exit 1
      ;;
  esac
  packages=
  for name in $(worth_seeking); do
    case " $optional_tools " in *" $name "*) ;; *) packages="$packages $name" ;; esac
  done
  install_by_r $missing_required $packages
fi

look
if [ -n "$missing_optional" ]; then
  say "not available here, continuing without:" $missing_optional
  for name in $missing_optional; do
    was_unavailable "$name" || echo "$name" >> "$unavailable"
  done
fi
case " $missing_required " in
  *" R "*) say "R (>= 4.1) is needed, this is $(Rscript -e 'cat(format(getRversion()))')" ;;
esac
if [ -n "$missing_system$missing_required" ]; then
  say "still missing:" $missing_system $missing_required
  exit 1
fi
