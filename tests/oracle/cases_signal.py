"""tf.signal: Fourier and cosine transforms, windows, frames, spectrograms."""

from .inputs import call, case, complexes, integers, normal, positive

LACKING = "TensorFlow has no gradient"
CUT = "TensorFlow's gradient fails where fft_length cuts the signal"


def complex_transforms():
    for count, shapes in {
        "": [(1,), (5,), (2, 4)],
        "2d": [(3, 4), (2, 1, 3)],
        "3d": [(2, 3, 2)],
    }.items():
        for direction in ("fft", "ifft"):
            for shape in shapes:
                name = f"signal.{direction}{count}"
                yield case(f"{name} {shape}", call(name), complexes(*shape))
    yield case("signal.fft empty", call("signal.fft"), complexes(2, 0), order=0)
    yield case("signal.fft of plain numbers", lambda tf: tf.signal.fft([1, 2, 4]), order=0)


def real_transforms():
    for shape in [(1,), (4,), (5,), (2, 6)]:
        yield case(f"signal.rfft {shape}", call("signal.rfft"), normal(*shape))
    for shape in [(2,), (4,), (2, 3)]:
        yield case(f"signal.irfft {shape}", call("signal.irfft"), complexes(*shape))
    for length in (6, 7):
        yield case(f"signal.rfft padded {length}", call("signal.rfft", [length]), normal(2, 5))
    for length in (4, 5):
        yield case(
            f"signal.irfft odd or even {length}", call("signal.irfft", [length]), complexes(2, 3)
        )
    yield case("signal.irfft padded", call("signal.irfft", [9]), complexes(3))
    yield case("signal.irfft one", call("signal.irfft", [1]), complexes(1), order=0)
    yield case("signal.rfft cut", call("signal.rfft", [3]), normal(2, 5), order=0, differs=CUT)
    yield case("signal.irfft cut", call("signal.irfft", [3]), complexes(2, 5), order=0, differs=CUT)
    yield case("signal.rfft of plain numbers", lambda tf: tf.signal.rfft([1, 2, 4]), order=0)
    for shape in [(2, 4), (3, 5), (2, 3, 4)]:
        yield case(f"signal.rfft2d {shape}", call("signal.rfft2d"), normal(*shape))
    for shape in [(2, 3), (3, 3), (2, 4, 2)]:
        yield case(f"signal.irfft2d {shape}", call("signal.irfft2d"), complexes(*shape))
    yield case("signal.irfft2d odd", call("signal.irfft2d", [3, 5]), complexes(3, 3))
    yield case("signal.rfft2d padded", call("signal.rfft2d", [4, 6]), normal(3, 5))
    yield case("signal.rfft3d", call("signal.rfft3d"), normal(2, 3, 4), agrees=0, differs=LACKING)
    yield case(
        "signal.irfft3d", call("signal.irfft3d"), complexes(2, 3, 3), agrees=0, differs=LACKING
    )


def shifts():
    for name in ("signal.fftshift", "signal.ifftshift"):
        yield case(f"{name} all", call(name), normal(3, 4))
        yield case(f"{name} axis", call(name, axes=-1), normal(3, 5))
        yield case(f"{name} axes", call(name, axes=[-1, 0]), complexes(3, 5))


def windows():
    for name in ("hann_window", "hamming_window"):
        for length in (1, 4, 5):
            for periodic in (True, False):
                yield case(
                    f"signal.{name} {length} {periodic}",
                    lambda tf, name=name, length=length, periodic=periodic: [
                        getattr(tf.signal, name)(length, periodic=periodic),
                        getattr(tf.signal, name)(length, periodic=periodic, dtype=tf.float64),
                    ],
                    order=0,
                    dtypes=("float32",),
                )
    for name in ("kaiser_window", "kaiser_bessel_derived_window", "vorbis_window"):
        for length in (4, 6, 9):
            yield case(
                f"signal.{name} {length}",
                lambda tf, name=name, length=length: getattr(tf.signal, name)(length),
                order=0,
                dtypes=("float32",),
            )
    yield case(
        "signal.kaiser_window by beta",
        lambda tf, beta: tf.signal.kaiser_window(6, beta, dtype=beta.dtype),
        positive(),
        dtypes=("float64",),
    )


def frames():
    for size, length, step, pad_end in [
        (8, 3, 2, False), (8, 3, 2, True), (7, 2, 3, False), (7, 2, 3, True), (9, 4, 4, False),
        (3, 5, 1, False), (3, 5, 1, True), (0, 2, 1, True),
    ]:  # fmt: skip
        yield case(
            f"signal.frame {size} {length} {step} {pad_end}",
            call("signal.frame", length, step, pad_end=pad_end, pad_value=0.5),
            normal(2, size),
        )
    yield case("signal.frame axis", call("signal.frame", 2, 1, axis=1), normal(2, 5, 3))
    yield case("signal.frame negative axis", call("signal.frame", 2, 2, axis=-2), normal(5, 2))
    yield case("signal.frame ints", call("signal.frame", 2, 1), integers(0, 9, 5), order=0)
    for count, length, step in [(3, 4, 2), (3, 4, 3), (2, 3, 3), (3, 2, 5), (1, 4, 1), (4, 5, 1)]:
        yield case(
            f"signal.overlap_and_add {count} {length} {step}",
            call("signal.overlap_and_add", step),
            normal(2, count, length),
        )
    yield case("signal.overlap_and_add complex", call("signal.overlap_and_add", 2), complexes(3, 4))


def cosine_transforms():
    for name in ("signal.dct", "signal.idct"):
        for type in (1, 2, 3, 4):
            for norm in (None,) if type == 1 else (None, "ortho"):
                for n in (None, 3, 6):
                    yield case(
                        f"{name} {type} {norm} {n}",
                        call(name, type=type, norm=norm, n=n),
                        normal(2, 5),
                    )
    yield case("signal.dct one element", call("signal.dct"), normal(3, 1))


def spectrograms():
    stft = "signal.stft"
    yield case("signal.stft", call(stft, 4, 2), normal(12))
    yield case("signal.stft padded", call(stft, 5, 3, pad_end=True), normal(2, 10))
    yield case("signal.stft no window", call(stft, 4, 3, window_fn=None), normal(10))
    yield case("signal.stft fft_length", call(stft, 4, 2, fft_length=7), normal(10))
    inverse = "signal.inverse_stft"
    yield case("signal.inverse_stft", call(inverse, 4, 2), complexes(3, 3))
    yield case("signal.inverse_stft odd", call(inverse, 5, 2), complexes(2, 3, 5))
    yield case("signal.inverse_stft fft_length", call(inverse, 7, 2, fft_length=5), complexes(3, 3))
    yield case(
        "signal.inverse_stft windowed",
        lambda tf, x: tf.signal.inverse_stft(
            x, 4, 3, window_fn=tf.signal.inverse_stft_window_fn(3, tf.signal.hamming_window)
        ),
        complexes(3, 3),
    )
    for norm in (None, "ortho"):
        yield case(f"signal.mdct {norm}", call("signal.mdct", 8, norm=norm), normal(2, 17))
        yield case(
            f"signal.inverse_mdct {norm}", call("signal.inverse_mdct", norm=norm), normal(2, 3, 4)
        )
    yield case("signal.mdct plain", call("signal.mdct", 4, None, pad_end=True), normal(9))
    yield case("signal.inverse_mdct plain", call("signal.inverse_mdct", None), normal(3, 4))
    yield case(
        "signal.linear_to_mel_weight_matrix",
        lambda tf: tf.signal.linear_to_mel_weight_matrix(
            4, 17, 8000, 80.0, 3600.0, dtype=tf.float64
        ),
        order=0,
        dtypes=("float64",),
    )
    yield case(
        "signal.mfccs_from_log_mel_spectrograms",
        call("signal.mfccs_from_log_mel_spectrograms"),
        normal(2, 3, 5),
    )


CASES = [
    *complex_transforms(),
    *real_transforms(),
    *shifts(),
    *windows(),
    *frames(),
    *cosine_transforms(),
    *spectrograms(),
]
