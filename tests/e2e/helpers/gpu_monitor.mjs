// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi records of two GPUs in a minute: the second is throttled by its power cap for
// 15 seconds.

const HEAD = "timestamp, index, name, utilization.gpu [%], power.draw [W], clocks.sm [MHz], "
  + "clocks_throttle_reasons.active, temperature.gpu, memory.used [MiB], memory.total [MiB]";

const row = (begin_ms, second, gpu) => {
  const time = new Date(begin_ms + second * 1000).toISOString().replace("T", " ")
    .replaceAll("-", "/").slice(0, -1);
  const capped = gpu === 1 && second < 15;
  return [time, gpu, "NVIDIA H100 80GB HBM3",
    "98 %", `${600 + gpu * 50}.00 W`, `${capped ? 1410 : 1980} MHz`,
    capped ? "0x0000000000000004" : "0x0000000000000000", 60 + gpu, "70000 MiB", "81559 MiB"]
    .join(", ");
};

/** As a CSV file. @param {number} begin_ms Unix time of its start @returns {string} */
export const gpu_monitor = (begin_ms = Date.UTC(2026, 10, 20, 10)) => [HEAD,
  ...Array.from({ length: 60 }, (_, second) =>
  [row(begin_ms, second, 0), row(begin_ms, second, 1)]).flat()].join("\n").concat("\n");
