"""The command `gradtape`."""
