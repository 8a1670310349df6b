#!/usr/bin/env python3
"""Costs of a step of the same model in TensorFlow: python3 bench/step_tf.py [our us a step]

tf.compat.v1.estimator.LinearRegressor on mtcars (drat, cyl; batches of 8), without default hooks except
for the checkpoint saver, which never saves. TensorFlow 1.15 or 2.x up to 2.15.
"""
import os
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
start = time.time()
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.logging.set_verbosity("ERROR")
LOADED = time.time() - start
STEPS = 5000

# drat, cyl, mpg
MTCARS = np.array([
    [3.9, 6, 21], [3.9, 6, 21], [3.85, 4, 22.8], [3.08, 6, 21.4], [3.15, 8, 18.7], [2.76, 6, 18.1],
    [3.21, 8, 14.3], [3.69, 4, 24.4], [3.92, 4, 22.8], [3.92, 6, 19.2], [3.92, 6, 17.8],
    [3.07, 8, 16.4], [3.07, 8, 17.3], [3.07, 8, 15.2], [2.93, 8, 10.4], [3, 8, 10.4],
    [3.23, 8, 14.7], [4.08, 4, 32.4], [4.93, 4, 30.4], [4.22, 4, 33.9], [3.7, 4, 21.5],
    [2.76, 8, 15.5], [3.15, 8, 15.2], [3.73, 8, 13.3], [3.08, 8, 19.2], [4.08, 4, 27.3],
    [4.43, 4, 26], [3.77, 4, 30.4], [4.22, 8, 15.8], [3.62, 6, 19.7], [3.54, 8, 15],
    [4.11, 4, 21.4]], np.float32)


def input_fn():
    data = tf1.data.Dataset.from_tensor_slices(
        ({"drat": MTCARS[:, 0], "cyl": MTCARS[:, 1]}, MTCARS[:, 2]))
    return data.shuffle(32).repeat().batch(8)


class Loss(tf1.train.SessionRunHook):
    """One hook in Python that fetches the loss and stores it."""

    def begin(self):
        self.losses = []

    def before_run(self, context):
        return tf1.train.SessionRunArgs(tf1.get_collection("losses")[-1])

    def after_run(self, context, values):
        self.losses.append(values.results)


def microseconds(hooks):
    config = tf1.estimator.RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=10**9,
                                     save_summary_steps=None, log_step_count_steps=None)
    model = tf1.estimator.LinearRegressor(
        [tf.feature_column.numeric_column("drat"), tf.feature_column.numeric_column("cyl")],
        model_dir=tempfile.mkdtemp(), config=config)
    marks = []

    class Clock(tf1.train.SessionRunHook):
        def after_create_session(self, session, coord):
            marks.append(time.time())

        def end(self, session):
            marks.append(time.time())

    model.train(input_fn, steps=STEPS, hooks=hooks + [Clock()])
    return (marks[1] - marks[0]) / STEPS * 1e6


def main():
    ours = float(sys.argv[1]) if len(sys.argv) > 1 else None
    start = time.time()
    microseconds([])
    print("TensorFlow %s: import %.1f s, first %d steps with graph and session %.1f s"
          % (tf.__version__, LOADED, STEPS, time.time() - start))
    for label, hooks in (("no hook", []), ("one Python hook", [Loss()])):
        us = np.median([microseconds(hooks) for _ in range(3)])
        ratio = ", %.0f x ours without a hook" % (us / ours) if ours else ""
        print("TensorFlow's LinearRegressor, %s: %.0f us a step%s" % (label, us, ratio))


if __name__ == "__main__":
    main()
