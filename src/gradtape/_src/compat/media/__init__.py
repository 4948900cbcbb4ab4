"""Encoded images and sounds. Images are decoded by Pillow, which is imported when it is needed."""
