// Definitions of a few TensorFlow ops for the tests of graph files.
#pragma once

#include "graph/graph.h"

namespace runhooks_test {

// Registers each of these ops on the first call, unless a linked library has registered it.
inline void ensure_test_ops() {
  using runhooks::OpRegistration;
  using runhooks::ShapeContext;
  static const bool done = [] {
    const auto missing = [](const char* type) { return !runhooks::find_op_or_null(type); };
    if (missing("Unique")) {
      OpRegistration("Unique")
          .summary("for tests")
          .input("x: T")
          .output("y: T")
          .output("idx: out_idx")
          .attr("T: type")
          .attr("out_idx: {int32, int64} = DT_INT32")
          .shape([](ShapeContext& c) {
            c.set_output(0, {-1});
            c.set_output(1, c.input(0));
          });
    }
    if (missing("Bucketize")) {
      OpRegistration("Bucketize")
          .summary("for tests")
          .input("input: T")
          .output("output: int32")
          .attr("T: numbertype")
          .attr("boundaries: list(float)")
          .shape(runhooks::unchanged_shape);
    }
    if (missing("VarHandleOp")) {
      OpRegistration("VarHandleOp")
          .summary("for tests")
          .output("resource: resource")
          .attr("container: string = ''")
          .attr("shared_name: string = ''")
          .attr("dtype: type")
          .attr("shape: shape")
          .shape(runhooks::scalar_shape)
          .stateful();
    }
    if (missing("AssignVariableOp")) {
      OpRegistration("AssignVariableOp")
          .summary("for tests")
          .input("resource: resource")
          .input("value: dtype")
          .attr("dtype: type")
          .shape(runhooks::no_outputs)
          .stateful();
    }
    if (missing("ReadVariableOp")) {
      OpRegistration("ReadVariableOp")
          .summary("for tests")
          .input("resource: resource")
          .output("value: dtype")
          .attr("dtype: type")
          .shape([](ShapeContext& c) { c.set_output(0, runhooks::Shape::unknown()); })
          .stateful();
    }
    if (missing("RestoreV2")) {
      OpRegistration("RestoreV2")
          .summary("for tests")
          .input("prefix: string")
          .input("tensor_names: string")
          .input("shape_and_slices: string")
          .output("tensors: dtypes")
          .attr("dtypes: list(type)")
          .shape([](ShapeContext&) {})
          .stateful();
    }
    return true;
  }();
  (void)done;
}

}  // namespace runhooks_test
