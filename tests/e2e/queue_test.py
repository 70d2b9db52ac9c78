# SPDX-License-Identifier: Apache-2.0
"""As many jobs at once as there are cores; the rest wait in order."""

from harness import CORES, eventually


def test_as_many_at_once_as_cores_and_the_rest_in_order(berth):
    marks, gate = berth.folder / "marks", berth.folder / "gate"
    marks.mkdir()
    names = [f"q{number:03}" for number in range(CORES + 3)]  # In the order of their names, with any number of cores.
    for name in names:
        berth.submit(f"touch {marks}/{name}; until [ -e {gate} ] || [ -e {gate}-{name} ]; do sleep 0.05; done",
                     name)

    def begun():
        return sorted(path.name for path in marks.iterdir())

    eventually(lambda: begun() == names[:CORES], what="the first jobs")
    for name in names[CORES:]:
        assert berth.get_job(name)["properties"]["status"] == "Queued"
    for number, name in enumerate(names[CORES:]):
        (berth.folder / f"gate-{names[number]}").touch()
        berth.wait(names[number], "Completed")
        eventually(lambda: name in begun(), what=f"{name} to begin")
        assert begun() == sorted(names[:CORES + number + 1])
    gate.touch()
    for name in names:
        berth.wait(name, "Completed")


def test_a_higher_priority_goes_first(berth):
    gates, order = berth.folder / "gates", berth.folder / "order"
    gates.mkdir()
    for number in range(CORES):
        berth.submit(f"until [ -e {gates}/{number} ]; do sleep 0.05; done", f"busy{number}")
        berth.wait(f"busy{number}", "Running")
    for name, priority in [("low", "low"), ("medium", "medium"), ("high", "high")]:
        berth.submit(f"echo {name} >> {order}", name, queue_settings={"priority": priority})

    (gates / "0").touch()  # One slot: they go one after the other.

    for name in ("low", "medium", "high"):
        berth.wait(name, "Completed")
    assert order.read_text().split() == ["high", "medium", "low"]
    for number in range(CORES):
        (gates / str(number)).touch()
        berth.wait(f"busy{number}", "Completed")


def test_a_hundred_short_jobs_all_run_once(berth):
    marks = berth.file("marks", "")
    for number in range(100):
        answer = berth.put(f"/jobs/s{number}", {"properties": {
            "jobType": "Command", "command": f"echo {number} >> {marks}", "environmentId": "azureml:x:1"}})
        assert answer.status in (200, 201), answer

    for number in range(100):
        berth.wait(f"s{number}", "Completed")
    assert sorted(map(int, marks.read_text().split())) == list(range(100))
