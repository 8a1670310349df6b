"""Measures how much float32 rounding changes the golden canned/dnn_reg_batch_norm.

Repeats the 20 steps in float64, exactly, and 200 times with random float32 rounding of each operation.
Prints quantiles of the largest |a - b| / (1 + |b|) of the variables and of the losses, and the distance
of TensorFlow's result from the exact one.

    python tests/golden/rounding_of_batch_norm.py ../shared/golden
"""
import csv
import json
import os
import sys

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

EPSILON, RATE, DECAY = 1e-3, 0.05, 0.999
BATCH, STEPS, DRAWS, HALF_ULP = 16, 20, 200, 6e-8
ACCUMULATOR = "/t_0/Adagrad"


def variables_of(folder):
    reader = tf.train.load_checkpoint(folder)
    names = [name for name in reader.get_variable_to_shape_map() if name != "global_step"]
    return {name: reader.get_tensor(name).astype(np.float64) for name in names}


def data_of(golden):
    with open(os.path.join(golden, "data", "people.csv"), encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    as_float32 = lambda names: np.array([[np.float32(row[n]) for n in names] for row in rows], float)
    return as_float32(["age", "x1", "x2"]), as_float32(["y"])


def train_step(v, x, y, rounded):
    """Updates the variables `v`; the loss."""
    layers, net = [], x
    for i in (0, 1):
        layer = "dnn/hiddenlayer_%d/" % i
        norm = layer + "batchnorm_%d/" % i
        before = rounded(net @ v[layer + "kernel"] + v[layer + "bias"])
        active = np.maximum(before, 0)
        mean = rounded(active.mean(0))
        variance = rounded(((active - mean) ** 2).mean(0))
        scale = rounded(1 / np.sqrt(variance + EPSILON))
        normed = rounded((active - mean) * scale)
        layers.append((layer, norm, net, before, scale, normed))
        net = normed * v[norm + "gamma"] + v[norm + "beta"]
        v[norm + "moving_mean"] = v[norm + "moving_mean"] * DECAY + mean * (1 - DECAY)
        v[norm + "moving_variance"] = v[norm + "moving_variance"] * DECAY + variance * (1 - DECAY)
    error = net @ v["dnn/logits/kernel"] + v["dnn/logits/bias"] - y
    d = rounded(2 * error)
    gradients = {"dnn/logits/kernel": net.T @ d, "dnn/logits/bias": d.sum(0)}
    d = d @ v["dnn/logits/kernel"].T
    for layer, norm, net, before, scale, normed in reversed(layers):
        gradients[norm + "gamma"] = (d * normed).sum(0)
        gradients[norm + "beta"] = d.sum(0)
        d = d * v[norm + "gamma"]
        along = rounded(normed * rounded((d * normed).mean(0)))
        d = rounded(scale * (rounded(d - rounded(d.mean(0))) - along)) * (before > 0)
        gradients[layer + "kernel"] = rounded(net.T @ d)
        gradients[layer + "bias"] = d.sum(0)
        d = rounded(d @ v[layer + "kernel"].T)
    for name, gradient in gradients.items():
        v[name + ACCUMULATOR] = v[name + ACCUMULATOR] + gradient**2
        v[name] = rounded(v[name]) - RATE * gradient / np.sqrt(v[name + ACCUMULATOR])
    return (error**2).sum()


def train(initial, x, y, rounded):
    v = dict(initial)
    losses = []
    for step in range(STEPS):
        rows = np.arange(step * BATCH, (step + 1) * BATCH) % len(x)
        losses.append(train_step(v, x[rows], y[rows], rounded))
    return v, np.array(losses)


def largest(a, b):
    return float(np.max(np.abs(a - b) / (1 + np.abs(b))))


def distance(run, exact):
    of_variables = max(largest(run[0][name].ravel(), exact[0][name].ravel()) for name in exact[0])
    return of_variables, largest(run[1], exact[1])


def main(golden):
    case = os.path.join(golden, "canned", "dnn_reg_batch_norm")
    initial = variables_of(os.path.join(case, "init"))
    x, y = data_of(golden)
    exact = train(initial, x, y, lambda t: t)
    with open(os.path.join(case, "expected.json"), encoding="utf8") as file:
        expected = json.load(file)
    ours = variables_of(os.path.join(case, "final")), np.array(expected["loss"])
    print("TensorFlow's (variables, losses):", distance(ours, exact))
    found = []
    for seed in range(DRAWS):
        draw = np.random.default_rng(seed)
        noise = lambda t: t * (1 + HALF_ULP * draw.uniform(-1, 1, np.shape(t)))
        found.append(distance(train(initial, x, y, noise), exact))
    for share in (0.5, 0.9, 1):
        print("quantile", share, np.quantile(found, share, axis=0))


if __name__ == "__main__":
    main(sys.argv[1])
