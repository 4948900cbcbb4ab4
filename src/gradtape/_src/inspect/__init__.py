"""What a tape, or a journal of all op calls, can tell: why a gradient is what it is."""
