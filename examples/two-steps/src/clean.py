# SPDX-License-Identifier: Apache-2.0
"""clean.py SHIPS.csv FOLDER LENGTH: copies the ships longer than LENGTH to FOLDER/ships.csv."""

import csv
import os
import sys

source, folder, longer_than = sys.argv[1], sys.argv[2], float(sys.argv[3])
with open(source, newline="") as file:
    rows = list(csv.DictReader(file))
kept = [row for row in rows if float(row["length_m"]) > longer_than]
with open(os.path.join(folder, "ships.csv"), "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept)
print(f"kept {len(kept)} of {len(rows)} ships")
