"""Models of custom.py: layers, an optimizer, a head."""
import tensorflow as tf
from custom_parts import CLASS, IMAGES, TOKENS, X, Y, classify, finish, regress, step


def mlp(features, labels, mode):
    net = tf.layers.dense(features["x"], 8, activation=tf.nn.relu)
    net = tf.layers.dense(net, 5, activation=tf.nn.tanh, name="middle")
    output = tf.squeeze(tf.layers.dense(net, 1), 1)
    opt = tf.train.AdamOptimizer(0.05)
    return regress(mode, output, labels, lambda loss: opt.minimize(loss, global_step=step()))


def batch_norm(features, labels, mode):
    net = tf.layers.dense(features["x"], 8, use_bias=False)
    net = tf.layers.batch_normalization(net, momentum=0.9, training=(mode == "train"))
    net = tf.nn.relu(net)
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.MomentumOptimizer(0.1, 0.9))


def cnn(features, labels, mode):
    net = tf.layers.conv2d(features["image"], 4, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.conv2d(net, 6, [3, 3], activation=tf.nn.relu)
    net = tf.layers.average_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 10, activation=tf.nn.elu)
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.AdagradOptimizer(0.1))


def text(features, labels, mode):
    embeddings = tf.get_variable("embeddings", [20, 4])
    net = tf.reduce_mean(tf.nn.embedding_lookup(embeddings, features["tokens"]), 1)
    net = tf.layers.dense(net, 6, tf.nn.relu)
    return classify(mode, tf.layers.dense(net, 3, name="logits"), labels,
                    tf.train.AdamOptimizer(0.02))


def wide_deep(features, labels, mode):
    x = features["x"]
    with tf.variable_scope("wide"):
        w = tf.get_variable("w", [6, 1], initializer=tf.zeros_initializer())
        wide = tf.matmul(x, w)
    with tf.variable_scope("deep"):
        deep = tf.layers.dense(tf.layers.dense(x, 7, tf.nn.selu), 1)
    output = tf.squeeze(wide + deep, 1)

    def train(loss):
        wide_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "wide")
        deep_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "deep")
        a = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01).minimize(
            loss, var_list=wide_vars)
        b = tf.train.RMSPropOptimizer(0.01, momentum=0.5).minimize(
            loss, var_list=deep_vars, global_step=step())
        return tf.group(a, b)
    return regress(mode, output, labels, train)


def autoencoder(features, labels, mode):
    x = features["x"]
    with tf.variable_scope("code"):
        code = tf.layers.dense(x, 2, tf.nn.sigmoid)
    with tf.variable_scope("back"):
        back = tf.layers.dense(code, 6)
    predictions = {"code": code, "back": back}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(back - x)) + 0.1 * tf.reduce_mean(tf.abs(code))
    train = tf.train.AdadeltaOptimizer(1.0).minimize(loss, global_step=step())
    return finish(mode, loss, predictions, train, {"error": tf.metrics.mean(tf.abs(back - x))})


def two_heads(features, labels, mode):
    net = tf.layers.dense(features["x"], 8, tf.nn.relu, name="shared")
    logits = tf.layers.dense(net, 3, name="class_head")
    value = tf.squeeze(tf.layers.dense(net, 1, name="value_head"), 1)
    predictions = {"class": tf.argmax(logits, 1), "value": value}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    a = tf.losses.sparse_softmax_cross_entropy(labels["class"], logits)
    b = tf.losses.huber_loss(labels["value"], value, weights=0.5)
    loss = tf.losses.get_total_loss()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step())
    return finish(mode, loss, predictions, train, {
        "accuracy": tf.metrics.accuracy(labels["class"], predictions["class"]),
        "value": tf.metrics.mean_squared_error(labels["value"], value),
        "a": tf.metrics.mean(a), "b": tf.metrics.mean(b)})


def weighted(features, labels, mode):
    output = tf.squeeze(tf.layers.dense(features["x"], 1, kernel_initializer=None,
                                        bias_initializer=tf.constant_initializer(0.2)), 1)
    weights = tf.abs(features["x"][:, 0]) + 0.5

    def loss_of(y, p):
        return tf.losses.absolute_difference(
            y, p, weights, reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
    opt = tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.01)
    return regress(mode, output, labels, lambda loss: opt.minimize(loss, global_step=step()),
                   loss_of)


def decayed(features, labels, mode):
    net = tf.layers.dense(features["x"], 5, tf.nn.softplus,
                          kernel_regularizer=tf.contrib.layers.l2_regularizer(0.01))
    rate = tf.train.exponential_decay(0.2, step(), 5, 0.8, staircase=True)
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.GradientDescentOptimizer(rate),
                    tf.losses.get_regularization_loss())


def clipped(features, labels, mode):
    net = tf.layers.dense(features["x"], 8, tf.nn.leaky_relu)
    output = tf.squeeze(tf.layers.dense(net, 1), 1)

    def train(loss):
        rate = tf.train.cosine_decay(0.1, step(), 15)
        opt = tf.train.MomentumOptimizer(rate, 0.8, use_nesterov=True)
        pairs = opt.compute_gradients(loss)
        grads, norm = tf.clip_by_global_norm([g for g, _ in pairs], 0.3)
        return opt.apply_gradients(zip(grads, [v for _, v in pairs]), global_step=step())
    return regress(mode, output, labels, train)


def averaged(features, labels, mode):
    net = tf.layers.dense(features["x"], 4, tf.nn.relu6)
    output = tf.squeeze(tf.layers.dense(net, 1), 1)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step())

    def train(loss):
        opt = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step())
        with tf.control_dependencies([opt]):
            return ema.apply(tf.trainable_variables())
    return regress(mode, output, labels, train)


def contrib(features, labels, mode):
    net = tf.contrib.layers.conv2d(features["image"], 4, 3, stride=2,
                                   normalizer_fn=tf.contrib.layers.batch_norm,
                                   normalizer_params={"is_training": mode == "train",
                                                      "decay": 0.9})
    net = tf.contrib.layers.max_pool2d(net, 2)
    net = tf.contrib.layers.flatten(net)
    net = tf.contrib.layers.layer_norm(net)
    net = tf.contrib.layers.stack(net, tf.contrib.layers.fully_connected, [8, 6])
    logits = tf.contrib.layers.fully_connected(net, 3, activation_fn=None)
    classes = tf.argmax(logits, 1)
    predictions = {"classes": classes}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.contrib.layers.optimize_loss(
        loss, step(), 0.05, "Adam", clip_gradients=1.0,
        learning_rate_decay_fn=lambda r, s: tf.train.natural_exp_decay(r, s, 10, 0.3))
    return finish(mode, loss, predictions, train,
                  {"accuracy": tf.metrics.accuracy(labels, classes)})


def objects(features, labels, mode):
    first = tf.layers.Dense(6, activation=tf.nn.relu)
    second = tf.layers.Dense(6, activation=tf.nn.relu, name="twice")
    net = second(second(first(features["x"])))
    kernel = tf.get_variable("mix", [6, 3], initializer=tf.glorot_normal_initializer())
    with tf.variable_scope("scale", reuse=tf.AUTO_REUSE):
        scale = tf.get_variable("s", [], initializer=tf.ones_initializer())
    logits = tf.einsum("bi,ij->bj", net, kernel) * scale
    return classify(mode, logits, labels, tf.train.AdamOptimizer(0.03))


def upsampled(features, labels, mode):
    x = features["image"]
    net = tf.layers.conv2d(x, 3, 3, strides=2, padding="same", activation=tf.nn.relu)
    net = tf.image.resize_bilinear(net, [9, 9])
    net = tf.layers.conv2d_transpose(net, 2, 3, strides=2)
    net = tf.nn.lrn(net, 2)
    net = tf.reduce_mean(net, [1, 2])
    return classify(mode, tf.layers.dense(net, 3), labels, tf.train.AdamOptimizer(0.02))


IMAGE = {"image": IMAGES}
MODELS = {
    "mlp": (mlp, {"x": X}, Y), "batch_norm": (batch_norm, {"x": X}, CLASS),
    "cnn": (cnn, IMAGE, CLASS), "text": (text, {"tokens": TOKENS}, CLASS),
    "wide_deep": (wide_deep, {"x": X}, Y), "autoencoder": (autoencoder, {"x": X}, Y),
    "two_heads": (two_heads, {"x": X}, {"class": CLASS, "value": Y}),
    "weighted": (weighted, {"x": X}, Y), "decayed": (decayed, {"x": X}, CLASS),
    "clipped": (clipped, {"x": X}, Y), "averaged": (averaged, {"x": X}, Y),
    "contrib": (contrib, IMAGE, CLASS), "objects": (objects, {"x": X}, CLASS),
    "upsampled": (upsampled, IMAGE, CLASS),
}
