#!/bin/sh
# Lets a real TensorFlow read our files and the other way round (tests/interop/run.sh), where there
# is one. RUNHOOKS_TF_PYTHON names the Python; run.sh finds the one that was chosen in it.
cd "$(dirname "$0")/.." || exit 1

has_tensorflow() {
  [ -x "$1" ] || return 1
  "$1" -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec("tensorflow") is None)' 2> /dev/null
}

for python in "$RUNHOOKS_TF_PYTHON" /opt/venv/tf2/bin/python /opt/venv/tf1/bin/python; do
  if has_tensorflow "$python"; then
    if [ ! -f tests/interop/run.sh ]; then
      echo "interop: $python has TensorFlow, but there is no tests/interop/run.sh; nothing tested"
      exit 0
    fi
    RUNHOOKS_TF_PYTHON=$python exec sh tests/interop/run.sh
  fi
done
echo "interop: no Python with TensorFlow (set RUNHOOKS_TF_PYTHON); nothing tested"
