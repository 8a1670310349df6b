#!/bin/sh
# Exchanges files with a real TensorFlow in both directions (tests/interop/run.sh), if it is
# installed.
cd "$(dirname "$0")/.." || exit 1
if python=$(sh tools/tf_python.sh); then
  RUNHOOKS_TF_PYTHON=$python exec sh tests/interop/run.sh
fi
echo "interop: no Python with TensorFlow (set RUNHOOKS_TF_PYTHON); nothing tested"
