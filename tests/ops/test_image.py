"""Random changes of images, and derivatives that TensorFlow does not have."""

import numpy as np
import pytest

IMAGE = np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 6, 7, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("brightness", (0.3,)),
        ("contrast", (0.5, 1.5)),
        ("saturation", (0.5, 1.5)),
        ("hue", (0.3,)),
        ("flip_left_right", ()),
        ("flip_up_down", ()),
        ("crop", ([2, 3, 4, 3],)),
    ],
)
def test_stateless_draws_depend_on_the_seed_alone(tf, name, arguments):
    change = getattr(tf.image, f"stateless_random_{name}")
    first, again = (change(IMAGE, *arguments, seed=[1, 2]).numpy() for _ in range(2))
    np.testing.assert_array_equal(first, again)
    others = [change(IMAGE, *arguments, seed=[3, n]).numpy() for n in range(8)]
    assert any(not np.array_equal(first, other) for other in others)


def test_random_flips_are_of_one_image_each(tf):
    x = tf.constant(IMAGE)
    for _ in range(8):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.random_flip_left_right(x)
        for before, after in zip(IMAGE, y.numpy(), strict=True):
            assert np.array_equal(after, before) or np.array_equal(after, before[:, ::-1])
        np.testing.assert_array_equal(tape.gradient(y, x), np.ones_like(IMAGE))


def test_random_crop_is_a_part(tf):
    part = tf.image.random_crop(np.arange(12).reshape(3, 4), [2, 2]).numpy()
    assert (part == part[0, 0] + np.array([[0, 1], [4, 5]])).all()


@pytest.mark.gradtape_only
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops_have_second_derivatives(tf, method):
    image = tf.constant(IMAGE)
    boxes = tf.constant([[0.13, 0.23, 0.71, 0.88], [0.81, 0.17, 0.07, 0.93]])
    with tf.GradientTape() as outer:
        outer.watch([image, boxes])
        with tf.GradientTape() as inner:
            inner.watch([image, boxes])
            crops = tf.image.crop_and_resize(image, boxes, [1, 0], [3, 4], method)
            loss = tf.reduce_sum(crops**2)
        by_image, by_boxes = inner.gradient(loss, [image, boxes])
    # The loss is quadratic in the image, so that its gradient has the image itself as a factor.
    np.testing.assert_allclose(tf.reduce_sum(by_image * image), 2 * loss, rtol=1e-5)
    second = outer.gradient(by_boxes, boxes)
    if method == "bilinear":
        step = 2.0**-9

        def slope(places):
            with tf.GradientTape() as tape:
                tape.watch(places)
                loss = tf.reduce_sum(tf.image.crop_and_resize(image, places, [1, 0], [3, 4]) ** 2)
            return tf.reduce_sum(tape.gradient(loss, places)).numpy()

        for place in np.ndindex(2, 4):
            move = np.zeros((2, 4), np.float32)
            move[place] = step
            expected = (slope(boxes + move) - slope(boxes - move)) / (2 * step)
            np.testing.assert_allclose(second.numpy()[place], expected, rtol=2e-3, atol=0.05)


@pytest.mark.gradtape_only
def test_what_is_not_drawn_upon_has_the_gradient_of_the_images(tf):
    boxes = [[[0.0, 0.0, 0.6, 0.5]], [[0.5, 0.5, 1.0, 1.0]]]
    x, colors = tf.constant(IMAGE), tf.constant([[2.0, 2.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, colors])
        y = tf.image.draw_bounding_boxes(x, boxes, colors)
        z = tf.image.draw_bounding_boxes(x, boxes, None)
    np.testing.assert_array_equal(tape.gradient(z, x), y.numpy() < 2.0)
    np.testing.assert_array_equal(tape.gradient(z, x), tf.cast(z == x, tf.float32))
    with pytest.raises(LookupError, match="draw_bounding_boxes: there is no gradient"):
        tape.gradient(y, colors)
    with pytest.raises(LookupError, match="draw_bounding_boxes: there is no gradient"):
        tape.gradient(y, [x, colors])


@pytest.mark.gradtape_only
def test_boxes_are_drawn_in_functions(tf):
    boxes = tf.constant([[[0.0, 0.0, 0.6, 0.5]], [[0.5, 0.5, 1.0, 1.0]]])
    expected = tf.image.draw_bounding_boxes(IMAGE, boxes, None)
    inside = tf.function(lambda x: tf.image.draw_bounding_boxes(x, boxes, None), jit_compile=True)
    np.testing.assert_array_equal(inside(tf.constant(IMAGE)), expected)
    given = tf.function(lambda x, b: tf.image.draw_bounding_boxes(x, b, None))
    np.testing.assert_array_equal(given(tf.constant(IMAGE), boxes), expected)


@pytest.mark.gradtape_only
def test_scores_that_were_selected_have_their_gradient(tf):
    boxes = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]])
    scores = tf.constant([0.5, 0.7, 0.6])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([boxes, scores])
        found, selected = tf.image.non_max_suppression_with_scores(boxes, scores, 3)
        _, lowered = tf.image.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=0.5)
    assert found.numpy().tolist() == [1, 2]
    by_scores = tf.convert_to_tensor(tape.gradient(selected, scores, tf.constant([2.0, 3.0])))
    np.testing.assert_array_equal(by_scores, [0.0, 2.0, 3.0])
    for source in (boxes, scores):
        with pytest.raises(LookupError, match="with_scores: there is no gradient"):
            tape.gradient(lowered, source)
