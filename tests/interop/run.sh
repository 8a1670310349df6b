#!/bin/sh
# Exchanges files with a real TensorFlow: sh tests/interop/run.sh, from the root, with
# RUNHOOKS_TF_PYTHON (set by make interop). Exits with 1 if anything differs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

echo "== files of src/io, read by TensorFlow"
mkdir "$work/io"
RUNHOOKS_INTEROP=$work/io make -s cpptest T=io_interop > "$work/io.log" 2>&1 ||
  { cat "$work/io.log"; exit 1; }
"$RUNHOOKS_TF_PYTHON" tests/interop/io_check.py "$work/io" || failed=1

echo "== a run begun here, continued in TensorFlow, continued here"
make -s install > "$work/install.log" 2>&1 || { tail "$work/install.log"; exit 1; }
mkdir "$work/model"
Rscript tests/interop/model.R begin "$work/model" &&
  "$RUNHOOKS_TF_PYTHON" tests/interop/model.py "$work/model" &&
  Rscript tests/interop/model.R end "$work/model" || failed=1

echo "== event files, .meta and graph.pbtxt of a run here, read by TensorFlow"
"$RUNHOOKS_TF_PYTHON" tests/interop/events_check.py "$work/model" || failed=1

# Random models. SEED=number repeats a failed run.
echo "== graphs of all kinds of columns, heads and optimizers, trained on by TensorFlow"
mkdir "$work/graphs"
Rscript tests/interop/graphs.R "$work/graphs" "${MODELS:-24}" \
  "${SEED:-$(($(date +%s) % 1000000))}" || failed=1
for python in $(sh tools/tf_python.sh all); do
  "$python" tests/interop/io_check.py "$work/io" > "$work/io.log" || { cat "$work/io.log"; failed=1; }
  "$python" tests/interop/graphs_check.py "$work/graphs" || failed=1
done

echo "== conditionals, loops and their gradients, run by TensorFlow"
mkdir "$work/flow"
Rscript tests/interop/flow.R "$work/flow" "${CASES:-100}" \
  "${SEED:-$(($(date +%s) % 1000000))}" || failed=1
for python in $(sh tools/tf_python.sh all); do
  "$python" tests/interop/flow.py "$work/flow" || failed=1
done

echo "== exports of canned estimators, loaded by TensorFlow"
mkdir "$work/exports"
Rscript tests/interop/exports.R "$work/exports" "${SEED:-$(($(date +%s) % 1000000))}" || failed=1
seed=${SEED:-$(($(date +%s) % 1000000))}
for python in $(sh tools/tf_python.sh all); do
  echo "== exports of TensorFlow's, and ours of the same models (SEED=$seed)"
  theirs=$work/exports/theirs-$(echo "$python" | cksum | cut -d' ' -f1)
  "$python" tests/golden/make_exports.py "$theirs" "$seed" "${EXPORTS:-12}" > "$work/theirs.log" 2>&1 &&
    Rscript tests/interop/exports_theirs.R "$theirs" || { tail -n 3 "$work/theirs.log"; failed=1; }
done
for python in $(sh tools/tf_python.sh all); do
  echo "== graphs of TensorFlow's that are no estimators'"
  other=$work/other-$(echo "$python" | cksum | cut -d' ' -f1)
  mkdir "$other"
  "$python" tests/interop/other_graphs.py "$other" 2> "$work/other.log" &&
    Rscript tests/interop/other_graphs.R "$other" || { tail -n 3 "$work/other.log"; failed=1; }
done
for python in $(sh tools/tf_python.sh all); do
  "$python" tests/interop/exports_check.py "$work/exports" || failed=1
done

echo "== random feature columns, as TensorFlow's"
# RUNHOOKS_SEED repeats a run.
"$RUNHOOKS_TF_PYTHON" tests/interop/columns.py "$work/columns.json" $RUNHOOKS_SEED &&
  Rscript tests/interop/columns.R "$work/columns.json" || failed=1
# The goldens have the order of TensorFlow 2.15. The graph optimizer of 1.x fuses the two shuffles,
# which changes the order.
for python in $(sh tools/tf_python.sh all); do
  "$python" -c 'import sys, tensorflow as tf; sys.exit(tf.__version__.startswith("1."))' \
    2> /dev/null || continue
  echo "== random input pipelines and delimited text, beside TensorFlow's"
  mkdir -p "$work/datasets"
  "$python" tests/interop/datasets.py "$work/datasets" $RUNHOOKS_SEED 2> "$work/datasets.log" &&
    Rscript tests/interop/datasets.R "$work/datasets" || { tail -n 5 "$work/datasets.log"; failed=1; }
  echo "== random models that look up rows, beside TensorFlow's"
  "$python" tests/interop/rows.py "$work/datasets" $RUNHOOKS_SEED 2> "$work/rows.log" &&
    Rscript tests/interop/rows.R "$work/datasets" || { tail -n 5 "$work/rows.log"; failed=1; }
  echo "== random custom models of estimators, begun with TensorFlow's checkpoints"
  mkdir -p "$work/models"
  "$python" tests/interop/models.py "$work/models" $RUNHOOKS_SEED 2> "$work/models.log" &&
    Rscript tests/interop/models.R "$work/models" || { tail -n 5 "$work/models.log"; failed=1; }
  "$python" tests/interop/models.py "$work/models" ${RUNHOOKS_SEED:-$seed} 30 float64 2> "$work/models.log" &&
    Rscript tests/interop/models.R "$work/models" || { tail -n 5 "$work/models.log"; failed=1; }
  "$python" tests/interop/rounding.py 2> "$work/models.log" || { tail -n 5 "$work/models.log"; failed=1; }
done
# TensorFlow 2 differs in special cases (the sign of NaN), so use 1.x.
for python in $(sh tools/tf_python.sh all); do
  "$python" -c 'import sys, tensorflow as tf; sys.exit(not tf.__version__.startswith("1."))' \
    2> /dev/null || continue
  echo "== ops at random and at the edges, beside TensorFlow's"
  mkdir -p "$work/ops"
  Rscript tests/interop/ops.R begin "$work/ops" &&
    "$python" tests/interop/ops.py "$work/ops" 2> "$work/ops.log" &&
    Rscript tests/interop/ops.R end "$work/ops" || { tail -n 5 "$work/ops.log"; failed=1; }
  echo "== random boosted trees, trained on both sides, from each other's checkpoints, and exported"
  mkdir -p "$work/trees"
  "$python" tests/interop/trees.py begin "$work/trees" "${SEED:-$(($(date +%s) % 1000000))}" \
    "${TREES:-100}" 2> "$work/trees.log" && Rscript tests/interop/trees.R "$work/trees" &&
    "$python" tests/interop/trees.py end "$work/trees" 2> "$work/trees.log" ||
    { tail -n 5 "$work/trees.log"; failed=1; }
  echo "== custom models begun with TensorFlow's checkpoints, trained on both sides"
  mkdir -p "$work/custom"
  "$python" tests/interop/custom.py "$work/custom" 2> "$work/custom.log" &&
    Rscript tests/interop/custom.R "$work/custom" || { tail -n 5 "$work/custom.log"; failed=1; }
done

if [ $failed = 0 ]; then echo "interop: all good"; else echo "interop: FAILED"; fi
exit $failed
