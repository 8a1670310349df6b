#include "training/import_meta_graph.h"

#include <algorithm>

namespace runhooks {

namespace {

const std::vector<std::string> kVariableCollections = {collection_keys::kGlobalVariables,
                                                       collection_keys::kLocalVariables,
                                                       collection_keys::kMetricVariables,
                                                       collection_keys::kModelVariables,
                                                       collection_keys::kTrainableVariables,
                                                       collection_keys::kGlobalStep,
                                                       "moving_average_variables"};

// Creates one Variable per name, so that all collections share it.
class Variables {
 public:
  explicit Variables(const GraphImporter& importer) : importer_(importer) {}
  // NULL if its operation was not imported.
  VariablePtr get(const VariableDef& def) {
    const size_t colon = def.variable_name.rfind(':');
    Operation* variable_op = importer_.find(def.variable_name.substr(0, colon));
    if (!variable_op || variable_op->num_outputs() == 0) return nullptr;
    VariablePtr& variable = variables_[def.variable_name];
    if (!variable) variable = make(def, variable_op);
    return variable;
  }

 private:
  VariablePtr make(const VariableDef& def, Operation* variable_op) const {
    if (!variable_op->def().holds_variable) {
      fail(Code::kDataLoss, "A collection lists '", def.variable_name,
           "' as a variable, but its op is ", variable_op->type(), ".");
    }
    auto variable = std::make_shared<Variable>();
    variable->handle = variable_op->output(0);
    variable->is_resource = variable->handle.dtype() == DType::kResource;
    variable->dtype = variable_op->attr_type("dtype");
    variable->shape = declared_shape(*variable_op);
    variable->trainable = def.trainable;
    variable->snapshot = tensor(def.snapshot_name);
    variable->initial_value = tensor(def.initial_value_name);
    variable->initializer = importer_.find(def.initializer_name);
    const auto& shared = variable_op->attr<std::string>("shared_name");
    variable->shared_name = shared.empty() ? variable_op->name() : shared;
    if (def.slice && !def.slice->full_name.empty()) {
      variable->slice = std::make_shared<SaveSliceInfo>(*def.slice);
    }
    return variable;
  }
  Output tensor(const std::string& name) const {
    const std::string op = name.substr(0, name.rfind(':'));
    return importer_.find(op) ? importer_.tensor(name) : Output();
  }

  const GraphImporter& importer_;
  std::map<std::string, VariablePtr> variables_;
};

void import_nodes(Graph& graph,
                  const std::string& name,
                  const CollectionDef& collection,
                  const GraphImporter& importer) {
  for (const std::string& item : collection.strings) {
    const bool is_tensor = item.find(':') != std::string::npos;
    Operation* op = importer.find(item.substr(0, item.rfind(':')));
    if (!op) continue;
    if (is_tensor) {
      graph.add_to_collection(name, importer.tensor(item));
    } else {
      graph.add_to_collection(name, op);
    }
  }
}

}  // namespace

void import_collections(Graph& graph,
                        const MetaGraphDef& meta_graph,
                        const GraphImporter& importer) {
  Variables variables(importer);
  for (const auto& [name, collection] : meta_graph.collections) {
    const bool holds_variables =
        std::count(kVariableCollections.begin(), kVariableCollections.end(), name) > 0;
    if (collection.kind == CollectionDef::Kind::kNodeList) {
      import_nodes(graph, name, collection, importer);
    } else if (collection.kind == CollectionDef::Kind::kBytesList && holds_variables) {
      for (const std::string& bytes : collection.strings) {
        const VariablePtr variable = variables.get(read_variable_def(bytes, name));
        if (variable) graph.add_to_collection(name, variable);
      }
    }
  }
}

void import_meta_graph(Graph& graph,
                       const MetaGraphDef& meta_graph,
                       const std::string& prefix,
                       const std::string& where,
                       ImportRights rights) {
  ImportOptions options;
  options.prefix = prefix;
  options.rights = rights;
  GraphImporter importer(graph, read_graph_def(meta_graph.graph_def, where), options);
  std::vector<std::string> savers;
  if (meta_graph.saver_def) {
    const SaverDef& saver = *meta_graph.saver_def;
    for (const std::string& name : {saver.save_tensor_name, saver.restore_op_name}) {
      savers.push_back(name.substr(0, name.rfind(':')));
    }
  }
  importer.import_all(savers);
  import_collections(graph, meta_graph, importer);
}

}  // namespace runhooks
