"""Which engine holds new values; with a GPU, tests/gpu."""

import logging
import sys
import types

import numpy as np
import pytest

from gradtape._src.core.placement import Placement, card_of, on_host, placement
from gradtape._src.engines import _find_card


def test_without_a_gpu_everything_is_on_the_host():
    array = np.ones(2)
    assert placement.new_variable(array) is placement.placed(array) is on_host(array) is array
    assert card_of(array) is None and card_of(3) is None


def found(monkeypatch, device, outcome=(None, "there is none")):
    monkeypatch.setenv("GRADTAPE_DEVICE", device)
    new = Placement()
    new.supply(lambda: outcome)
    return new


def test_the_environment_decides(monkeypatch):
    assert found(monkeypatch, "cpu", ("engine", "")).card is None
    assert found(monkeypatch, "CPU:0").reason == "GRADTAPE_DEVICE=cpu"
    assert found(monkeypatch, "", ("engine", "")).card == "engine"
    with pytest.raises(RuntimeError, match="no GPU to be used: there is none"):
        _ = found(monkeypatch, "gpu").card
    with pytest.raises(ValueError, match="'tpu': it can be cpu or gpu"):
        _ = found(monkeypatch, "tpu").card


def test_it_is_looked_for_once(monkeypatch):
    monkeypatch.delenv("GRADTAPE_DEVICE", raising=False)
    looked = []
    new = Placement()
    new.supply(lambda: looked.append(1) or (None, "none"))
    assert (new.card, new.card, new.reason, looked) == (None, None, "none", [1])
    new.forget()
    assert new.card is None and looked == [1, 1]
    new.hide()
    assert new.reason == "it is hidden"


class Broken(types.ModuleType):
    @property
    def cuda(self):
        raise RuntimeError("the driver is too old")


def test_a_broken_driver_is_reported_and_the_cpu_used(monkeypatch, caplog):
    cupy = Broken("cupy")
    cupy.__spec__ = types.SimpleNamespace(name="cupy", origin="cupy.py")
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with caplog.at_level(logging.WARNING, "gradtape"):
        engine, reason = _find_card()
    assert engine is None and "the driver is too old" in reason
    assert "The GPU is not used" in caplog.text


def test_no_card(monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.__spec__ = types.SimpleNamespace(name="cupy", origin="cupy.py")
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 0)
    cupy.cuda = types.SimpleNamespace(runtime=runtime)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert _find_card() == (None, "CuPy finds no GPU")


def test_a_folder_of_its_name_is_not_cupy(tmp_path, monkeypatch):
    (tmp_path / "cupy").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    if "cupy" not in sys.modules:
        assert _find_card() == (None, "CuPy is not installed (pip install 'gradtape[gpu]')")
