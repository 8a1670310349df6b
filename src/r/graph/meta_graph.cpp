#include "graph/lowering.h"
#include "graph/saveable.h"
#include "io/files/atomic_file.h"
#include "io/files/stale_files.h"
#include "io/proto/text_format.h"
#include "r/data/example.h"
#include "r/files/saver.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "training/freeze.h"
#include "training/graph_export.h"
#include "training/import_meta_graph.h"
#include "training/saver.h"

namespace runhooks {
namespace r {

namespace {

std::string single_raw(SEXP x, const char* label) {
  if (TYPEOF(x) == STRSXP) return string_from_r(x);
  const std::vector<std::string> values = bytes_from_r(x, label);
  if (values.size() != 1) invalid_argument("One raw vector is expected for ", label, ".");
  return values[0];
}

GraphDef graph_def_from_r(SEXP x) {
  return read_graph_def(single_raw(x, "a GraphDef"), "GraphDef");
}

ImportRights rights_of(bool trust) { return trust ? ImportRights::kAll : ImportRights::kNone; }

ImportOptions import_options(SEXP input_map, const std::string& prefix, bool trust) {
  ImportOptions options;
  options.prefix = prefix;
  options.rights = rights_of(trust);
  const RList map_list(input_map, "`input_map`");
  for (R_xlen_t i = 0; i < map_list.size(); ++i) {
    const std::string name = map_list.name(i);
    const std::string tensor_name = name.find(':') == std::string::npos ? name + ":0" : name;
    options.input_map[tensor_name] = tensor_of(map_list[i]);
  }
  return options;
}

SEXP element_to_r(const GraphImporter& importer, const std::string& name) {
  if (name.find(':') != std::string::npos) return tensor_handle(importer.tensor(name));
  Operation* op = importer.find(name);
  if (!op) {
    invalid_argument("Requested return_element '", name, "' not found in graph_def.");
  }
  return operation_handle(op);
}

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_message(SEXP graph, bool add_shapes) {
  return guarded_entry([&]() -> SEXP {
    GraphDefOptions options;
    options.add_shapes = add_shapes;
    return raw_to_r(write_graph_def(make_graph_def(*lowered_graph(*graph_of(graph)), options)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_def_nodes(SEXP bytes) {
  return guarded_entry([&]() -> SEXP {
    return list_to_r(graph_def_from_r(bytes).nodes, [](const NodeDef& node) {
      return Rcpp::List::create(Rcpp::_["name"] = node.name, Rcpp::_["op"] = node.op,
                                Rcpp::_["input"] = Rcpp::wrap(node.inputs),
                                Rcpp::_["device"] = node.device);
    });
  });
}

// Converts a serialized message, "GraphDef" or "MetaGraphDef", to text.
// [[Rcpp::export(rng = false)]]
SEXP cpp_message_text(SEXP bytes, Text message) {
  return guarded_entry([&]() -> SEXP {
    const FloatText floats = message == "GraphDef" ? FloatText::kAsDouble : FloatText::kShortest;
    return Rcpp::wrap(proto_to_text(single_raw(bytes, "a message"), message, message, floats));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_message_bytes(Text text, Text message) {
  return guarded_entry([&]() -> SEXP {
    std::string bytes, problem;
    if (!text_to_proto(text, message, &bytes, &problem)) {
      fail(Code::kDataLoss, "This is not a valid ", message, ": ", problem);
    }
    return raw_to_r(bytes);
  });
}

// Adds the nodes of a GraphDef to the default graph. Returns the tensors and operations that
// `return_elements` names, or NULL.
// [[Rcpp::export(rng = false)]]
SEXP cpp_import_graph_def(SEXP bytes, SEXP input_map, SEXP return_elements, Text name, bool trust) {
  return guarded_entry([&]() -> SEXP {
    const std::shared_ptr<Graph> graph = default_graph();
    GraphDef def = graph_def_from_r(bytes);
    std::string prefix = name;
    if (!prefix.empty() && prefix.back() != '/') prefix = NameScope(*graph, name).name();
    GraphImporter importer(*graph, std::move(def), import_options(input_map, prefix, trust));
    importer.import_all();
    const std::vector<std::string> unused = importer.unused_inputs();
    if (!unused.empty()) {
      invalid_argument("Attempted to map inputs that were not found in graph_def: [",
                       str_join(unused, ", "), "]");
    }
    if (return_elements == R_NilValue) return R_NilValue;
    const Texts names(return_elements);
    Rcpp::List elements(names.size());
    for (size_t i = 0; i < names.size(); ++i) elements[i] = element_to_r(importer, names[i]);
    return elements;
  });
}

// Adds a meta graph to the default graph. Returns a saver of its variables, or NULL if the meta
// graph has no variables. `where` names the file in messages.
// [[Rcpp::export(rng = false)]]
SEXP cpp_import_meta_graph(SEXP bytes, Text import_scope, Text where, bool trust) {
  return guarded_entry([&]() -> SEXP {
    const std::shared_ptr<Graph> graph = default_graph();
    const MetaGraphDef meta_graph = read_meta_graph(single_raw(bytes, "a MetaGraphDef"), where);
    const auto before = variables_in(*graph, collection_keys::kGlobalVariables);
    std::string prefix;
    if (!import_scope.empty()) prefix = NameScope(*graph, import_scope).name();
    import_meta_graph(*graph, meta_graph, prefix, where, rights_of(trust));
    std::vector<SaveablePtr> saveables;
    const auto variables = variables_in(*graph, collection_keys::kGlobalVariables);
    for (size_t i = before.size(); i < variables.size(); ++i) {
      // Names in checkpoints do not include the import scope.
      const VariablePtr& variable = variables[i];
      const std::string& name = variable->save_name();
      const bool is_below = name.rfind(prefix, 0) == 0;
      saveables.push_back(
          variable_saveable(variable, is_below ? name.substr(prefix.size()) : name));
    }
    if (saveables.empty()) return R_NilValue;
    SaverOptions options;
    if (meta_graph.saver_def) {
      options.max_to_keep = meta_graph.saver_def->max_to_keep;
      options.keep_checkpoint_every_n_hours = meta_graph.saver_def->keep_checkpoint_every_n_hours;
    }
    auto saver = std::make_shared<Saver>(options);
    saver->build(std::move(saveables));
    return saver_handle(saver);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_read_file(Text path) {
  return guarded_entry([&]() -> SEXP { return raw_to_r(read_whole_file(path)); });
}

// [[Rcpp::export(rng = false)]]
void cpp_write_file(Text path, SEXP bytes) {
  guarded_entry([&] {
    remove_stale_temporaries(path);
    write_file_atomically(path, single_raw(bytes, "a file"));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_meta_graph(SEXP graph) {
  return guarded_entry(
      [&]() -> SEXP { return raw_to_r(GraphExport(*graph_of(graph)).meta_graph()); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_freeze(SEXP session, SEXP bytes, Texts outputs, Texts whitelist, Texts blacklist) {
  return guarded_entry([&]() -> SEXP {
    auto& core_session = *static_cast<Session*>(handle_address(session, kSession));
    FreezeOptions options;
    options.whitelist = whitelist;
    options.blacklist = blacklist;
    return raw_to_r(
        write_graph_def(freeze(core_session, graph_def_from_r(bytes), outputs, options)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_sub_graph(SEXP bytes, Texts outputs) {
  return guarded_entry([&]() -> SEXP {
    return raw_to_r(write_graph_def(extract_sub_graph(graph_def_from_r(bytes), outputs)));
  });
}
