// SPDX-License-Identifier: Apache-2.0
// What the communication page says about link tests.
import assert from "node:assert/strict";
import test from "node:test";
import { by_use, communicators_note, curve_sentence, curves_of, hosts_of,
  links_lead, matrix_of, own_of, ports_note, share_sentences, topology_sentence, without_sentence }
  from "../../../../../web/views/comm/link_model.mjs";

const MB = 1_000_000;
const curve_row = (more) => ({ kind: "all_reduce", ranks: 8, nodes: 1, peak_gbps: 480,
  peak_bytes: 512 * MB, enough_bytes: 128 * MB, rising: false, ...more });
const test_row = (bytes, bus_gbps, more) => ({ kind: "all_reduce", ranks: 8, nodes: 1, bytes,
  bus_gbps, wrong: 0, ...more });
const own_row = (bytes, bus_gbps, more) => ({ kind: "all_reduce", group_size: 8, process_group: "0",
  dtype: "float", span: "intra-node", bytes, bus_gbps, total_ns: 1000, reference_gbps: 400,
  reference_share: bus_gbps / 400, reference_basis: "a.txt", ...more });

test("a curve has the best of all tests at each size", () => {
  const [curve, other] = curves_of([curve_row(), curve_row({ nodes: 2 })], [
    test_row(2 * MB, 50), test_row(MB, 40), test_row(2 * MB, 60),
    test_row(4 * MB, 90, { wrong: 1 }), test_row(8, 0.1), test_row(MB, 9, { nodes: 2 })]);
  assert.deepEqual(curve.points, [{ bytes: MB, bus_gbps: 40 }, { bytes: 2 * MB, bus_gbps: 60 }]);
  assert.deepEqual(other.points, [{ bytes: MB, bus_gbps: 9 }]);
  assert.equal(curve.label, "all_reduce, 8 ranks on 1 node");
  assert.equal(curve_sentence(curve), "all_reduce, 8 ranks on 1 node: up to 480 GB/s at 512 MB; "
    + "80 % of that from 128 MB on");
  assert.equal(curve_sentence({ ...other, rising: true }),
    "all_reduce, 8 ranks on 2 nodes: up to 480 GB/s at 512 MB", "one size rises nowhere");
});

test("collectives belong to a curve of as many ranks that spans nodes as they do", () => {
  const [one] = curves_of([curve_row()], [test_row(MB, 40)]);
  const rows = [own_row(MB, 9), own_row(MB, 9, { span: "inter-node" }),
    own_row(MB, 9, { span: null }), own_row(MB, 9, { group_size: 4 }), own_row(10, 9)];
  assert.deepEqual(own_of(one, rows), [rows[0], rows[2]]);
});

test("the curve of the collectives that take the most time comes first", () => {
  const curves = curves_of([curve_row(), curve_row({ kind: "all_gather" })],
    [test_row(MB, 40), test_row(MB, 40, { kind: "all_gather" })]);
  const rows = [own_row(MB, 9), own_row(MB, 9, { kind: "all_gather", total_ns: 2000 })];
  assert.deepEqual(by_use(curves, rows).map(({ kind }) => kind), ["all_gather", "all_reduce"]);
  assert.deepEqual(by_use(curves, []).map(({ kind }) => kind), ["all_reduce", "all_gather"]);
});

test("a share is said with what it means", () => {
  const curves = curves_of([curve_row()], [test_row(MB, 40)]);
  const said = (row) => share_sentences([row], curves).map(({ head, text }) => head + text)[0];
  const beside = own_row(256 * MB, 244, { transfer_ns: 100, exposed_transfer_ns: 25 });
  assert.match(said(beside), /^all_reduce of 256 MB reaches 61.0 % of the 400 GB\/s that a.txt /);
  assert.match(said(beside), /slower than the links allow: compute overlaps 75.0 % of it/);
  assert.match(said(own_row(256 * MB, 244, { transfer_ns: 100, exposed_transfer_ns: 95 })),
    /allow: little compute overlaps it/);
  assert.match(said(own_row(256 * MB, 244, { exposed_share: 0.5 })),
    /allow: its times include waiting for other ranks, and compute overlaps 50.0 %/);
  assert.match(said(own_row(256 * MB, 380)), /about what these links can do/);
  assert.match(said(own_row(MB, 380)), /messages of 128 MB or more would use them better/);
  assert.match(said(own_row(256 * MB, 480)), /faster than the test/);
  const none = { reference_gbps: null, reference_share: null };
  assert.deepEqual(share_sentences([own_row(MB, 9, none)], curves), []);
  assert.equal(without_sentence([own_row(MB, 9), own_row(MB, 9,
    { ...none, reference_basis: "not tested" })]),
  "1 row of the tables below without a reference: 1 not tested.");
  assert.equal(without_sentence([own_row(MB, 9)]), "");
});

const path = (from_name, to_name, kind) => ({ from_name, from_device: null, from_numa: "0",
  to_name, kind, meaning: `by ${kind}` });

test("the matrix has each device once and the fastest kind first", () => {
  const rows = [path("GPU0", "GPU1", "NV18"), path("GPU0", "NIC0", "SYS"),
    path("GPU1", "GPU0", "NV18"), path("NIC0", "GPU0", "SYS")];
  const matrix = matrix_of(rows);
  assert.deepEqual(matrix.places.map(({ name }) => name), ["GPU0", "GPU1", "NIC0"]);
  assert.equal(matrix.cell("GPU0", "NIC0").kind, "SYS");
  assert.equal(matrix.cell("GPU0", "GPU0"), null);
  assert.deepEqual(matrix.kinds.map(({ kind, tone }) => [kind, tone]),
    [["NV18", "nv"], ["SYS", "far"]]);
  assert.equal(topology_sentence(rows), "All 2 GPUs reach each other by NV18: by NV18");
  assert.equal(topology_sentence([...rows, path("GPU1", "GPU2", "SYS")]),
    "GPUs reach each other by NV18 or SYS; the slowest: by SYS");
});

test("a file of several hosts has a matrix of each", () => {
  const rows = [path("GPU0", "GPU1", "NV4"), path("GPU0", "GPU1", "SYS")]
    .map((row, matrix) => ({ ...row, file: "topo.txt", matrix }));
  assert.deepEqual(hosts_of(rows).map(({ label, rows: of }) => [label, of.length]),
    [["topo.txt", 1], ["topo.txt, 2", 1]]);
});

test("ports that are not active are counted", () => {
  assert.equal(ports_note([{ state: "Active" }, { state: "Down" }]), "1 of 2 not active");
  assert.equal(ports_note([{ state: "Active" }]), "all 1 active");
});

test("communicators that lack ranks are counted", () => {
  const fine = { missing_ranks: 0, failed_ranks: 0, behind_rank: null };
  assert.equal(communicators_note([fine, { ...fine, behind_rank: 0 }]),
    "by NCCL RAS: 1 of 2 with ranks missing, failed or behind");
  assert.match(communicators_note([fine]), /every rank responded/);
});

test("links without collectives beside them are one sentence", () => {
  const none = { curves: [], records: [], ports: [], communicators: [], topology: [] };
  const said = (rows) => links_lead({ ...none, ...rows }).replaceAll("\u00a0", " ");
  assert.equal(said({}), "");
  const whole = { missing_ranks: 0, failed_ranks: 0, behind_rank: null };
  const ports = [{ state: "Active" }, { state: "Down" }];
  assert.equal(said({ curves: [curve_row({ peak_gbps: 90 }), curve_row()], ports,
    communicators: [whole, { ...whole, behind_rank: 2 }] }),
  "The links reach up to 480 GB/s: all_reduce of 512 MB between 8 ranks; 1 of 2 communicators "
    + "has ranks missing, failed or behind; 1 of 2 network ports is not active.");
  assert.equal(said({ records: [{ best_bus_gbps: 20, operation: "Send", bytes: MB, ranks: 2 }] }),
    "NCCL recorded up to 20.0 GB/s: Send of 1.00 MB between 2 ranks.");
  assert.equal(said({ ports: [ports[0], ports[0]] }), "All 2 network ports are active.");
  assert.equal(said({ topology: [{ from_name: "NIC0", to_name: "NIC1", kind: "PIX" }] }), "");
  assert.equal(said({ ports: [ports[0]] }), "The only network port is active.");
  assert.equal(said({ ports: [ports[1]] }), "The only network port is not active.");
});
