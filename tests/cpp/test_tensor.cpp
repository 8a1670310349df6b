#include "tensor/tensor.h"
#include "test.h"

using namespace runhooks;

TEST(shape_prints_like_tensorflow) {
  CHECK_EQ(Shape().to_string(), "()");
  CHECK_EQ((Shape{4}).to_string(), "(4,)");
  CHECK_EQ((Shape{-1, 3}).to_string(), "(?, 3)");
  CHECK_EQ(Shape::unknown().to_string(), "<unknown>");
}

TEST(shapes_broadcast_by_numpys_rule) {
  CHECK_EQ(broadcast_shapes({2, 1}, {3}), (Shape{2, 3}));
  CHECK_EQ(broadcast_shapes({-1, 1}, {-1, 4}), (Shape{-1, 4}));
  CHECK_EQ(broadcast_shapes({}, {5}), (Shape{5}));
  CHECK_THROWS(broadcast_shapes({2}, {3}), Code::kInvalidArgument, "(2,) vs. (3,)");
}

TEST(shapes_merge_known_dimensions) {
  CHECK_EQ((Shape{-1, 3}).merge_with(Shape{2, -1}), (Shape{2, 3}));
  CHECK_THROWS((Shape{2}).merge_with(Shape{3}), Code::kInvalidArgument, "not compatible");
}

TEST(tensor_copies_share_memory_and_copy_does_not) {
  const Tensor a = Tensor::vector<float>({1, 2, 3});
  const Tensor shared = a, own = a.copy();
  CHECK(shared.shares_buffer_with(a) && !own.shares_buffer_with(a));
  CHECK(own.equals(a));
  CHECK_EQ(a.reshaped({3, 1}).shape(), (Shape{3, 1}));
  CHECK_THROWS(a.reshaped({2}), Code::kInvalidArgument, "Cannot reshape");
}

TEST(string_tensors_share_a_dictionary) {
  const Tensor words = Tensor::strings({3}, {"b", "a", "b"});
  CHECK_EQ(words.dictionary()->size(), 2);
  CHECK_EQ(words.data<int32_t>()[0], words.data<int32_t>()[2]);
  CHECK_EQ(words.string_at(1), "a");
}

TEST(dtypes_have_tensorflows_names) {
  CHECK_EQ(std::string(dtype_name(DType::kFloat32)), "float32");
  CHECK(dtype_from_name("double") == DType::kFloat64);
  CHECK(dtype_from_name("quaternion") == DType::kInvalid);
}
