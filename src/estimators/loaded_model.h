// What lives here: LoadedModel, a SavedModel in a session: its signatures, and what they answer.
// Who may use it: the bindings.
// What it must not know: data frames, R.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/graphs/meta_graph.h"
#include "session/session.h"

namespace runhooks {

// A feature of serialized examples, as a signature parses it or as data have it.
struct ExampleFeature {
  std::string key;
  DType dtype = DType::kInvalid;
  bool is_dense = false;  // then `row_size` values in each example
  int64_t row_size = -1;  // -1: any number
  bool is_required = false;
  bool is_data = false;  // written as it is, not for a model
};

class LoadedModel {
 public:
  // Reads the meta graph with these tags. What a signature needs and runhooks does not have is said
  // when that signature is used, and here where no signature can be.
  LoadedModel(const std::string& folder, const std::vector<std::string>& tags);

  const std::string& folder() const { return folder_; }
  const std::map<std::string, SignatureDef>& signatures() const { return meta_graph_.signatures; }
  // Throws for a name that there is none of, and for a signature that cannot be run.
  const SignatureDef& signature(const std::string& name) const;
  // Where the only input of a signature is parsed: the features. Empty for others.
  const std::vector<ExampleFeature>& example_features(const std::string& signature) const;
  // The outputs in the order of their names, for inputs in the order of theirs.
  std::vector<Tensor> run(const std::string& signature, const std::vector<Tensor>& inputs);
  const Graph& graph() const { return *graph_; }

 private:
  struct Runnable {
    std::string problem;  // why it cannot be run; "" where it can
    std::vector<Output> inputs;
    std::vector<Fetch> outputs;
    std::vector<ExampleFeature> features;
    mutable std::shared_ptr<Executor> executor;  // NULL until it is asked for
  };
  void read(const std::vector<std::string>& tags);
  void import();
  void initialize();
  const Runnable& runnable(const std::string& signature) const;
  const std::shared_ptr<Executor>& executor_of(const Runnable& runnable);

  std::string folder_, file_;
  FileAccessPolicy rights_;  // what a stranger's model may read is its own folder
  MetaGraphDef meta_graph_;
  std::shared_ptr<Graph> graph_;
  std::unique_ptr<Session> session_;
  std::vector<AssetFileDef> assets_;
  Operation* restore_op_ = nullptr;
  Output restore_path_;
  std::vector<Operation*> init_ops_;
  std::map<std::string, Runnable> runnables_;
};

}  // namespace runhooks
