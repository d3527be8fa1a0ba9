// SPDX-License-Identifier: Apache-2.0
// A web server that knows nothing: it sends the files of a folder, below some path.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".mjs": "text/javascript", ".js": "text/javascript",
  ".css": "text/css", ".svg": "image/svg+xml" };

function content_of(path) {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** @returns {Promise<{origin: string, asked: string[], close: () => void}>} */
export async function serve_folder(folder, below) {
  const asked = [];
  const server = createServer(({ url }, response) => {
    const path = decodeURIComponent(new URL(url, "http://here").pathname);
    const name = normalize(path.slice(below.length) || "index.html");
    const content = path.startsWith(below) ? content_of(join(folder, name)) : null;
    asked.push(name);
    response.writeHead(content ? 200 : 404, { "Content-Type":
      TYPES[extname(name)] ?? "application/octet-stream" });
    response.end(content);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { origin: `http://127.0.0.1:${server.address().port}`, asked,
    close: () => server.close() };
}
