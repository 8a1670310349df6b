#!/usr/bin/env python3
"""Runs the graphs of flow.R in a real TensorFlow and compares the results.

  python3 tests/interop/flow.py FOLDER         TensorFlow 1.15, or 2.x up to 2.15
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from google.protobuf import text_format

tf1 = tf.compat.v1
tf1.disable_eager_execution()


def array(value):
    # R's arrays are column-major.
    return np.array(value["values"], np.float64).reshape(value["shape"], order="F")


folder = sys.argv[1]
with open(os.path.join(folder, "flow.json")) as file:
    cases = json.load(file)
failed = 0
for i, case in enumerate(cases, 1):
    graph_def = tf1.GraphDef()
    with open(os.path.join(folder, "flow%d.pbtxt" % i)) as file:
        text_format.Parse(file.read(), graph_def)
    with tf1.Graph().as_default() as graph, tf1.Session() as session:
        try:
            tf1.import_graph_def(graph_def, name="")
            session.run(graph.get_operation_by_name(case["init"]))
            feeds = {name + ":0": array(value) for name, value in case["feeds"].items()}
            there = session.run({k: "fetch_%s:0" % k for k in case["values"]}, feeds)
        except Exception as error:
            failed += 1
            print("flow: case %d: %s" % (i, str(error).splitlines()[0]))
            continue
    for name, value in case["values"].items():
        here = array(value)
        error = np.max(np.abs(here - there[name]) / np.maximum(np.abs(here), 1))
        if not error < 1e-9:
            failed += 1
            print("flow: case %d: %s differs by %g" % (i, name, error))
print("flow: %d graphs, %d results differ (TensorFlow %s)" % (len(cases), failed, tf.__version__))
sys.exit(failed > 0)
