# Tests the page of view_run() in Debian's chromium, headless.

skip_if_not_installed("dygraphs")
skip_if_not_installed("processx")
browser <- Sys.which("chromium")
if (!nzchar(browser)) skip("chromium is not installed")
skip_on_cran()

# Returns what `script`, the body of a JavaScript function, finds in the rendered page.
seen_in_browser <- function(path, script, width = 1200, dark = FALSE) {
  place <- withr::local_tempdir()
  probe <- paste0(
    "<script>window.addEventListener('load', function () {",
    "var seen; try { seen = (function () {", script, "})(); } catch (error) { seen = {error: '' + error}; }",
    "var box = document.createElement('pre'); box.id = 'seen';",
    "box.textContent = encodeURIComponent(JSON.stringify(seen)); document.body.appendChild(box);",
    "});</script></body></html>"
  )
  text <- readChar(path, file.size(path), useBytes = TRUE)
  page <- file.path(place, "page.html")
  writeLines(sub("</body></html>", probe, text, fixed = TRUE, useBytes = TRUE), page, useBytes = TRUE)
  answer <- processx::run(
    browser,
    c(
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      paste0("--user-data-dir=", place), sprintf("--window-size=%d,900", width),
      if (dark) "--blink-settings=preferredColorScheme=0",
      "--dump-dom", paste0("file://", page)
    ),
    env = c("current", HOME = place, XDG_CONFIG_HOME = place, XDG_CACHE_HOME = place), timeout = 120
  )$stdout
  found <- regmatches(answer, regexpr("<pre id=\"seen\">[^<]*", answer))
  if (length(found) == 0) stop("The page was not drawn.")
  jsonlite::fromJSON(utils::URLdecode(sub("^.*>", "", found)))
}

find_charts <- "
  var charts = {};
  document.querySelectorAll('.chart').forEach(function (box) {
    charts[box.querySelector('h3').textContent] = {
      box: box, graph: HTMLWidgets.find('#' + box.querySelector('.dygraphs').id).dygraph
    };
  });
  var body = getComputedStyle(document.body), paper = document.createElement('div');
  paper.style.background = 'Canvas'; document.body.appendChild(paper);
"

test_that("the page of a run is rendered, and its charts respond to input", {
  name <- "<script>document.title = 'taken'</script>"
  folder <- file.path(withr::local_tempdir(), gsub("/", "", name, fixed = TRUE))
  logging <- hook_logging_tensor("global_step", every_n_iter = 10)
  model <- dnn_regressor(
    mpg ~ wt + hp, mtcars, hidden_units = 4, model_dir = folder,
    config = run_config(tf_random_seed = 1, save_summary_steps = 10)
  )
  suppressMessages(
    train(model, mtcars[1:24, ], validation = mtcars[25:32, ], steps = 60, hooks = logging)
  )
  path <- view_run(folder, open = FALSE)
  seen <- seen_in_browser(path, paste0(find_charts, "
    var loss = charts['average_loss'], graph = loss.graph;
    var seen = {titles: Object.keys(charts), title: document.title, all: graph.xAxisRange()};
    graph.updateOptions({dateWindow: [10, 30]});
    seen.zoomed = graph.xAxisRange();
    graph.resetZoom();
    seen.reset = graph.xAxisRange();
    graph.setSelection(2);
    seen.legend = loss.box.querySelector('.dygraph-legend').textContent;
    var tick = loss.box.querySelector('input[type=checkbox]'), was = !!graph.getOption('logscale');
    tick.click();
    seen.logscale = [was, !!graph.getOption('logscale')];
    var bands = charts[seen.titles.filter(function (x) { return /activation/.test(x); })[0]].graph;
    document.querySelectorAll('details[ontoggle]').forEach(function (part) { part.open = true; });
    window.dispatchEvent(new Event('resize'));
    seen.folded = charts['loss'].graph.width_;
    seen.bands = bands.getLabels().slice(1);
    seen.band = bands.getValue(0, 1);
    var scope = document.evaluate(\"//summary[starts-with(., 'dnn')]\", document).iterateNext();
    seen.open = [scope.parentNode.open];
    scope.click();
    seen.open.push(scope.parentNode.open);
    seen.text = document.body.textContent;
    seen.width = [document.documentElement.scrollWidth, window.innerWidth];
    seen.paper = getComputedStyle(paper).backgroundColor;
    return seen;"))
  expect_null(seen$error)
  expect_equal(seen$title, "Deep regressor: mpg ~ wt + hp")
  expect_match(seen$text, "<script>document.title", fixed = TRUE)
  expect_true(all(c("average_loss", "loss") %in% seen$titles))
  expect_equal(seen$zoomed, c(10, 30))
  expect_equal(seen$reset, seen$all)
  # charts in a folded section are drawn when it is unfolded
  expect_gt(seen$folded, 300)
  expect_match(seen$legend, "(training|validation):.[0-9]")
  expect_equal(seen$logscale[[2]], !seen$logscale[[1]])
  expect_equal(seen$bands, c("all", "9 of 10", "2 of 3", "half"))
  expect_true(!is.unsorted(seen$band))
  expect_equal(seen$open, c(FALSE, TRUE))
  expect_match(seen$text, "global_step = 10", fixed = TRUE)
  expect_match(seen$text, "60 steps were requested")
  expect_equal(seen$paper, "rgb(255, 255, 255)")
  expect_lte(seen$width[[1]], seen$width[[2]])
})

test_that("100,000 points are usable, on a phone and in dark mode", {
  n <- 1e5
  set.seed(1)
  series <- data.frame(
    series = "training", tag = "loss", step = seq_len(n), value = 1 / sqrt(seq_len(n)) + runif(n)
  )
  path <- withr::local_tempfile(fileext = ".html")
  write_page(html_page("many", NULL, metric_charts(list(series))), path)
  expect_lt(file.size(path), 6e6)
  seen <- seen_in_browser(path, width = 500, dark = TRUE, paste0(find_charts, "
    var graph = charts.loss.graph, seen = {rows: graph.numRows()}, began = performance.now();
    seen.drawn = began;
    for (var i = 0; i < 5; i++) graph.updateOptions({dateWindow: [1, 100000 - i]});
    graph.adjustRoll(100);
    seen.ms = (performance.now() - began) / 6;
    seen.width = [document.documentElement.scrollWidth, window.innerWidth];
    seen.paper = getComputedStyle(paper).backgroundColor;
    return seen;"))
  expect_null(seen$error)
  expect_equal(seen$rows, n)
  # Limits for a busy machine. Drawing every point would take 20 s.
  expect_lt(seen$drawn, 10000)
  expect_lt(seen$ms, 2000)
  expect_lte(seen$width[[1]], seen$width[[2]])
  expect_false(seen$paper == "rgb(255, 255, 255)")
})
