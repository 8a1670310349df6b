# JAX on the workloads of bench/waits.R: W1 and W2 in steps per second within one scan, W3 and conv
# in 1e9 multiplications and additions per second. python bench/waits/peers.py <name>
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.PRNGKey(0)


def seconds(run, *args):
    jax.block_until_ready(run(*args))
    start = time.time()
    jax.block_until_ready(run(*args))
    return time.time() - start


def dense(sizes, seed=0):
    random = np.random.RandomState(seed)
    return [(jnp.asarray(random.randn(m, n) * 0.05, jnp.float32), jnp.zeros(n, jnp.float32))
            for m, n in zip(sizes, sizes[1:])]


def logits(layers, x):
    for w, b in layers[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


def cross_entropy(out, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(out), y[:, None], 1))


def adagrad(state, grads, rate):
    parameters, sums = state
    sums = jax.tree_util.tree_map(lambda s, g: s + g * g, sums, grads)
    parameters = jax.tree_util.tree_map(
        lambda p, g, s: p - rate * g / jnp.sqrt(s), parameters, grads, sums)
    return parameters, sums


def scan(loss, parameters, data, batch, steps):
    """Steps a second on shuffled batches, all within one compiled loop."""
    x, y = data
    sums = jax.tree_util.tree_map(lambda p: jnp.full_like(p, 0.1), parameters)

    @jax.jit
    def run(state, rows):
        def step(state, at):
            return adagrad(state, jax.grad(loss)(state[0], x[at], y[at]), 0.05), 0.0
        return jax.lax.scan(step, state, rows)[0]

    rows = jax.random.randint(key, (steps, batch), 0, x.shape[0])
    return steps / seconds(run, (parameters, sums), rows)


def w1():
    data = jax.random.uniform(key, (32, 2)), jax.random.uniform(key, (32,))
    loss = lambda p, x, y: jnp.sum((x @ p[0] + p[1] - y) ** 2)
    return scan(loss, (jnp.zeros(2), jnp.zeros(())), data, 8, 300000)


def w2():
    data = jax.random.uniform(key, (150, 4)), jax.random.randint(key, (150,), 0, 3)
    loss = lambda p, x, y: cross_entropy(logits(p, x), y)
    return scan(loss, dense([4, 10, 10, 3]), data, 32, 50000)


def w3():
    data = jax.random.uniform(key, (4096, 784)), jax.random.randint(key, (4096,), 0, 10)
    loss = lambda p, x, y: cross_entropy(logits(p, x), y)
    flops = 2 * 256 * (2 * 784 * 256 + 3 * 256 * 128 + 3 * 128 * 10)
    return flops * scan(loss, dense([784, 256, 128, 10]), data, 256, 200) / 1e9


def conv():
    data = jax.random.uniform(key, (640, 784)), jax.random.randint(key, (640,), 0, 10)
    random = np.random.RandomState(0)
    kernels = [jnp.asarray(random.randn(*s) * 0.05, jnp.float32)
               for s in [(5, 5, 1, 32), (5, 5, 32, 64)]]

    def loss(p, x, y):
        x = x.reshape(-1, 28, 28, 1)
        for kernel in p[0]:
            x = jax.nn.relu(jax.lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return cross_entropy(logits(p[1], x.reshape(x.shape[0], -1)), y)

    flops = 2 * 64 * (2 * 784 * 25 * 32 + 3 * (196 * 25 * 32 * 64 + 3136 * 1024 + 1024 * 10))
    return flops * scan(loss, (kernels, dense([3136, 1024, 10])), data, 64, 20) / 1e9


print({"W1": w1, "W2": w2, "W3": w3, "conv": conv}[sys.argv[1]]())
