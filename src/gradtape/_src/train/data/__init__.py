"""Datasets: streams of elements, with TensorFlow's names and semantics.

A dataset is **blocks** × **entries**. What flows from one stage to the next are blocks: runs of
entries that can be cut by slicing. What an entry is, the dataset's `Entries` know: the number of a
row of arrays in memory (`Rows`), an integer that is itself the element (`Numbers`), or an element
that a function has made (`Elements`). They make one element of an entry, or a batch of a block.

The stages that only choose and order (shuffle, repeat, take, skip, shard, batch's cuts, window)
work on blocks and never see an element. So, with rows in memory, a whole epoch is one block, a
range; its shuffle is one permutation; and `batch` cuts all rows of a batch out of the arrays at
once. Where a function makes the elements, a block holds one of them, so that none is made before
it is asked for. One implementation serves both.

- `dataset.py`: `Dataset`, every source and stage, and its spec; `base.py`: what all datasets share;
  `iterator.py`: one pass through one; `optional.py`: an element that may not be there;
- `blocks.py`: take, skip, shard, repeat, window; `shuffle.py`: shuffle; `seeds.py`: its random
  generators, and those of other stages;
- `failures.py`: what stands in the place of an element that could not be made;
- `entries.py`: rows, numbers, elements; `batch.py`: batch and padded_batch of elements;
  `buckets.py`: those of about one length;
- `interleave.py`: interleave, choose and sample; `prefetch.py`; `from_generator.py`; `files.py`;
  `options.py`;
- `elements.py`: what users give and return as elements; `element_spec.py`: what is known of them;
  `cardinality.py`: of their number;
- `experimental.py`: the functions of tf.data.experimental.
"""
