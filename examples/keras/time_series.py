"""A time series: an LSTM reads two days of temperatures and forecasts the next six hours.

The temperatures are made up: a day, a year and weather that comes and goes. What an LSTM is worth
shows beside the plainest forecast of all, that it will be as it was a day before.
"""

import numpy as np
from helpers import arguments, new_figure
from tensorflow import keras
from tensorflow.keras import layers

PAST, AHEAD = 48, 6  # hours
HOURS = 6000


def temperatures(random):
    """Hourly temperatures over some months, in °C."""
    hours = np.arange(HOURS)
    weather = np.zeros(HOURS)
    for i in range(1, HOURS):
        weather[i] = 0.97 * weather[i - 1] + random.normal(0, 0.5)
    day = 5 * np.sin(2 * np.pi * (hours - 9) / 24)
    year = 8 * np.sin(2 * np.pi * hours / (24 * 365))
    return (10 + day + year + weather).astype(np.float32)


def windows(series, shuffle=False):
    """Batches of PAST hours, and the AHEAD hours that follow them."""
    targets = np.lib.stride_tricks.sliding_window_view(series[PAST:], AHEAD)
    return keras.utils.timeseries_dataset_from_array(
        series[: PAST + len(targets) - 1, None],
        targets,
        sequence_length=PAST,
        batch_size=128,
        shuffle=shuffle,
        seed=0,
    )


def main():
    options = arguments(__doc__, epochs=12)
    series = temperatures(np.random.default_rng(options.seed))
    cut = 5 * HOURS // 6
    mean, deviation = series[:cut].mean(), series[:cut].std()
    scaled = (series - mean) / deviation
    training, held_back = windows(scaled[:cut], shuffle=True), windows(scaled[cut:])

    model = keras.Sequential([keras.Input((PAST, 1)), layers.LSTM(32), layers.Dense(AHEAD)])
    rate = keras.optimizers.schedules.CosineDecay(1e-2, options.epochs * len(training))
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="mse", metrics=["mae"])
    model.fit(
        training,
        validation_data=held_back,
        epochs=options.epochs,
        shuffle=False,  # the dataset is shuffled
        verbose=2,
    )

    truth = np.concatenate([y for _, y in held_back.as_numpy_iterator()])
    past = np.concatenate([x for x, _ in held_back.as_numpy_iterator()])
    forecast = model.predict(held_back, verbose=0)
    error = deviation * np.abs(forecast - truth).mean()
    plain = deviation * np.abs(past[:, PAST - 24 : PAST - 24 + AHEAD, 0] - truth).mean()
    if options.figure:
        draw(options.figure, *(mean + deviation * a for a in (past[..., 0], truth, forecast)))
    print(f"result: error={error:.3f} plain={plain:.3f} ratio={error / plain:.3f}")


def draw(where, past, truth, forecast):
    """Three moments: what was, what came, and what was forecast."""
    figure = new_figure(10, 3.4)
    hours = np.arange(-PAST, AHEAD)
    places = (len(truth) // 6, len(truth) // 2, 5 * len(truth) // 6)
    for axes, i in zip(figure.subplots(1, 3, sharey=True), places, strict=True):
        axes.plot(hours[:PAST], past[i], color="tab:gray", label="read")
        axes.plot(hours[PAST:], truth[i], "o-", color="black", markersize=3, label="came")
        axes.plot(hours[PAST:], forecast[i], "o-", color="tab:red", markersize=3, label="forecast")
        axes.axvline(-0.5, color="gray", linestyle=":", linewidth=1)
        axes.set(xlabel="hours from now")
    figure.axes[0].set(ylabel="temperature (°C)")
    figure.axes[0].legend()
    figure.savefig(where)


if __name__ == "__main__":
    main()
