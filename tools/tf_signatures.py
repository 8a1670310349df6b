r"""Signatures of TensorFlow 1.15's names, for tests/testthat/golden/tf_signatures.tsv.

usage: tf1/bin/python tools/tf_signatures.py < names > tf_signatures.tsv
Names come from R: cat(runhooks:::tf_names(), sep = "\n"). A line is a name and its arguments in
R's words; `?` in backquotes is a default that is a function or an object. Classes are called by
their __init__. Names that TensorFlow does not have, or whose arguments Python does not tell, are
left out.
"""

import importlib
import inspect
import os
import sys
import warnings

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import tensorflow as tf  # noqa: E402
from tensorflow.python.util import tf_inspect  # noqa: E402


def lookup(name):
    parts = name.split(".")
    if parts[0] == "python":
        return getattr(importlib.import_module("tensorflow." + ".".join(parts[:-1])), parts[-1])
    found = tf
    for part in parts:
        found = getattr(found, part)
    return found


def in_r(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return "'" + value.replace("\t", "\\t") + "'"
    if isinstance(value, tf.DType):
        return "'" + value.name + "'"
    if isinstance(value, tuple) and value == (1,):
        return "1"
    if value == []:
        return "list()"
    return "`?`"


def arguments(function):
    if inspect.isclass(function):
        function = function.__init__
    spec = tf_inspect.getfullargspec(function)
    if spec.varargs or spec.varkw:
        return None
    names = [name for name in spec.args if name != "self"]
    defaults = list(spec.defaults or [])
    first = len(names) - len(defaults)
    words = []
    for i, name in enumerate(names):
        name = "`" + name + "`" if name.startswith("_") else name
        words.append(name if i < first else name + " = " + in_r(defaults[i - first]))
    return ", ".join(words)


for line in sorted(set(sys.stdin.read().split())):
    try:
        found = lookup(line)
    except (AttributeError, ImportError):
        continue
    text = arguments(found) if callable(found) else None
    if text is not None:
        print(line + "\t" + text)
