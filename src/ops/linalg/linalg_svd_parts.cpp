// Instantiates Eigen's singular value decomposition apart from linalg_svd.cpp, because compiling
// both in one file needs 1.4 GB of memory.
// clang-format off: linalg_matrix.h must be included before Eigen
#include "ops/linalg/linalg_matrix.h"
// clang-format on
#include <Eigen/SVD>

template class Eigen::JacobiSVD<Eigen::MatrixXd>;
template class Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>;
