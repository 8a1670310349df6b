"""Trains custom models with TensorFlow 1.x: custom.py <folder> writes a folder for each model with the
checkpoint at its start, and custom.json: losses by step, variables by name, metrics, predictions.
custom.R has the same model functions and starts from the same checkpoints.

Data are sin(k * pace), which both sides can compute.
"""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from custom_models import MODELS
from custom_more import MORE
from custom_parts import STEPS, input_fn
from waves import Losses

MODELS.update(MORE)


def run(name, folder):
    model_fn, features, labels, *params = MODELS[name]
    config = tf.estimator.RunConfig(tf_random_seed=7, save_summary_steps=None,
                                    save_checkpoints_steps=1000)
    model = tf.estimator.Estimator(model_fn, os.path.join(folder, name), config,
                                   params=params[0]() if params else None)
    losses = Losses()
    model.train(input_fn(features, labels, None), steps=STEPS, hooks=[losses])
    metrics = model.evaluate(input_fn(features, labels, 1))
    predictions = list(model.predict(input_fn(features, labels, 1)))
    if not isinstance(predictions[0], dict):
        predictions = [{"output": row} for row in predictions]
    return {
        "losses": losses.values,
        "variables": {n: [float(e) for e in np.ravel(model.get_variable_value(n))]
                      for n in model.get_variable_names()},
        "metrics": {k: float(v) for k, v in metrics.items()},
        "predictions": {k: [float(e) for row in predictions for e in np.ravel(row[k])]
                        for k in predictions[0]},
    }


def main():
    folder = sys.argv[1]
    names = sys.argv[2:] or list(MODELS)
    with open(os.path.join(folder, "custom.json"), "w") as f:
        json.dump({name: run(name, folder) for name in names}, f)


main()
