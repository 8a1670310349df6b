// What lives here: init_from_checkpoint(): variables whose initial values are those of a checkpoint.
// Who may use it: the bindings.
// What it must not know: estimators, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/variable.h"

namespace runhooks {

// What gets its initial value where from: a name in the checkpoint and a variable (all parts of one
// that was cut), or, where both end in "/", all variables of a scope from those of another one.
struct InitAssignment {
  std::string in_checkpoint;
  std::string name;                    // of a variable or a scope
  std::vector<VariablePtr> variables;  // in the place of a name
};

// tf.train.init_from_checkpoint(): from now on the variables' initializers restore them. What is not
// in the checkpoint or does not fit is an error that names it, and nothing is changed then.
void init_from_checkpoint(Graph& graph,
                          const std::string& checkpoint,
                          const std::vector<InitAssignment>& assignments);

}  // namespace runhooks
