#!/usr/bin/env python3
"""Reads with TensorFlow the event files, the .meta files and graph.pbtxt of a model's folder.

  python3 tests/interop/events_check.py FOLDER         TensorFlow 1.15, or 2.x up to 2.15
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
tf1.logging.set_verbosity("ERROR")
FOLDER = os.path.join(sys.argv[1], "whole")
FAILED = []


def check(what, good):
    print("%s %s" % ("ok     " if good else "FAILED ", what))
    if not good:
        FAILED.append(what)


def rows_of(folder):
    """[step, tag, value] of all scalars, as read_events() gives them; and the kinds of all events."""
    rows, kinds = [], []
    for path in sorted(glob.glob(os.path.join(folder, "*tfevents*"))):
        for event in tf1.train.summary_iterator(path):
            kinds.append(event.WhichOneof("what"))
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    rows.append([event.step, value.tag, value.simple_value])
    return rows, kinds


with open(os.path.join(sys.argv[1], "events.json")) as file:
    EXPECTED = json.load(file)
for name in ("logs", "eval"):
    rows, kinds = rows_of(os.path.join(FOLDER, name))
    expected = EXPECTED[name]
    check("scalars of %s (%d)" % (name, len(rows)),
          len(rows) > 0 and len(rows) == len(expected["tag"]) and
          all(row[0] == s and row[1] == t and np.isclose(row[2], v, rtol=1e-6)
              for row, s, t, v in zip(rows, expected["step"], expected["tag"], expected["value"])))
    check("the graph comes first in " + name,
          kinds[:3] == ["file_version", "graph_def", "meta_graph_def"])

traced = []
for path in glob.glob(os.path.join(FOLDER, "profile", "*tfevents*")):
    for event in tf1.train.summary_iterator(path):
        if event.WhichOneof("what") == "tagged_run_metadata":
            metadata = tf1.RunMetadata.FromString(event.tagged_run_metadata.run_metadata)
            nodes = [node.node_name for node in metadata.step_stats.dev_stats[0].node_stats]
            traced.append([event.tagged_run_metadata.tag, "global_step" in nodes])
traced.sort()
check("run metadata of " + str(traced), traced == sorted([["step_%d" % step, True] for step in (9, 19, 29)]))

graph_def = tf1.GraphDef()
with open(os.path.join(FOLDER, "graph.pbtxt")) as file:
    text_format.Parse(file.read(), graph_def)
with tf1.Graph().as_default() as graph:
    tf1.import_graph_def(graph_def, name="")
    check("graph.pbtxt: %d operations" % len(graph.get_operations()),
          len(graph.get_operations()) == len(graph_def.node) > 100)

checkpoint = tf1.train.latest_checkpoint(FOLDER)
with tf1.Graph().as_default() as graph:
    saver = tf1.train.import_meta_graph(checkpoint + ".meta")
    check(".meta: the collections",
          len(tf1.global_variables()) > 3 and len(tf1.trainable_variables()) == 3 and
          "linear/bias:0" in [x.name for x in tf1.get_collection("summaries")])
    with tf1.Session() as session:
        saver.restore(session, checkpoint)
        reader = tf1.train.load_checkpoint(checkpoint)
        for variable in tf1.global_variables():
            info = variable._get_save_slice_info()
            key = info.full_name if info else variable.op.name
            check("restored " + key,
                  np.allclose(session.run(variable), reader.get_tensor(key), rtol=1e-6))
        summary = tf1.Summary.FromString(session.run("linear/fraction_of_zero_weights:0"))
        check("a summary op runs in TensorFlow", summary.value[0].simple_value == 0)
sys.exit(bool(FAILED))
