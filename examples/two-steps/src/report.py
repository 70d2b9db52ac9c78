# SPDX-License-Identifier: Apache-2.0
"""report.py SHIPS.csv: how often a tug was taken, and writes it to outputs/report.json."""

import csv
import json
import os
import sys

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
tugs = sum(row["took_tug"] == "1" for row in rows)
print(f"{tugs} of {len(rows)} large ships took a tug ({tugs / len(rows):.0%})")
os.makedirs("outputs", exist_ok=True)
with open("outputs/report.json", "w") as file:
    json.dump({"ships": len(rows), "tugs": tugs}, file)
