"""A text classifier: TextVectorization, word embeddings, and a convolution over the words.

The reviews are made up: an opinion about a dish, which a `not` turns into its opposite. So single
words do not tell, and the convolution has to see pairs. The finished model takes plain text.
"""

import numpy as np
import tensorflow as tf
from helpers import arguments, new_figure
from tensorflow import keras
from tensorflow.keras import layers

GOOD = ["good", "fresh", "tasty", "lovely", "perfect", "crisp", "tender", "warm"]
BAD = ["bad", "stale", "bland", "awful", "burnt", "soggy", "tough", "cold"]
DISHES = ["soup", "bread", "salad", "fish", "pasta", "cake", "stew", "rice"]
STARTS = ["the", "our", "this", "that", "my", "every"]
VERBS = ["was", "seemed", "tasted", "looked"]
LENGTH = 12


def review(random):
    """A review of two sentences of one opinion, and whether it is good."""
    is_good = bool(random.integers(2))
    sentences = []
    for _ in range(2):
        denied = random.uniform() < 0.5
        word = random.choice(GOOD if is_good != denied else BAD)
        opinion = f"not {word}" if denied else word
        words = [random.choice(STARTS), random.choice(DISHES), random.choice(VERBS), opinion]
        sentences.append(" ".join(words).capitalize() + ".")
    return " ".join(sentences), is_good


def make_dataset(random, count):
    texts, labels = zip(*[review(random) for _ in range(count)], strict=True)
    return tf.data.Dataset.from_tensor_slices((list(texts), np.float32(labels)))


def main():
    options = arguments(__doc__, epochs=8)
    random = np.random.default_rng(options.seed)
    training, held_back = make_dataset(random, 2000), make_dataset(random, 500)

    vectorize = layers.TextVectorization(max_tokens=100, output_sequence_length=LENGTH)
    vectorize.adapt(training.map(lambda text, label: text).batch(256))

    def prepared(dataset):
        batches = dataset.batch(64).map(lambda text, label: (vectorize(text), label))
        return batches.cache().prefetch(tf.data.AUTOTUNE)

    embedding = layers.Embedding(vectorize.vocabulary_size(), 8, name="words")
    classifier = keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int64"),
            embedding,
            layers.Conv1D(16, 2, activation="relu"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(1),
        ]
    )
    classifier.compile(
        optimizer=keras.optimizers.Adam(1e-2),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")],
    )
    classifier.fit(prepared(training), epochs=options.epochs, shuffle=False, verbose=2)
    loss, accuracy = classifier.evaluate(prepared(held_back), verbose=0)

    whole = keras.Sequential([keras.Input((), dtype="string"), vectorize, classifier])
    examples = ["The soup was not bad.", "My cake tasted not good.", "This fish was fresh."]
    for text, logit in zip(examples, whole(tf.constant(examples)).numpy()[:, 0], strict=True):
        print(f"{'good' if logit > 0 else 'bad':5} {text}")
    if options.figure:
        draw(options.figure, vectorize.get_vocabulary(), embedding.get_weights()[0], classifier)
    print(f"result: loss={loss:.4f} accuracy={accuracy:.4f}")


def draw(where, vocabulary, vectors, classifier):
    """The words in the plane in which they differ most, and what `not` does to an opinion."""
    figure = new_figure(9, 4)
    plane, bars = figure.subplots(1, 2, width_ratios=(1.3, 1))

    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    places = centred @ axes[:2].T
    kinds = {"good, fresh …": GOOD, "bad, stale …": BAD, "dishes": DISHES, "not": ["not"]}
    for (kind, words), colour in zip(
        kinds.items(), ("tab:green", "tab:red", "tab:gray", "tab:blue"), strict=True
    ):
        at = places[[vocabulary.index(word) for word in words]]
        plane.scatter(*at.T, color=colour, label=kind, alpha=0.6)
    plane.set(title="Word embeddings", xticks=[], yticks=[])
    plane.legend()

    words = GOOD[:3] + BAD[:3]
    for offset, prefix in ((-0.2, ""), (0.2, "not ")):
        rows = np.zeros((len(words), LENGTH), np.int64)
        for row, word in zip(rows, words, strict=True):
            text = f"the soup was {prefix}{word}".split()
            row[: len(text)] = [vocabulary.index(w) for w in text]
        chances = 1 / (1 + np.exp(-classifier(tf.constant(rows)).numpy()[:, 0]))
        bars.barh(np.arange(len(words)) + offset, chances, 0.35, label=f"the soup was {prefix}…")
    bars.set_yticks(range(len(words)), words)
    bars.invert_yaxis()
    bars.set(title="How likely the opinion is good", xlim=(0, 1))
    bars.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
    figure.savefig(where)


if __name__ == "__main__":
    main()
