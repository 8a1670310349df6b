// Runs of a session: what is asked for, and the results in the same form.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "r/values/values.h"
#include "session/run_hook.h"

namespace runhooks {
namespace r {

// What was asked for, nested as it came, and how results are put into the same form.
class FetchTree {
 public:
  // Names are looked up in `graph`. Throws for what is no fetch.
  FetchTree(SEXP structure, Graph& graph);
  // TRUE where `structure` asks for the same in the same form.
  bool matches(SEXP structure) const;
  const std::vector<Fetch>& fetches() const { return fetches_; }
  // Not protected.
  template <typename Results>
  SEXP results_to_r(const Results& result) const {
    return node_to_r(root_, [&result](size_t i) -> const Tensor& { return result(i); });
  }

 private:
  struct Node {
    SEXP source = R_NilValue;  // the handle or the name, held by structure_
    size_t fetch = 0;
    bool is_leaf = true;
    bool is_name = false;   // of an endpoint with several tensors
    bool is_bytes = false;  // a serialized message, which is no text even where it could be one
    SEXP names = R_NilValue;
    Preserved form;  // an empty list with these names, to be filled
    std::vector<Node> children;
  };
  using Lookup = std::function<const Tensor&(size_t)>;
  Node parse(SEXP x, Graph& graph);
  Node leaf(SEXP source, const Fetch& fetch);
  Node named(SEXP name, Graph& graph);
  static bool node_matches(const Node& node, SEXP x);
  static SEXP node_to_r(const Node& node, const Lookup& result);

  Preserved structure_;
  std::vector<Fetch> fetches_;
  Node root_;
};

// What R asks of a run, as the core knows it. Asking for the same again costs a comparison.
class RequestedArgs {
 public:
  // `request` is what cpp_session_run_args() gives. Fetches of NULL are none.
  const RunArgs* update(SEXP request, Graph& graph);
  // Hooks are shown this as what the caller asked for.
  void keep(SEXP request);
  void forget() { tree_.reset(); }
  // NULL where nothing is fetched.
  const FetchTree* tree() const { return tree_.get(); }

 private:
  std::unique_ptr<FetchTree> tree_;
  RunArgs args_;
};

// feed_dict: NULL, a named list (tensor name -> value), or what dict() gives.
Feeds feeds_from_r(SEXP feed_dict, Graph& graph);
// The R object of a session; good, but closed, after the session is gone.
SEXP session_handle(Session& session);
// That of the coordinator of its loop; no longer good when the session is gone.
SEXP coordinator_handle(Coordinator& coordinator, Session& session);
// list(fetches, feed_dict, options) of class session_run_args.
SEXP run_args_to_r(SEXP fetches, SEXP feed_dict, SEXP options);
bool is_request(SEXP x);

RunOptions run_options_from_r(SEXP options);
SEXP run_options_to_r(const RunOptions& options);
SEXP step_stats_to_r(const StepStats& stats);
// Into what tf$RunMetadata() has made; NULL is fine.
void fill_run_metadata(SEXP run_metadata, const RunMetadata& metadata);

}  // namespace r
}  // namespace runhooks
