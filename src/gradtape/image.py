"""TensorFlow's `tf.image`."""

from typing import TYPE_CHECKING

from ._later import later


if TYPE_CHECKING:
    from .ops.image import central_crop as central_crop
    from .ops.image import crop_to_bounding_box as crop_to_bounding_box
    from .ops.image import extract_patches as extract_patches
    from .ops.image import flip_left_right as flip_left_right
    from .ops.image import flip_up_down as flip_up_down
    from .ops.image import image_gradients as image_gradients
    from .ops.image import pad_to_bounding_box as pad_to_bounding_box
    from .ops.image import resize_with_crop_or_pad as resize_with_crop_or_pad
    from .ops.image import rot90 as rot90
    from .ops.image import sobel_edges as sobel_edges
    from .ops.image import total_variation as total_variation
    from .ops.image import transpose as transpose
    from .ops.image_boxes import draw_bounding_boxes as draw_bounding_boxes
    from .ops.image_boxes import non_max_suppression as non_max_suppression
    from .ops.image_boxes import non_max_suppression_overlaps as non_max_suppression_overlaps
    from .ops.image_boxes import non_max_suppression_with_scores as non_max_suppression_with_scores
    from .ops.image_color import adjust_brightness as adjust_brightness
    from .ops.image_color import adjust_contrast as adjust_contrast
    from .ops.image_color import adjust_gamma as adjust_gamma
    from .ops.image_color import adjust_hue as adjust_hue
    from .ops.image_color import adjust_saturation as adjust_saturation
    from .ops.image_color import convert_image_dtype as convert_image_dtype
    from .ops.image_color import grayscale_to_rgb as grayscale_to_rgb
    from .ops.image_color import hsv_to_rgb as hsv_to_rgb
    from .ops.image_color import per_image_standardization as per_image_standardization
    from .ops.image_color import rgb_to_grayscale as rgb_to_grayscale
    from .ops.image_color import rgb_to_hsv as rgb_to_hsv
    from .ops.image_color import rgb_to_yiq as rgb_to_yiq
    from .ops.image_color import rgb_to_yuv as rgb_to_yuv
    from .ops.image_color import yiq_to_rgb as yiq_to_rgb
    from .ops.image_color import yuv_to_rgb as yuv_to_rgb
    from .ops.image_quality import psnr as psnr
    from .ops.image_quality import ssim as ssim
    from .ops.image_quality import ssim_multiscale as ssim_multiscale
    from .ops.image_random import random_brightness as random_brightness
    from .ops.image_random import random_contrast as random_contrast
    from .ops.image_random import random_crop as random_crop
    from .ops.image_random import random_flip_left_right as random_flip_left_right
    from .ops.image_random import random_flip_up_down as random_flip_up_down
    from .ops.image_random import random_hue as random_hue
    from .ops.image_random import random_saturation as random_saturation
    from .ops.image_random import stateless_random_brightness as stateless_random_brightness
    from .ops.image_random import stateless_random_contrast as stateless_random_contrast
    from .ops.image_random import stateless_random_crop as stateless_random_crop
    from .ops.image_random import (
        stateless_random_flip_left_right as stateless_random_flip_left_right,
    )
    from .ops.image_random import stateless_random_flip_up_down as stateless_random_flip_up_down
    from .ops.image_random import stateless_random_hue as stateless_random_hue
    from .ops.image_random import stateless_random_saturation as stateless_random_saturation
    from .ops.image_resize import ResizeMethod as ResizeMethod
    from .ops.image_resize import crop_and_resize as crop_and_resize
    from .ops.image_resize import resize as resize
    from .ops.image_resize import resize_with_pad as resize_with_pad

_LATER = {
    "ops.image": (
        "central_crop crop_to_bounding_box extract_patches flip_left_right flip_up_down "
        "image_gradients pad_to_bounding_box resize_with_crop_or_pad rot90 sobel_edges "
        "total_variation transpose"
    ),
    "ops.image_boxes": (
        "draw_bounding_boxes non_max_suppression non_max_suppression_overlaps "
        "non_max_suppression_with_scores"
    ),
    "ops.image_color": (
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation "
        "convert_image_dtype grayscale_to_rgb hsv_to_rgb per_image_standardization "
        "rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb"
    ),
    "ops.image_quality": "psnr ssim ssim_multiscale",
    "ops.image_random": (
        "random_brightness random_contrast random_crop random_flip_left_right "
        "random_flip_up_down random_hue random_saturation stateless_random_brightness "
        "stateless_random_contrast stateless_random_crop stateless_random_flip_left_right "
        "stateless_random_flip_up_down stateless_random_hue stateless_random_saturation"
    ),
    "ops.image_resize": "ResizeMethod crop_and_resize resize resize_with_pad",
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
