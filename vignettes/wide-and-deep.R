## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 6.5, fig.height = 3.5)
options(runhooks.progress = FALSE)

## -----------------------------------------------------------------------------
library(runhooks)

## -----------------------------------------------------------------------------
set.seed(1994)
education <- c("9th", "HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate")
occupation <- c(
  "Clerical", "Craft", "Exec", "Farming", "Cleaners",
  "Prof", "Sales", "Service", "Tech", "Transport"
)
n <- 12000
census <- data.frame(
  age = round(pmin(17 + rgamma(n, 3, 0.13), 90)),
  education = sample(education, n, replace = TRUE, prob = c(12, 32, 24, 20, 8, 4)),
  occupation = sample(occupation, n, replace = TRUE, prob = c(12, 13, 13, 4, 5, 13, 12, 12, 6, 10)),
  marital_status = sample(c("Married", "Never", "Divorced"), n, replace = TRUE, c(47, 35, 18)),
  hours_per_week = round(pmin(pmax(rnorm(n, 40, 11), 5), 90))
)
# what counts: schooling, marriage, hours; an age at which it is most; and some pairs of words
years <- match(census$education, education)
studied <- years >= 4
pair <- with(census, 2 * (studied & occupation %in% c("Exec", "Prof", "Tech")) -
  2 * (studied & occupation %in% c("Service", "Cleaners", "Farming")) +
  2 * (!studied & occupation %in% c("Craft", "Transport")))
logit <- with(census, -3.2 + 0.5 * years + 2 * (marital_status == "Married") +
  0.05 * (hours_per_week - 40) - ((age - 48) / 12)^2 + pair)
census$income <- factor(ifelse(runif(n) < plogis(logit), ">50K", "<=50K"))
testing <- sample(n, 4000)
train_rows <- census[-testing, ]
test_rows <- census[testing, ]
prop.table(table(census$income))

## -----------------------------------------------------------------------------
best <- ifelse(logit[testing] > 0, ">50K", "<=50K")
mean(best == test_rows$income)

## -----------------------------------------------------------------------------
words <- list(
  column_categorical_with_vocabulary_list("education", vocabulary_list = education),
  column_categorical_with_vocabulary_list("occupation", vocabulary_list = occupation),
  column_categorical_with_vocabulary_list(
    "marital_status", vocabulary_list = c("Married", "Never", "Divorced")
  )
)
ages <- column_bucketized(
  column_numeric("age"), boundaries = c(18, 25, 30, 35, 40, 45, 50, 55, 60, 65)
)
crossed <- list(
  column_crossed(c("education", "occupation"), hash_bucket_size = 1000),
  column_crossed(list(ages, "education", "occupation"), hash_bucket_size = 1000)
)
standardized <- function(values) {
  centre <- mean(values)
  spread <- sd(values)
  function(x) (x - centre) / spread
}
deep <- list(
  column_numeric("age", normalizer_fn = standardized(train_rows$age)),
  column_numeric("hours_per_week", normalizer_fn = standardized(train_rows$hours_per_week)),
  column_indicator(words[[1]]),
  column_indicator(words[[3]]),
  column_embedding(words[[2]], dimension = 4)
)

## -----------------------------------------------------------------------------
input <- function(rows, ...) {
  input_fn(income ~ ., rows, batch_size = 100, ...)
}
classes <- levels(census$income)
ftrl <- function() {
  tf$train$FtrlOptimizer(0.1, l1_regularization_strength = 0.5, l2_regularization_strength = 1)
}
wide <- linear_classifier(
  c(words, ages, deep[2], crossed), label_vocabulary = classes, optimizer = ftrl
)
only_deep <- dnn_classifier(
  c(32, 16), deep, label_vocabulary = classes, optimizer = tf$train$AdamOptimizer(0.002)
)
both <- dnn_linear_combined_classifier(
  linear_feature_columns = crossed, linear_optimizer = ftrl,
  dnn_feature_columns = deep, dnn_hidden_units = c(32, 16),
  dnn_optimizer = tf$train$AdamOptimizer(0.002), label_vocabulary = classes
)
models <- list(wide = wide, deep = only_deep, both = both)
for (model in models) train(model, input(train_rows, num_epochs = 10))
measures <- function(model) {
  unlist(evaluate(model, input(test_rows))[c("accuracy", "auc", "average_loss")])
}
fits <- t(vapply(models, measures, c(accuracy = 0, auc = 0, average_loss = 0)))
round(fits, 3)

## -----------------------------------------------------------------------------
plain <- glm(income ~ ., binomial, train_rows)
mean((predict(plain, test_rows) > 0) == (test_rows$income == ">50K"))

## -----------------------------------------------------------------------------
weights <- variable_value(both, "linear/linear_model/education_X_occupation/weights")[[1]]
c(weights = length(weights), not_zero = sum(weights != 0))

## ---- fig.alt = "Shares of incomes by pair: those of the combined model lie on the diagonal, those of glm() off it", fig.height = 4----
share <- function(values) tapply(values, test_rows[c("education", "occupation")], mean)
observed <- share(test_rows$income == ">50K")
of_both <- share(predict(both, newdata = test_rows)[[".pred_>50K"]])
of_glm <- share(predict(plain, test_rows, type = "response"))
plot(
  observed, of_glm,
  xlim = 0:1, ylim = 0:1, col = "grey60", xlab = "observed", ylab = "predicted"
)
points(observed, of_both, pch = 19, col = "steelblue")
abline(0, 1, col = "grey80")
legend(
  "topleft", c("wide and deep", "glm()"),
  pch = c(19, 1), col = c("steelblue", "grey60"), bty = "n"
)
round(c(glm = sd(of_glm - observed), both = sd(of_both - observed)), 3)

## -----------------------------------------------------------------------------
some <- test_rows[c(1, 2, 3), ]
cbind(some[c("education", "occupation", "income")], predict(both, newdata = some))

## -----------------------------------------------------------------------------
short <- dnn_linear_combined_classifier(
  income ~ age + hours_per_week + marital_status + education * occupation, train_rows,
  dnn_hidden_units = c(32, 16)
)
train(short, num_epochs = 10)
evaluate(short, test_rows)[c("accuracy", "auc", "average_loss")]

