"""Dataset: where elements come from."""

class Dataset(Stages):
    """A stream of elements: tensors, or tuples and dicts of them.

    >>> pairs = Dataset.from_tensor_slices(([1, 2, 3, 4], [True, False, True, False]))
    >>> for x, y in pairs.map(lambda x, y: (10 * x, y)).batch(2):
    ...     print(x.numpy(), y.numpy())
    [10 20] [ True False]
    [30 40] [ True False]

    Each method gives a new dataset; nothing is computed before it is iterated over, and each
    iteration begins anew. Slices of arrays in memory stay numbers of rows through shuffle, repeat,
    take, skip and shard: `batch` then cuts out all rows of a batch at once. Functions run in the
    thread that iterates, one element after the other (`prefetch` gives them a thread), and are
    seen by no tape: elements are constants.
    """

    # Sources

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of `tensors` (slices along axis 0), which must be equally many in all of them.

        >>> Dataset.from_tensor_slices({"x": [1, 2], "y": [[3, 4], [5, 6]]}).element_spec["y"].shape
        TensorShape([2])
        """
        element = as_element(tensors, "Dataset.from_tensor_slices")
        rows = rows_of(element, "Dataset.from_tensor_slices")
        spec = unbatch_spec(spec_of(element))
        return Dataset(rows.in_order, rows, lambda: spec, len(rows))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: `tensors`."""
        element = as_element(tensors, "Dataset.from_tensors")
        return Dataset._of_elements(lambda: iter([element]), lambda: spec_of(element), 1)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What `generator(*args)` yields; it is called anew for each iteration.

        `output_signature` says what comes: a TensorSpec, or a tuple or dict of them. (Older
        programs give dtypes and shapes apart.) What is yielded is converted to these dtypes.
        """
        if not callable(generator):
            raise TypeError(
                "Dataset.from_generator: `generator` must be a function that returns an iterable, "
                f"not {generator!r:.100}. Wrap what can be iterated over in a lambda."
            )
        spec = signature(output_signature, output_types, output_shapes)
        make = partial(generated, generator, args, spec)
        return Dataset._of_elements(make, lambda: spec, UNKNOWN_CARDINALITY)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """The integers of Python's `range(*args)`, in int64 or the dtype `output_type`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range: takes 1 to 3 integers, and received {args!r}.")
        dtype = as_dtype(kwargs.pop("output_type", int64))
        kwargs.pop("name", None)
        if kwargs:
            raise TypeError(f"Dataset.range: there is no argument {next(iter(kwargs))!r}.")
        bounds = [static_int(arg, "Dataset.range", "args") for arg in args]
        if bounds[2:] == [0]:
            raise InvalidArgumentError("Dataset.range: the step must not be zero.")
        numbers = range(*bounds)
        return Dataset(
            lambda: iter([numbers]), Numbers(dtype), lambda: TensorSpec([], dtype), len(numbers)
        )

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = int64, name: Any = None) -> Dataset:
        """The integers from `start` on, `step` apart, without end."""
        dtype = as_dtype(dtype)
        bounds = [
            static_int(start, "Dataset.counter", "start"),
            static_int(step, "Dataset.counter", "step"),
        ]
        return Dataset(
            lambda: order.counting(*bounds),
            Numbers(dtype),
            lambda: TensorSpec([], dtype),
            INFINITE_CARDINALITY,
        )

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool = False, name: str | None = None
    ) -> Dataset:
        """Random integers from [0, 2**32), without end; the same ones in each iteration."""
        begin = _beginnings(seed, "Dataset.random", bool(rerandomize_each_iteration))

        def blocks() -> Blocks:
            random = begin()
            while True:
                yield random.integers(2**32, size=1024)

        return Dataset(blocks, Numbers(int64), lambda: TensorSpec([], int64), INFINITE_CARDINALITY)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as many as the shortest has.

        `zip(a, b)` and `zip((a, b))` give pairs; a dict of datasets gives dicts.
        """
        if datasets is not None:
            args = (datasets,)
        if not args:
            raise TypeError("Dataset.zip: pass at least one dataset.")
        structure = args if len(args) > 1 else args[0]
        parts = nest.flatten(structure)
        if not parts or not all(map(is_dataset, parts)) or _holds_list(structure):
            raise TypeError(
                "Dataset.zip: expected datasets, in tuples or dicts (a list is not a structure "
                f"here). Received: {structure!r:.200}."
            )
        if all(isinstance(d._entries, Rows) and d._blocks == d._entries.in_order for d in parts):
            return _zipped_rows(structure, parts)
        return Dataset._of_elements(
            lambda: (
                nest.pack(structure, iter(elements))
                for elements in zip(*[d._elements() for d in parts], strict=False)
            ),
            lambda: nest.map_structure(lambda d: d.element_spec, structure),
            _least([d._cardinality for d in parts]),
        )

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of the one of `datasets` that each element of `choice_dataset` names."""
        parts = _several(datasets, "Dataset.choose_from_datasets")
        if choice_dataset.element_spec != TensorSpec([], int64):
            raise TypeError(
                "Dataset.choose_from_datasets: the elements of `choice_dataset` must be int64 "
                f"scalars, and are {choice_dataset.element_spec!r}."
            )
        return Dataset._chosen(
            parts, lambda: map(int, choice_dataset._elements()), stop_on_empty_dataset
        )

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Each element the next one of a dataset drawn at random, with `weights` as chances."""
        op = "Dataset.sample_from_datasets"
        parts = _several(datasets, op)
        chances = np.ones(len(parts)) if weights is None else np.asarray(weights, np.float64)
        if chances.shape != (len(parts),) or (chances < 0).any() or not chances.any():
            raise ValueError(
                f"{op}: `weights` must be {len(parts)} numbers, one for each dataset, not negative "
                f"and not all zero. Received: {weights!r}."
            )
        parts = [part for part, chance in zip(parts, chances, strict=True) if chance]
        chances = chances[chances > 0]
        begin = _beginnings(seed, op, rerandomize_each_iteration is not False)
        return Dataset._chosen(parts, lambda: weighted(chances, begin), stop_on_empty_dataset)

    @staticmethod
    def _chosen(
        parts: list[Dataset], choices: Callable[[], PythonIterator[int]], stop_on_empty: bool
    ) -> Dataset:
        return Dataset._of_elements(
            lambda: chosen([d._elements() for d in parts], choices(), stop_on_empty),
            lambda: common_spec([d.element_spec for d in parts]),
            UNKNOWN_CARDINALITY,
        )

