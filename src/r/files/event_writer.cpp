#include "graph/lowering.h"
#include "io/events/event_file.h"
#include "io/files/atomic_file.h"
#include "io/files/stale_files.h"
#include "io/graphs/graph_def.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"
#include "training/graph_export.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

const HandleKind kEventWriter("runhooks_event_writer");

EventFileWriter& writer_of(SEXP handle) {
  EventFileWriter& writer = *from_handle<EventFileWriter>(handle, kEventWriter);
  if (!writer.is_open()) fail(Code::kFailedPrecondition, "The event writer is closed.");
  return writer;
}

// Returns the bytes of a serialized message. A session returns it as a raw vector, or as a string
// if it has no zero byte.
std::string message_from_r(SEXP x, const char* argument) {
  if (TYPEOF(x) == RAWSXP) return std::string(raw_bytes(x));
  if (TYPEOF(x) == STRSXP && Rf_xlength(x) == 1) return string_from_r(x);
  invalid_argument(argument, " must be a summary value, not ", kind_in_words(x), ".");
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_event_writer_open(Text logdir, Text suffix) {
  return guarded_entry(
      [&] { return make_handle(std::make_shared<EventFileWriter>(logdir, suffix), kEventWriter); });
}

// [[Rcpp::export(rng = false)]]
void cpp_event_writer_add_summary(SEXP writer, SEXP summary, double step) {
  guarded_entry([&] {
    writer_of(writer).add_serialized_summary(message_from_r(summary, "`summary`"),
                                             whole_from_r(step, "`global_step`"));
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_event_writer_add_scalars(SEXP writer,
                                  Texts tags,
                                  Rcpp::NumericVector values,
                                  double step) {
  guarded_entry([&] {
    std::vector<std::pair<std::string, double>> scalars;
    for (size_t i = 0; i < tags.size(); ++i) {
      scalars.emplace_back(tags[i], values[static_cast<R_xlen_t>(i)]);
    }
    writer_of(writer).add_scalars(scalars, whole_from_r(step, "`global_step`"));
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_event_writer_add_graph(SEXP writer, SEXP graph, double step) {
  guarded_entry([&] {
    writer_of(writer).add_graph_def(write_graph_def(make_graph_def(*graph_of(graph))),
                                    whole_from_r(step, "`global_step`"));
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_event_writer_flush(SEXP writer) {
  guarded_entry([&] { writer_of(writer).flush(); });
}

// [[Rcpp::export(rng = false)]]
void cpp_event_writer_close(SEXP writer) {
  guarded_entry([&] { from_handle<EventFileWriter>(writer, kEventWriter)->close(); });
}

// [[Rcpp::export(rng = false)]]
void cpp_write_graph(SEXP graph, Text path, bool as_text) {
  guarded_entry([&] {
    const GraphDef def = make_graph_def(*lowered_graph(*graph_of(graph)));
    remove_stale_temporaries(path);
    write_file_atomically(path, as_text ? graph_def_text(def) : write_graph_def(def));
  });
}
