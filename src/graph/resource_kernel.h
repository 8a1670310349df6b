// What lives here: the kernel of operations whose output is a handle to what a session keeps of them.
// Who may use it: ops that register a resource (OpRegistration::keeps()).
// What it must not know: what the resource is.
#pragma once

#include <memory>

#include "graph/op_registry.h"

namespace runhooks {

std::unique_ptr<Kernel> resource_handle_kernel(const Operation& op);

}  // namespace runhooks
