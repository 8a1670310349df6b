// LoadedModel: a SavedModel in a session, whose signatures can be run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/graphs/meta_graph.h"
#include "session/session.h"

namespace runhooks {

// A feature of serialized tf.train.Example records.
struct ExampleFeature {
  std::string key;
  DType dtype = DType::kInvalid;
  bool is_dense = false;  // has `row_size` values in each example
  int64_t row_size = -1;  // -1: any number
  bool is_required = false;
  bool is_data = false;  // for writing a data set: stored unchanged instead of fed to a model
};

class LoadedModel {
 public:
  // Loads the meta graph with these tags. A signature that needs unsupported operations throws when
  // it is used. If all signatures need them, the constructor throws.
  LoadedModel(const std::string& folder, const std::vector<std::string>& tags);

  const std::string& folder() const { return folder_; }
  const std::map<std::string, SignatureDef>& signatures() const { return meta_graph_.signatures; }
  const SignatureDef& signature(const std::string& name) const;
  // Returns the features that a signature parses from its only input, serialized examples; empty
  // for other signatures.
  const std::vector<ExampleFeature>& example_features(const std::string& signature) const;
  // Runs a signature. `inputs` and the results are in the order of the sorted names.
  std::vector<Tensor> run(const std::string& signature, const std::vector<Tensor>& inputs);
  const Graph& graph() const { return *graph_; }

 private:
  struct Runnable {
    std::string problem;  // why it cannot be run, or ""
    std::vector<Output> inputs;
    std::vector<Fetch> outputs;
    std::vector<ExampleFeature> features;
    mutable std::shared_ptr<Executor> executor;  // NULL until first use
  };
  void read(const std::vector<std::string>& tags);
  void import();
  void initialize();
  const Runnable& runnable(const std::string& signature) const;
  const std::shared_ptr<Executor>& executor_of(const Runnable& runnable);

  std::string folder_, file_;
  FileAccessPolicy access_policy_;  // untrusted models may read only their own directory
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
