"""Shared parts of custom.py's models: data that both sides can compute, sin(k * pace), and heads."""
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402
from waves import waves, whole  # noqa: E402

tf.compat.v1.logging.set_verbosity("ERROR")
STEPS, BATCH, ROWS = 20, 16, 64

X = waves([ROWS, 6], 0.7)
Y = waves([ROWS], 1.3)
CLASS = whole([ROWS], 2.1, 3)
IMAGES = waves([ROWS, 12, 12, 2], 0.31)
TOKENS = whole([ROWS, 7], 0.9, 20)


def input_fn(features, labels, epochs):
    def make():
        data = tf.data.Dataset.from_tensor_slices((features, labels))
        return data.repeat(epochs).batch(BATCH)
    return make


def finish(mode, loss, predictions, train_op, metrics):
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op,
                                      eval_metric_ops=metrics)


def step():
    return tf.train.get_global_step()


def classify(mode, logits, labels, optimizer, extra_loss=None):
    classes = tf.argmax(logits, 1)
    predictions = {"classes": classes, "probabilities": tf.nn.softmax(logits)}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if extra_loss is not None:
        loss = loss + extra_loss
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer.minimize(loss, global_step=step())
    return finish(mode, loss, predictions, train,
                  {"accuracy": tf.metrics.accuracy(labels, classes)})


def regress(mode, output, labels, train_of, loss_of=None):
    predictions = {"y": output}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = (loss_of or tf.losses.mean_squared_error)(labels, output)
    return finish(mode, loss, predictions, train_of(loss),
                  {"rmse": tf.metrics.root_mean_squared_error(labels, output),
                   "mae": tf.metrics.mean_absolute_error(labels, output)})
