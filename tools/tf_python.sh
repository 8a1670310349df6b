#!/bin/sh
# Prints the Python that has TensorFlow: $RUNHOOKS_TF_PYTHON, or one in the location that
# CONTRIBUTING.md names. Fails without output if it is missing. With the argument `all`, prints all
# of them, one per line: $RUNHOOKS_TF_PYTHON and those of $RUNHOOKS_TF_PYTHONS, or of these
# locations.
found=1
seen=
for python in "$RUNHOOKS_TF_PYTHON" \
  ${RUNHOOKS_TF_PYTHONS:-/opt/venv/tf2/bin/python /opt/venv/tf1/bin/python}; do
  [ -x "$python" ] || continue
  case " $seen " in *" $python "*) continue ;; esac
  seen="$seen $python"
  if "$python" -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec("tensorflow") is None)' 2> /dev/null; then
    echo "$python"
    found=0
    [ "$1" = all ] || break
  fi
done
exit $found
