# Speed of TensorFlow's estimator on the data of wide-deep.R and sparse-linear.R, in rows per
# second. Run with a Python that has TensorFlow 1.15 or 2.15:
#   /path/to/python bench/canned_tf.py [steps]
import os
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.logging.set_verbosity(tf1.logging.ERROR)
columns = tf.feature_column
estimators = tf1.estimator
random = np.random.RandomState(1)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
config = estimators.RunConfig(
    tf_random_seed=1, save_checkpoints_steps=10**9, log_step_count_steps=None, save_summary_steps=None,
    session_config=tf1.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2))


def rows_a_second(model, features, labels, batch):
    def batches(x):
        return x[:len(x) // batch * batch].reshape(-1, batch)

    def input_fn():
        # Whole batches without shuffling: per row, tf.data takes longer than the model.
        data = tf1.data.Dataset.from_tensor_slices(
            ({name: batches(x) for name, x in features.items()}, batches(labels)))
        return data.repeat().prefetch(2)

    class Clock(tf1.train.SessionRunHook):
        """The time from the end of step 20 on."""
        def before_run(self, context):
            self.count = getattr(self, "count", 0) + 1
            if self.count == 21:
                self.start = time.time()

        def end(self, session):
            self.seconds = time.time() - self.start

    clock = Clock()
    model.train(input_fn, steps=steps + 20, hooks=[clock])
    return steps * batch / clock.seconds


def sparse_linear(rows=200000, count=30):
    def ids():
        return np.minimum(np.exp(random.exponential(4, rows)), 1e6).astype(np.int64)

    features = {"c%02d" % i: ids() for i in range(count)}
    hashed = [columns.categorical_column_with_hash_bucket(name, 100000, dtype=tf.int64)
              for name in features]
    model = estimators.LinearRegressor(
        hashed, model_dir=tempfile.mkdtemp(), optimizer=tf1.train.FtrlOptimizer(0.05), config=config)
    labels = random.binomial(1, 0.3, rows).astype(np.float32)
    return rows_a_second(model, features, labels, 1024)


def wide_deep(rows=200000):
    words = dict(workclass=9, education=16, marital_status=7, occupation=15, relationship=6, race=5,
                 gender=2, native_country=42)
    features = {}
    for name, n in words.items():
        p = 1 / np.arange(1, n + 1)
        features[name] = np.array(["%s %d" % (name, i + 1) for i in random.choice(n, rows, p=p / p.sum())])
    numbers = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
    for name in numbers:
        features[name] = random.uniform(0, 90, rows).astype(np.float32)
    hashed = [columns.categorical_column_with_hash_bucket(name, 1000) for name in words]
    ages = columns.bucketized_column(
        columns.numeric_column("age"), [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    crosses = [columns.crossed_column(["education", "occupation"], 10000),
               columns.crossed_column([ages, "education", "occupation"], 100000),
               columns.crossed_column(["native_country", "occupation"], 100000)]
    deep = [columns.numeric_column(name, normalizer_fn=lambda x: x / 100) for name in numbers]
    model = estimators.DNNLinearCombinedClassifier(
        model_dir=tempfile.mkdtemp(), linear_feature_columns=hashed + [ages] + crosses,
        dnn_feature_columns=deep + [columns.embedding_column(c, 8) for c in hashed],
        dnn_hidden_units=[100, 50], config=config)
    labels = (features["age"] + random.normal(0, 20, rows) > 45).astype(np.int64)
    return rows_a_second(model, features, labels, 256)


print("TensorFlow %s, two threads, %d steps" % (tf.__version__, steps))
print("  sparse linear: %.0f rows/s" % sparse_linear())
print("  wide and deep: %.0f rows/s" % wide_deep())
