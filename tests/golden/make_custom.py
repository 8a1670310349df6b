"""A convolutional network, trained by real TensorFlow 1.15 from given values:
python3.7 tests/golden/make_custom.py > tests/testthat/golden/custom.json
Data and initial values are sin(k), sin(2 k), ... in row-major order, which test-tf-conv.R also computes.
"""
import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)


def waves(shape, pace):
    return np.sin(pace * np.arange(1, np.prod(shape) + 1)).reshape(shape).astype("float32")


class Waves(tf.keras.initializers.Initializer):
    def __init__(self, pace):
        self.pace = pace

    def __call__(self, shape, dtype=None, partition_info=None):
        return tf.constant(waves([int(d) for d in shape], self.pace) * 0.3)


x = tf.constant(waves([6, 8, 7, 2], 0.7))
labels = tf.constant([0, 1, 2, 3, 4, 0])
conv1 = tf.layers.conv2d(x, 3, [3, 3], padding="same", activation=tf.nn.relu,
                         kernel_initializer=Waves(1.1))
pool1 = tf.layers.max_pooling2d(conv1, [2, 2], 2)
conv2 = tf.layers.conv2d(pool1, 4, 2, strides=[1, 2], kernel_initializer=Waves(1.3))
pool2 = tf.layers.average_pooling2d(conv2, 2, 1, padding="same")
row = tf.layers.conv1d(tf.reshape(pool2, [6, -1, 4]), 5, 2,
                       kernel_initializer=Waves(1.7))
row = tf.layers.max_pooling1d(row, 2, 1)
back = tf.layers.conv2d_transpose(conv2, 2, [2, 3], strides=2, kernel_initializer=Waves(0.9))
flat = tf.concat([tf.layers.flatten(row), tf.layers.flatten(back)], axis=1)
logits = tf.layers.dense(flat, 5, kernel_initializer=Waves(0.3))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
losses = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(5):
        losses.append(float(session.run([loss, train])[0]))
    names = [v.name for v in tf.trainable_variables()]
    values = session.run(tf.trainable_variables())
out = {
    "losses": losses,
    "names": names,
    "values": [[float(e) for e in v.ravel()] for v in values],
    "tensors": [[t.name, str(t.shape)] for t in [conv1, pool1, conv2, pool2, row, back]],
}
json.dump(out, sys.stdout)
