"""More models of custom.py, with features other than layers, an optimizer and a head."""
import numpy as np
import tensorflow as tf
from custom_parts import (CLASS, IMAGES, TOKENS, X, Y, classify, finish, regress, step, waves, whole)

ROWS = len(Y)
BINARY = whole([ROWS], 1.7, 2)
MANY = whole([ROWS, 4], 0.57, 2).astype("float32")
USERS, ITEMS = whole([ROWS], 0.37, 9), whole([ROWS], 0.83, 7)
LENGTHS = whole([ROWS], 1.9, 7) + 1
SERIES = waves([ROWS, 5, 3], 0.43)


def optimize(optimizer, **more):
    return lambda loss: optimizer.minimize(loss, global_step=step(), **more)


def line(net, **more):
    return tf.squeeze(tf.layers.dense(net, 1, **more), 1)


def conv1d_text(features, labels, mode):
    net = tf.contrib.layers.embed_sequence(features["tokens"], 20, 5, scope="words")
    net = tf.layers.conv1d(net, 6, 3, padding="same", activation=tf.nn.relu, name="conv")
    net = tf.layers.max_pooling1d(net, 2, 2, padding="same")
    net = tf.layers.average_pooling1d(net, 2, 1)
    net = tf.layers.dropout(tf.reduce_max(net, axis=1), 0.4, training=False)
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.AdamOptimizer(0.03))


def separable(features, labels, mode):
    net = tf.layers.separable_conv2d(features["image"], 5, [3, 3], depth_multiplier=2,
                                     padding="same", use_bias=False)
    net = tf.layers.batch_normalization(net, training=mode == "train", momentum=0.8, scale=False)
    net = tf.nn.relu6(net)
    net = tf.layers.max_pooling2d(net, 3, 2, padding="same")
    net = tf.layers.conv2d(net, 4, 3, dilation_rate=2, activation=tf.nn.swish)
    net = tf.reduce_mean(net, [1, 2])
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.RMSPropOptimizer(0.01))


def conv_autoencoder(features, labels, mode):
    x = features["image"]
    net = tf.layers.conv2d(x, 4, 5, strides=(2, 2), padding="SAME", activation=tf.nn.elu)
    code = tf.layers.dense(tf.layers.flatten(net), 3, name="code")
    net = tf.layers.dense(code, 6 * 6 * 4, activation=tf.nn.relu)
    net = tf.reshape(net, [-1, 6, 6, 4])
    net = tf.layers.conv2d_transpose(net, 2, 5, strides=2, padding="same", activation=tf.tanh)
    predictions = {"code": code, "image": net}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.mean_squared_error(x, net)
    tf.summary.image("back", net[:, :, :, 0:1], 2)
    tf.summary.scalar("the loss", loss)
    return finish(mode, loss, predictions, optimize(tf.train.AdamOptimizer(0.01))(loss),
                  {"error": tf.metrics.mean_absolute_error(x, net)})


def block(x, filters, training, name):
    with tf.variable_scope(name):
        net = tf.layers.conv2d(x, filters, 3, padding="same", use_bias=False, name="a")
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, name="bn_a"))
        net = tf.layers.conv2d(net, filters, 3, padding="same", use_bias=False, name="b")
        net = tf.layers.batch_normalization(net, training=training, name="bn_b")
        if x.shape.as_list()[-1] != filters:
            x = tf.layers.conv2d(x, filters, 1, name="shortcut")
        return tf.nn.relu(net + x)


def residual(features, labels, mode):
    net = tf.pad(features["image"], [[0, 0], [1, 1], [1, 1], [0, 0]])
    net = block(net, 2, mode == "train", "first")
    net = block(net, 3, mode == "train", "second")
    net = tf.reduce_mean(net, axis=[1, 2], keepdims=True)
    logits = tf.layers.dense(tf.layers.flatten(net), 3)
    rate = tf.train.piecewise_constant(tf.cast(step(), tf.int32), [5, 12], [0.01, 0.005, 0.002])
    decay = 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()
                             if "bn" not in v.name])
    return classify(mode, logits, labels, tf.train.MomentumOptimizer(rate, 0.5), decay)


def by_hand(features, labels, mode):
    x = tf.reshape(features["image"], [-1, 12, 12, 2])
    w1 = tf.Variable(tf.truncated_normal([5, 5, 2, 3], stddev=0.1), name="W1")
    b1 = tf.Variable(tf.constant(0.1, shape=[3]), name="b1")
    net = tf.nn.relu(tf.nn.conv2d(x, w1, strides=[1, 1, 1, 1], padding="SAME") + b1)
    net = tf.nn.max_pool(net, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    w2 = tf.Variable(tf.random_normal([3, 3, 3, 4], stddev=0.1), name="W2")
    net = tf.nn.bias_add(tf.nn.conv2d(net, w2, [1, 2, 2, 1], "VALID"), tf.Variable(tf.zeros([4])))
    net = tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    flat = tf.reshape(net, [tf.shape(net)[0], -1])
    flat = tf.reshape(flat, [-1, 4])
    w3 = tf.get_variable("W3", [4, 3], initializer=tf.contrib.layers.xavier_initializer())
    logits = tf.nn.xw_plus_b(flat, w3, tf.Variable(tf.zeros([3]), name="b3"))
    classes = tf.argmax(logits, 1)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=tf.nn.softmax(logits))
    onehot = tf.one_hot(labels, 3)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=onehot, logits=logits))
    correct = tf.cast(tf.equal(classes, tf.argmax(onehot, 1)), tf.float32)
    return finish(mode, loss, None, optimize(tf.train.AdagradOptimizer(0.05))(loss),
                  {"accuracy": tf.metrics.mean(correct)})


def siamese(features, labels, mode):
    def embed(x, reuse=None):
        with tf.variable_scope("net", reuse=reuse):
            net = tf.layers.dense(x, 6, tf.nn.relu, name="one")
            return tf.nn.l2_normalize(tf.layers.dense(net, 3, name="two"), 1)
    a = embed(features["x"][:, :3])
    b = embed(features["x"][:, 3:], reuse=True)
    distance = tf.sqrt(tf.reduce_sum(tf.square(a - b), 1) + 1e-6)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"distance": distance})
    same = tf.to_float(labels)
    loss = tf.reduce_mean(same * tf.square(distance) +
                          (1. - same) * tf.square(tf.maximum(0., 1. - distance)))
    return finish(mode, loss, {"distance": distance},
                  optimize(tf.train.MomentumOptimizer(0.1, 0.5))(loss),
                  {"auc": tf.metrics.auc(labels, 1 / (1 + distance)),
                   "close": tf.metrics.percentage_below(distance, 0.5)})


def gru_cell(x, h, units, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        both = tf.concat([x, h], 1)
        gates = tf.nn.sigmoid(tf.layers.dense(both, 2 * units, name="gates",
                                              bias_initializer=tf.ones_initializer()))
        r, u = tf.split(gates, 2, axis=1)
        c = tf.tanh(tf.layers.dense(tf.concat([x, r * h], 1), units, name="candidate"))
        return u * h + (1 - u) * c


def unrolled(features, labels, mode):
    steps = tf.unstack(features["series"], axis=1)
    h = tf.zeros([tf.shape(steps[0])[0], 4])
    for x in steps:
        h = gru_cell(x, h, 4, "gru")
    return regress(mode, line(h), labels, optimize(tf.train.AdagradOptimizer(0.05)))


def looped(features, labels, mode):
    series = features["series"]
    w = tf.get_variable("w", [7, 4])
    b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())

    def body(i, h):
        x = tf.concat([series[:, i, :], h], 1)
        return i + 1, tf.tanh(tf.matmul(x, w) + b)
    _, h = tf.while_loop(lambda i, h: i < 5, body,
                         [tf.constant(0), tf.zeros([tf.shape(series)[0], 4])],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4])])
    h.set_shape([None, 4])
    return regress(mode, line(h), labels, optimize(tf.train.GradientDescentOptimizer(0.1)))


def binary_metrics(features, labels, mode):
    logits = line(tf.layers.dense(features["x"], 4, tf.sigmoid))
    p = tf.nn.sigmoid(logits)
    classes = tf.cast(tf.greater(p, 0.5), tf.int32)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"p": p, "classes": classes})
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    train = optimize(tf.train.FtrlOptimizer(0.5, l2_regularization_strength=0.01))(loss)
    m = tf.metrics
    w = tf.abs(features["x"][:, 1])
    return finish(mode, loss, {"p": p}, train, {
        "accuracy": m.accuracy(labels, classes), "weighted": m.accuracy(labels, classes, w),
        "auc": m.auc(labels, p), "pr": m.auc(labels, p, curve="PR",
                                             summation_method="careful_interpolation"),
        "auc_w": m.auc(labels, p, weights=w, num_thresholds=50),
        "precision": m.precision(labels, classes), "recall": m.recall(labels, classes, w),
        "fn": m.false_negatives(labels, classes), "fp": m.false_positives(labels, classes),
        "tp": m.true_positives(labels, classes), "tn": m.true_negatives(labels, classes, w),
        "iou": m.mean_iou(labels, classes, 2),
        "per_class": m.mean_per_class_accuracy(labels, classes, 2),
        "sensitivity": m.sensitivity_at_specificity(labels, p, 0.6),
        "specificity": m.specificity_at_sensitivity(labels, p, 0.6),
        "cosine": m.mean_cosine_distance(tf.expand_dims(tf.to_float(labels), 1),
                                         tf.expand_dims(p, 1), 0),
        "relative": m.mean_relative_error(tf.to_float(labels), p, p + 0.1)})


def all_losses(features, labels, mode):
    x = features["x"]
    out = tf.layers.dense(x, 3, kernel_regularizer=tf.contrib.layers.l1_regularizer(0.01))
    value = out[:, 0]
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    target = tf.stack([labels, labels ** 2, 0.5 * labels], axis=1)
    w = tf.expand_dims(tf.to_float(labels > 0), 1)
    r = tf.losses.Reduction
    losses = {
        "huber": tf.losses.huber_loss(target, out, w, delta=0.3, reduction=r.MEAN),
        "hinge": tf.losses.hinge_loss(tf.to_float(target > 0), out, reduction=r.SUM),
        "log": tf.losses.log_loss(tf.abs(target), tf.sigmoid(out), w),
        "cosine": tf.losses.cosine_distance(tf.nn.l2_normalize(target, 1),
                                            tf.nn.l2_normalize(out, 1), axis=1,
                                            reduction=r.SUM_OVER_BATCH_SIZE),
        "pairs": tf.losses.mean_pairwise_squared_error(target, out),
        "absolute": tf.losses.absolute_difference(target, out, 0.5),
        "softmax": tf.losses.softmax_cross_entropy(tf.nn.softmax(target), out, tf.abs(labels),
                                                   label_smoothing=0.1),
        "sparse": tf.losses.sparse_softmax_cross_entropy(tf.to_int32(labels > 0), out, w[:, 0]),
        "sigmoid": tf.losses.sigmoid_cross_entropy(tf.to_float(target > 0.1), out,
                                                   label_smoothing=0.2),
        "own": tf.losses.compute_weighted_loss(tf.square(value - labels), labels + 2,
                                               reduction=r.SUM_OVER_NONZERO_WEIGHTS)}
    none = tf.losses.mean_squared_error(labels, value, reduction=r.NONE, loss_collection=None)
    tf.losses.add_loss(0.1 * tf.reduce_mean(none))
    loss = tf.losses.get_total_loss()
    metrics = {k: tf.metrics.mean(v) for k, v in losses.items()}
    return finish(mode, loss, {"out": out}, optimize(tf.train.AdamOptimizer(0.02))(loss), metrics)


def columns(features, labels, mode, params):
    net = tf.feature_column.input_layer(features, params["columns"])
    net = tf.layers.dense(net, 5, activation=tf.nn.relu)
    deep = tf.layers.dense(net, 1)
    wide = tf.feature_column.linear_model(features, params["wide"])
    return regress(mode, tf.squeeze(deep + wide, 1), labels,
                   optimize(tf.train.AdagradOptimizer(0.1)))


def column_params():
    fc = tf.feature_column
    item = fc.categorical_column_with_identity("item", 7)
    x = fc.numeric_column("a")
    user = fc.categorical_column_with_identity("user", 9)
    return {"columns": [x, fc.indicator_column(item), fc.embedding_column(user, 3),
                        fc.bucketized_column(x, [-0.5, 0.0, 0.5])],
            "wide": [item, user, fc.crossed_column(["item", "user"], 20)]}


def factors(features, labels, mode):
    p = tf.get_variable("P", [9, 3], initializer=tf.random_normal_initializer(stddev=0.5))
    q = tf.get_variable("Q", [7, 3], initializer=tf.random_uniform_initializer(-0.5, 0.5))
    bias = tf.get_variable("b", [9], initializer=tf.zeros_initializer())
    u = tf.nn.embedding_lookup(p, features["user"])
    i = tf.gather(q, features["item"])
    out = tf.reduce_sum(u * i, 1) + tf.gather(bias, features["user"])

    def train(loss):
        loss = loss + 0.01 * (tf.nn.l2_loss(u) + tf.nn.l2_loss(i))
        return tf.train.AdamOptimizer(0.05).minimize(loss, step())
    return regress(mode, out, labels, train)


def poisson(features, labels, mode):
    log_rate = line(features["x"], kernel_initializer=tf.zeros_initializer())
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"rate": tf.exp(log_rate)})
    counts = tf.to_float(labels)
    loss = tf.reduce_mean(tf.nn.log_poisson_loss(counts, log_rate, compute_full_loss=True))
    return finish(mode, loss, {"rate": tf.exp(log_rate)},
                  optimize(tf.train.RMSPropOptimizer(0.02, centered=True))(loss),
                  {"deviance": tf.metrics.mean(counts * tf.log(counts + 1) - log_rate)})


def multi_label(features, labels, mode):
    logits = tf.layers.dense(features["x"], 4)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"top": tf.nn.top_k(logits, 2).indices,
                                                 "p": tf.sigmoid(logits)})
    loss = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(labels, logits, 2.0))
    ids = tf.argmax(labels, 1)
    return finish(mode, loss, {"p": tf.sigmoid(logits)},
                  optimize(tf.train.ProximalGradientDescentOptimizer(
                      0.5, l1_regularization_strength=0.01))(loss),
                  {"recall2": tf.metrics.recall_at_k(ids, logits, 2),
                   "precision2": tf.metrics.precision_at_k(ids, logits, 2),
                   "top": tf.metrics.mean(tf.to_float(tf.nn.in_top_k(logits, ids, 2)))})


def attention(features, labels, mode):
    e = tf.get_variable("E", [20, 6], initializer=tf.truncated_normal_initializer(stddev=0.4))
    net = tf.nn.embedding_lookup(e, features["tokens"])
    mask = tf.sequence_mask(features["length"], 7)
    q, k, v = (tf.layers.dense(net, 6, use_bias=False, name=n) for n in ("q", "k", "v"))
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(6.0)
    mask2 = tf.tile(tf.expand_dims(mask, 1), [1, 7, 1])
    scores = tf.where(mask2, scores, -1e9 * tf.ones_like(scores))
    net = tf.matmul(tf.nn.softmax(scores), v)
    m = tf.expand_dims(tf.cast(mask, tf.float32), -1)
    net = tf.reduce_sum(net * m, 1) / tf.reduce_sum(m, 1)
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.AdamOptimizer(0.02))


def mixture(features, labels, mode):
    net = tf.layers.dense(features["x"], 6, tf.tanh)
    logits, mu, s = tf.split(tf.layers.dense(net, 6), [2, 2, 2], 1)
    sigma = tf.nn.softplus(s) + 0.1
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"mu": mu, "weights": tf.nn.softmax(logits)})
    z = (tf.expand_dims(labels, 1) - mu) / sigma
    log_p = -0.5 * tf.square(z) - tf.log(sigma) - 0.5 * np.log(2 * np.pi)
    loss = -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(logits) + log_p, axis=1))
    return finish(mode, loss, {"mu": mu}, optimize(tf.train.AdamOptimizer(0.02))(loss),
                  {"first": tf.metrics.mean(mu[:, 0])})


def alternating(features, labels, mode):
    with tf.variable_scope("a"):
        a = line(features["x"], name="l")
    with tf.variable_scope("b"):
        b = line(tf.layers.dense(features["x"], 3, tf.nn.relu, name="h"), name="l")
    out = a + b

    def train(loss):
        va = tf.trainable_variables("a/")
        vb = tf.trainable_variables("b/")
        oa, ob = tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.05)

        def first():
            with tf.control_dependencies([oa.minimize(loss, var_list=va)]):
                return tf.constant(1)

        grads = ob.compute_gradients(loss, vb)

        def second():
            with tf.control_dependencies([tf.group(*[v.assign_sub(0.02 * g) for g, v in grads])]):
                return tf.constant(2)
        which = tf.cond(tf.equal(step() % 2, 0), first, second)
        with tf.control_dependencies([which]):
            return tf.assign_add(step(), 1)
    return regress(mode, out, labels, train)


def hand_sgd(features, labels, mode):
    w = tf.get_variable("w", [6, 1], initializer=tf.constant_initializer(0.1))
    b = tf.get_variable("b", initializer=tf.constant([0.5]))
    n = tf.get_variable("n", [], tf.float32, tf.zeros_initializer(), trainable=False)
    out = tf.reshape(tf.matmul(features["x"], w) + b, [-1])

    def train(loss):
        grads = tf.gradients(loss, [w, b])
        norm = tf.global_norm(grads)
        rate = tf.train.inverse_time_decay(0.3, step(), 4, 0.5)
        updates = [tf.assign_sub(v, rate * tf.clip_by_norm(g, 0.4))
                   for v, g in zip([w, b], grads)]
        with tf.control_dependencies(updates):
            return tf.group(tf.assign_add(step(), 1), n.assign(0.9 * n + 0.1 * norm))
    return regress(mode, out, labels, train)


def averaged_eval(features, labels, mode):
    ema = tf.train.ExponentialMovingAverage(0.8)
    with tf.variable_scope("lin"):
        w = tf.get_variable("w", [6, 1])
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    if mode == "train":
        out = tf.matmul(features["x"], w) + b
    else:
        ema.apply([w, b])
        out = tf.matmul(features["x"], ema.average(w)) + ema.average(b)

    def train(loss):
        if mode != "train":
            return None
        opt = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=step())
        with tf.control_dependencies([opt]):
            return ema.apply([w, b])
    return regress(mode, tf.squeeze(out, [1]), labels, train)


def class_weights(features, labels, mode):
    net = tf.contrib.layers.fully_connected(
        features["x"], 6, activation_fn=tf.nn.softsign, scope="fc",
        weights_regularizer=tf.contrib.layers.l1_l2_regularizer(0.01, 0.02))
    logits = tf.contrib.layers.linear(net, 3)
    classes = tf.argmax(logits, axis=-1, output_type=tf.int32)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"classes": classes})
    w = tf.gather(tf.constant([0.5, 1.0, 2.0]), labels)
    tf.losses.softmax_cross_entropy(tf.one_hot(labels, depth=3), logits=logits, weights=w)
    loss = tf.losses.get_total_loss(add_regularization_losses=True)
    train = tf.contrib.layers.optimize_loss(
        loss=loss, global_step=step(), learning_rate=0.1,
        optimizer=lambda r: tf.train.MomentumOptimizer(r, 0.6),
        gradient_multipliers={"fc/weights:0": 0.5}, clip_gradients=2.0,
        summaries=["loss", "gradients"], name="opt")
    return finish(mode, loss, None, train,
                  {"accuracy": tf.metrics.accuracy(labels, classes, weights=w)})


def quantiles(features, labels, mode):
    out = tf.layers.dense(features["x"], 3, bias_initializer=tf.constant_initializer([-1., 0., 1.]),
                          activity_regularizer=lambda y: 0.001 * tf.reduce_sum(tf.square(y)),
                          kernel_constraint=lambda w: tf.clip_by_value(w, -0.5, 0.5))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"q": out})
    tau = tf.constant([0.1, 0.5, 0.9])
    e = tf.expand_dims(labels, -1) - out
    loss = tf.reduce_mean(tf.maximum(tau * e, (tau - 1) * e)) + tf.losses.get_regularization_loss()
    return finish(mode, loss, {"q": out}, optimize(tf.train.AdagradOptimizer(0.3))(loss),
                  {"below": tf.metrics.mean(tf.to_float(e < 0)),
                   "tensor": tf.metrics.mean(tf.reduce_mean(e, 0)[1])})


def gaussian(features, labels, mode):
    x = features["x"][:, :3]
    root = tf.get_variable("L", [3, 3], initializer=tf.initializers.identity(0.8))
    mean = tf.get_variable("mean", [3], initializer=tf.zeros_initializer())
    cov = tf.matmul(root, root, transpose_b=True) + 0.1 * tf.eye(3)
    chol = tf.cholesky(cov)
    z = tf.matrix_triangular_solve(chol, tf.transpose(x - mean))
    nll = 0.5 * tf.reduce_sum(tf.square(z), 0) + tf.reduce_sum(tf.log(tf.diag_part(chol)))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"nll": nll})
    loss = tf.reduce_mean(nll) + 0.01 * tf.log(tf.matrix_determinant(cov))
    return finish(mode, loss, {"nll": nll}, optimize(tf.train.AdamOptimizer(0.05))(loss),
                  {"trace": tf.metrics.mean(tf.trace(tf.matrix_inverse(cov)))})


def activations(features, labels, mode):
    x = features["x"]
    net = tf.nn.crelu(tf.layers.dense(x, 4))
    net = tf.contrib.layers.maxout(tf.layers.dense(net, 8, tf.nn.softsign), 4)
    net = tf.concat([net, tf.nn.selu(net), tf.nn.leaky_relu(net, 0.1), tf.nn.log_softmax(net),
                     tf.log1p(tf.abs(net)), tf.sin(net), tf.cumsum(net, axis=1, reverse=True)], -1)
    net = tf.contrib.layers.layer_norm(net, center=False)
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.AdadeltaOptimizer(2.0, 0.9))


def hand_norm(features, labels, mode):
    x = features["image"]
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    gamma = tf.get_variable("gamma", [2], initializer=tf.ones_initializer())
    beta = tf.get_variable("beta", [2], initializer=tf.zeros_initializer())
    moving = tf.get_variable("moving", [2], initializer=tf.zeros_initializer(), trainable=False)
    if mode == "train":
        update = tf.assign(moving, moving * 0.9 + mean * 0.1)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    net = tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)
    net = tf.nn.depthwise_conv2d(net, tf.get_variable("d", [3, 3, 2, 2]), [1, 1, 1, 1], "VALID",
                                 rate=[2, 2])
    net = tf.reduce_mean(tf.square(net), [1, 2])
    return classify(mode, tf.layers.dense(net, 3), labels,
                    tf.train.GradientDescentOptimizer(0.1))


def bag(features, labels, mode):
    e = tf.get_variable("E", [20, 4])
    where = tf.where(features["tokens"] > 4)
    ids = tf.SparseTensor(where, tf.gather_nd(features["tokens"], where), [16, 7])
    net = tf.nn.embedding_lookup_sparse(e, ids, None, combiner="sqrtn")
    with tf.variable_scope("out", initializer=tf.random_uniform_initializer(-0.3, 0.3),
                           regularizer=tf.contrib.layers.l2_regularizer(0.1)):
        w = tf.get_variable("w", [4, 3])
    return classify(mode, tf.matmul(net, w), labels, tf.train.FtrlOptimizer(0.2),
                    tf.losses.get_regularization_loss())


def mapped(features, labels, mode):
    w = tf.get_variable("w", [3, 3], initializer=tf.orthogonal_initializer(0.7))
    net = tf.map_fn(lambda m: tf.matmul(m, w), features["series"])
    net = tf.scan(lambda a, x: 0.5 * a + x, tf.transpose(net, [1, 0, 2]))
    net = tf.foldl(lambda a, x: a + tf.tanh(x), net)
    return regress(mode, line(net), labels, optimize(tf.train.MomentumOptimizer(0.05, 0.9)))


@tf.custom_gradient
def reversed_gradient(x):
    return tf.identity(x), lambda dy: -0.3 * dy


def adversarial(features, labels, mode):
    net = tf.layers.dense(features["x"], 5, tf.nn.tanh, name="features")
    output = line(net, name="value")
    domain = tf.layers.dense(reversed_gradient(net), 1, name="domain")

    def train(loss):
        return optimize(tf.train.AdagradDAOptimizer(0.2, step()))(
            loss + tf.losses.sigmoid_cross_entropy(tf.to_float(labels > 0)[:, None], domain))
    return regress(mode, output, labels, train)


def layer_objects(features, labels, mode):
    conv = tf.layers.Conv2D(3, 3, activation=tf.nn.relu, name="c")
    pool = tf.layers.MaxPooling2D(2, 2)
    norm = tf.layers.BatchNormalization(axis=-1, momentum=0.7)
    net = pool(conv(features["image"]))
    net = tf.layers.Flatten()(norm.apply(net, training=mode == "train"))
    dense = tf.layers.Dense(3)
    logits = dense(tf.layers.Dropout(0.3)(net, training=False))
    decay = 0.01 * tf.nn.l2_loss(dense.kernel) + 0.01 * tf.reduce_sum(tf.abs(conv.kernel))
    updates = tf.group(*norm.updates)
    with tf.control_dependencies([updates] if mode == "train" else []):
        decay = tf.identity(decay)
    return classify(mode, logits, labels, tf.train.GradientDescentOptimizer(
        tf.train.polynomial_decay(0.2, step(), 10, 0.01, power=2., cycle=True)), decay)


def getters(features, labels, mode):
    def halved(getter, name, *args, **kwargs):
        return 0.5 * getter(name, *args, **kwargs)
    with tf.variable_scope("scaled", custom_getter=halved):
        net = tf.layers.dense(features["x"], 4, tf.nn.relu)
    with tf.variable_scope("scaled", reuse=True):
        again = tf.get_variable("dense/kernel")
    out = line(net) + tf.reduce_sum(again)
    return regress(mode, out, labels, optimize(tf.train.GradientDescentOptimizer(0.02)))


def double(features, labels, mode):
    x = tf.cast(features["x"], tf.float64)
    net = tf.layers.dense(x, 4, tf.nn.relu)
    out = line(net)
    labels = tf.cast(labels, tf.float64) if labels is not None else None
    rate = tf.train.linear_cosine_decay(0.1, step(), 20)
    return regress(mode, out, labels, optimize(tf.train.AdamOptimizer(rate)))


FACTORS = {"user": USERS, "item": ITEMS}
WORDS = {"tokens": TOKENS, "length": LENGTHS}
IMAGE, BASE, SERIE = {"image": IMAGES}, {"x": X}, {"series": SERIES}
COLUMNS = {"a": X[:, :1], "user": USERS, "item": ITEMS}
MORE = {
    "conv1d_text": (conv1d_text, {"tokens": TOKENS}, CLASS),
    "separable": (separable, IMAGE, CLASS), "conv_autoencoder": (conv_autoencoder, IMAGE, Y),
    "residual": (residual, IMAGE, CLASS), "by_hand": (by_hand, IMAGE, CLASS),
    "siamese": (siamese, BASE, BINARY), "unrolled": (unrolled, SERIE, Y),
    "looped": (looped, SERIE, Y), "binary_metrics": (binary_metrics, BASE, BINARY),
    "all_losses": (all_losses, BASE, Y), "columns": (columns, COLUMNS, Y, column_params),
    "factors": (factors, FACTORS, Y), "poisson": (poisson, BASE, CLASS),
    "multi_label": (multi_label, BASE, MANY), "attention": (attention, WORDS, CLASS),
    "mixture": (mixture, BASE, Y), "alternating": (alternating, BASE, Y),
    "hand_sgd": (hand_sgd, BASE, Y), "averaged_eval": (averaged_eval, BASE, Y),
    "class_weights": (class_weights, BASE, CLASS), "quantiles": (quantiles, BASE, Y),
    "gaussian": (gaussian, BASE, Y), "activations": (activations, BASE, CLASS),
    "hand_norm": (hand_norm, IMAGE, CLASS), "bag": (bag, {"tokens": TOKENS}, CLASS),
    "mapped": (mapped, SERIE, Y), "adversarial": (adversarial, BASE, Y),
    "layer_objects": (layer_objects, IMAGE, CLASS), "getters": (getters, BASE, Y),
    "double": (double, BASE, Y),
}
