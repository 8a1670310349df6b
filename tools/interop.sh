#!/bin/sh
# Lets a real TensorFlow read our files and the other way round (tests/interop/run.sh), where there
# is one.
cd "$(dirname "$0")/.." || exit 1
if python=$(sh tools/tf_python.sh); then
  RUNHOOKS_TF_PYTHON=$python exec sh tests/interop/run.sh
fi
echo "interop: no Python with TensorFlow (set RUNHOOKS_TF_PYTHON); nothing tested"
