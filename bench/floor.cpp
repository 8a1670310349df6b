// Lower limits for bench/step.R: the mtcars model as a loop in C++, for a step, and R closures
// called from C++, for a hook. Built by Rcpp::sourceCpp().
#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int kFeatures = 2, kBatch = 8;

struct Ftrl {
  float var = 0, accum = 0.1f, linear = 0;
  void apply(float grad, float rate) {
    const float new_accum = accum + grad * grad;
    linear += grad - (std::sqrt(new_accum) - std::sqrt(accum)) / rate * var;
    var = -linear / (std::sqrt(new_accum) / rate);
    accum = new_accum;
  }
};

struct Model {
  Ftrl weights[kFeatures], bias;
  float rate = 0;
  // The sum of squared errors of a batch, and a gradient step.
  float step(const float (*rows)[kFeatures], const float* labels) {
    float loss = 0, grad_bias = 0, grad[kFeatures] = {};
    for (int i = 0; i < kBatch; ++i) {
      float error = bias.var - labels[i];
      for (int j = 0; j < kFeatures; ++j) error += rows[i][j] * weights[j].var;
      loss += error * error;
      for (int j = 0; j < kFeatures; ++j) grad[j] += 2 * error * rows[i][j];
      grad_bias += 2 * error;
    }
    for (int j = 0; j < kFeatures; ++j) weights[j].apply(grad[j], rate);
    bias.apply(grad_bias, rate);
    return loss;
  }
};

}  // namespace

// `x` has one row per example. Returns the variables after `steps` steps and the last loss.
// [[Rcpp::export]]
Rcpp::NumericVector floor_loop(Rcpp::NumericMatrix x,
                               Rcpp::NumericVector y,
                               int steps,
                               bool shuffle,
                               double rate) {
  Model model;
  model.rate = static_cast<float>(rate);
  const int n = x.nrow();
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  float rows[kBatch][kFeatures], labels[kBatch], loss = 0;
  for (int step = 0, at = n; step < steps; ++step) {
    if (at + kBatch > n) {
      at = 0;
      if (shuffle) std::shuffle(order.begin(), order.end(), random);
    }
    for (int i = 0; i < kBatch; ++i, ++at) {
      const int row = order[static_cast<size_t>(at)];
      for (int j = 0; j < kFeatures; ++j) rows[i][j] = static_cast<float>(x(row, j));
      labels[i] = static_cast<float>(y[row]);
    }
    loss = model.step(rows, labels);
  }
  return Rcpp::NumericVector::create(model.bias.var, model.weights[0].var, model.weights[1].var,
                                     loss);
}

// Calls a closure without arguments.
// [[Rcpp::export]]
void call_closure(Rcpp::Function f, int times) {
  Rcpp::Shield<SEXP> call(Rf_lang1(f));
  for (int i = 0; i < times; ++i) Rcpp::Rcpp_fast_eval(call, R_GlobalEnv);
}

// Calls before_run(context) and after_run(context, values), like a minimal loop.
// [[Rcpp::export]]
void call_hook(Rcpp::Function before, Rcpp::Function after, SEXP context, SEXP values, int times) {
  Rcpp::Shield<SEXP> first(Rf_lang2(before, context)), second(Rf_lang3(after, context, values));
  for (int i = 0; i < times; ++i) {
    Rcpp::Rcpp_fast_eval(first, R_GlobalEnv);
    Rcpp::Rcpp_fast_eval(second, R_GlobalEnv);
  }
}
