#!/bin/sh
# Prints the Python that has TensorFlow: $RUNHOOKS_TF_PYTHON, or one where CONTRIBUTING.md puts it.
# Fails, and prints nothing, where there is none.
for python in "$RUNHOOKS_TF_PYTHON" /opt/venv/tf2/bin/python /opt/venv/tf1/bin/python; do
  [ -x "$python" ] || continue
  if "$python" -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec("tensorflow") is None)' 2> /dev/null; then
    echo "$python"
    exit 0
  fi
done
exit 1
