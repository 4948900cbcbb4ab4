"""Fourier transforms, frames and windows of signals."""
