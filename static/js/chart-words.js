/* What a point or a tile says: under the pointer, and to those who walk the chart by keyboard. */

import { significant } from "./quantities.js";

const shown = (data, value) => `${significant(value)}${data.unit ? ` ${data.unit}` : ""}`;

/* `SATA RAID 5, 100 MiB: 182 MB/s (170 to 194), n = 5` */
export function sentence(data, set, index) {
  if (data.tiles.length) return tileSays(data, data.tiles[index]);
  const series = data.series[set];
  const point = series.points[index];
  const where = `${series.label}, ${point?.at ?? data.x.labels[index]}`;
  return `${where}: ${point ? pointSays(data, point) : series.reasons[index] || "not measured"}`;
}

function tileSays(data, tile) {
  const where = `${data.y.labels[tile.y]}, ${data.x.labels[tile.x]}`;
  return `${where}: ${tile.v === null ? tile.text : shown(data, tile.v)}`;
}

function pointSays(data, point) {
  const { y, yMin, yMax, n } = point;
  if (point.bound) return `${point.bound === "low" ? "at least" : "at most"} ${shown(data, y)}`;
  if (point.range) return `between ${significant(yMin)} and ${shown(data, yMax)}`;
  const count = data.kind === "histogram" ? `${n.toLocaleString("en").replaceAll(",", "\u202f")} completions` : data.kind === "curve" ? "" : `n = ${n}`;
  const interval = yMin === undefined ? "" : ` (${significant(yMin)} to ${significant(yMax)})`;
  const parts = [`${point.approximate ? "about " : ""}${shown(data, y)}${interval}`, count, box(point), odd(point), point.note ? `${point.note} the baseline${point.warning ? `, not like for like: ${point.warning}` : ""}` : "", point.hollow ? "may be memory, not disk" : ""];
  return parts.filter(Boolean).join(", ");
}

function box({ box: found }) {
  return found ? `median ${significant(found.median)}, quartiles ${significant(found.q1)} and ${significant(found.q3)}` : "";
}

function odd({ modes, outliers }) {
  if (modes) return `two modes: ${modes.map(significant).join(" and ")}`;
  return outliers ? `outliers: ${outliers.map(significant).join(", ")}` : "";
}
