"""What ops do besides computing: Python calls, printing, asserts; what happens at run time."""
