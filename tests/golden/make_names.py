"""Values and gradients of functions of tf in real TensorFlow 1.15:
python3.7 tests/golden/make_names.py > tests/testthat/golden/names.json
Inputs are sin(k), sin(2 k), ... in row-major order. test-tf-names.R computes the same inputs and has the
same functions under the same names. Gradients are those of the weighted sum of all floating results, with
weights 1, 2, ...
"""
import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)


def waves(shape, pace=1.0, dtype="float64"):
    return np.sin(pace * np.arange(1, np.prod(shape) + 1)).reshape(shape).astype(dtype)


A, B, S = (3, 4), (4, 2), (2, 3, 4)
IMG = (2, 4, 5, 3)


def image(x):
    return (x + 1) / 2


def sparse(x, shape=(3, 4)):
    at = [[0, 1], [1, 0], [1, 3], [2, 2]]
    return tf.SparseTensor(at, x, shape)


def ids(shape=(3, 3)):
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1], [2, 0]], tf.constant([2, 0, 2, 1], tf.int64),
                           shape)


def parts(x):
    return [x.indices, x.values, x.dense_shape]


# name: (shapes of the inputs, function)
CASES = {
    "tan": ([A], tf.tan), "asin": ([A], lambda x: tf.asin(x * 0.9)),
    "acos": ([A], lambda x: tf.acos(x * 0.9)), "atan": ([A], tf.atan), "sinh": ([A], tf.sinh),
    "cosh": ([A], tf.cosh), "asinh": ([A], tf.asinh), "acosh": ([A], lambda x: tf.acosh(x + 2.5)),
    "atanh": ([A], lambda x: tf.atanh(x * 0.9)), "expm1": ([A], tf.expm1), "rint": ([A], tf.rint),
    "lgamma": ([A], lambda x: tf.lgamma(x * 3 + 0.05)),
    "digamma": ([A], lambda x: tf.digamma(x * 3 + 0.05)),
    "polygamma": ([A], lambda x: tf.polygamma(tf.ones_like(x) * 2, x + 1.5)),
    "zeta": ([A], lambda x: tf.zeta(x + 3, tf.ones_like(x) * 1.5)),
    "atan2": ([A, A], tf.atan2), "xlogy": ([A, A], lambda x, y: tf.math.xlogy(x, y + 2)),
    "xdivy": ([A, A], lambda x, y: tf.math.xdivy(x, y + 2)),
    "einsum_matmul": ([S, (4, 5)], lambda x, y: tf.einsum("abc,cd->abd", x, y)),
    "einsum_sum": ([A, A], lambda x, y: tf.einsum("ij,ij->j", x, y)),
    "einsum_outer": ([(3,), (4,)], lambda x, y: tf.einsum("i,j->ij", x, y)),
    "einsum_three": ([A, (4, 2), (2, 3)], lambda x, y, z: tf.einsum("ij,jk,kl->li", x, y, z)),
    "einsum_batch": ([S, (2, 5, 4)], lambda x, y: tf.einsum("bij,bkj->bik", x, y)),
    "tensordot_1": ([S, (4, 5)], lambda x, y: tf.tensordot(x, y, 1)),
    "tensordot_2": ([S, (4, 3, 2)], lambda x, y: tf.tensordot(x, y, [[1, 2], [1, 0]])),
    "norm": ([A], tf.norm), "norm_axis": ([A], lambda x: tf.norm(x, axis=1, keepdims=True)),
    "norm_1": ([A], lambda x: tf.norm(x, 1, 0)), "norm_inf": ([A], lambda x: tf.norm(x, np.inf)),
    "norm_3": ([A], lambda x: tf.norm(x, 3, axis=1)),
    "div": ([A, A], lambda x, y: tf.div(x, y + 2)),
    "accumulate_n": ([A, A], lambda x, y: tf.accumulate_n([x, y])),
    "sort": ([A], tf.sort), "argsort": ([A], lambda x: tf.argsort(x, 0, "DESCENDING")),
    "meshgrid": ([(3,), (2,)], lambda x, y: tf.meshgrid(x, y)), "diag": ([A], tf.diag),
    "segment_mean": ([A], lambda x: tf.segment_mean(x, [0, 0, 2])),
    "segment_max": ([A], lambda x: tf.segment_max(x, [0, 0, 2])),
    "segment_min": ([A], lambda x: tf.segment_min(x, [0, 0, 2])),
    "segment_prod": ([A], lambda x: tf.stop_gradient(tf.segment_prod(x, [0, 0, 2]))),
    "unsorted_segment_max": ([A], lambda x: tf.unsorted_segment_max(x, [1, 0, 1], 2)),
    "unsorted_segment_min": ([A], lambda x: tf.unsorted_segment_min(x, [1, 0, 1], 2)),
    "unsorted_segment_prod": ([A], lambda x: tf.unsorted_segment_prod(x, [1, 0, 1], 2)),
    "unsorted_segment_mean": ([A], lambda x: tf.unsorted_segment_mean(x, [1, 0, 1], 3)),
    "unsorted_segment_sqrt_n": ([A], lambda x: tf.unsorted_segment_sqrt_n(x, [1, 0, 1], 3)),
    "conv1d": ([(2, 6, 3), (2, 3, 4)], lambda x, w: tf.nn.conv1d(x, w, 2, "SAME")),
    "resize_bilinear": ([IMG], lambda x: tf.image.resize_bilinear(x, [7, 3])),
    "resize_bilinear_aligned": ([IMG], lambda x: tf.image.resize_bilinear(x, [7, 8], True)),
    "resize_nearest": ([IMG], lambda x: tf.image.resize_nearest_neighbor(x, [7, 3])),
    "resize_images": ([IMG], lambda x: tf.image.resize_images(x[0], [2, 9], method=1)),
    "flip": ([IMG], lambda x: [tf.image.flip_left_right(x), tf.image.flip_up_down(x[0])]),
    "turn": ([IMG], lambda x: [tf.image.transpose_image(x), tf.image.rot90(x, 1),
                               tf.image.rot90(x[0], 3)]),
    "central_crop": ([IMG], lambda x: tf.image.central_crop(x[0], 0.5)),
    "crop_or_pad": ([IMG], lambda x: tf.image.resize_image_with_crop_or_pad(x, 6, 3)),
    "standardization": ([IMG], lambda x: tf.square(tf.image.per_image_standardization(x[0]) + x[0])),
    "total_variation": ([IMG], tf.image.total_variation),
    "lrn": ([IMG], lambda x: tf.nn.lrn(tf.cast(x, tf.float32), 1, 1.5, 0.8, 0.6)),
    "grayscale": ([IMG], lambda x: tf.image.rgb_to_grayscale(tf.cast(x, tf.float32))),
    "colours": ([IMG], lambda x: [tf.stop_gradient(f(tf.cast(image(x), tf.float32))) for f in [
        tf.image.rgb_to_hsv, tf.image.hsv_to_rgb, lambda i: tf.image.adjust_hue(i, 0.2),
        lambda i: tf.image.adjust_saturation(i, 0.4), lambda i: tf.image.adjust_contrast(i, 1.7),
        lambda i: tf.image.adjust_brightness(i, 0.1), lambda i: tf.image.adjust_gamma(i, 2.0)]]),
    "sparse_matmul": ([(4,), (4, 2)], lambda v, b: tf.sparse_tensor_dense_matmul(sparse(v), b)),
    "sparse_matmul_adjoint": ([(4,), (2, 3)], lambda v, b: tf.sparse_tensor_dense_matmul(
        sparse(v), b, adjoint_a=True, adjoint_b=True)),
    "sparse_reduce_sum": ([(4,)], lambda v: tf.sparse_reduce_sum(sparse(v), 1)),
    "sparse_transpose": ([(4,)], lambda v: parts(tf.sparse_transpose(sparse(v)))),
    "sparse_add": ([(4,), A], lambda v, b: tf.sparse_add(sparse(v), b)),
    "lookup_mean": ([A], lambda p: tf.nn.embedding_lookup_sparse(p, ids(), None, combiner="mean")),
    "lookup_sqrtn": ([A, (4,)], lambda p, w: tf.nn.embedding_lookup_sparse(
        p, ids(), tf.SparseTensor(ids().indices, w + 2, ids().dense_shape), combiner="sqrtn")),
    "lookup_safe": ([A], lambda p: tf.nn.safe_embedding_lookup_sparse(
        p, tf.SparseTensor([[0, 0], [2, 1]], tf.constant([1, -1], tf.int64), [4, 2]))),
    "layer_norm": ([A], tf.contrib.layers.layer_norm),
    "batch_norm": ([A], lambda x: tf.contrib.layers.batch_norm(tf.cast(x, tf.float32), scale=True)),
    "maxout": ([A], lambda x: tf.contrib.layers.maxout(x, 2)),
    "unit_norm": ([A], lambda x: tf.contrib.layers.unit_norm(x, 1)),
}

# Functions without gradients: strings, hashes, random numbers.
VALUES = {
    "confusion": lambda: tf.confusion_matrix([1, 2, 4, 1], [2, 2, 4, 1], weights=[1, 2, 3, 4]),
    "integer_div": lambda: tf.div([-5, 5], [2, 2]),
    "shuffle": lambda: tf.random_shuffle(np.arange(20), seed=3),
    "shuffle_rows": lambda: tf.random_shuffle(np.arange(20).reshape(5, 4), seed=4),
    "multinomial": lambda: tf.multinomial(waves((3, 5), dtype="float32"), 7, seed=5),
    "random_crop": lambda: tf.random_crop(np.arange(20.0).reshape(5, 4), [2, 3], seed=6),
    "hash": lambda: tf.string_to_hash_bucket(["", "a", "tensor", "tensorflow", "a b c d e f g h"], 1 << 30),
    "hash_strong": lambda: tf.string_to_hash_bucket_strong(
        ["", "a", "tensor", "tensorflow", "a b c d e f g h"], 1 << 30, [7, 9]),
    "split": lambda: parts(tf.string_split(["a b", " c  d", ""])),
    "split_letters": lambda: parts(tf.string_split(["a,b;c"], ",;", skip_empty=False)),
    "join": lambda: tf.string_join(["x", ["a", "b"]], "-"),
    "substr": lambda: tf.substr(["hello", "you"], [1, -2], [3, 1]),
    "regex": lambda: tf.regex_replace(["a12b3", "none"], "([0-9])", "<\\1>"),
    "regex_first": lambda: tf.regex_replace(["a1b1"], "1", "$", replace_global=False),
    "full_match": lambda: tf.strings.regex_full_match(["ab", "abc"], "a.*b"),
    "strip": lambda: tf.string_strip([" a b ", "\tc"]), "length": lambda: tf.strings.length(["a", "hi"]),
    "upper": lambda: [tf.strings.upper(["aB"]), tf.strings.lower(["aB"])],
    "indicator": lambda: tf.sparse_to_indicator(ids(), 4),
    "uint8": lambda: tf.cast(tf.image.convert_image_dtype(
        np.array([[[0.0, 0.5, 1.0]]], "float32"), tf.uint8), tf.int32),
    "text_summary": lambda: tf.summary.text("words", tf.constant(["a", "b"])),
    "audio_summary": lambda: tf.summary.audio("sound", waves((2, 9), dtype="float32"), 44100.0, 2),
}


def plain(x):
    x = np.asarray(x)
    if x.dtype.kind in "SO":
        return [v.hex() if isinstance(v, bytes) else v for v in x.ravel().tolist()]
    return [float(v) for v in x.ravel()]


def case(shapes, function):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.constant(waves(s, i + 1.0)) for i, s in enumerate(shapes)]
        out = function(*inputs)
        outs = list(out) if isinstance(out, (list, tuple)) else [out]
        floats = [y for y in outs if y.dtype.is_floating]
        total = [tf.cast(y, tf.float64) * (i + 1.0) for i, y in enumerate(floats)]
        grads = tf.gradients(total, inputs) if floats else [None] * len(inputs)
        grads = [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
                 for x, g in zip(inputs, grads)]
        session.run(tf.global_variables_initializer())
        values = session.run(outs + grads)
        return {"outputs": [plain(v) for v in values[:len(outs)]],
                "shapes": [list(np.shape(v)) for v in values[:len(outs)]],
                "gradients": [plain(v) for v in values[len(outs):]]}


def value(function):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        out = function()
        outs = list(out) if isinstance(out, (list, tuple)) else [out]
        return [plain(v) for v in session.run(outs)]


json.dump({"cases": {k: case(*v) for k, v in CASES.items()},
           "values": {k: value(v) for k, v in VALUES.items()}}, sys.stdout)
