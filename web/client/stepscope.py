# SPDX-License-Identifier: Apache-2.0
"""Reads and fills a stepscope server from notebooks, scripts and CI jobs.

One file that needs Python 3.9 and nothing else; pandas only where you ask for a DataFrame.

    curl -O http://HOST/client/stepscope.py

    from stepscope import Hub
    hub = Hub("http://HOST")                    # token="ss_..." where the server asks for one
    run = hub.upload("exp42", ["rank0.json.gz", "rank1.json.gz"])   # waits for the analysis
    run.kernels().df()                                              # a pandas DataFrame
    hub.compare("main~latest", run)                                 # a verdict, and tables
    hub.gate("@baseline:main", run, max_regression=0.03).check()    # raises when it fails

A training job can record itself, see Recorder:

    from stepscope import record                # STEPSCOPE_URL says where the traces go
    record.step()                               # after each step

Wherever a run is asked for, a Run will do, or its key: its id, its name, "project/name",
"SERIES~latest" or "@baseline:NAME". A list of them are repeats of one measurement.

All times are integers of nanoseconds where a name ends in `_ns`, sizes are bytes, shares run from
0 to 1; `table.units` and `table.help` describe each column.
"""

from __future__ import annotations

import atexit
import base64
import collections
import functools
import gzip
import hashlib
import http.client
import html
import itertools
import json
import logging
import multiprocessing.util
import os
import random
import shutil
import socket
import statistics
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Hub", "Agent", "Run", "Table", "Comparison", "Gate", "Problem", "GateFailed", "Recorder",
           "record"]

Rows = List[Dict[str, Any]]
Key = Union[str, "Run"]
Keys = Union[Key, Iterable[Key]]
Progress = Union[bool, Callable[[int, int], None]]

_CHUNK = 1 << 20        # bytes of a file sent at a time
_MOST_FILES = 32        # of one upload, which takes 128 fields and files; more are sent as several
_SHOWN_ROWS = 20        # of a table in a notebook
_TRIES = 6              # while the server says that it is busy
_LONGEST_WAIT_S = 60    # that the server may ask for; an exhausted daily quota fails at once
_POLL_S = (0.05, 1.0)   # between two looks at a run that is still analyzed: first, at most
_ENDINGS = (".json", ".xplane.pb", ".prv", ".csv", ".db", ".rpd", ".sqlite")
_TRACES = tuple(ending + coding for ending in _ENDINGS for coding in ("", ".gz", ".zst"))


class Problem(Exception):
    """An error, in the server's own words.

    Attributes: status (int, HTTP; 0 when nothing answered), title, detail, fix (what helps, may be
    empty), type (a stable word such as "not-found") and request_id, to find it in the log.
    """

    def __init__(self, status: int, fields: Mapping[str, Any]):
        self.status = status
        self.title = str(fields.get("title") or f"HTTP {status}")
        self.detail = str(fields.get("detail") or "")
        self.fix = str(fields.get("fix") or "")
        self.type = str(fields.get("type") or "").rsplit("/", 1)[-1]
        self.request_id = str(fields.get("request_id") or "")
        super().__init__(self.title, self.detail, self.fix)

    def __str__(self) -> str:
        text = f"{self.title}: {self.detail}" if self.detail else self.title
        return f"{text} (what helps: {self.fix})" if self.fix else text


class GateFailed(Exception):
    """A gate that does not let the candidate through; `gate` says why."""

    def __init__(self, gate: "Gate"):
        self.gate = gate
        super().__init__("\n".join([*gate.lines, gate.url]))


# --- requests -------------------------------------------------------------------------------------


class _Reply:
    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes):
        self.status, self.headers, self.body = status, headers, body

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None

    def problem(self) -> Problem:
        try:
            fields = json.loads(self.body)
        except ValueError:
            fields = {"detail": self.body[:200].decode("utf-8", "replace")}
        return Problem(self.status, fields if isinstance(fields, dict) else {})


class _Body:
    """What is sent: its length in bytes, and its chunks, again for each try."""

    def __init__(self, length: int, chunks: Callable[[], Iterator[bytes]], content_type: str):
        self.length, self.chunks, self.content_type = length, chunks, content_type

    @staticmethod
    def of_json(value: Any, content_type: str = "application/json") -> "_Body":
        data = json.dumps(value).encode()
        return _Body(len(data), lambda: iter((data,)), content_type)


def _words(value: Any) -> Any:
    """A value as the API writes it in an address."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Run):
        return value.id
    return value


def _query(params: Mapping[str, Any]) -> str:
    pairs = []
    for name, value in params.items():
        many = value if isinstance(value, (list, tuple, set)) else [value]
        pairs += [(name, _words(one)) for one in many if one is not None]
    return f"?{urlencode(pairs)}" if pairs else ""


def _segment(key: Key) -> str:
    return quote(key.id if isinstance(key, Run) else str(key), safe="")


def _side(keys: Keys) -> str:
    """Runs of one side of a comparison, joined as the API takes them."""
    if isinstance(keys, (str, Run)):
        keys = [keys]
    return ",".join(key.id if isinstance(key, Run) else str(key) for key in keys)


def _sides(cand: Union[Keys, List[Keys]]) -> List[str]:
    """Candidates: a list of lists are several, each of repeats."""
    if isinstance(cand, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in cand):
        return [_side(one) for one in cand]
    return [_side(cand)]


# --- tables ---------------------------------------------------------------------------------------


def _time(ns: float) -> str:
    """In milliseconds, as on the pages; a short time has its own unit."""
    size = abs(ns)
    if 0 < size < 1000:
        return f"{ns:.0f} ns"
    return f"{ns / 1e3:,.3f} µs" if 0 < size < 100_000 else f"{ns / 1e6:,.3f} ms"


def _shown(value: Any, unit: str) -> str:
    """A cell as a notebook shows it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)) and unit == "ns":
        return _time(value)
    if isinstance(value, (int, float)) and unit == "share":
        tiny = 0 < abs(value) < 0.0005
        return f"{'-' if value < 0 else ''}<0.1 %" if tiny else f"{100 * value:.1f} %"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _has_holes(column: List[Any]) -> bool:
    """Whether a column holds whole numbers of which some are missing."""
    kinds = {type(value) for value in column}
    return kinds == {int, type(None)}


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise ImportError(
            "arrow() needs pyarrow (pip install pyarrow); rows() and columns do not") from error
    return pyarrow


class Table:
    """All rows of a table.

    `columns` holds a list for each column by name, `units` and `help` its unit and definition,
    `total` how many rows the server counts. `table["total_ns"]` is a column, `table[0]` a row,
    iterating gives rows; `rows()` all of them, `df()` a pandas DataFrame, `arrow()` a pyarrow
    Table.
    """

    def __init__(self, name: str, columns: Dict[str, List[Any]],
                 units: Optional[Mapping[str, str]] = None,
                 help: Optional[Mapping[str, str]] = None,
                 total: Optional[int] = None, url: str = ""):
        self.name, self.columns, self.url = name, columns, url
        self.units, self.help = dict(units or {}), dict(help or {})
        self.total = len(self) if total is None else total

    @classmethod
    def of_rows(cls, name: str, rows: Rows, url: str = "") -> "Table":
        """A table of a list of dicts."""
        names = list(dict.fromkeys(key for row in rows for key in row))
        return cls(name, {key: [row.get(key) for row in rows] for key in names}, url=url)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, what: Union[int, str]) -> Any:
        if isinstance(what, str):
            return self.columns[what]
        if not -len(self) <= what < len(self):
            raise IndexError(f"row {what} of {len(self)}")
        return {name: column[what] for name, column in self.columns.items()}

    def rows(self) -> Rows:
        """All rows, each a dict by column."""
        return list(self)

    def df(self) -> Any:
        """The rows as a pandas DataFrame, whose `attrs` hold units and help. Needs pandas.

        Whole numbers stay whole where some are missing (dtype Int64).
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "df() needs pandas (pip install pandas); rows() and columns do not") from error
        frame = pandas.DataFrame({
            name: pandas.array(column, dtype="Int64") if _has_holes(column) else column
            for name, column in self.columns.items()})
        frame.attrs.update(units=self.units, help=self.help)
        return frame

    def arrow(self) -> Any:
        """The rows as a pyarrow Table, whose fields hold units and help. Needs pyarrow."""
        pyarrow = _pyarrow()
        table = pyarrow.table(self.columns)
        notes = [{"unit": self.units.get(name, ""), "help": self.help.get(name, "")}
                 for name in self.columns]
        return pyarrow.Table.from_arrays(table.columns, schema=pyarrow.schema(
            [field.with_metadata(note) for field, note in zip(table.schema, notes)]))

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        head = "".join(f'<th title="{html.escape(self.help.get(name, ""))}">'
                       f"{html.escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(
            f"<td>{html.escape(_shown(value, self.units.get(name, '')))}</td>"
            for name, value in row.items()) + "</tr>"
            for row in (self[i] for i in range(min(len(self), _SHOWN_ROWS))))
        more = f"{_SHOWN_ROWS} of " if len(self) > _SHOWN_ROWS else ""
        link = f' · <a href="{html.escape(self.url)}">open</a>' if self.url else ""
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
                f"<p>{html.escape(self.name)}: {more}{len(self)} rows{link}</p>")


# --- runs -----------------------------------------------------------------------------------------


class Run:
    """A run on the server. `info` is what the server says about it, as of the last `refresh()`."""

    def __init__(self, hub: "Hub", info: Dict[str, Any]):
        self.hub, self.info = hub, info

    @property
    def id(self) -> str:
        """The run's id, which never changes."""
        return self.info["id"]

    @property
    def name(self) -> str:
        return self.info["name"]

    @property
    def status(self) -> str:
        """empty, pending, running, done, partial (some traces failed) or failed."""
        return self.info["status"]

    @property
    def meta(self) -> Dict[str, str]:
        """Metadata that was uploaded with the run or set later."""
        return dict(self.info.get("meta") or {})

    @property
    def tags(self) -> Dict[str, str]:
        return dict(self.info.get("tags") or {})

    @property
    def url(self) -> str:
        """The run's page on the dashboard."""
        return self.info.get("url") or f"{self.hub.url}/runs/{_segment(self)}"

    def refresh(self) -> "Run":
        """Asks the server again."""
        self.info = self.hub.get(f"/runs/{_segment(self)}")
        return self

    def wait(self, timeout: float = 600) -> "Run":
        """Waits until the run's analysis is done.

        timeout: seconds. Raises TimeoutError when they have passed, Problem when the run failed.
        """
        end = time.monotonic() + timeout
        pause, longest = _POLL_S
        while self.refresh().status in ("pending", "running"):
            if time.monotonic() > end:
                raise TimeoutError(f"run {self.name} is still {self.status} after {timeout:g} s")
            time.sleep(pause)
            pause = min(2 * pause, longest)
        if self.status == "failed":
            raise Problem(422, {"title": f"run {self.name} failed", "type": "run-failed",
                                "detail": self.info.get("error") or "no trace could be analyzed"})
        return self

    def table(self, name: str, **filters: Any) -> Table:
        """A table of the run in full: "kernels", "steps", "breakdown", "operators", ...

        filters: values of columns (`category="GEMM"`; a list means any of them), `q` (a text to
        find), `sort` ("-total_ns"), `fields` ("name,total_ns"), `limit`, and for tables of one rank
        `rank`. Tables and columns are described at /docs/api.
        """
        return self.hub.table(f"/runs/{_segment(self)}/{name}", name=name, **filters)

    def kernels(self, **filters: Any) -> Table:
        """One row per kernel: calls, total and owned time, percentiles, op, category."""
        return self.table("kernels", **filters)

    def steps(self, **filters: Any) -> Table:
        """One row per step and rank, with its eight parts; warm-up has steady=False."""
        return self.table("steps", **filters)

    def breakdown(self, **filters: Any) -> Table:
        """Where the time goes, in parts that sum exactly, for the run, ranks and devices."""
        return self.table("breakdown", **filters)

    def operators(self, **filters: Any) -> Table:
        """One row per operator of one rank (`rank=`; default: the one that represents the run)."""
        return self.table("operators", **filters)

    def modules(self, **filters: Any) -> Table:
        """One row per module of the model, when the trace was recorded with modules."""
        return self.table("modules", **filters)

    def collectives(self, **filters: Any) -> Table:
        """One row per kind, group and type of collective: time, exposed time, bandwidth."""
        return self.table("collectives", **filters)

    def ranks(self, **filters: Any) -> Table:
        """One row per rank."""
        return self.table("ranks", **filters)

    def findings(self, **filters: Any) -> Table:
        """What to fix first, with what it costs per step at most, evidence and advice."""
        return self.table("findings", **filters)

    def events(self, **window: Any) -> Any:
        """Events as a pyarrow Table, a row for each: `run.events(ranks="0-7", to_ns=50_000_000)`.

        Without `ranks` those of the headline rank; `lanes="device"` leaves out threads.
        """
        return self.hub.arrow(f"/runs/{_segment(self)}/events", limit=None, **window)

    def whatif(self, *changes: str, rank: Optional[int] = None) -> Dict[str, Any]:
        """What changes would bring: `run.whatif("host_free", "scale=0.5:class=communication")`.

        Without a change the ready-made ones, the most useful first. `refused` says why there is no
        answer; `changes` has each by itself, `together` all of them.
        """
        return self.hub.get(f"/runs/{_segment(self)}/whatif", change=changes, rank=rank)

    def summary(self) -> Dict[str, Any]:
        """The figures of the run's overview, in one request."""
        return self.hub.get(f"/runs/{_segment(self)}/summary")

    def _change(self, patch: Mapping[str, Any]) -> "Run":
        body = _Body.of_json(patch, "application/merge-patch+json")
        self.info = self.hub._send("PATCH", f"/runs/{_segment(self)}", body,
                                   {"If-Match": "*"}).json()
        return self

    def set_meta(self, meta: Optional[Mapping[str, Optional[str]]] = None,
                 **more: Optional[str]) -> "Run":
        """Sets metadata; None removes a key, others stay.

        People expect gpu, driver, framework, precision, batch_size, seq_len, tokens_per_step, data
        ("real" or "synthetic"), commit and model.
        """
        given = {**(meta or {}), **more}
        return self._change({"meta": {key: None if value is None else str(value)
                                      for key, value in given.items()}})

    def edit(self, **fields: Any) -> "Run":
        """Changes name, project, note, tags, world_size, step or warmup."""
        return self._change(fields)

    def finalize(self) -> "Run":
        """Says that no more ranks will come."""
        self.hub._send("POST", f"/runs/{_segment(self)}/finalize")
        return self.refresh()

    def delete(self) -> None:
        """Moves the run to the bin, where it can be restored for 30 days by default."""
        self.hub._send("DELETE", f"/runs/{_segment(self)}", headers={"If-Match": "*"})

    def restore(self) -> "Run":
        """Takes the run out of the bin again."""
        self.hub._send("POST", f"/bin/{_segment(self)}/restore")
        return self.refresh()

    def __repr__(self) -> str:
        return f"<Run {self.name} ({self.id}): {self.status}>"

    def _repr_html_(self) -> str:
        step = self.info.get("step_median_ns")
        what = "recording" if self.info.get("no_steps") else "step"
        facts = [self.status, self.info.get("gpu") or "",
                 f"{what} {_shown(step, 'ns')}" if step is not None else ""]
        return (f'<a href="{html.escape(self.url)}">{html.escape(self.name)}</a> · '
                + html.escape(" · ".join(fact for fact in facts if fact)))


# --- comparisons ----------------------------------------------------------------------------------


class Comparison:
    """A base beside one or more candidates; `info` is the whole answer.

    Tables: runs, settings, waterfall, modules, collectives, ranks, memory, findings. Their column
    `cand` is the candidate's number from 1 on.
    """

    def __init__(self, hub: "Hub", info: Dict[str, Any], query: Dict[str, Any]):
        self.hub, self.info, self._asked = hub, info, query

    @property
    def summaries(self) -> Rows:
        """One dict per candidate: step times, difference, interval, verdict, matched shares."""
        return [candidate["summary"] for candidate in self.info["candidates"]]

    @property
    def summary(self) -> Dict[str, Any]:
        """The first candidate's figures."""
        return self.summaries[0]

    @property
    def verdict(self) -> str:
        """Of the first candidate: "significant", "within noise" or "noise unknown"."""
        return self.summary["verdict"]

    @property
    def url(self) -> str:
        """The comparison's page on the dashboard."""
        return f"{self.hub.url}/compare{_query(self._asked)}"

    def table(self, name: str, **filters: Any) -> Table:
        """A table of the comparison in full; filters as for tables of runs, `only` for the rows of
        one candidate by number."""
        return self.hub.table(f"/compare/{name}", name=f"compare_{name}",
                              **{**self._asked, **filters})

    def waterfall(self, **filters: Any) -> Table:
        """Where the difference comes from: a tree by `parent`, of the levels bar, category, op,
        shape and kernel, whose children sum exactly. `waterfall(level="op", sort="delta_ns")`."""
        return self.table("waterfall", **filters)

    def runs(self, **filters: Any) -> Table:
        """One row per run of each side."""
        return self.table("runs", **filters)

    def settings(self, **filters: Any) -> Table:
        """What differs between the sides (`differs=True`) and what does not."""
        return self.table("settings", **filters)

    def modules(self, **filters: Any) -> Table:
        """Times of the model's modules on both sides."""
        return self.table("modules", **filters)

    def collectives(self, **filters: Any) -> Table:
        """Collectives on both sides, by kind, group, type and size."""
        return self.table("collectives", **filters)

    def ranks(self, **filters: Any) -> Table:
        """Ranks on both sides: step medians, lateness."""
        return self.table("ranks", **filters)

    def memory(self, **filters: Any) -> Table:
        """Peaks of memory on both sides, by device."""
        return self.table("memory", **filters)

    def findings(self, **filters: Any) -> Table:
        """Findings that are fixed, new, changed or the same."""
        return self.table("findings", **filters)

    def __repr__(self) -> str:
        texts = [str(one.get("verdict_text") or one["verdict"]) for one in self.summaries]
        if len(texts) == 1:
            return texts[0]
        return "\n".join(f"{i}. {', '.join(run['name'] for run in candidate['runs'])}: {text}"
                         for i, (candidate, text) in
                         enumerate(zip(self.info["candidates"], texts), 1))

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in repr(self).split("\n"))
        return f'<ul>{lines}</ul><p><a href="{html.escape(self.url)}">open the comparison</a></p>'


class Gate:
    """Whether a candidate may pass: `result` is "pass", "fail" or "undecided", `lines` say why.

    A gate is true when the server lets the candidate through: it passed, or it is undecided and
    was not asked to fail then.
    """

    def __init__(self, info: Dict[str, Any], passed: bool):
        self.info, self.passed = info, passed

    @property
    def result(self) -> str:
        return self.info["result"]

    @property
    def lines(self) -> List[str]:
        """Three sentences that say why."""
        return list(self.info["lines"])

    @property
    def url(self) -> str:
        """The comparison's page on the dashboard."""
        return self.info["url"]

    @property
    def judgement(self) -> Dict[str, Any]:
        """The figures behind it: shift, interval, p-value, method."""
        return self.info["judgement"]

    @property
    def anytime(self) -> Dict[str, Any]:
        """The sequential test, valid after every run: result, evidence, runs still expected."""
        return self.info["anytime"]

    def __bool__(self) -> bool:
        return self.passed

    def check(self) -> "Gate":
        """Raises GateFailed unless the candidate may pass."""
        if not self.passed:
            raise GateFailed(self)
        return self

    def __repr__(self) -> str:
        return "\n".join([*self.lines, self.url])

    def _repr_html_(self) -> str:
        lines = "<br>".join(html.escape(line) for line in self.lines)
        return (f"<p><b>{html.escape(self.result)}</b><br>{lines}<br>"
                f'<a href="{html.escape(self.url)}">open the comparison</a></p>')


# --- uploads --------------------------------------------------------------------------------------


def _trace_files(files: Any) -> List[Dict[str, Any]]:
    """Files as dicts of path, name and rank; folders give the traces below them, by name."""
    if isinstance(files, Mapping):
        return [{"path": Path(path), "name": Path(path).name, "rank": int(rank)}
                for rank, path in sorted(files.items())]
    found = []
    for path in [files] if isinstance(files, (str, os.PathLike)) else files:
        path = Path(path)
        if not path.is_dir():
            found.append({"path": path, "name": path.name})
            continue
        below = sorted(one for one in path.rglob("*") if one.name.endswith(_TRACES))
        found += [{"path": one, "name": one.relative_to(path).as_posix()} for one in below]
    if not found:
        raise FileNotFoundError(f"found no trace ({', '.join(_TRACES)}) in {files}")
    return found


def _quoted(text: str) -> str:
    """A name inside a header of a form, as browsers write it."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _form(fields: List[Any], files: List[Dict[str, Any]],
          report: Callable[[int], None]) -> _Body:
    """A multipart form that reads its files while it is sent."""
    boundary = f"stepscope-{uuid.uuid4().hex}"
    pieces: List[Union[bytes, Path]] = []
    for name, value in fields:
        pieces.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
                      f"{value}\r\n".encode())
    for file in files:
        pieces.append(f'--{boundary}\r\nContent-Disposition: form-data; name="trace"; '
                      f'filename="{_quoted(file["name"])}"\r\n'
                      "Content-Type: application/octet-stream\r\n\r\n".encode())
        pieces += [file["path"], b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    sizes = [len(one) if isinstance(one, bytes) else one.stat().st_size for one in pieces]

    def chunks() -> Iterator[bytes]:
        for piece, size in zip(pieces, sizes):
            if isinstance(piece, bytes):
                yield piece
            else:
                yield from _file_chunks(piece, size, report)

    return _Body(sum(sizes), chunks, f"multipart/form-data; boundary={boundary}")


def _file_chunks(path: Path, size: int, report: Callable[[int], None],
                 sent: int = 0) -> Iterator[bytes]:
    with open(path, "rb") as file:
        file.seek(sent)
        while sent < size:
            chunk = file.read(min(_CHUNK, size - sent))
            if not chunk:
                raise ValueError(f"{path} became shorter while it was sent")
            sent += len(chunk)
            yield chunk
            report(len(chunk))


class _Meter:
    """How much of an upload is sent, for a person or a function."""

    def __init__(self, total: int, progress: Progress):
        self.total, self.sent, self.progress, self.shown = total, 0, progress, -1

    def add(self, count: int) -> None:
        self.sent = min(self.sent + count, self.total)
        if callable(self.progress):
            self.progress(self.sent, self.total)
        elif self.progress:
            self._print()

    def _print(self) -> None:
        percent = 100 * self.sent // max(1, self.total)
        if percent != self.shown:
            self.shown = percent
            end = "\n" if self.sent == self.total else ""
            sys.stderr.write(f"\rsent {self.sent / 1e6:,.1f} of {self.total / 1e6:,.1f} MB{end}")
            sys.stderr.flush()


# --- the server -----------------------------------------------------------------------------------


class Agent:
    """The tools that agents have, as functions: short answers with units, trust and a link.

    hub.agent.explain("exp42", "late_rank") gives a dict; `tools()` describes all of them for the
    function calls of a model, and `call` is what these need. An answer that has `cannot_answer`
    says there why. A Problem says how to call it instead.
    """

    def __init__(self, hub: "Hub"):
        self._hub = hub

    def _post(self, method: str, params: Mapping[str, Any]) -> Dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = self._hub._ask("POST", "/mcp", _Body.of_json(message))
        if reply.status >= 400:
            raise reply.problem()
        answer = reply.json()
        if "error" in answer:
            raise Problem(reply.status, {"title": answer["error"]["message"], "type": "mcp"})
        return answer["result"]

    def tools(self) -> Rows:
        """Name, description and JSON Schema of the arguments of each tool."""
        return self._post("tools/list", {})["tools"]

    def call(self, name: str, **arguments: Any) -> Dict[str, Any]:
        """Calls a tool by its name; arguments that are None are left out."""
        given = {key: _words(value) if isinstance(value, Run) else value
                 for key, value in arguments.items() if value is not None}
        result = self._post("tools/call", {"name": name, "arguments": given})
        if result.get("isError"):
            raise Problem(0, {"title": f"{name} cannot answer that", "type": "tool",
                              "detail": result["content"][0]["text"]})
        return result["structuredContent"]

    def find_runs(self, q: Optional[str] = None, **more: Any) -> Dict[str, Any]:
        """Runs, newest first; with series= also since when its steps are slower or faster."""
        return self.call("find_runs", q=q, **more)

    def overview(self, run: Key) -> Dict[str, Any]:
        """Where the median step goes, what costs most, and what limits trust."""
        return self.call("overview", run=run)

    def findings(self, run: Key, id: Optional[str] = None, **more: Any) -> Dict[str, Any]:
        """What to fix first, with evidence; with id one finding in full."""
        return self.call("findings", run=run, id=id, **more)

    def table(self, run: Key, table: str, **more: Any) -> Dict[str, Any]:
        """Rows of a table: columns, where, rank, sort, q, limit, cursor."""
        return self.call("table", run=run, table=table, **more)

    def explain(self, run: Key, topic: str, **more: Any) -> Dict[str, Any]:
        """Evidence for one question: late_rank, idle, communication, compute, memory, ..."""
        return self.call("explain", run=run, topic=topic, **more)

    def compare(self, base: Keys, cand: Keys, **more: Any) -> Dict[str, Any]:
        """The verdict, the parts of the difference, and settings that differ."""
        return self.call("compare", base=_side(base), cand=_side(cand), **more)

    def gate(self, base: Keys, cand: Keys, max_regression: Optional[float] = None,
             **more: Any) -> Dict[str, Any]:
        """Whether the candidate stays within the limit, and what is missing to say so."""
        return self.call("gate", base=_side(base), cand=_side(cand),
                         max_regression=max_regression, **more)

    def what_if(self, run: Key, changes: Optional[List[str]] = None,
                rank: Optional[int] = None, **more: Any) -> Dict[str, Any]:
        """How long a step would take after changes; without any the ready-made ones."""
        return self.call("what_if", run=run, changes=changes, rank=rank, **more)

    def timeline_cut(self, run: Key, rank: Optional[int] = None, step: Optional[int] = None,
                     **more: Any) -> Dict[str, Any]:
        """The longest events of a rank in a step, or from from_ms to to_ms."""
        return self.call("timeline_cut", run=run, rank=rank, step=step, **more)


class Hub:
    """A stepscope server.

    url: where it is, such as "http://traces.example:8080"; without it the environment variable
    STEPSCOPE_URL, else http://127.0.0.1:8080.
    timeout: seconds without a sign of the server after which a request is given up.
    headers: sent with every request, for a proxy that asks for some.
    token: your token, "ss_..."; without it the environment variable
    STEPSCOPE_TOKEN, and no token where that is not set either.
    """

    def __init__(self, url: Optional[str] = None, timeout: float = 120,
                 headers: Optional[Mapping[str, str]] = None, token: Optional[str] = None):
        url = url or os.environ.get("STEPSCOPE_URL") or "http://127.0.0.1:8080"
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"found url {url!r}, expected http://HOST or https://HOST")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.headers = dict(headers or {})
        token = token or os.environ.get("STEPSCOPE_TOKEN")
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self._parts = parts

    # --- requests -----------------------------------------------------------------------------

    def _connect(self) -> http.client.HTTPConnection:
        kind = (http.client.HTTPSConnection if self._parts.scheme == "https"
                else http.client.HTTPConnection)
        return kind(self._parts.hostname, self._parts.port, timeout=self.timeout)

    def _once(self, method: str, path: str, body: Optional[_Body],
              headers: Mapping[str, str]) -> _Reply:
        sent = {**self.headers, "Accept": "application/json", **headers}
        if body:
            sent.update({"Content-Length": str(body.length), "Content-Type": body.content_type})
        connection = self._connect()
        try:
            try:
                connection.request(method, self._parts.path.rstrip("/") + path,
                                   body.chunks() if body else None, sent)
            except (BrokenPipeError, ConnectionResetError):
                if not body:
                    raise  # of an upload the server may have refused, and said why
            reply = connection.getresponse()
            return _Reply(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def _ask(self, method: str, path: str, body: Optional[_Body] = None,
             headers: Optional[Mapping[str, str]] = None) -> _Reply:
        """One request; comes back later while the server says that it is busy."""
        for left in range(_TRIES - 1, -1, -1):
            try:
                reply = self._once(method, path, body, headers or {})
            except (OSError, http.client.HTTPException) as error:
                if getattr(error, "filename", None):
                    raise  # of a file that is sent
                raise Problem(0, {"title": f"{self.url} does not answer",
                                  "detail": str(error) or type(error).__name__,
                                  "type": "unreachable",
                                  "fix": "check the address, and that stepscope runs"}) from error
            after = reply.headers.get("Retry-After", "1")
            wait_s = int(after) if after.isdigit() else 1
            if reply.status not in (429, 503) or left == 0 or wait_s > _LONGEST_WAIT_S:
                return reply
            time.sleep(wait_s + random.random())
        raise AssertionError("unreachable")

    def _send(self, method: str, path: str, body: Optional[_Body] = None,
              headers: Optional[Mapping[str, str]] = None) -> _Reply:
        """A request below /api/v1 that must succeed."""
        reply = self._ask(method, f"/api/v1{path}", body, headers)
        if reply.status >= 400:
            raise reply.problem()
        return reply

    def get(self, path: str, **params: Any) -> Any:
        """Any GET below /api/v1, as JSON: `hub.get("/version")`."""
        return self._send("GET", path + _query(params)).json()

    def table(self, path: str, name: str = "", **params: Any) -> Table:
        """Any table below /api/v1, in full: `hub.table("/runs/exp42/kernels", q="gemm")`."""
        address = path + _query({**params, "format": "columns"})
        reply = self._send("GET", address).json()
        return Table(name or path.rsplit("/", 1)[-1], reply["columns"], reply.get("units"),
                     reply.get("help"), reply.get("total"),
                     f"{self.url}/api/v1{path}{_query(params)}")

    def arrow(self, path: str, **params: Any) -> Any:
        """Any table as a pyarrow Table, sent as Arrow: `hub.arrow("/runs/exp42/op_tree")`."""
        pyarrow = _pyarrow()
        address = path + _query({"limit": "all", **params, "format": "arrow"})
        with pyarrow.ipc.open_stream(self._send("GET", address).body) as stream:
            return stream.read_all()

    def _all_items(self, path: str, params: Dict[str, Any]) -> Rows:
        """All pages of a list."""
        items: Rows = []
        cursor = None
        while True:
            page = self.get(path, **{"limit": 500, **params, "cursor": cursor})
            items += page["items"]
            cursor = page.get("next_cursor")
            if not cursor or "limit" in params:
                return items

    @property
    def agent(self) -> Agent:
        """The tools that agents have, as functions."""
        return Agent(self)

    def version(self) -> Dict[str, Any]:
        """Versions of the program and of its analyses."""
        return self.get("/version")

    # --- runs ---------------------------------------------------------------------------------

    def runs(self, q: Optional[str] = None, **filters: Any) -> List[Run]:
        """Runs, newest first.

        q: a text that the name, project, tags or note hold. filters: as GET /runs takes them, such
        as project, tag ("key=value", or a list), gpu, status, since ("7d"), sort, limit.
        """
        return [Run(self, item) for item in self._all_items("/runs", {"q": q, **filters})]

    def run(self, key: Key) -> Run:
        """The run that a key names."""
        return Run(self, self.get(f"/runs/{_segment(key)}"))

    def create(self, name: str, **fields: Any) -> Run:
        """An empty run; fields as POST /runs takes them: project, tags, note, world_size."""
        reply = self._send("POST", "/runs", _Body.of_json({"name": name, **fields}))
        return Run(self, reply.json())

    def upload(self, run: Optional[Key], files: Any, *, project: Optional[str] = None,
               tags: Optional[Mapping[str, str]] = None,
               meta: Optional[Mapping[str, Any]] = None, note: Optional[str] = None,
               world_size: Optional[int] = None, step: Optional[str] = None,
               warmup: Optional[int] = None, replace: bool = False, wait: bool = True,
               timeout: float = 600, progress: Progress = False) -> Run:
        """Uploads traces and gives the run, by default once it is analyzed.

        run: its name (made when there is none), or None for a new run. files: a path, a
        folder (all traces below it), a list of these, or {rank: path}. They are read while they are
        sent, whatever their size. meta: what makes comparisons honest, see Run.set_meta.
        step: the annotation that marks a step ("train*"); warmup: steps to leave out. replace: put
        these files in place of others of the same rank. progress: True prints how much was
        sent, a function gets (sent bytes, bytes in all). timeout: seconds to wait for the analysis.
        """
        found = _trace_files(files)
        meter = _Meter(sum(file["path"].stat().st_size for file in found), progress)
        fields: List[Any] = [("project", project), ("note", note), ("world_size", world_size),
                             ("step", step), ("warmup", warmup),
                             ("replace", "true" if replace else None)]
        fields += [("tag", f"{key}={value}") for key, value in (tags or {}).items()]
        fields += [("meta", f"{key}={value}") for key, value in (meta or {}).items()]
        name = run.id if isinstance(run, Run) else run
        for begin in range(0, len(found), _MOST_FILES):
            some = found[begin:begin + _MOST_FILES]
            ranks = [("rank", file["rank"]) for file in some if "rank" in file]
            given = [pair for pair in [("run", name), *fields, *ranks] if pair[1] is not None]
            reply = self._ask("POST", "/upload", _form(given, some, meter.add))
            if reply.status >= 400:
                raise reply.problem()
            name = reply.json()["run"]
        done = self.run(name)
        return done.wait(timeout) if wait else done

    # --- comparisons --------------------------------------------------------------------------

    def compare(self, base: Keys, cand: Union[Keys, List[Keys]], **options: Any) -> Comparison:
        """Compares candidates with a base.

        base, cand: a run, or a list of runs that repeat one measurement; for several candidates a
        list of lists. "SERIES@*" is all runs of a series. options: per="token",
        rank="slowest", alpha, relevant_share, relevant_ns.
        """
        query = {"base": _side(base), "cand": _sides(cand), **options}
        return Comparison(self, self.get("/compare", **query), query)

    def gate(self, base: Keys, cand: Keys, max_regression: float = 0.03,
             undecided: str = "pass", **options: Any) -> Gate:
        """Whether the candidate's step is at most `max_regression` (a share) longer.

        undecided: "pass" or "fail", for when there is too little to decide on. options as for
        compare, and sequential="true" when the gate is asked again after every run. The answer is true when the candidate may pass; `.check()` raises when not.
        """
        query = {"base": _side(base), "cand": _side(cand), "max_regression": float(max_regression),
                 "undecided": undecided, **options}
        reply = self._ask("GET", f"/api/v1/compare/gate{_query(query)}")
        is_answer = reply.headers.get("Content-Type", "").startswith("application/json")
        if reply.status not in (200, 409) or not is_answer:
            raise reply.problem()
        return Gate(reply.json(), reply.status == 200)

    # --- runs over time -----------------------------------------------------------------------

    def baselines(self) -> Table:
        """Named runs that others are compared with; their key is "@baseline:NAME"."""
        return self.table("/baselines")

    def set_baseline(self, name: str, run: Key) -> None:
        """Makes a run the baseline of that name."""
        key = run.id if isinstance(run, Run) else run
        self._send("PUT", f"/baselines/{_segment(name)}", _Body.of_json({"run": key}))

    def delete_baseline(self, name: str) -> None:
        """Removes the name; the run stays."""
        self._send("DELETE", f"/baselines/{_segment(name)}")

    def series(self, **filters: Any) -> Table:
        """One row per series of runs: how many, the last step median and its change.

        filters: project, tag ("key=value"), q.
        """
        return self.table("/series", **filters)

    def points(self, series: str, **filters: Any) -> Table:
        """The runs of a series, oldest first, with step medians and parts."""
        return self.table(f"/series/{_segment(series)}/points", name="points", **filters)

    def changes(self, series: str, **filters: Any) -> Table:
        """Where the level of a series changed: first run of the new level, before, after."""
        return self.table(f"/series/{_segment(series)}/changes", name="changes", **filters)

    def alerts(self, **filters: Any) -> Table:
        """What stood out in series. filters: status ("new"), project, series."""
        return self.table("/alerts", **filters)

    def set_alert(self, alert: str, status: Optional[str] = None,
                  comment: Optional[str] = None) -> Dict[str, Any]:
        """Classifies an alert: acknowledged, expected, noise or fixed; with a comment."""
        patch = {key: value for key, value in
                 (("status", status), ("comment", comment)) if value is not None}
        body = _Body.of_json(patch, "application/merge-patch+json")
        return self._send("PATCH", f"/alerts/{_segment(str(alert))}", body).json()

    # --- before there is a run ----------------------------------------------------------------

    def plan(self, parameters: Union[float, str], **options: Any) -> Dict[str, Any]:
        """Memory that training takes on each GPU, from counts alone.

        parameters: a count such as 7e9 or "7B". options: as GET /plan takes them, such as
        strategy="zero3", dp=8, gpu=["H100 SXM", "MI300X"], layers, hidden, heads, seq_len.
        """
        return self.get("/plan", parameters=parameters, **options)

    def __repr__(self) -> str:
        return f"<Hub {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{html.escape(self.url)}">{html.escape(self.url)}</a>'


# --- recording ------------------------------------------------------------------------------------

_log = logging.getLogger("stepscope")

_SPOOL_MOST_BYTES = 8 << 30   # of traces that wait; beyond it nothing is recorded
_STEPS_PAUSE_S = 5.0          # between two messages with stage times
_MOST_STEPS = 1000            # of a message
_WAITING_STEPS = 20_000       # that a server that is gone finds when it is back; older ones go
_LEAST_PLAIN_STEPS = 4         # without the profiler, for their median to say something
_SEND_PAUSE_S = (1.0, 300.0)  # between two tries of the background thread: first, at most
# A launcher inside a job of Slurm comes first: the job has only numbers of its own tasks.
_RANK_NAMES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_WORLD_NAMES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_DRIVERS = ("/proc/driver/nvidia/version", "/sys/module/amdgpu/version")


class _Gone(Exception):
    """The server cannot be asked now; later it may."""


def _first_number(names: Iterable[str]) -> Optional[int]:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def _commit(folder: Path) -> Optional[str]:
    """The commit that is checked out, read without starting a program: that would copy a process
    of many gigabytes."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_file():
            git = place / git.read_text().partition(":")[2].strip()
        if not git.is_dir():
            continue
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        common = git / "commondir"
        roots = [git] + ([git / common.read_text().strip()] if common.is_file() else [])
        for root in roots:
            loose = root / head[5:]
            if loose.is_file():
                return loose.read_text().strip()
            packed = root / "packed-refs"
            for line in packed.read_text().splitlines() if packed.is_file() else ():
                if line.endswith(" " + head[5:]):
                    return line.split()[0]
        return None
    return None


def _driver() -> Optional[str]:
    for path in _DRIVERS:
        try:
            text = Path(path).read_text().split("\n")[0]
        except OSError:
            continue
        return next((word for word in text.split() if word[:1].isdigit() and "." in word), text)
    return None


def _script() -> str:
    return Path(sys.argv[0] or "python").stem or "python"


def _common_name() -> Optional[str]:
    """A name that all processes of a job find alike, without asking each other."""
    env = os.environ
    if env.get("STEPSCOPE_RUN"):
        return env["STEPSCOPE_RUN"]
    if env.get("SLURM_JOB_ID"):
        again = _first_number(("SLURM_RESTART_COUNT",))  # after a requeue
        return (f"{env.get('SLURM_JOB_NAME') or _script()}-{env['SLURM_JOB_ID']}"
                + (f"-r{again}" if again else ""))
    elastic = env.get("TORCHELASTIC_RUN_ID", "none")
    return f"{_script()}-{elastic}" if elastic != "none" else None


def _job_name() -> str:
    process = os.getppid() if "RANK" in os.environ else os.getpid()
    return _common_name() or f"{_script()}-{socket.gethostname()}-{process}"


def _are_nodes_apart() -> bool:
    """Whether the nodes of this job would find different names; true on one process of each."""
    most, here = (_first_number((name,)) for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"))
    return (_common_name() is None and not _first_number(("LOCAL_RANK",))
            and most is not None and here is not None and most > here)


def _job_meta() -> Dict[str, str]:
    """What a comparison of two runs asks first; the server takes secrets out."""
    env = os.environ
    torch = sys.modules.get("torch")
    version = getattr(torch, "version", None)
    found = {"commit": _commit(Path.cwd()), "driver": _driver(), "host": socket.gethostname(),
             "arguments": " ".join(sys.argv)[:500], "python": sys.version.split()[0],
             "framework": f"torch {torch.__version__}" if hasattr(torch, "__version__") else None,
             "cuda": getattr(version, "cuda", None), "hip": getattr(version, "hip", None),
             "slurm_job": env.get("SLURM_JOB_ID"), "slurm_nodes": env.get("SLURM_NNODES"),
             "slurm_partition": env.get("SLURM_JOB_PARTITION")}
    return {key: str(value) for key, value in found.items() if value}


def _quiet(method: Callable[..., Any]) -> Callable[..., Any]:
    """Whatever goes wrong while recording is logged once, and ends the recording, not the
    training job."""
    @functools.wraps(method)
    def guarded(self: "Recorder", *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            self._fail(error)
            return None
    return guarded


class _Sender:
    """Sends what lies in a folder, in its own thread, for as long as it takes."""

    def __init__(self, hub: Hub, folder: Path, run: str, meta: Callable[[], Mapping[str, str]],
                 keep: bool):
        self.hub, self.folder, self.run, self.keep = hub, folder, run, keep
        self._meta = meta
        self._queue: List[Dict[str, Any]] = []
        self._wake = threading.Condition()
        self._stopped = False
        self._busy = False
        self._gone = self._told = False
        self.sent = self.given_up = 0
        self._thread = threading.Thread(target=self._work, name="stepscope", daemon=True)
        self._thread.start()

    def add(self, path: Path, fields: Mapping[str, Any]) -> None:
        with self._wake:
            self._queue.append({"path": path, "fields": fields})
            self._wake.notify_all()

    def drain(self, timeout: float) -> bool:
        """Waits until all is sent or given up, unless the server is gone; whether all is sent."""
        end = time.monotonic() + timeout
        with self._wake:
            while ((self._queue or self._busy) and not self._gone
                   and time.monotonic() < end):
                self._wake.wait(max(0.0, end - time.monotonic()))
            return not self._queue and not self._busy and not self.given_up

    def stop(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify_all()

    def _work(self) -> None:
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        except (AttributeError, OSError):
            pass
        pause, longest = _SEND_PAUSE_S
        while True:
            with self._wake:
                while not self._queue and not self._stopped:
                    self._wake.wait()
                if not self._queue:
                    return
                item = self._queue[0]
                self._busy = True
            wait_s = self._try(item, pause)
            with self._wake:
                self._busy = False
                self._gone = wait_s is not None
                if wait_s is None:
                    self._queue.pop(0)
                    pause = _SEND_PAUSE_S[0]
                self._wake.notify_all()
                if wait_s is not None and not self._stopped:
                    self._wake.wait(wait_s + random.random())
                    pause = min(2 * pause, longest)
                elif self._stopped:
                    return

    def _try(self, item: Dict[str, Any], pause: float) -> Optional[float]:
        """Sends a file; None: it is done with, else seconds until the next try."""
        try:
            item["path"] = _packed(item["path"])
            self._send(item)
        except _Gone as gone:
            if not self._told:
                self._told = True
                _log.warning("%s; traces wait in %s", gone, self.folder)
            return max(pause, gone.args[1] if len(gone.args) > 1 else 0)
        except Exception as error:
            self.given_up += 1
            _log.warning("%s is not sent and stays there: %s", item["path"], error)
        else:
            self.sent += 1
            self._remove(item["path"])
        return None

    def _remove(self, path: Path) -> None:
        if self.keep:
            return
        try:
            path.unlink()
        except OSError as error:
            _log.warning("%s is sent but stays there: %s", path, error)

    def _ask(self, method: str, path: str, headers: Mapping[str, str],
             body: Optional[_Body] = None) -> _Reply:
        sent = {"Tus-Resumable": "1.0.0", **headers}
        try:
            reply = self.hub._once(method, path, body, sent)
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "filename", None):
                raise
            raise _Gone(f"{self.hub.url} does not answer ({error})") from error
        if reply.status in (408, 423, 429, 507) or reply.status >= 500:
            after = reply.headers.get("Retry-After", "")
            raise _Gone(f"{self.hub.url} answers {reply.status}",
                        int(after) if after.isdigit() else 0)
        return reply

    def _start(self, item: Dict[str, Any], size: int) -> Optional[str]:
        """An address for the file; None when the server has it. The same file leads to the same
        upload, whatever happened to the first try."""
        fields = {"run": self.run, "filename": item["path"].name, **item["fields"]}
        if not item["fields"].get("rank"):
            fields["meta"] = "\n".join(f"{key}={value}".replace("\n", " ")
                                       for key, value in self._meta().items())
        pairs = [f"{key} {base64.b64encode(str(value).encode()).decode()}"
                 for key, value in fields.items() if value not in (None, "")]
        described = ",".join(pairs)
        key = hashlib.sha256(described.encode())
        for chunk in _file_chunks(item["path"], size, lambda count: None):
            key.update(chunk)
        reply = self._ask("POST", "/api/v1/tus",
                          {"Upload-Length": str(size), "Upload-Metadata": described,
                           "Idempotency-Key": key.hexdigest()})
        if reply.status == 409 and reply.headers.get("Upload-Result"):
            return None
        if reply.status != 201:
            raise reply.problem()
        return urlsplit(reply.headers["Location"]).path

    def _send(self, item: Dict[str, Any]) -> None:
        size = item["path"].stat().st_size
        address = self._start(item, size)
        if not address:
            return
        reply = self._ask("HEAD", address, {})
        if reply.status >= 400:
            raise reply.problem()
        if reply.headers.get("Upload-Result"):
            return
        at = int(reply.headers.get("Upload-Offset", 0))
        body = _Body(size - at, lambda: _file_chunks(item["path"], size, lambda count: None, at),
                     "application/offset+octet-stream")
        reply = self._ask("PATCH", address, {"Upload-Offset": str(at)}, body)
        if reply.status == 409 and reply.problem().type == "offset":
            raise _Gone("an upload was interrupted")
        if reply.status >= 400:
            raise reply.problem()


def _packed(path: Path) -> Path:
    """The file as .gz, which takes its place."""
    if path.suffix != ".json":
        return path
    packed = path.with_name(path.name + ".gz")
    part = path.with_name(path.name + ".gz.part")
    try:
        with open(path, "rb") as source, gzip.open(part, "wb", compresslevel=3) as out:
            shutil.copyfileobj(source, out, _CHUNK)
        part.replace(packed)
        path.unlink()
    except OSError:  # a full disk: it goes as it is
        part.unlink(missing_ok=True)
        return path
    return packed


class _StepSender:
    """Sends stage times every few seconds, in its own thread."""

    def __init__(self, hub: Hub, run: str, rank: Callable[[], int]):
        self.hub, self.run, self.rank = hub, run, rank
        self.rows: Any = collections.deque(maxlen=_WAITING_STEPS)  # (step, {stage: ns})
        self._stopped = threading.Event()
        self._told = False
        self._thread = threading.Thread(target=self._work, name="stepscope-steps", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        pause = _STEPS_PAUSE_S * (0.5 + random.random())
        while not self._stopped.wait(pause):
            pause = _STEPS_PAUSE_S if self._flush() else min(2 * pause, _SEND_PAUSE_S[1])
        self._flush()

    def stop(self) -> None:
        """Sends the rest, for a few seconds at most."""
        self._stopped.set()
        self._thread.join(5)

    def _flush(self) -> bool:
        """Sends what is there; whether nothing is left."""
        try:
            while self.rows:
                first = self.rows[0][0]
                rows = list(itertools.islice(self.rows, _MOST_STEPS))
                alike = [row for i, row in enumerate(rows) if row[0] == first + i]
                self._send(first, alike)
                while self.rows and self.rows[0][0] <= alike[-1][0]:
                    self.rows.popleft()
            return True
        except _Gone:
            return False
        except Exception as error:
            self.rows.clear()
            if not self._told:
                self._told = True
                _log.warning("stage times are not sent: %s", error)
            return True

    def _send(self, first: int, rows: List[Any]) -> None:
        stages = list(dict.fromkeys(stage for _, times in rows for stage in times))
        job = os.environ.get("SLURM_JOB_ID", "")
        body = _Body.of_json({"run": self.run, "rank": self.rank(), "first_step": first,
                              "stages": stages, "job": int(job) if job.isdigit() else 0,
                              "rows": [[times.get(stage, 0) for stage in stages]
                                       for _, times in rows]})
        try:
            reply = self.hub._once("POST", "/api/v1/steps", body, {})
        except (OSError, http.client.HTTPException) as error:
            raise _Gone(str(error)) from error
        if reply.status in (408, 429, 507) or reply.status >= 500:
            raise _Gone(f"{reply.status}")
        if reply.status >= 400:
            raise reply.problem()


class Recorder:
    """Records some steps of a training job and sends them; `record` is the one of this process.

        from stepscope import record
        for batch in loader:
            train(batch)
            record.step()                     # that is all

    Where the training has a profiler already, this one sends what it records:

        with profile(schedule=..., on_trace_ready=record.on_trace_ready) as prof: ...

    The environment configures the rest, or `record.start(...)` before the first step:
    STEPSCOPE_URL (the server; without it files are kept and nothing is sent), STEPSCOPE_TOKEN,
    STEPSCOPE_RUN (the same name on all ranks; by default from Slurm or torchrun), STEPSCOPE_SPOOL
    (a folder, ./stepscope), STEPSCOPE_RECORD=0 (nothing is recorded).

    With a server, the time of each step is sent as well, a few bytes a step, and shown on the
    run's page while the job runs. `record.stage("forward")` says what follows until the next stage
    or step, so that the page can name the rank and the stage that make a step late: mark waiting
    for other ranks (a barrier, an all-reduce that is waited for) as its own stage.

    Nothing here raises or waits for a server: what goes wrong is logged once, by the logger
    "stepscope", and training continues.
    """

    def __init__(self) -> None:
        self._settings: Dict[str, Any] = {}
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._state = "new"      # recording, done, off (after an error), disabled
        self._profiler: Any = None
        self._sender: Optional[_Sender] = None
        self._is_ours = True     # the profiler
        self._steps = 0
        self._files = 0
        self._group: Dict[str, int] = {}   # answers of torch.distributed, kept when it has ended
        self._times: Dict[str, int] = {}   # of this step's stages, ns
        self._stage = "step"
        self._since_ns = 0                 # start of the stage; 0: before the first step
        self._step_sender: Optional[_StepSender] = None
        self._plain: Any = collections.deque(maxlen=64)  # ns of steps that are not recorded
        self._ended_ns = 0                               # when the last step did
        self.error: Optional[Exception] = None

    # --- for the training ---------------------------------------------------------------------

    @_quiet
    def start(self, run: Optional[str] = None, *, url: Optional[str] = None,
              token: Optional[str] = None, spool: Optional[str] = None, wait: int = 10,
              warmup: int = 2, active: int = 8, repeat: int = 1,
              ranks: Optional[Iterable[int]] = None, meta: Optional[Mapping[str, Any]] = None,
              keep: bool = False, **profile: Any) -> "Recorder":
        """Says what to record instead of the defaults, and starts.

        wait, warmup, active, repeat: steps to let pass, to warm up, to record, and how often; as
        torch.profiler.schedule takes them; active=0: the training has its own profiler. ranks: those that record; None: all. meta: metadata
        of the run beside what is found. keep: leave files in the spool folder once they are sent.
        profile: options of torch.profiler.profile, such as with_stack=True.
        """
        self._settings = dict(run=run, url=url, token=token, spool=spool, wait=wait, warmup=warmup,
                              active=active, repeat=repeat, meta=dict(meta or {}), keep=keep,
                              ranks=None if ranks is None else set(ranks), profile=profile)
        self._reset()
        self._begin()
        return self

    def step(self) -> None:
        """A step of the training has ended. Costs about a microsecond outside of captures."""
        self._steps += 1
        if self._step_sender:
            self.stage("step")
            self._step_sender.rows.append((self._steps, self._times))
            self._times = {}
        if self._state not in ("done", "disabled"):
            self._step()

    def stage(self, name: str) -> None:
        """What follows is that stage of the step, such as "data", "forward" or "sync"."""
        now_ns = time.perf_counter_ns()
        if self._since_ns:
            ended = self._stage
            self._times[ended] = self._times.get(ended, 0) + now_ns - self._since_ns
        self._stage, self._since_ns = name, now_ns

    @_quiet
    def on_trace_ready(self, profiler: Any) -> None:
        """Writes what a torch.profiler.profile recorded and has it sent; for its option of that
        name."""
        if not self._adopts_process():
            return
        if self._state == "new":
            self._is_ours = False
            self._begin()
        if self._state not in ("off", "disabled"):
            self._write(profiler)

    def schedule(self, wait: int = 10, warmup: int = 2, active: int = 8, repeat: int = 1) -> Any:
        """torch.profiler.schedule with the defaults of `start`."""
        import torch.profiler
        return torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat)

    @_quiet
    def close(self, timeout: float = 10) -> bool:
        """Ends the recording and waits until all is sent, at most `timeout` seconds; whether all
        is. What is not stays in the spool folder: `stepscope push` sends it. Called at exit."""
        if not self._adopts_process():
            return False
        if self._state != "disabled":
            self._state = "done"
        self._end_profiler()
        if self._step_sender:
            self._step_sender.stop()
            self._step_sender = None
        if not self._sender:
            return True
        done = self._sender.drain(timeout)
        self._sender.stop()
        if not done:
            _log.warning("not all traces could be sent; they are in %s", self.folder)
        return done

    @property
    def folder(self) -> Path:
        """Where files lie until they are sent."""
        base = (self._settings.get("spool") or os.environ.get("STEPSCOPE_SPOOL") or "stepscope")
        return Path(base) / "".join(c if c.isalnum() or c in "-_.@" else "_" for c in self.run)

    @property
    def _url(self) -> Optional[str]:
        return self._settings.get("url") or os.environ.get("STEPSCOPE_URL")

    def _hub(self) -> Hub:
        return Hub(self._url, timeout=30, token=self._settings.get("token"))

    @property
    def run(self) -> str:
        """The run's name."""
        return self._settings.get("run") or _job_name()

    @property
    def rank(self) -> Optional[int]:
        return self._ask_job("rank", _RANK_NAMES)

    # --- inside -------------------------------------------------------------------------------

    def _ask_job(self, what: str, names: Iterable[str]) -> Optional[int]:
        """What torch.distributed says once it is initialized, otherwise the first variable: those of
        a batch script are also those of the processes that it spawns, each a rank."""
        group = sys.modules.get("torch.distributed")
        if group and group.is_available() and group.is_initialized():
            self._group = {"rank": group.get_rank(), "world_size": group.get_world_size()}
        known = self._group.get(what)
        return _first_number(names) if known is None else known

    def _adopts_process(self) -> bool:
        """Whether this process records: that which began, or, before that, any that was forked
        since the import."""
        if self._state == "new":
            self._pid = os.getpid()
        return os.getpid() == self._pid

    def _fail(self, error: Exception) -> None:
        self._state = "off"
        if self.error is None:
            self.error = error
            _log.warning("recording ends: %s: %s", type(error).__name__, error)

    @_quiet
    def _step(self) -> None:
        if not self._adopts_process():  # a worker of a loader
            self._state, self._profiler, self._step_sender = "done", None, None
            return
        if self._state == "new":
            self._begin()
        if self._state == "off":  # since the last step; not within a profiler's own call
            self._state = "done"
            self._end_profiler()
        if self._profiler:
            self._note_plain_step()
            self._profiler.step()
        if self._is_ours and self._state == "recording":
            self._follow_cycle()

    def _follow_cycle(self) -> None:
        """Starts and stops the profiler: one that only waits costs 40 us a step."""
        settings = self._settings
        cycle = settings["wait"] + settings["warmup"] + settings["active"]
        done, at = divmod(self._steps, cycle)
        if not self._profiler and self._ended_ns:
            self._plain.append(time.perf_counter_ns() - self._ended_ns)
        if at == 0:
            self._end_profiler()
        if settings["repeat"] and done >= settings["repeat"]:
            self._state = "done"
        elif at == settings["wait"]:
            self._begin_profiler()
        self._ended_ns = time.perf_counter_ns()

    def _note_plain_step(self) -> None:
        """Notes in the file how long a step took without the profiler, to tell what recording costs.
        Only while it records: otherwise the profiler forgets it."""
        add = getattr(self._profiler, "add_metadata_json", None)
        has_kineto = getattr(sys.modules.get("torch.autograd"), "kineto_available", lambda: True)
        if add and len(self._plain) >= _LEAST_PLAIN_STEPS and has_kineto():
            plain_ns = int(statistics.median(self._plain))
            add("stepscope", json.dumps({"unrecorded_step_ns": plain_ns}))

    def _begin(self) -> None:
        if os.environ.get("STEPSCOPE_RECORD", "") == "0":
            self._state = "disabled"
            return
        if not self._settings:
            self._settings = dict(wait=10, warmup=2, active=8, repeat=1, meta={}, keep=False,
                                  ranks=None, profile={})
        if not self._settings.get("run") and _are_nodes_apart():
            _log.warning("no name is the same on all nodes: each becomes a run; set STEPSCOPE_RUN, or "
                         "give torchrun an --rdzv-id")
        self._settings["run"] = self.run  # which does not change any more
        self._state = "recording"
        ranks, rank = self._settings["ranks"], self.rank or 0  # asked before the group may end
        if not self._settings["active"]:
            self._is_ours = False
        if self._is_ours and ranks is not None and rank not in ranks:
            self._state = "done"
        elif self._is_ours and not self._settings["wait"] and not self._steps:
            self._begin_profiler()
        if self._url and not self._step_sender:
            self._step_sender = _StepSender(self._hub(), self.run, lambda: self.rank or 0)
            self._times, self._stage = {}, "step"  # what was before belongs to no step that is sent
            self._since_ns = time.perf_counter_ns()
        atexit.unregister(self.close)
        atexit.register(self.close)
        if multiprocessing.parent_process():  # such a process does not call what atexit has
            multiprocessing.util.Finalize(None, self.close, exitpriority=0)

    def _begin_profiler(self) -> None:
        import torch.profiler as torch_profiler
        settings = self._settings
        options = {"record_shapes": True, **settings["profile"]}
        self._profiler = torch_profiler.profile(
            schedule=self.schedule(0, settings["warmup"], settings["active"], 1),
            on_trace_ready=self.on_trace_ready, **options)
        self._profiler.start()

    def _end_profiler(self) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler:
            profiler.stop()

    def _room(self) -> bool:
        waiting = sum(one.stat().st_size for one in self.folder.glob("*") if one.is_file())
        return waiting < _SPOOL_MOST_BYTES

    def _write(self, profiler: Any) -> None:
        rank = self.rank
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._room():
            raise OSError(f"{self.folder} is full")
        number = f"_{self._files}" if self._files else ""
        self._files += 1
        # A second recording of the same rank is a run of the same series.
        run = self.run if self._files == 1 else f"{self.run}@{self._files}"
        path = self.folder / f"rank{rank or 0}{number}.json"
        part = path.with_suffix(".part.json")
        try:
            profiler.export_chrome_trace(str(part))
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._hand_over(path, {"run": run, "rank": rank,
                               "world_size": self._ask_job("world_size", _WORLD_NAMES)})

    def _hand_over(self, path: Path, fields: Dict[str, Any]) -> None:
        if not self._url:
            _log.info("recorded %s; STEPSCOPE_URL would have it sent", path)
            return
        if not self._sender:
            self._sender = _Sender(self._hub(), self.folder, self.run,
                                   lambda: {**_job_meta(), **self._settings["meta"]},
                                   self._settings["keep"])
        self._sender.add(path, fields)

    def __repr__(self) -> str:
        return f"<record {self.run}: {self._state}, {self._steps} steps, {self._files} files>"


record = Recorder()
