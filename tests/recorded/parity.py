#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a parity ledger on the GPU at hand and holds them against the trace's times.

    tests/recorded/parity.py LEDGER.json...   answers of GET /api/v1/compare/parity; prints one JSON line per row
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path


def measured_us(program):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(program, {})
    return float(re.search(r"([\d.]+) us per call", said.getvalue())[1])


def main():
    import torch
    for path in sys.argv[1:]:
        for row in json.loads(Path(path).read_text())["items"]:
            if not row.get("benchmark") or not row["base_calls"]:
                continue
            line = {"ledger": Path(path).stem, "op": row["op"], "dims": row["dims"], "types": row["types"],
                    "trace_us": row["base_ns"] / row["base_calls"] / 1e3, "kernel": row["base_kernel"]}
            try:
                line["program_us"] = measured_us(row["benchmark"])
            except Exception as error:
                line["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            print(json.dumps(line), flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
