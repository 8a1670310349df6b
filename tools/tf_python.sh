#!/bin/sh
# Prints the Python that has TensorFlow: $RUNHOOKS_TF_PYTHON, or one where CONTRIBUTING.md puts it.
# Fails, and prints nothing, where there is none. With the argument `all` every one, in lines:
# $RUNHOOKS_TF_PYTHON and those of $RUNHOOKS_TF_PYTHONS, or those places.
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
