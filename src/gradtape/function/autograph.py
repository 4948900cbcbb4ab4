def converted(f):
    return f
