// Tests graphs: TensorFlow's names, collections, control inputs, finalization and errors.
#include "graph/variable.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

TEST(graph_names_are_unique_as_in_tensorflow) {
  Graph g;
  CHECK_EQ(g.scalar(DType::kFloat32, 1).name(), "Const:0");
  CHECK_EQ(g.scalar(DType::kFloat32, 1).name(), "Const_1:0");
  CHECK_EQ(g.scalar(DType::kFloat32, 1, "const").name(), "const_2:0");  // names ignore case
  {
    NameScope a(g, "a");
    CHECK_EQ(g.scalar(DType::kFloat32, 1, "x").name(), "a/x:0");
    {
      NameScope b(g, "b");
      CHECK_EQ(g.scalar(DType::kFloat32, 1, "x").name(), "a/b/x:0");
    }
    NameScope again(g, "b");
    CHECK_EQ(g.scalar(DType::kFloat32, 1, "x").name(), "a/b_1/x:0");
  }
  {
    NameScope same(g, "a/");
    CHECK_EQ(g.scalar(DType::kFloat32, 1, "x").name(), "a/x_1:0");
    NameScope root(g, "");
    CHECK_EQ(g.scalar(DType::kFloat32, 1, "x").name(), "x:0");
  }
  CHECK_THROWS(g.scalar(DType::kFloat32, 1, "no good"), Code::kInvalidArgument,
               "not a valid scope name");
}

TEST(graph_names_are_found_among_many) {
  NameTable<Case::kSensitive> exact;
  NameTable<Case::kInsensitive> any_case;
  CHECK(!exact.find("x") && !any_case.find("x"));
  constexpr int kNames = 5000;
  const auto name = [](int i) { return str_cat("Linear/Model/x", i, "/weights"); };
  for (int i = 0; i < kNames; ++i) {
    CHECK(exact.insert(name(i), i));
    CHECK(any_case.insert(name(i), i));
  }
  for (int i = 0; i < kNames; ++i) {
    CHECK_EQ(*exact.find(name(i)), i);
    CHECK_EQ(*any_case.find(str_cat("linear/mOdEl/X", i, "/Weights")), i);
    CHECK(!exact.find(str_cat("linear/model/x", i, "/weights")));
    CHECK(!exact.insert(name(i), -1) && !any_case.insert(name(i), -1));
  }
  CHECK(!any_case.find(name(kNames)));
  *exact.find(name(7)) = 70;
  CHECK_EQ(*exact.find(name(7)), 70);
  // Only letters ignore case. "[" and "{" differ in the same bit as "A" and "a".
  CHECK(any_case.insert("a[", 1) && any_case.insert("a{", 2));
  CHECK_EQ(*any_case.find("A["), 1);
}

TEST(graph_attributes_are_shared_until_they_change) {
  AttrMap a{{"T", DType::kFloat32}};
  AttrMap b = a;
  CHECK(&a.items() == &b.items());
  b.set("T", DType::kFloat64);
  b.set("N", int64_t{2});
  CHECK(std::get<DType>(*a.find("T")) == DType::kFloat32 && !a.find("N"));
  CHECK(std::get<DType>(*b.find("T")) == DType::kFloat64 && b.find("N"));
  CHECK(AttrMap().items().empty() && !AttrMap().find("T"));
}

TEST(graph_finds_by_name_or_explains_the_error) {
  Graph g;
  const Output x = g.scalar(DType::kFloat32, 1, "x");
  Operation* nothing = g.op("NoOp").named("nothing");
  CHECK(g.tensor("x:0") == x);
  CHECK(g.operation("nothing") == nothing);
  CHECK_THROWS(g.tensor("y:0"), Code::kNotFound,
               "The operation, 'y', does not exist in the graph.");
  CHECK_THROWS(g.tensor("nothing:0"), Code::kNotFound, "exists but only has 0 outputs.");
  CHECK_THROWS(g.tensor("x"), Code::kInvalidArgument, "refers to an Operation, not a Tensor");
  CHECK_THROWS(g.tensor("x:y"), Code::kInvalidArgument, "not a valid one");
  CHECK_THROWS(g.operation("y"), Code::kNotFound, "refers to an Operation not in the graph");
}

TEST(graph_checks_types_attributes_and_owners) {
  Graph g, other_graph;
  const Output x = g.scalar(DType::kFloat32, 1), d = g.scalar(DType::kFloat64, 1);
  CHECK_THROWS(g.op("AddV2", {x, d}).build(), Code::kInvalidArgument,
               "float64 that does not match type float32");
  CHECK_THROWS(g.op("Sqrt", {g.scalar(DType::kInt32, 4)}).build(), Code::kInvalidArgument,
               "not in list of allowed values: float32, float64");
  CHECK_THROWS(g.op("AddV2", {x}).build(), Code::kInvalidArgument, "takes 2 inputs; got 1");
  CHECK_THROWS(g.op("Cast", {x}).build(), Code::kInvalidArgument, "needs the attribute 'DstT'");
  CHECK_THROWS(g.op("Neg", {x}).attr("axis", 1).build(), Code::kInvalidArgument,
               "has no attribute 'axis'");
  CHECK_THROWS(g.op("Quaternion").build(), Code::kNotFound, "not registered 'Quaternion'");
  CHECK_THROWS(other_graph.op("Neg", {x}).build(), Code::kInvalidArgument,
               "is not an element of this graph");
  CHECK_THROWS(g.op("Assign", {x, x}).build(), Code::kInvalidArgument, "must be a variable");
}

TEST(finalized_graph_rejects_additions) {
  Graph g;
  g.finalize();
  CHECK_THROWS(g.scalar(DType::kFloat32, 1), Code::kFailedPrecondition,
               "Graph is finalized and cannot be modified.");
  CHECK_THROWS(g.add_to_collection("a", std::string("x")), Code::kFailedPrecondition, "finalized");
  g.unfinalize();
  g.scalar(DType::kFloat32, 1);
}

TEST(graph_collections_keep_order_and_scope) {
  Graph g;
  const Output a = g.scalar(DType::kFloat32, 1, "s/a"), b = g.scalar(DType::kFloat32, 2, "b");
  g.add_to_collection("losses", b);
  g.add_to_collection("losses", a);
  CHECK_EQ(g.collection("losses").size(), size_t{2});
  CHECK(std::get<Output>(g.collection("losses")[0]) == b);
  CHECK_EQ(g.collection("losses", "s/").size(), size_t{1});
  CHECK(g.collection("nothing").empty());
}

TEST(graph_control_dependencies_order_operations) {
  auto g = std::make_shared<Graph>();
  VariableOptions options;
  const VariablePtr w = make_variable(*g, g->scalar(DType::kFloat32, 1), "w", options);
  Operation* update = g->op("AssignAdd", {w->handle, g->scalar(DType::kFloat32, 1)});
  Output after;
  {
    ControlDependencies wait(*g, {update});
    after = g->op("Identity", {w->handle});
    ControlDependencies none(*g, {}, true);
    CHECK(g->scalar(DType::kFloat32, 1).op->control_inputs().empty());
  }
  CHECK_EQ(after.op->control_inputs().size(), size_t{1});
  Session session(g);
  session.run(w->initializer);
  CHECK_EQ(*session.run(after).data<float>(), 2.0f);
}

TEST(variables_are_shared_as_their_scope_requires) {
  Graph g;
  VariableScope scope(g, "layer");
  VariableOptions options;
  const VariablePtr w = g.variables().get("w", {2}, options);
  CHECK_EQ(w->op_name(), "layer/w");
  CHECK_EQ(w->snapshot.name(), "layer/w/read:0");
  CHECK_THROWS(g.variables().get("w", {2}, options), Code::kAlreadyExists,
               "Variable layer/w already exists");
  scope.options().reuse = VariableStore::Reuse::kAuto;
  CHECK(g.variables().get("w", {2}, options) == w);
  CHECK_THROWS(g.variables().get("w", {3}, options), Code::kInvalidArgument,
               "specified shape (3,) and found shape (2,)");
  scope.options().reuse = VariableStore::Reuse::kAlways;
  CHECK_THROWS(g.variables().get("v", {2}, options), Code::kNotFound, "layer/v does not exist");
}

TEST(partitioned_variables_know_their_offsets) {
  Graph g;
  VariableScope scope(g, "m");
  scope.options().partitioner = [](const Shape&, DType) { return std::vector<int64_t>{3, 1}; };
  VariableOptions options;
  const auto parts = g.variables().get_partitioned("w", {7, 2}, options);
  CHECK_EQ(parts.size(), size_t{3});
  CHECK_EQ(parts[0]->shape, (Shape{3, 2}));
  CHECK_EQ(parts[2]->slice->offset[0], int64_t{5});
  CHECK_EQ(parts[1]->op_name(), "m/w/part_1");
  CHECK_EQ(parts[1]->save_name(), "m/w");
}

TEST(global_step_matches_tensorflow) {
  Graph g;
  CHECK(!global_step(g));
  CHECK(!global_step_read(g));
  const VariablePtr step = get_or_create_global_step(g);
  CHECK(get_or_create_global_step(g) == step);
  CHECK_EQ(step->name(), "global_step:0");
  CHECK(step->dtype == DType::kInt64 && !step->trainable);
  CHECK_EQ(global_step_read(g).name(), "global_step/add:0");
  CHECK(global_step_read(g) == global_step_read(g));
}

TEST(attribute_specifications_are_parsed) {
  const AttrDef number = parse_attr("N: int >= 1 = 2");
  CHECK_EQ(number.range.minimum, int64_t{1});
  CHECK_EQ(std::get<int64_t>(number.default_value), int64_t{2});
  const AttrDef type = parse_attr("T: {float, int64} = DT_FLOAT");
  CHECK_EQ(type.allowed_types.size(), size_t{2});
  CHECK(std::get<DType>(type.default_value) == DType::kFloat32);
  CHECK_EQ(parse_attr("padding: {'SAME', 'VALID'}").allowed_strings[1], "VALID");
  const ArgDef list = parse_arg("values: N * T");
  CHECK_EQ(list.number_attr + " " + list.type_attr, "N T");
  CHECK(parse_arg("ref: Ref(T)").is_ref);
}
