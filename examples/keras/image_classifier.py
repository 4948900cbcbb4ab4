"""An image classifier: convolutions, batch normalization, dropout, `fit` with callbacks.

Handwritten digits, moved about a little while training. Afterwards a tape over the trained model
shows where it looks: Grad-CAM (Selvaraju et al., 2017), the gradient of a class by the activations
of an inner layer.
"""

import tensorflow as tf
from helpers import arguments, digits, new_figure
from tensorflow import keras
from tensorflow.keras import layers


def make_model():
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.RandomTranslation(0.1, 0.1, fill_mode="constant"),
            layers.Conv2D(32, 3, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu", name="last_convolution"),
            layers.GlobalMaxPooling2D(),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )


def heat_maps(model, images):
    """Where the model sees the class that it chooses: one map of the last convolution for each."""
    inner = keras.Model(model.inputs, [model.get_layer("last_convolution").output, *model.outputs])
    with tf.GradientTape() as tape:
        activations, logits = inner(images, training=False)
        chosen = tf.reduce_max(logits, axis=1)
    weights = tf.reduce_mean(tape.gradient(chosen, activations), axis=(1, 2), keepdims=True)
    return tf.nn.relu(tf.reduce_sum(weights * activations, axis=-1)).numpy()


def main():
    options = arguments(__doc__, epochs=25)
    (x, y), (test_x, test_y) = digits(options.seed)
    x, test_x = x.reshape(-1, 8, 8, 1), test_x.reshape(-1, 8, 8, 1)

    model = make_model()
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    callbacks = [
        keras.callbacks.ReduceLROnPlateau(factor=0.3, patience=3),
        keras.callbacks.EarlyStopping(patience=8, restore_best_weights=True),
    ]
    history = model.fit(
        x,
        y,
        batch_size=64,
        epochs=options.epochs,
        validation_data=(test_x, test_y),
        callbacks=callbacks,
        verbose=2,
    )

    loss, accuracy = model.evaluate(test_x, test_y, verbose=0)
    if options.figure:
        maps = heat_maps(model, tf.constant(test_x[:10]))
        draw(options.figure, history.history, test_x[:10], maps)
    print(f"result: loss={loss:.4f} accuracy={accuracy:.4f}")


def draw(where, history, images, maps):
    """The loss by epoch, and ten digits with what the model looks at."""
    figure = new_figure(9, 3.6)
    curves, gallery = figure.subfigures(1, 2, width_ratios=(1, 1.5))
    axes = curves.subplots()
    axes.plot(history["loss"], label="training, moved about")
    axes.plot(history["val_loss"], label="held back")
    axes.set(title="Cross-entropy", xlabel="epoch", yscale="log")
    axes.legend()
    gallery.suptitle("Digits held back, and where the model looks", size="medium")
    for axes, image, heat in zip(gallery.subplots(2, 5).flat, images, maps, strict=True):
        axes.imshow(image[..., 0], cmap="gray_r")
        whole = (-0.5, 7.5, 7.5, -0.5)
        axes.imshow(heat, cmap="Reds", alpha=0.5, interpolation="bilinear", extent=whole)
        axes.set_axis_off()
    figure.savefig(where)


if __name__ == "__main__":
    main()
