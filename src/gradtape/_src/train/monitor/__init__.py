"""GradientMonitor: what gradients and weights do during training."""
