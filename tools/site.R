# The pages for a browser, in .build/site: Rscript tools/site.R. All topics stand in a group of
# _pkgdown.yml, or it ends here.
options(pkgdown.internet = FALSE)
pkgdown::check_pkgdown()
pkgdown::build_site(preview = FALSE, install = FALSE, devel = FALSE)
