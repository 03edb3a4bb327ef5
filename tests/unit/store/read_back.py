"""Reads results.h5 with plain h5py, as docs/schema.md tells users to. Argument: the program write_sample."""

import json
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError as missing:
    sys.exit(f"this test needs h5py for /usr/bin/python3 (apt-get install python3-h5py): {missing}")


def check(condition, what):
    if not condition:
        sys.exit(f"not as written: {what}")


def read(path):
    with h5py.File(path, "r") as f:
        check(f.attrs["format"] == "tessera-results" and f.attrs["schema_version"] == 1, "format and version")
        texts = f["strings"].asstr()[...]

        # Axes: codes pick from the values, which are JSON.
        x_values = [json.loads(v) for v in f["axes/x/value"].asstr()[...]]
        y_fields = [json.loads(v) for v in f["axes/y/definition"].asstr()[...]]
        x = [x_values[code] for code in f["cells/axes/x"][...]]
        check(x == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], "axis x of the cells")
        check(f["axes/x"].attrs["type"] == "integer", "type of axis x")
        check(y_fields == [None, {"label": "Ünit 0", "size": 10}, {"label": "Ünit 1", "size": 20}], "fields of axis y")
        check(list(f["cells/repeat"][...]) == [0, 1] * 6, "repeats")
        check(all(len(i) == 32 for i in f["cells/id"][...]), "ids of cells")

        # Attempts and their outcomes.
        names = list(f["attempts/outcome"].attrs["names"])
        outcomes = [names[code] for code in f["attempts/outcome"][...]]
        check(outcomes == ["succeeded"] * 11 + ["failed"], "outcomes")
        null = f["attempts/exit_code"].attrs["null"]
        check([c == null for c in f["attempts/exit_code"][...]] == [True] * 11 + [False], "exit codes")
        check(f["attempts/duration_s"].attrs["unit"] == "s", "unit of the duration")
        check(f["attempts/started_utc"][0] == b"2026-01-01T00:00:02.000Z", "start as text")
        check(texts[f["attempts/host"][0]] == "node1", "host")
        check(f["provenance/opened_utc"][0] == b"2026-01-01T00:00:00.123Z", "begin of the part")

        # What became of each cell.
        status_names = f["cell_results/status"].attrs["names"]
        check([status_names[c] for c in f["cell_results/status"][...]] == ["succeeded"] * 11 + ["failed"], "status")
        no_attempt = f["cell_results/attempt"].attrs["null"]
        accepted = f["cell_results/attempt"][...]
        check(accepted[11] == no_attempt and all(a != no_attempt for a in accepted[:11]), "accepted attempts")
        check(all(f["cell_results/current"][...]), "current cells")

        # Metrics, joined to the cells by their accepted attempts.
        metric = texts[f["metric_names/name"][...][f["metrics/name"][...]]]
        cell_of_attempt = {attempt: cell for cell, attempt in enumerate(accepted) if attempt != no_attempt}
        product = {}
        for row in numpy.flatnonzero(metric == "product"):
            cell = cell_of_attempt[f["metrics/attempt"][row]]
            product.setdefault(x[cell], []).append(f["metrics/value"][row])
        check(product == {1: [1.0] * 4, 2: [2.0] * 4, 3: [3.0] * 3}, "product by x")
        check(f["metrics/value"][numpy.flatnonzero(metric == "loss")[0]] == numpy.inf, "infinite loss")
        note = f["metrics/text"][numpy.flatnonzero(metric == "note")[0]]
        check(texts[note] == 'äöü 日本語 "quoted"\nsecond line', "text of a metric")
        check(f["metrics/text"][0] == f["metrics/text"].attrs["null"], "no text beside a value")

        # The steps in full.
        ends = [0, *f["steps/spec_end"][...]]
        spec = json.loads(bytes(f["steps/spec_text"][ends[3]:ends[4]]).decode())
        check(spec["argv"] == ["echo", "1", '"quoted" ünïcode'] and spec["seed"] == 2**64 - 1, "command of a step")


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder + "/D"], check=True)
    read(folder + "/D/results.h5")
