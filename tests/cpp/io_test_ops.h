// What lives here: definitions of a few TensorFlow ops for the tests of graph files.
// Who may use it: tests/cpp/test_io_*.cpp.
// What it must not know: kernels, R.
#pragma once

#include "graph/graph.h"

namespace runhooks_test {

// Registers those ops that no library has registered, once.
inline void ensure_test_ops() {
  using runhooks::OpRegistration;
  using runhooks::ShapeContext;
  static const bool done = [] {
    const auto missing = [](const char* type) { return !runhooks::find_op_or_null(type); };
    const auto as_attr = [](ShapeContext& c) {
      c.set_output(0, c.op().attr<runhooks::Shape>("shape"));
    };
    if (missing("Const")) {
      OpRegistration("Const")
          .output("output: dtype")
          .attr("value: tensor")
          .attr("dtype: type")
          .shape([](ShapeContext& c) {
            c.set_output(0, c.op().attr<runhooks::Tensor>("value").shape());
          });
    }
    if (missing("Placeholder")) {
      OpRegistration("Placeholder")
          .output("output: dtype")
          .attr("dtype: type")
          .attr("shape: shape = unknown")
          .shape(as_attr);
    }
    if (missing("MatMul")) {
      OpRegistration("MatMul")
          .input("a: T")
          .input("b: T")
          .output("product: T")
          .attr("transpose_a: bool = false")
          .attr("transpose_b: bool = false")
          .attr("T: {float, double}")
          .shape([](ShapeContext& c) {
            c.set_output(0, {c.input(0).dim(0), c.input(1).dim(1)});
          });
    }
    if (missing("AddV2")) {
      OpRegistration("AddV2")
          .input("x: T")
          .input("y: T")
          .output("z: T")
          .attr("T: numbertype")
          .shape(runhooks::broadcast_shape);
    }
    if (missing("NoOp")) OpRegistration("NoOp").shape(runhooks::no_outputs);
    if (missing("Unique")) {
      OpRegistration("Unique")
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
          .input("input: T")
          .output("output: int32")
          .attr("T: numbertype")
          .attr("boundaries: list(float)")
          .shape(runhooks::unchanged_shape);
    }
    if (missing("Squeeze")) {
      OpRegistration("Squeeze")
          .input("input: T")
          .output("output: T")
          .attr("T: type")
          .attr("squeeze_dims: list(int) = []")
          .shape([](ShapeContext& c) { c.set_output(0, runhooks::Shape::unknown()); });
    }
    if (missing("VarHandleOp")) {
      OpRegistration("VarHandleOp")
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
          .input("resource: resource")
          .input("value: dtype")
          .attr("dtype: type")
          .shape(runhooks::no_outputs)
          .stateful();
    }
    if (missing("ReadVariableOp")) {
      OpRegistration("ReadVariableOp")
          .input("resource: resource")
          .output("value: dtype")
          .attr("dtype: type")
          .shape([](ShapeContext& c) { c.set_output(0, runhooks::Shape::unknown()); })
          .stateful();
    }
    if (missing("RestoreV2")) {
      OpRegistration("RestoreV2")
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
