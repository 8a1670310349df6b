"""The ops of ops.R in TensorFlow 1.x: ops.py <folder> reads cases.json and writes results.json.

A case is a name, its inputs (shape, values in row-major order, and type), and attributes. The results
are the outputs and the gradients of their weighted sum.
"""
import json
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()


def norm(x):
    return v1.linalg.global_norm([x])


FUNCTIONS = {
    "relu": tf.nn.relu, "relu6": tf.nn.relu6, "crelu": v1.nn.crelu, "elu": tf.nn.elu,
    "selu": tf.nn.selu, "softplus": tf.nn.softplus, "softsign": tf.nn.softsign,
    "leaky_relu": v1.nn.leaky_relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh, "swish": tf.nn.swish,
    "sign": tf.sign, "abs": tf.abs, "sqrt": tf.sqrt, "rsqrt": v1.rsqrt,
    "reciprocal": v1.reciprocal,
    "reduce_prod": lambda x: v1.reduce_prod(x, axis=1),
    "cumsum": lambda x: v1.cumsum(x, axis=1, exclusive=True),
    "cumprod": lambda x: v1.cumprod(x, axis=0, reverse=True),
    "transpose": v1.transpose,
    "matmul": v1.matmul,
    "where": lambda c, x, y: v1.where(c > 0, x, y),
    "truediv": v1.truediv,
    "clip_by_global_norm": lambda x: v1.clip_by_global_norm([x], 1.0)[0][0],
    "cholesky": lambda x: v1.cholesky(square(x)),
    "matrix_inverse": lambda x: v1.matrix_inverse(square(x)),
    "matrix_determinant": lambda x: v1.matrix_determinant(square(x)),
    "matrix_solve": lambda x, y: v1.matrix_solve(square(x), y),
    "matrix_triangular_solve": lambda x, y: v1.matrix_triangular_solve(square(x), y),
    "self_adjoint_eig": lambda x: squared_vectors(*v1.self_adjoint_eig(square(x))),
    "qr": v1.qr,
    "svd": lambda x: v1.svd(x, compute_uv=False),
}


def lookup(x):
    """TensorFlow clips by the norm of each row."""
    return tf.nn.embedding_lookup(x, [0, 0], max_norm=1.0)


def transposed(x, w, padding):
    n, height, width = [int(d) for d in x.shape[:3]]
    size = [height, 2 * width] if padding == "SAME" else [height + 1, 2 * width + 1]
    shape = [n] + size + [int(w.shape[2])]
    return v1.nn.conv2d_transpose(x, w, shape, [1, 1, 2, 1], padding)


for pad in ["same", "valid"]:
    window = dict(strides=[1, 1, 2, 1], padding=pad.upper())
    FUNCTIONS.update({
        "conv2d_" + pad: lambda x, w, k=window: v1.nn.conv2d(x, w, **k),
        "conv2d_transpose_" + pad: lambda x, w, k=window: transposed(x, w, k["padding"]),
        "max_pool_" + pad: lambda x, k=window: v1.nn.max_pool(x, [1, 2, 3, 1], **k),
        "avg_pool_" + pad: lambda x, k=window: v1.nn.avg_pool(x, [1, 2, 3, 1], **k),
    })
FUNCTIONS.update({
    "tile": lambda x: tf.tile(x, [2, 3]), "reverse": lambda x: tf.reverse(x, [1]),
    "logsumexp": lambda x: v1.reduce_logsumexp(x, 1), "strided": lambda x: x[-1, ::2],
    "boolean_mask": lambda x: v1.boolean_mask(x, x > 0),
    "lookup": lookup, "variance": lambda x: tf.math.reduce_variance(x, 0),
    "split": lambda x: tf.split(x, 3, axis=1) + tf.split(x, [1, 5], axis=1),
})


def as_float(x):
    return tf.cast(x, tf.float32) if x.dtype in (tf.bool, tf.int64) else x


def ids_of(x):
    return tf.range(tf.shape(x)[0]) % 2


ELEMENTWISE = [
    "exp", "log", "log1p", "expm1", "floor", "ceil", "round", "rint", "square", "negative", "atan",
    "erf", "is_nan", "is_inf", "is_finite", "maximum", "minimum", "add", "subtract", "multiply",
    "squared_difference", "div_no_nan", "floordiv", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal"]
for name in ELEMENTWISE:
    FUNCTIONS[name] = lambda *x, f=getattr(v1, name): as_float(f(*x))
for name in ["reduce_max", "reduce_min", "reduce_sum", "reduce_mean", "argmax", "argmin"]:
    FUNCTIONS[name] = lambda x, f=getattr(v1, name): as_float(f(x, axis=1))
for name in ["softmax", "log_softmax", "l2_loss"]:
    FUNCTIONS[name] = getattr(v1.nn, name)
FUNCTIONS.update({
    "clip_by_value": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "segment_max": lambda x: v1.unsorted_segment_max(x, ids_of(x), 2),
    "segment_sum": lambda x: v1.unsorted_segment_sum(x, ids_of(x), 2),
    "sigmoid_loss": lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.ones_like(x), logits=x),
    "top_k": lambda x: tf.nn.top_k(x, 1)[0],
})


def square(x):
    """Symmetric and positive definite."""
    n = x.shape[-1].value if hasattr(x.shape[-1], "value") else x.shape[-1]
    return v1.matmul(x, x, transpose_b=True) + tf.eye(n, dtype=x.dtype)


def squared_vectors(values, vectors):
    """The sign of an eigenvector is anybody's."""
    return [values, tf.square(vectors)]


def run(case):
    with tf.Graph().as_default(), v1.Session() as session:
        inputs, feeds = [], {}
        for given in case["inputs"]:
            dtype = tf.as_dtype(given["dtype"])
            values = [float(v) if isinstance(v, str) else v for v in given["values"]]
            shape = given["shape"]
            x = v1.placeholder(dtype, shape)
            feeds[x] = np.array(values, "float64").reshape(shape).astype(dtype.as_numpy_dtype)
            inputs.append(x)
        out = FUNCTIONS[case["name"]](*inputs)
        outs = list(out) if isinstance(out, (list, tuple)) else [out]
        total = [v1.reduce_sum(y * (i + 1)) for i, y in enumerate(outs)]
        floats = [x for x in inputs if x.dtype.is_floating]
        grads = tf.gradients(total, floats) if floats and case["gradient"] else []
        grads = [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
                 for x, g in zip(floats, grads)]
        got = session.run(outs + grads, feeds)
        return [{"shape": list(v.shape), "values": [repr(float(e)) for e in v.ravel()]} for v in got]


def main():
    folder = sys.argv[1]
    with open(folder + "/cases.json") as f:
        cases = json.load(f)
    with open(folder + "/results.json", "w") as f:
        json.dump([run(case) for case in cases], f)


main()
