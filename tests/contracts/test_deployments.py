"""Does `prefect.yaml` deploy what is there, by module entrypoint and without a path of this machine?"""

from importlib import import_module
from pathlib import Path

import yaml

FILE = Path(__file__).parents[2] / "prefect.yaml"
DEPLOYMENTS = yaml.safe_load(FILE.read_text())["deployments"]


def test_every_entrypoint_is_a_flow_of_ours():
    for deployment in DEPLOYMENTS:
        module, _, name = deployment["entrypoint"].partition(":")
        found = getattr(import_module(module), name)
        assert type(found).__name__ == "Flow"


def test_the_documented_deployment_is_there():
    (mission,) = [d for d in DEPLOYMENTS if d["entrypoint"] == "flows.mission:run_mission"]
    assert mission["name"] == "default"
    assert mission["work_pool"] == {"name": "lra", "work_queue_name": "missions"}


def test_nothing_is_pulled_and_no_path_is_baked_in():
    text = FILE.read_text()
    assert yaml.safe_load(text)["pull"] == []
    assert str(Path.home()) not in text
