#!/usr/bin/env python3
"""The middle part of the run of model.R, in TensorFlow's estimator.

  python3 tests/interop/model.py FOLDER         TensorFlow 1.15, or 2.x up to 2.15
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.logging.set_verbosity("ERROR")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from step_tf import MTCARS

FOLDER = sys.argv[1]
SHARED = os.path.join(FOLDER, "shared")
FAILED = []


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return json.load(file)


def compare(what, actual, expected):
    actual, expected = np.ravel(actual), np.ravel(expected)
    same = actual.shape == expected.shape
    error = np.max(np.abs(actual - expected) / np.maximum(np.abs(expected), 1e-3)) if same else np.inf
    good = bool(error <= 1e-5)
    print("%s %s (largest relative error %.1e)" % ("ok     " if good else "FAILED ", what, error))
    if not good:
        FAILED.append(what)


def input_fn(epochs):
    data = tf1.data.Dataset.from_tensor_slices(
        ({"drat": MTCARS[:, 0], "cyl": MTCARS[:, 1]}, MTCARS[:, 2]))
    return data.repeat(epochs).batch(8)


class Losses(tf1.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def before_run(self, context):
        return tf1.train.SessionRunArgs("linear/head/weighted_loss/Sum:0")

    def after_run(self, context, values):
        self.losses.append(values.results)


model = tf1.estimator.LinearRegressor(
    [tf.feature_column.numeric_column("drat"), tf.feature_column.numeric_column("cyl")],
    model_dir=SHARED, optimizer=lambda: tf1.train.AdamOptimizer(0.1))

first, second, outputs = read("part1.json"), read("part2.json"), read("outputs.json")
for name in sorted(first["variables"]):
    compare("variable " + name, model.get_variable_value(name), first["variables"][name])
metrics = model.evaluate(lambda: input_fn(1))
for name in sorted(metrics):
    compare("metric " + name, metrics[name], outputs["metrics"][name])
predictions = [p["predictions"] for p in model.predict(lambda: input_fn(1))]
compare("predictions", predictions, outputs["predictions"])

hook = Losses()
model.train(lambda: input_fn(None), steps=10, hooks=[hook])
compare("losses of TensorFlow's ten steps", hook.losses, second["losses"])
for name in sorted(second["variables"]):
    compare("variable %s after them" % name, model.get_variable_value(name),
            second["variables"][name])
sys.exit(bool(FAILED))
