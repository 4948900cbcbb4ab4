"""The engine on CuPy: arrays on a GPU of NVIDIA. Imported when an array is first put there."""
