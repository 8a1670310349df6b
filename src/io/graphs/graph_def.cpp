#include "io/graphs/graph_def.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/interrupt.h"
#include "graph/func_graph.h"
#include "io/proto/attr_proto.h"
#include "io/proto/tensor_proto.h"
#include "io/proto/text_format.h"

namespace runhooks {

namespace {

constexpr const char* kOutputShapes = "_output_shapes";

// An attribute to write: a value or, if `value` is NULL, a serialized message.
struct AttrToWrite {
  std::string_view name;
  const AttrValue* value;
  std::string_view serialized;
};

std::vector<std::string> input_names(const Operation& op) {
  std::vector<std::string> names;
  for (const Output& input : op.inputs()) {
    names.push_back(input.index == 0 ? input.op->name() : input.name());
  }
  // TensorFlow sorts control inputs by name.
  const size_t num_data_inputs = names.size();
  for (const Operation* control : op.control_inputs()) names.push_back("^" + control->name());
  std::sort(names.begin() + static_cast<std::ptrdiff_t>(num_data_inputs), names.end());
  return names;
}

bool has_default_value(const OpDef& def, const std::string& name, const AttrValue& value) {
  const AttrDef* attr = def.find_attr(name);
  return attr && !std::holds_alternative<std::monostate>(attr->default_value) &&
         attr_equal(attr->default_value, value);
}

class AttrsToWrite {
 public:
  AttrsToWrite(const Operation& op, const GraphDefOptions& options) {
    for (const auto& attr : op.attrs().items()) {
      const bool is_stripped =
          options.strip_default_attrs && has_default_value(op.def(), attr.first, attr.second);
      if (!is_stripped) items_.push_back({attr.first, &attr.second, {}});
    }
    if (!options.add_shapes || op.num_outputs() == 0) return;
    std::vector<Shape> shapes;
    for (int i = 0; i < op.num_outputs(); ++i) shapes.push_back(op.output_shape(i));
    shapes_ = std::move(shapes);
    const auto is_output_shapes = [](const AttrToWrite& attr) {
      return attr.name == kOutputShapes;
    };
    items_.erase(std::remove_if(items_.begin(), items_.end(), is_output_shapes), items_.end());
    items_.push_back({kOutputShapes, &shapes_, {}});
  }
  AttrsToWrite(const AttrsToWrite&) = delete;  // items_ points to shapes_
  AttrsToWrite& operator=(const AttrsToWrite&) = delete;
  const std::vector<AttrToWrite>& items() const { return items_; }

 private:
  std::vector<AttrToWrite> items_;
  AttrValue shapes_;
};

NodeDef make_node(const Operation& op, const GraphDefOptions& options) {
  NodeDef node;
  node.name = op.name();
  node.op = op.type();
  node.inputs = input_names(op);
  const AttrsToWrite attrs(op, options);
  for (const AttrToWrite& attr : attrs.items()) {
    node.attrs.set(std::string(attr.name), *attr.value);
  }
  return node;
}

// Returns how other nodes of a function refer to output `index` of `op`: by the name of the output
// in the op definition and an index, such as "y:0" or "values:2".
std::string name_in_definition(const Operation& op, int index) {
  for (const ArgDef& arg : op.def().outputs) {
    int count = 1;
    if (!arg.number_attr.empty()) count = static_cast<int>(op.attr_int(arg.number_attr.c_str()));
    if (!arg.type_list_attr.empty()) {
      count = static_cast<int>(op.attr<std::vector<DType>>(arg.type_list_attr.c_str()).size());
    }
    if (index < count) return str_cat(arg.name, ":", index);
    index -= count;
  }
  fail(Code::kInternal, "Op '", op.name(), "' has no such output.");
}

std::string name_in_function(const FuncGraph& function, const Output& x) {
  for (size_t i = 0; i < function.arguments().size(); ++i) {
    const auto& argument = function.arguments()[i];
    if (argument.inside == x && !argument.is_handle()) {
      return str_cat("arg", static_cast<unsigned long>(i));
    }
  }
  return str_cat(x.op->name(), ":", name_in_definition(*x.op, x.index));
}

WireWriter write_function(const FuncGraph& function, const GraphDefOptions& options);

// Adds the functions that the graph calls directly or indirectly.
void add_functions(const Graph& graph,
                   const GraphDefOptions& options,
                   std::map<std::string, std::string>& library) {
  for (const auto& op : graph.operations()) {
    for (const FunctionPtr& function : functions_of(*op)) {
      if (library.count(function->function_name()) > 0) continue;
      library[function->function_name()] = write_function(*function, options).take();
      add_functions(*function, options, library);
    }
  }
}

// Writes the attributes in the order of their names.
void put_attrs(WireWriter& out, std::vector<AttrToWrite> attrs) {
  const auto has_smaller_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::stable_sort(attrs.begin(), attrs.end(), has_smaller_name);
  for (const AttrToWrite& attr : attrs) {
    out.put_nested(5, [&] {
      out.add_bytes(1, attr.name);
      if (attr.value) {
        put_attr(out, 2, *attr.value);
      } else {
        out.put_bytes(2, attr.serialized);
      }
    });
  }
}

void put_node(WireWriter& out, int field, const NodeDef& node) {
  std::vector<AttrToWrite> attrs;
  for (const auto& attr : node.attrs.items()) attrs.push_back({attr.first, &attr.second, {}});
  for (const auto& attr : node.raw_attrs) attrs.push_back({attr.first, nullptr, attr.second});
  out.put_nested(field, [&] {
    out.add_bytes(1, node.name).add_bytes(2, node.op);
    for (const std::string& input : node.inputs) out.put_bytes(3, input);
    out.add_bytes(4, node.device);
    put_attrs(out, attrs);
    out.append(node.other_fields);
  });
}

// Equivalent to writing make_node(op), without the intermediate NodeDef.
void put_node(WireWriter& out, int field, const Operation& op, const GraphDefOptions& options) {
  const AttrsToWrite attrs(op, options);
  out.put_nested(field, [&] {
    out.add_bytes(1, op.name()).add_bytes(2, op.type());
    for (const std::string& input : input_names(op)) out.put_bytes(3, input);
    put_attrs(out, attrs.items());
  });
}

WireWriter write_function(const FuncGraph& function, const GraphDefOptions& options) {
  GraphDefOptions node_options = options;
  node_options.add_shapes = false;
  WireWriter signature, nodes, results;
  signature.add_bytes(1, function.function_name());
  const auto write_arg = [](const std::string& name, DType dtype) {
    return WireWriter().add_bytes(1, name).add_int(3, static_cast<int>(dtype));
  };
  std::set<const Operation*> arguments;
  for (size_t i = 0; i < function.arguments().size(); ++i) {
    const auto& argument = function.arguments()[i];
    if (!argument.is_handle()) arguments.insert(argument.inside.op);
    const std::string name = str_cat("arg", static_cast<unsigned long>(i));
    signature.put_message(2, write_arg(name, argument.inside.dtype()));
  }
  for (size_t i = 0; i < function.results.size(); ++i) {
    const std::string name = str_cat("out", static_cast<unsigned long>(i));
    signature.put_message(3, write_arg(name, function.results[i].dtype()));
    results.put_message(4, WireWriter().add_bytes(1, name).add_bytes(
                               2, name_in_function(function, function.results[i])));
  }
  bool is_stateful = false;
  for (const Operation* op : needed_operations(function)) {
    if (arguments.count(op) > 0) continue;
    NodeDef node = make_node(*op, node_options);
    node.inputs.clear();
    for (const Output& input : op->inputs()) {
      node.inputs.push_back(name_in_function(function, input));
    }
    for (const Operation* control : op->control_inputs()) {
      if (arguments.count(control) == 0) node.inputs.push_back("^" + control->name());
    }
    const OpDef& def = op->def();
    is_stateful = is_stateful || def.is_stateful || def.holds_variable || def.reads_variable;
    put_node(nodes, 3, node);
  }
  signature.add_bool(17, is_stateful);
  return WireWriter().put_message(1, signature).append(nodes.bytes()).append(results.bytes());
}

std::string write_library(const Graph& graph, const GraphDefOptions& options) {
  std::map<std::string, std::string> library;
  add_functions(graph, options, library);
  WireWriter functions;
  for (const auto& function : library) functions.put_bytes(1, function.second);
  return functions.take();
}

void put_library_and_versions(WireWriter& out,
                              const std::string& library,
                              int producer,
                              int min_consumer) {
  out.add_bytes(2, library);
  out.put_nested(4, [&] { out.add_int(1, producer).add_int(2, min_consumer); });
}

// Reads the attributes of a node. The op definition, if known, determines the types of empty lists.
void read_attrs(const std::vector<std::pair<std::string, std::string_view>>& entries,
                std::string_view where,
                NodeDef& node) {
  const OpDef* def = find_op_or_null(node.op);
  for (const auto& entry : entries) {
    const AttrDef* attr = def ? def->find_attr(entry.first) : nullptr;
    const auto value = read_attr(WireReader(entry.second, where), attr ? attr->type : "");
    if (value)
      node.attrs.set(entry.first, *value);
    else
      node.raw_attrs.emplace_back(entry.first, std::string(entry.second));
  }
}

NodeDef read_node(WireReader r) {
  NodeDef node;
  std::vector<std::pair<std::string, std::string_view>> attrs;
  while (r.next()) {
    if (r.field() == 1) node.name = r.text();
    if (r.field() == 2) node.op = r.text();
    if (r.field() == 3) node.inputs.push_back(r.text());
    if (r.field() == 4) node.device = r.text();
    if (r.field() > 5) node.other_fields += WireWriter().put_bytes(r.field(), r.bytes()).bytes();
    if (r.field() != 5) continue;
    attrs.emplace_back();
    for (WireReader entry = r.message(); entry.next();) {
      if (entry.field() == 1) attrs.back().first = entry.text();
      if (entry.field() == 2) attrs.back().second = entry.bytes();
    }
  }
  read_attrs(attrs, r.where(), node);
  return node;
}

}  // namespace

GraphDef make_graph_def(const Graph& graph, const GraphDefOptions& options) {
  GraphDef def;
  for (const auto& op : graph.operations()) def.nodes.push_back(make_node(*op, options));
  def.library = write_library(graph, options);
  return def;
}

std::string write_graph_def(const GraphDef& graph) {
  WireWriter out;
  for (const NodeDef& node : graph.nodes) put_node(out, 1, node);
  put_library_and_versions(out, graph.library, graph.producer, graph.min_consumer);
  return out.take();
}

void GraphDefWriter::put_new_nodes(WireWriter& out) {
  constexpr size_t kTypicalNodeBytes = 320;
  const auto& operations = graph_.operations();
  out.reserve(out.bytes().size() + kTypicalNodeBytes * (operations.size() - num_written_));
  for (; num_written_ < operations.size(); ++num_written_) {
    check_interrupt_throttled();
    put_node(out, 1, *operations[num_written_], options_);
  }
}

void GraphDefWriter::put_end(WireWriter& out) const {
  put_library_and_versions(out, write_library(graph_, options_), GraphDef::kProducer, 0);
}

GraphDef read_graph_def(std::string_view bytes, const std::string& where) {
  GraphDef graph;
  graph.producer = 0;
  const ExpandedBytesLimit expanded_bytes_limit;
  for (WireReader r(bytes, where); r.next();) {
    check_interrupt();
    if (r.field() == 1) graph.nodes.push_back(read_node(r.message()));
    if (r.field() == 2) graph.library.append(r.bytes());
    if (r.field() != 4) continue;
    for (WireReader versions = r.message(); versions.next();) {
      if (versions.field() == 1) graph.producer = versions.int32();
      if (versions.field() == 2) graph.min_consumer = versions.int32();
    }
  }
  return graph;
}

std::string graph_def_text(const GraphDef& graph) {
  return proto_to_text(write_graph_def(graph), "GraphDef", "graph.pbtxt", FloatText::kAsDouble);
}

namespace {

WireWriter write_arg_def(const ArgDef& arg) {
  WireWriter out;
  out.add_bytes(1, arg.name).add_int(3, static_cast<int>(arg.dtype)).add_bytes(4, arg.type_attr);
  out.add_bytes(5, arg.number_attr).add_bytes(6, arg.type_list_attr);
  return out.add_bool(16, arg.is_ref);
}

WireWriter write_attr_def(const AttrDef& attr) {
  WireWriter out;
  out.add_bytes(1, attr.name).add_bytes(2, attr.type);
  if (!std::holds_alternative<std::monostate>(attr.default_value)) {
    put_attr(out, 3, attr.default_value);
  }
  out.add_bool(5, attr.range.has_minimum).add_int(6, attr.range.minimum);
  if (!attr.allowed_types.empty()) put_attr(out, 7, attr.allowed_types);
  if (!attr.allowed_strings.empty()) put_attr(out, 7, attr.allowed_strings);
  return out;
}

WireWriter write_op_def(const OpDef& op) {
  WireWriter out;
  out.add_bytes(1, op.type);
  for (const ArgDef& arg : op.inputs) out.put_message(2, write_arg_def(arg));
  for (const ArgDef& arg : op.outputs) out.put_message(3, write_arg_def(arg));
  for (const AttrDef& attr : op.attrs) out.put_message(4, write_attr_def(attr));
  return out.add_bool(17, op.is_stateful);
}

}  // namespace

std::string write_op_list(const Graph& graph) {
  std::unordered_set<const OpDef*> seen_definitions;
  std::set<std::string> types;
  for (const auto& op : graph.operations()) {
    any_nested_operation(*op, [&](const Operation& inner) {
      if (seen_definitions.insert(&inner.def()).second) types.insert(inner.type());
      return false;
    });
  }
  return write_op_list(types);
}

std::string write_op_list(const std::set<std::string>& types) {
  // Caches the serialized definitions, because each training run writes the same ones.
  static auto& cached_definitions = *new std::map<std::string, WireWriter>;
  WireWriter out;
  for (const std::string& type : types) {
    auto definition = cached_definitions.find(type);
    if (definition == cached_definitions.end())
      definition = cached_definitions.emplace(type, write_op_def(find_op(type))).first;
    out.put_message(1, definition->second);
  }
  return out.take();
}

}  // namespace runhooks
