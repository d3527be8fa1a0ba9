// SPDX-License-Identifier: Apache-2.0
// A strict RFC 4180 reader, so that every comma and quote of the service's CSV is checked.

/** @param {string} text @returns {string[][]} records, the header first */
export function parse_csv(text) {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const records = [[]];
  while (field.lastIndex < text.length) {
    const begin = field.lastIndex;
    const found = field.exec(text);
    if (!found) throw new Error(`no CSV at character ${begin}: ${text.slice(begin, begin + 60)}`);
    records[records.length - 1].push(found[1]?.replaceAll('""', '"') ?? found[2]);
    if (found[3] === "\r\n") records.push([]);
  }
  return records.slice(0, -1);
}

/** Records as objects of texts. */
export function csv_rows(text) {
  const [names, ...records] = parse_csv(text);
  return records.map((record) => {
    if (record.length !== names.length) throw new Error(`${record.length} fields: ${record}`);
    return Object.fromEntries(names.map((name, i) => [name, record[i]]));
  });
}
