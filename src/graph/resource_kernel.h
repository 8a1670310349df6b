// The kernel of operations whose output is a handle to their resource in the session.
#pragma once

#include <memory>

#include "graph/op_registry.h"

namespace runhooks {

std::unique_ptr<Kernel> resource_handle_kernel(const Operation& op);

}  // namespace runhooks
