"""Shows why models.py does not combine batch normalization with adaptive optimizers in float32, nor
l2_normalize of one number: compares TensorFlow with itself after changing one number of the data by one
unit in the last place. The gradient before a normalization is a rounding error, which Adam divides by its
own size. In float64 both are included, and compared to 1e-9.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import warnings  # noqa: E402

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from waves import waves  # noqa: E402

tf.disable_v2_behavior()
warnings.simplefilter("ignore")
tf.logging.set_verbosity("FATAL")
STEPS = 8
OPTIMIZERS = {"SGD": lambda: tf.train.GradientDescentOptimizer(0.1),
              "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
              "Adam": lambda: tf.train.AdamOptimizer(0.1)}


def dense(net, units, name, activation=None):
    start = waves([int(net.shape[1]), units], 0.37)
    return tf.layers.dense(net, units, activation, name=name,
                           kernel_initializer=tf.constant_initializer(start))


def trained(kind, optimizer, dtype, moves):
    """All variables after some steps."""
    x = waves([48, 5], 0.7)
    if moves:
        x.flat[7] = np.nextafter(x.flat[7], np.float32(10))
    with tf.Graph().as_default(), tf.Session() as session:
        net = dense(tf.constant(x.astype(dtype)), 4, "first", tf.nn.tanh)
        if kind == "batch_norm":
            net = tf.layers.batch_normalization(dense(net, 3, "before"), momentum=0.5, training=True)
        elif kind == "l2_normalize of one":
            net = tf.nn.l2_normalize(dense(net, 1, "before"), 1)
        y = tf.squeeze(dense(net, 1, "head"), 1)
        loss = tf.reduce_mean(tf.square(y - waves([48], 1.3).astype(dtype)))
        step = OPTIMIZERS[optimizer]().minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(STEPS):
            session.run(step)
        return {v.name: session.run(v) for v in tf.global_variables()}


for kind in ("nothing", "batch_norm", "l2_normalize of one"):
    for optimizer in OPTIMIZERS:
        for dtype in ("float32", "float64"):
            a, b = (trained(kind, optimizer, dtype, moves) for moves in (False, True))
            moved = {n: float(np.max(np.abs(a[n] - b[n]) / (1 + np.abs(a[n])))) for n in a}
            most = max(moved, key=moved.get)
            print("rounding: %s, %s, %s: %.1e in %s" % (kind, optimizer, dtype, moved[most], most))
            is_rounding = kind != "nothing" and optimizer == "Adam" and dtype == "float32"
            assert (moved[most] > 1e-3) == is_rounding
