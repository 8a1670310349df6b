#!/usr/bin/env python3
"""Imports the graphs of graphs.R's models into TensorFlow and repeats their steps.

  python3 tests/interop/graphs_check.py FOLDER         TensorFlow 1.15, or 2.x up to 2.15

For each model and step: .meta is imported, the checkpoint restored, the batch fed as the output of
IteratorGetNext, and the logits and the loss compared; then the imported train_op runs, and all
variables are compared with the next checkpoint. graph.pbtxt is imported, too.
"""
import glob
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from google.protobuf import text_format

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity("ERROR")
FAILED = []
TOLERANCE = 1e-5


def check(what, good):
    if not good:
        FAILED.append(what)
        print("FAILED  " + what)


def error_of(actual, expected):
    """The largest difference, relative where values are large."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    if actual.size != expected.size:
        return np.inf
    difference = np.abs(actual.ravel() - expected.ravel()) / np.maximum(np.abs(expected.ravel()), 1)
    return 0 if difference.size == 0 else np.max(difference)


def array_of(value, tensor):
    values = value["values"]
    if tensor.dtype == tf.string:
        values = [x.encode() for x in values]
    dtype = object if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype
    # R's arrays are column-major.
    return np.array(values, dtype).reshape(value["shape"], order="F")


def check_text(folder, name):
    graph_def = tf1.GraphDef()
    with open(os.path.join(folder, "graph.pbtxt")) as file:
        text_format.Parse(file.read(), graph_def)
    with tf1.Graph().as_default() as graph:
        tf1.import_graph_def(graph_def, name="")
        check(name + ": graph.pbtxt", len(graph.get_operations()) == len(graph_def.node))


def check_step(folder, name, run, step):
    """The step that leads from this checkpoint to the next one."""
    checkpoint = os.path.join(folder, "model.ckpt-%d" % step)
    with tf1.Graph().as_default() as graph, tf1.Session() as session, tf1.Session() as after:
        saver = tf1.train.import_meta_graph(checkpoint + ".meta")
        session.run([tf1.local_variables_initializer(), tf1.tables_initializer()])
        saver.restore(session, checkpoint)
        values = run["runs"][step]
        feed = {}
        for tensor_name, value in zip(run["batch"], values["batch"]):
            tensor = graph.get_tensor_by_name(tensor_name)
            feed[tensor] = array_of(value, tensor)
        for tensor_name, value in zip(run["compared"], values["compared"]):
            tensor = graph.get_tensor_by_name(tensor_name)
            error = error_of(session.run(tensor, feed), array_of(value, tensor))
            check("%s, step %d: %s is off by %.1e" % (name, step, tensor_name, error),
                  error <= TOLERANCE)
        session.run(tf1.get_collection("train_op"), feed)
        saver.restore(after, os.path.join(folder, "model.ckpt-%d" % (step + 1)))
        worst = 0
        for variable in tf1.global_variables():
            if variable.op.name == "global_step":
                continue
            error = error_of(session.run(variable), after.run(variable))
            worst = max(worst, error)
            check("%s, step %d: %s after it is off by %.1e" % (name, step, variable.name, error),
                  error <= TOLERANCE)
        return worst


folders = sorted(glob.glob(os.path.join(sys.argv[1], "*", "run.json")))
for path in folders:
    folder = os.path.dirname(path)
    with open(path) as file:
        run = json.load(file)
    name = "%s (%s)" % (os.path.basename(folder), run["model"])
    before = len(FAILED)
    try:
        check_text(folder, name)
        worst = max(check_step(folder, name, run, step) for step in range(len(run["runs"])))
        if len(FAILED) == before:
            print("ok      %s: variables are off by %.1e" % (name, worst))
    except Exception as error:  # one model's failure must not hide the others
        check("%s: %s" % (name, str(error)[:600]), False)
check("there are models", len(folders) > 0)
print("TensorFlow %s: %d models, %d failed" % (tf.__version__, len(folders), len(FAILED)))
sys.exit(bool(FAILED))
