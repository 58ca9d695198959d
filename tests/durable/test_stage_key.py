"""Does a stage's key change with every input of the stage?"""

import inspect
from types import SimpleNamespace

import pytest

from agents.domain.cycle import Knobs, Pin
from tasks.engineer import engineer
from tasks.integrate import integrate
from tasks.orient import orient
from tasks.policies import stage_key
from tasks.verify import verify

PIN = Pin(
    cycle=1,
    item="one",
    attempt=1,
    base="b",
    base_tree="t",
    variant="v",
    model="x",
    source="scripted",
    wire="text",
    epoch=1,
    begun_at="now",
)
OTHER = {"knobs": Knobs(max_calls=3), "source": "live", "wire": "tools", "previous": 4, "calls_before": {"r": 1}}


def key(pin=PIN, task="verify", held="m-0a1b2c3d", **more):
    cycle = SimpleNamespace(held=SimpleNamespace(key=held), pin=pin)
    return stage_key(SimpleNamespace(task=SimpleNamespace(name=task)), {"cycle": cycle, **more})


@pytest.mark.parametrize("field", Pin.model_fields)
def test_every_field_of_the_pin_is_in_the_key(field):
    old = getattr(PIN, field)
    new = OTHER.get(field, old + 1 if isinstance(old, int) else f"{old}x")
    assert key(PIN.model_copy(update={field: new})) != key()


def test_mission_stage_and_tree_are_in_the_key():
    assert len({key(), key(task="orient"), key(held="m-ffffffff"), key(tree="a"), key(tree="b")}) == 5


@pytest.mark.parametrize("stage", [orient, engineer, verify, integrate])
def test_every_parameter_of_a_stage_is_in_the_key_or_named_as_left_out(stage):
    for name in set(inspect.signature(stage.fn).parameters) - {"cycle", "tree"}:
        assert f"`{name}`" in inspect.getdoc(stage_key)
