// What Eigen's singular value decomposition stands on, apart from linalg_svd.cpp: together they take
// 1.4 GB of the compiler's memory.
// clang-format off: it comes before Eigen
#include "ops/linalg/linalg_matrix.h"
// clang-format on
#include <Eigen/SVD>

template class Eigen::JacobiSVD<Eigen::MatrixXd>;
template class Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>;
