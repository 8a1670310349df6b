// FetchTree and RequestedArgs: nested fetches of a session run, and results with the same
// structure.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "r/values/values.h"
#include "session/run_hook.h"

namespace runhooks {
namespace r {

class FetchTree {
 public:
  // Looks names up in `graph`. Throws for objects that cannot be fetched.
  FetchTree(SEXP structure, Graph& graph);
  // True if `structure` has the same fetches and names.
  bool matches(SEXP structure) const;
  const std::vector<Fetch>& fetches() const { return fetches_; }
  // Returns the results in the structure of the fetches, not protected from R's collector.
  template <typename Results>
  SEXP results_to_r(const Results& result) const {
    return node_to_r(root_, [&result](size_t i) -> const Tensor& { return result(i); });
  }

 private:
  struct Node {
    SEXP source = R_NilValue;  // the handle or the name, protected by structure_
    size_t fetch = 0;
    bool is_leaf = true;
    bool is_name = false;   // `source` names an endpoint with several tensors
    bool is_bytes = false;  // a serialized message, which becomes a raw vector
    SEXP names = R_NilValue;
    Preserved template_list;  // a template list with these names
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

// Converts the run arguments that R code requests to RunArgs. Reuses the result if the next request
// is the same.
class RequestedArgs {
 public:
  // `request` is a value of cpp_session_run_args(). NULL fetches nothing.
  const RunArgs* update(SEXP request, Graph& graph);
  // Stores the request, which hooks see as the original arguments of the run.
  void store(SEXP request);
  void clear() { tree_.reset(); }
  const FetchTree* tree() const { return tree_.get(); }

 private:
  std::unique_ptr<FetchTree> tree_;
  RunArgs args_;
};

// Converts a feed dict: NULL, a list of values named by tensor, or the value of the R function
// dict().
Feeds feeds_from_r(SEXP feed_dict, Graph& graph);
// Returns the R object of a session. It may outlive the session, and then it counts as closed.
SEXP session_handle(Session& session);
// Returns the R object of the loop's coordinator. Its pointer is cleared when the session ends.
SEXP coordinator_handle(Coordinator& coordinator, Session& session);
// Returns list(fetches, feed_dict, options) of class session_run_args.
SEXP run_args_to_r(SEXP fetches, SEXP feed_dict, SEXP options);
bool is_request(SEXP x);

RunOptions run_options_from_r(SEXP options);
SEXP run_options_to_r(const RunOptions& options);
SEXP step_stats_to_r(const StepStats& stats);
// Stores the metadata in an environment that tf$RunMetadata() has created; ignores NULL.
void fill_run_metadata(SEXP run_metadata, const RunMetadata& metadata);

}  // namespace r
}  // namespace runhooks
