# SPDX-License-Identifier: Apache-2.0
"""A bad disk and a bad clock, for a server that is started with the variables of Faults.environment."""

import mmap
import pathlib
import struct
import subprocess

SOURCE = pathlib.Path(__file__).with_name("faults.c")
FIELDS = ("clock_offset", "hold_syncs", "fail_sync", "syncs", "held", "read_only")  # As in faults.c.


class Faults:
    """One bad world. Its fields can be read and set at any time."""

    def __init__(self, folder):
        library, controls = folder / "faults.so", folder / "faults.controls"
        if not library.exists():
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-o", library, SOURCE, "-ldl"], check=True)
        controls.write_bytes(b"\0" * 4096)
        with open(controls, "r+b") as file:
            object.__setattr__(self, "memory", mmap.mmap(file.fileno(), 4096))
        self.__dict__["environment"] = {"LD_PRELOAD": str(library), "LD_TEST_FAULTS": str(controls)}

    def __getattr__(self, name):
        return struct.unpack_from("=q", self.memory, 8 * FIELDS.index(name))[0]

    def __setattr__(self, name, value):
        struct.pack_into("=q", self.memory, 8 * FIELDS.index(name), value)
