"""Random custom models of estimators: models.py <folder> [seed [count [dtype]]] trains each in
TensorFlow 2.x's graphs, writes the checkpoint at its start to <folder>/<i>, and models.json with its
description and results. models.R builds the same models, starts from the same checkpoints and compares.

Data are sin(k * pace), which both sides can compute. In float64 there are more steps, also models whose
gradients would be rounding errors in float32, and results must agree to 1e-9.
"""
import json
import os
import random
import shutil
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from waves import Losses, waves, whole  # noqa: E402

tf.disable_v2_behavior()
warnings.simplefilter("ignore")  # TensorFlow 2's deprecation warnings
tf.logging.set_verbosity("FATAL")

folder = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
count = int(sys.argv[3]) if len(sys.argv) > 3 else 60
dtype = sys.argv[4] if len(sys.argv) > 4 else "float32"
IS_DOUBLE = dtype == "float64"
rng = random.Random(seed)
STEPS, BATCH, ROWS = 8 if IS_DOUBLE else 5, 16, 48  # rounding grows with each step
ACTIVATIONS = ["none", "tanh", "relu", "sigmoid", "softplus", "elu", "selu", "softsign", "leaky_relu",
               "relu6"]


def numbers(x):
    return x.astype(dtype)


FEATURES = {"x": numbers(waves([ROWS, 5], 0.7)), "image": numbers(waves([ROWS, 8, 8, 2], 0.31)),
            "tokens": whole([ROWS, 4], 0.9, 9),
            "weight": numbers(np.abs(waves([ROWS], 2.7)) + np.float32(0.25))}
LABELS = {"number": numbers(waves([ROWS], 1.3)), "count": numbers(whole([ROWS], 1.9, 5)),
          "class": whole([ROWS], 2.1, 3), "flag": whole([ROWS], 2.3, 2)}


def few(*values):
    return rng.choice(values)


# --- components of a model

def random_layer(kind):
    if kind == "conv2d":
        # TensorFlow has no float64 lrn.
        return {"kind": few("conv2d", "separable", "max_pool", "average_pool",
                            "conv2d" if IS_DOUBLE else "lrn"),
                "filters": rng.randint(2, 4), "size": rng.randint(1, 3), "strides": rng.randint(1, 2),
                "padding": few("same", "valid"), "activation": few(*ACTIVATIONS)}
    return {"kind": few("dense", "dense", "dense", "batch_norm", "residual", "l2_normalize", "split",
                        "moments"),
            # Normalizing a single number gives its sign, whose gradient is a rounding error
            # (rounding.py).
            "units": rng.randint(1 if IS_DOUBLE else 2, 6),
            "activation": few(*ACTIVATIONS), "bias": rng.random() < 0.8,
            # TensorFlow first converts 0.9 to float32, which float64 shows.
            "momentum": 0.5 if IS_DOUBLE else few(0.5, 0.9), "l2": few(0.0, 0.0, 0.01),
            "trainable": rng.random() < 0.9}


def rounded_layers():
    """What has no gradient but rounding, before what makes it so."""
    before, behind = random_layer("dense"), random_layer("dense")
    before.update(kind="dense", trainable=True)
    behind["kind"] = few("batch_norm", "l2_normalize")
    if behind["kind"] == "l2_normalize":
        before["units"] = 1
    return [before, behind]


def random_model():
    inputs = rng.sample(["x", "image", "tokens"], rng.randint(1, 2))
    head = few("number", "number", "count", "class", "flag")
    layers = [random_layer("dense") for _ in range(rng.randint(0, 3))]
    if IS_DOUBLE and rng.random() < 0.5:
        layers += rounded_layers()
    # Layers before a normalization may have gradients that are rounding errors, which these
    # optimizers divide by their own size. Both sides would be correct and differ in float32, as
    # TensorFlow differs from itself (rounding.py). In float64, the optimizers' epsilon hides them.
    has_norm = any(one["kind"] == "batch_norm" for one in layers)
    adaptive = [] if has_norm and not IS_DOUBLE else ["Adagrad", "Adam", "RMSProp", "CenteredRMSProp", "Ftrl",
                                    "Adadelta", "ProximalAdagrad"]
    return {
        "inputs": inputs, "head": head, "weighted": rng.random() < 0.3,
        "images": [random_layer("conv2d") for _ in range(rng.randint(1, 2))],
        "combiner": few("mean", "sum", "max"), "embedding": rng.randint(2, 4),
        "max_norm": few(None, None, 0.5),
        "layers": layers,
        "loss": few("mean_squared_error", "absolute_difference", "huber_loss", "log_cosh")
        if head == "number" else few("log_poisson", "mean_squared_error"),
        "smoothing": few(0.0, 0.1),
        "reduction": few("weighted_sum", "weighted_mean", "weighted_sum_by_nonzero_weights",
                         "weighted_sum_over_batch_size"),
        "optimizer": few("GradientDescent", "Momentum", "Nesterov", "ProximalGradientDescent",
                         *adaptive),
        "rate": few(0.02, 0.1),
        "decay": few("none", "exponential", "staircase", "polynomial", "inverse_time", "cosine",
                     "piecewise"),
        "clip": few("none", "none", "global_norm", "norm", "value"),
        "average": few(None, None, None, 0.9)}


# --- the same in TensorFlow

def activation(name):
    return None if name == "none" else getattr(tf.nn, name)


def image_layer(net, spec):
    act = activation(spec["activation"])
    kind, size, padding = spec["kind"], spec["size"], spec["padding"]
    # A window of at least one.
    size = min(size, int(net.shape[1]), int(net.shape[2]))
    if kind == "conv2d":
        return tf.layers.conv2d(net, spec["filters"], size, spec["strides"], padding, activation=act)
    if kind == "separable":
        # TensorFlow's separable strides must be equal in both directions.
        return tf.layers.separable_conv2d(net, spec["filters"], size, spec["strides"], padding,
                                          activation=act)
    if kind == "max_pool":
        return tf.layers.max_pooling2d(net, size, spec["strides"], padding)
    if kind == "average_pool":
        return tf.layers.average_pooling2d(net, size, spec["strides"], padding)
    return tf.nn.lrn(net, 2, bias=1.0, alpha=0.1, beta=0.5)


def layer(net, spec, training):
    kind, act = spec["kind"], activation(spec["activation"])
    if kind == "dense":
        l2 = spec["l2"]
        return tf.layers.dense(
            net, spec["units"], act, spec["bias"], trainable=spec["trainable"],
            kernel_regularizer=(lambda w: l2 * tf.nn.l2_loss(w)) if l2 else None)
    if kind == "batch_norm":
        return tf.layers.batch_normalization(net, momentum=spec["momentum"], training=training)
    if kind == "residual":
        return net + tf.layers.dense(net, int(net.shape[1]), act)
    if kind == "l2_normalize":
        return tf.nn.l2_normalize(net, 1)
    if kind == "split":
        return tf.concat([net, tf.square(net), tf.reverse(net, [1])], 1)
    mean, variance = tf.nn.moments(net, [1], keep_dims=True)
    return (net - mean) / tf.sqrt(variance + 0.1)


def network(spec, features, training):
    parts = []
    for name in spec["inputs"]:
        if name == "x":
            parts.append(features["x"])
        elif name == "image":
            net = features["image"]
            for one in spec["images"]:
                net = image_layer(net, one)
            parts.append(tf.layers.flatten(net))
        else:
            table = tf.get_variable("table", [9, spec["embedding"]], dtype)
            rows = tf.nn.embedding_lookup(table, features["tokens"], max_norm=spec["max_norm"])
            parts.append(getattr(tf, "reduce_" + spec["combiner"])(rows, 1))
    net = tf.concat(parts, 1)
    for one in spec["layers"]:
        net = layer(net, one, training)
    return net


def learning_rate(spec, step):
    rate, kind, decays = spec["rate"], spec["decay"], tf.train
    drop = 0.7
    if IS_DOUBLE and kind != "none":
        # TensorFlow first converts a plain number to float32.
        drop = tf.constant(drop, dtype)
        if kind == "piecewise":
            return decays.piecewise_constant(
                step, [2, 5], [tf.constant(rate * x, dtype) for x in (1, 0.5, 0.1)])
        rate = tf.constant(rate, dtype)
    if kind in ("exponential", "staircase"):
        return decays.exponential_decay(rate, step, 3, drop, staircase=kind == "staircase")
    if kind == "polynomial":
        return decays.polynomial_decay(rate, step, 5, 0.01, power=0.5, cycle=True)
    if kind == "inverse_time":
        return decays.inverse_time_decay(rate, step, 2, 0.5)
    if kind == "cosine":
        return decays.cosine_decay(rate, step, 10, 0.1)
    if kind == "piecewise":
        return decays.piecewise_constant(step, [2, 5], [rate, rate * 0.5, rate * 0.1])
    return rate


def optimizer(spec, rate):
    t = tf.train
    return {"GradientDescent": lambda: t.GradientDescentOptimizer(rate),
            "Momentum": lambda: t.MomentumOptimizer(rate, 0.9),
            "Nesterov": lambda: t.MomentumOptimizer(rate, 0.8, use_nesterov=True),
            "Adagrad": lambda: t.AdagradOptimizer(rate), "Adam": lambda: t.AdamOptimizer(rate),
            "RMSProp": lambda: t.RMSPropOptimizer(rate, momentum=0.5),
            "CenteredRMSProp": lambda: t.RMSPropOptimizer(rate, centered=True),
            "Ftrl": lambda: t.FtrlOptimizer(rate, l1_regularization_strength=0.01,
                                            l2_regularization_strength=0.02),
            "Adadelta": lambda: t.AdadeltaOptimizer(rate * 10),
            "ProximalAdagrad": lambda: t.ProximalAdagradOptimizer(
                rate, l1_regularization_strength=0.01),
            "ProximalGradientDescent": lambda: t.ProximalGradientDescentOptimizer(
                rate, l2_regularization_strength=0.02)}[spec["optimizer"]]()


def minimized(spec, loss, step):
    opt = optimizer(spec, learning_rate(spec, step))
    pairs = [(g, v) for g, v in opt.compute_gradients(loss) if g is not None]
    grads = [g for g, _ in pairs]
    if spec["clip"] == "global_norm":
        grads = tf.clip_by_global_norm(grads, 0.3)[0]
    if spec["clip"] == "norm":
        grads = [tf.clip_by_norm(g, 0.2) for g in grads]
    if spec["clip"] == "value":
        grads = [tf.clip_by_value(g, -0.05, 0.05) for g in grads]
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = opt.apply_gradients(list(zip(grads, [v for _, v in pairs])), global_step=step)
    if spec["average"] is None:
        return train
    with tf.control_dependencies([train]):
        return tf.train.ExponentialMovingAverage(spec["average"]).apply(tf.trainable_variables())


def own_loss(spec, y, labels, weights):
    """Without tf.losses, which compute in float32."""
    if spec["head"] == "class":
        rows = tf.nn.softmax_cross_entropy_with_logits_v2(tf.one_hot(labels, 3, dtype=dtype), y)
    elif spec["head"] == "flag":
        rows = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(labels, dtype), logits=y)
    elif spec["loss"] == "log_poisson":
        rows = tf.nn.log_poisson_loss(labels, y, compute_full_loss=True)
    elif spec["loss"] == "log_cosh":
        rows = tf.log(tf.cosh(y - labels))
    elif spec["loss"] == "absolute_difference":
        rows = tf.abs(y - labels)
    else:
        rows = tf.square(y - labels)
    return tf.reduce_mean(rows if weights is None else rows * weights)


def head(spec, net, labels, weights):
    """Predictions, a function that gives the loss, and one that gives metrics."""
    kind, losses = spec["head"], tf.losses
    given = {"weights": weights if weights is not None else 1.0, "reduction": spec["reduction"]}
    if kind in ("number", "count"):
        y = tf.squeeze(tf.layers.dense(net, 1, name="head"), 1)
        name = spec["loss"]

        def loss_of():
            if IS_DOUBLE:
                return own_loss(spec, y, labels, weights)
            if name == "log_cosh":
                return losses.compute_weighted_loss(tf.log(tf.cosh(y - labels)), **given)
            if name == "log_poisson":
                return losses.compute_weighted_loss(
                    tf.nn.log_poisson_loss(labels, y, compute_full_loss=True), **given)
            return getattr(losses, name)(labels, y, **given)
        return {"y": y}, loss_of, lambda: {
            "rmse": tf.metrics.root_mean_squared_error(labels, y, weights),
            "mae": tf.metrics.mean_absolute_error(labels, y, weights),
            "mean": tf.metrics.mean(y, weights)}
    if kind == "class":
        logits = tf.layers.dense(net, 3, name="head")
        classes = tf.argmax(logits, 1)

        def class_loss():
            if IS_DOUBLE:
                return own_loss(spec, logits, labels, weights)
            if spec["smoothing"]:
                return losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits,
                                                    label_smoothing=spec["smoothing"], **given)
            return losses.sparse_softmax_cross_entropy(labels, logits, **given)
        return {"classes": classes, "probabilities": tf.nn.softmax(logits)}, class_loss, lambda: {
            "accuracy": tf.metrics.accuracy(labels, classes, weights),
            "in_top": tf.metrics.mean(tf.cast(tf.nn.in_top_k(
                tf.cast(logits, tf.float32), labels, 2), tf.float32))}
    logits = tf.squeeze(tf.layers.dense(net, 1, name="head"), 1)
    p = tf.sigmoid(logits)
    return {"p": p}, lambda: own_loss(spec, logits, labels, weights) if IS_DOUBLE else (
        losses.sigmoid_cross_entropy(
            tf.cast(labels, tf.float32), logits, label_smoothing=spec["smoothing"], **given)), lambda: {
        "auc": tf.metrics.auc(labels, p, weights), "precision": tf.metrics.precision(labels, p > 0.5),
        "recall": tf.metrics.recall(labels, p > 0.5), "log": tf.metrics.mean(tf.log(p + 0.1))}


def model_fn_of(spec):
    def model_fn(features, labels, mode):
        net = network(spec, features, mode == "train")
        weights = features["weight"] if spec["weighted"] else None
        predictions, loss_of, metrics_of = head(spec, net, labels, weights)
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = loss_of()
        regularization = tf.losses.get_regularization_losses()
        if regularization:
            loss = loss + tf.add_n(regularization)
        train = minimized(spec, loss, tf.train.get_global_step()) if mode == "train" else None
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train,
                                          eval_metric_ops=metrics_of())
    return model_fn


def moved(x):
    """The data with each number one unit in its last place away."""
    return np.nextafter(x, x + 1) if x.dtype.kind == "f" else x


def input_fn(spec, epochs, moves=False):
    features = {name: FEATURES[name] for name in spec["inputs"] + ["weight"]}
    if moves:
        features = {name: moved(x) for name, x in features.items()}

    def make():
        data = tf.data.Dataset.from_tensor_slices((features, LABELS[spec["head"]]))
        return data.repeat(epochs).batch(BATCH)
    return make


def trained(spec, path):
    config = tf.estimator.RunConfig(tf_random_seed=7, save_summary_steps=None,
                                    save_checkpoints_steps=1000)
    model = tf.estimator.Estimator(model_fn_of(spec), path, config)
    losses = Losses()
    model.train(input_fn(spec, None), steps=STEPS, hooks=[losses])
    metrics = model.evaluate(input_fn(spec, 1))
    rows = list(model.predict(input_fn(spec, 1)))
    return {"losses": losses.values,
            "variables": {n: np.ravel(model.get_variable_value(n)).astype(float).tolist()
                          for n in model.get_variable_names()},
            "metrics": {k: float(v) for k, v in metrics.items()},
            "predictions": {k: [float(e) for row in rows for e in np.ravel(row[k])]
                            for k in rows[0]}}


def is_rounding(spec, path):
    """Whether TensorFlow differs from itself where the data move by their last bit: both sides would be
    right and differ. An embedding's data do not move; what follows it may."""
    shutil.rmtree(path, ignore_errors=True)
    model = tf.estimator.Estimator(model_fn_of(spec), path, tf.estimator.RunConfig(
        tf_random_seed=7, save_summary_steps=None, save_checkpoints_steps=1000))
    model.train(input_fn(spec, None, moves=True), steps=STEPS)
    # A tenth of the tolerance of models.R.
    return any(np.max(np.abs(np.ravel(model.get_variable_value(name)) - found)
                      / (1 + np.abs(found)), initial=0) > 1e-5
               for name, found in spec["result"]["variables"].items())


models, rounded = [], 0
while len(models) < count:
    spec = random_model()
    path = os.path.join(folder, str(len(models) + 1))
    shutil.rmtree(path, ignore_errors=True)  # remains of a model that could not run
    try:
        with tf.Graph().as_default():
            spec["result"] = trained(spec, path)
    except ValueError as error:
        # An image smaller than a window.
        if "Negative dimension" not in str(error) and "must be > 0" not in str(error):
            raise
        continue
    except (TypeError, tf.errors.InvalidArgumentError, tf.errors.UnimplementedError,
            tf.train.NanLossDuringTrainingError) as error:
        print("models: TensorFlow cannot run one of them: %s" % str(error).splitlines()[0])
        continue
    if not np.isfinite(spec["result"]["losses"] + list(spec["result"]["metrics"].values())).all():
        continue  # the rate is too large
    if IS_DOUBLE and max(spec["result"]["losses"]) > 1000:
        continue  # too large as well: rounding errors grow with the weights
    if not IS_DOUBLE and is_rounding(spec, os.path.join(folder, "moved")):
        rounded += 1
        continue
    models.append(spec)
print("models: %d more that are rounding in TensorFlow itself" % rounded)
with open(os.path.join(folder, "models.json"), "w") as file:
    json.dump({"seed": seed, "dtype": dtype, "steps": STEPS, "models": models}, file)
