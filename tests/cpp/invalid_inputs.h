// IllCall: an operation with random inputs and attributes, many of them with invalid ranks, sizes,
// types and values.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "session/session.h"

namespace runhooks_test {

// Creates random tensors that are likely to cause errors: empty, of any rank, with negative and
// huge numbers, NaN.
class IllTensors {
 public:
  explicit IllTensors(std::mt19937& random) : random_(random) {}
  bool chance(double probability);
  int64_t between(int64_t low, int64_t high);
  template <typename T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<size_t>(between(0, static_cast<int64_t>(items.size()) - 1))];
  }
  runhooks::DType dtype();
  runhooks::Shape shape();
  runhooks::Shape shape_of_rank(int rank);
  runhooks::Tensor tensor(runhooks::DType dtype, const runhooks::Shape& shape);
  int64_t integer();
  std::string text();
  runhooks::AttrValue attr(const runhooks::AttrDef& def);

 private:
  int64_t element(int mode, int64_t i);
  std::mt19937& random_;
};

// One operation in a new graph. The constructor throws an Error if the graph rejects the operation.
// Some inputs are constants; the others are fed, with shapes unknown to the graph.
class IllCall {
 public:
  IllCall(const runhooks::OpDef& def, std::mt19937& random);
  // Returns outputs and operations that can be fetched.
  std::vector<runhooks::Fetch> fetches() const;
  // Initializes variables and fills tables; in some calls, only some of them.
  void initialize(runhooks::Session& session);
  // Returns random values for all fed inputs, different in each call.
  runhooks::Feeds feeds();
  const std::shared_ptr<runhooks::Graph>& graph() const { return graph_; }

 private:
  struct Fed {
    runhooks::Output placeholder;
    runhooks::Tensor value;
  };
  struct Held {
    runhooks::Variable variable;
    runhooks::Tensor value;
  };
  void take_example(const std::string& text);
  void take_definition();
  void spoil_inputs();
  void spoil_attrs();
  size_t num_inputs_of(const runhooks::ArgDef& arg);
  runhooks::DType type_of(const runhooks::ArgDef& arg);
  runhooks::Shape shape_for(const runhooks::ArgDef& arg);
  runhooks::Output output_of(const runhooks::Tensor& value);
  runhooks::Output handle_for(const runhooks::ArgDef& arg);
  runhooks::Output variable(bool is_resource, runhooks::DType dtype);
  runhooks::Output table();
  runhooks::Output iterator();

  const runhooks::OpDef& def_;
  std::mt19937& random_;
  IllTensors ill_;
  std::shared_ptr<runhooks::Graph> graph_ = std::make_shared<runhooks::Graph>();
  runhooks::Operation* op_ = nullptr;
  runhooks::Shape usual_shape_;
  runhooks::AttrMap types_;  // types of this call, by the name of the type attribute
  runhooks::AttrMap attrs_;
  std::vector<runhooks::Tensor> inputs_;  // an invalid tensor takes the place of a handle
  std::vector<const runhooks::ArgDef*> args_;
  std::vector<Fed> fed_;
  std::vector<Held> held_;
  std::vector<runhooks::Operation*> initializers_;
};

}  // namespace runhooks_test
