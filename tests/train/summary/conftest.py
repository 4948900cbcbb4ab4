import importlib

import pytest


@pytest.fixture(scope="module")
def summary(tf):
    return importlib.import_module(f"{tf.__name__}.summary")


@pytest.fixture
def writer(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path / "logs"))
    yield writer
    writer.close()
