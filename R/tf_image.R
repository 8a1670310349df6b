# tf$image: functions that combine members of `tf`. Images may have a leading batch dimension.

image_symbols <- function() {
  symbols <- list(
    resize_images = resize_images, resize = resize_images,
    flip_left_right = function(image) flip_axis(image, 2),
    flip_up_down = function(image) flip_axis(image, 3),
    transpose_image = transpose_image, transpose = transpose_image, rot90 = rotate_image,
    central_crop = central_crop,
    crop_to_bounding_box = crop_to_bounding_box, pad_to_bounding_box = pad_to_bounding_box,
    resize_image_with_crop_or_pad = crop_or_pad, resize_with_crop_or_pad = crop_or_pad,
    per_image_standardization = per_image_standardization,
    convert_image_dtype = convert_image_dtype, rgb_to_grayscale = rgb_to_grayscale,
    grayscale_to_rgb = function(images, name = NULL) {
      with(name_scope(name, "grayscale_to_rgb"), {
        rank <- image_rank(images)
        tf$tile(images, c(rep(1L, rank - 1), 3L))
      })
    },
    adjust_brightness = function(image, delta) {
      with_floats(image, "adjust_brightness", function(x) x + as_tensor(delta, "float32"))
    },
    adjust_contrast = function(images, contrast_factor) {
      with_floats(images, "adjust_contrast", function(x) {
        tf_op("AdjustContrastv2", x, as_tensor(contrast_factor, "float32"))
      })
    },
    adjust_hue = function(image, delta, name = NULL) {
      with_floats(image, name_or_default(name, "adjust_hue"), function(x) {
        tf_op("AdjustHue", x, as_tensor(delta, "float32"))
      })
    },
    adjust_saturation = function(image, saturation_factor, name = NULL) {
      with_floats(image, name_or_default(name, "adjust_saturation"), function(x) {
        tf_op("AdjustSaturation", x, as_tensor(saturation_factor, "float32"))
      })
    },
    adjust_gamma = function(image, gamma = 1, gain = 1) {
      if (is_number(gamma) && gamma < 0) {
        abort_runhooks("Gamma should be a non-negative real number, not {gamma}.")
      }
      with_floats(image, "adjust_gamma", function(x) gain * x^gamma)
    },
    random_flip_left_right = function(image, seed = NULL) random_flip(image, 2, seed),
    random_flip_up_down = function(image, seed = NULL) random_flip(image, 3, seed),
    random_brightness = function(image, max_delta, seed = NULL) {
      check_limits(0, max_delta, "max_delta")
      tf$image$adjust_brightness(image, random_scalar(-max_delta, max_delta, seed))
    },
    random_contrast = function(image, lower, upper, seed = NULL) {
      check_limits(lower, upper, "upper")
      tf$image$adjust_contrast(image, random_scalar(lower, upper, seed))
    },
    random_saturation = function(image, lower, upper, seed = NULL) {
      check_limits(lower, upper, "upper")
      tf$image$adjust_saturation(image, random_scalar(lower, upper, seed))
    },
    random_hue = function(image, max_delta, seed = NULL) {
      check_limits(0, max_delta, "max_delta")
      tf$image$adjust_hue(image, random_scalar(-max_delta, max_delta, seed))
    },
    random_crop = random_crop, total_variation = total_variation
  )
  methods <- list(BILINEAR = 0L, NEAREST_NEIGHBOR = 1L, BICUBIC = 2L, AREA = 3L)
  c(
    setNames(symbols, paste0("image.", names(symbols))),
    setNames(methods, paste0("image.ResizeMethod.", names(methods)))
  )
}

name_or_default <- function(name, otherwise) if (is.null(name)) otherwise else name

# Returns the rank of an image: 3, or 4 for a batch. Raises an error for other tensors.
image_rank <- function(image, call = parent.frame()) {
  image <- as_tensor(image)
  rank <- length(dim(image))
  if (!rank %in% 3:4) {
    abort_runhooks(
      "{.arg image} must be [height, width, channels] or [batch, height, width, channels]; its
       shape is {image$shape$text}.",
      call = call
    )
  }
  rank
}

# Applies `change`, a function of a batch, to a batch or to a single image.
as_batch <- function(image, change) {
  if (image_rank(image, parent.frame()) == 4) return(change(image))
  tf$squeeze(change(tf$expand_dims(image, 0L)), 0L)
}

# --- sizes and positions

resize_images <- function(images, size, method = 0, align_corners = FALSE,
                          preserve_aspect_ratio = FALSE, name = NULL) {
  abort_unsupported_arguments(preserve_aspect_ratio)
  check_flag(align_corners)
  functions <- c("resize_bilinear", "resize_nearest_neighbor")
  method_number <- match(as.character(method), c("0", "1", "bilinear", "nearest"))
  if (is.na(method_number)) {
    abort_runhooks("{.arg method} must be {.code tf$image$ResizeMethod$BILINEAR} or
      {.code NEAREST_NEIGHBOR}, not {describe(method)}.", kind = "unimplemented")
  }
  resize <- tf$image[[functions[[(method_number - 1) %% 2 + 1]]]]
  images <- as_tensor(images)
  with(name_scope(name, "resize"), {
    # return an image that already has the size with its data type, as TensorFlow does
    sizes <- tail(head(dim(images), -1), 2)
    has_size <- !is_graph_element(size) && !any(vapply(sizes, is.null, NA)) &&
      identical(as.numeric(unlist(sizes)), as.numeric(unlist(size)))
    if (has_size) return(images)
    as_batch(images, function(x) resize(x, as_tensor_of_sizes(size), align_corners))
  })
}

as_tensor_of_sizes <- function(size) {
  if (is_graph_element(size)) tf$cast(size, "int32") else as_whole_numbers(size)
}

# Reverses an axis. `from_end` is its number from the end: 2 for the width, 3 for the height.
flip_axis <- function(image, from_end) {
  image <- as_tensor(image)
  tf$reverse(image, as.integer(image_rank(image) - from_end))
}

transpose_image <- function(image, name = NULL) {
  image <- as_tensor(image)
  perm <- if (image_rank(image) == 3) c(1L, 0L, 2L) else c(0L, 2L, 1L, 3L)
  tf$transpose(image, perm, name = name_or_default(name, "transpose_image"))
}

rotate_image <- function(image, k = 1, name = NULL) {
  check_whole(k)
  with(name_scope(name, "rot90"), {
    switch(k %% 4 + 1,
      tf$identity(image),
      flip_axis(transpose_image(image), 3),
      flip_axis(flip_axis(image, 3), 2),
      flip_axis(transpose_image(image), 2)
    )
  })
}

# Returns the height and the width. Raises an error if they are unknown before the graph runs.
static_image_size <- function(image, call = parent.frame()) {
  sizes <- utils::tail(utils::head(dim(image), -1), 2)
  if (length(sizes) < 2 || any(vapply(sizes, is.null, NA))) {
    abort_runhooks("The height and width of {.arg image} must be known.", call = call)
  }
  as.integer(unlist(sizes))
}

central_crop <- function(image, central_fraction) {
  check_number(central_fraction)
  if (central_fraction <= 0 || central_fraction > 1) {
    abort_runhooks("central_fraction must be within (0, 1]")
  }
  image <- as_tensor(image)
  if (central_fraction == 1) return(image)
  size <- static_image_size(image)
  begin <- as.integer(trunc((size - size * central_fraction) / 2))
  crop_to_bounding_box(image, begin[[1]], begin[[2]], size[[1]] - 2 * begin[[1]],
    size[[2]] - 2 * begin[[2]]
  )
}

crop_to_bounding_box <- function(image, offset_height, offset_width, target_height, target_width) {
  image <- as_tensor(image)
  rank <- image_rank(image)
  if (!is.list(dim(image))) {
    size <- static_image_size(image)
    is_inside <- offset_height >= 0 && offset_width >= 0 && target_height > 0 && target_width > 0 &&
      offset_height + target_height <= size[[1]] && offset_width + target_width <= size[[2]]
    if (!is_inside) {
      abort_runhooks("A box of {target_height} x {target_width} at ({offset_height},
        {offset_width}) is not inside an image of {size[[1]]} x {size[[2]]}.")
    }
  }
  batch_begin <- rep(0L, rank - 3)
  tf$slice(
    image, as.integer(c(batch_begin, offset_height, offset_width, 0)),
    as.integer(c(batch_begin - 1L, target_height, target_width, -1))
  )
}

pad_to_bounding_box <- function(image, offset_height, offset_width, target_height, target_width) {
  image <- as_tensor(image)
  rank <- image_rank(image)
  size <- static_image_size(image)
  after <- c(target_height - offset_height, target_width - offset_width) - size
  if (any(after < 0) || offset_height < 0 || offset_width < 0) {
    abort_runhooks("An image of {size[[1]]} x {size[[2]]} at ({offset_height}, {offset_width}) is
      not inside {target_height} x {target_width}.")
  }
  paddings <- rbind(c(offset_height, after[[1]]), c(offset_width, after[[2]]), 0)
  if (rank == 4) paddings <- rbind(0, paddings)
  storage.mode(paddings) <- "integer"
  tf$pad(image, paddings)
}

crop_or_pad <- function(image, target_height, target_width) {
  image <- as_tensor(image)
  size <- static_image_size(image)
  target <- c(target_height, target_width)
  crop_offset <- pmax(size - target, 0) %/% 2
  cropped_size <- pmin(target, size)
  image <- crop_to_bounding_box(
    image, crop_offset[[1]], crop_offset[[2]], cropped_size[[1]], cropped_size[[2]]
  )
  pad_offset <- pmax(target - size, 0) %/% 2
  pad_to_bounding_box(image, pad_offset[[1]], pad_offset[[2]], target_height, target_width)
}

# --- colours

# Converts the data type of an image. Scales integers by the maximum of their type, so that floats
# are from 0 to 1.
convert_image_dtype <- function(image, dtype, saturate = FALSE, name = NULL) {
  check_flag(saturate)
  image <- as_tensor(image)
  max_values <- c(uint8 = 255, int32 = 2147483647)
  from <- image$dtype
  to <- as_dtype(dtype)
  if (from == to) return(tf$identity(image))
  with(name_scope(name, "convert_image"), {
    if (from$is_floating && to$is_floating) return(tf$cast(image, to))
    max_value <- function(type) {
      if (!type$name %in% names(max_values)) {
        abort_runhooks("Images of dtype {type$name} cannot be converted.", kind = "unimplemented")
      }
      max_values[[type$name]]
    }
    if (from$is_floating) {
      scaled <- image * (max_value(to) + 0.5)
      if (saturate) scaled <- tf$clip_by_value(scaled, 0, max_value(to))
      return(tf$cast(scaled, to))
    }
    if (!to$is_floating) {
      abort_runhooks("Images of dtype {from$name} cannot become {to$name}.", kind = "unimplemented")
    }
    tf$cast(image, to) * (1 / max_value(from))
  })
}

# Applies `change` in float32 and converts back to the image's data type.
with_floats <- function(image, name, change) {
  with(name_scope(name), {
    image <- as_tensor(image)
    if (image$dtype == "float32") return(tf$identity(change(image)))
    changed <- change(convert_image_dtype(image, "float32"))
    convert_image_dtype(changed, image$dtype, saturate = TRUE)
  })
}

rgb_to_grayscale <- function(images, name = NULL) {
  with_floats(images, name_or_default(name, "rgb_to_grayscale"), function(x) {
    weights <- tf$constant(c(0.2989, 0.587, 0.114))
    tf$reduce_sum(x * weights, -1L, keepdims = TRUE)
  })
}

# Scales images to mean 0 and variance 1. The standard deviation has a lower limit, for images of
# one colour.
per_image_standardization <- function(image) {
  with_floats(image, "per_image_standardization", function(image) {
    rank <- image_rank(image)
    axes <- as.integer(rank - 3:1)
    n <- tf$cast(tf$reduce_prod(tf$shape(image)[(rank - 2):rank]), image$dtype)
    mean <- tf$reduce_mean(image, axes, keepdims = TRUE)
    deviation <- tf$math$reduce_std(image, axes, keepdims = TRUE)
    (image - mean) / tf$maximum(deviation, tf$rsqrt(n))
  })
}

total_variation <- function(images, name = NULL) {
  with(name_scope(name, "total_variation"), {
    images <- as_tensor(images)
    rank <- image_rank(images)
    differences <- function(from_end) {
      axis <- rank - from_end
      n <- tf$shape(images)
      offset <- rep(0L, rank)
      offset[[axis + 1]] <- 1L
      shifted <- tf$slice(images, offset, n - offset)
      tf$abs(shifted - tf$slice(images, rep(0L, rank), n - offset))
    }
    axes <- if (rank == 4) 1:3
    tf$reduce_sum(differences(3), axes) + tf$reduce_sum(differences(2), axes)
  })
}

# --- random changes

# Checks that both limits are numbers and `upper` is at least `lower`.
check_limits <- function(lower, upper, arg, call = parent.frame()) {
  check_number(lower, call = call)
  check_number(upper, arg = arg, call = call)
  if (upper < lower) {
    abort_runhooks("{.arg {arg}} must be {lower} or more, not {upper}.", call = call)
  }
}

random_scalar <- function(from, to, seed) tf$random_uniform(list(), from, to, seed = seed)

random_flip <- function(image, from_end, seed) {
  image <- as_tensor(image)
  rank <- image_rank(image)
  flipped <- flip_axis(image, from_end)
  if (rank == 3) {
    flips <- tf$less(tf$random_uniform(list(), 0, 1, seed = seed), 0.5)
    flip_mask <- tf$cast(tf$reshape(flips, c(1L, 1L, 1L)), image$dtype)
  } else {
    n <- tf$shape(image)[1]
    random_numbers <- tf$random_uniform(tf$stack(list(n)), 0, 1, seed = seed)
    flip_mask <- tf$reshape(tf$round(random_numbers), c(-1L, 1L, 1L, 1L))
    flip_mask <- tf$cast(flip_mask, image$dtype)
  }
  flip_mask * flipped + (1 - flip_mask) * image
}
