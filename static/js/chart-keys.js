/* A chart by keyboard: arrows walk from point to point, and what each says is written under the chart and spoken. */

const MOVES = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], PageDown: [0, 10], PageUp: [0, -10] };
const HINT = "Arrow keys walk its points; Home and End go to the first and the last; Escape leaves.";
const walking = new WeakMap(); // frame → what its listener works on now

const clamp = (value, count) => Math.min(Math.max(value, 0), count - 1);

/* `sentence(data, set, index)` says a point. `data` has series of points, or tiles; a chart that grows has none, and
   `walk` says what there is to walk: {rows, columns(row), place(row, column)}. */
export function keys(chart, data, sentence, walk = () => sizeOf(data)) {
  const frame = chart.canvas.parentElement;
  const known = walking.has(frame);
  walking.set(frame, { chart, data, sentence, walk, at: null });
  if (known) return;
  frame.tabIndex = 0;
  frame.setAttribute("role", "application");
  frame.setAttribute("aria-roledescription", "chart");
  name(frame, chart.canvas);
  frame.addEventListener("keydown", (event) => pressed(frame, event));
  frame.addEventListener("blur", () => leave(frame));
  spoken(frame);
}

const name = (frame, canvas) => frame.setAttribute("aria-label", `${canvas.getAttribute("aria-label")} ${HINT}`);

/* A chart that grows says something else now. */
export function describe({ canvas }, text) {
  canvas.setAttribute("aria-label", text);
  name(canvas.parentElement, canvas);
}

function spoken(frame) {
  let line = frame.parentElement.querySelector(":scope > .chart-says");
  if (!line) {
    line = Object.assign(document.createElement("p"), { className: "chart-says" });
    line.setAttribute("role", "status");
    frame.after(line);
  }
  return line;
}

function pressed(frame, event) {
  const state = walking.get(frame);
  if (event.key === "Escape") return leave(frame);
  const size = state.walk();
  const move = MOVES[event.key];
  if ((!move && event.key !== "Home" && event.key !== "End") || !size.rows || !size.columns(0) || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  event.preventDefault();
  state.at = next(state, size, move, event.key);
  return show(frame, state, size);
}

function next({ data, at }, size, move, key) {
  const [row, column] = at ?? [data.kind === "heat" ? size.rows - 1 : 0, 0];
  if (key === "Home") return [row, 0];
  if (key === "End") return [row, size.columns(row) - 1];
  if (!at) return [row, 0];
  const upward = data.kind === "heat" ? -1 : 1; // there the first row lies at the bottom
  const to = clamp(row + move[0] * upward, size.rows);
  return [to, clamp(column + move[1], size.columns(to))];
}

function sizeOf(data) {
  if (data.tiles.length) return { rows: data.y.labels.length, columns: () => data.x.labels.length, place: (row, column) => [0, data.tiles.findIndex((tile) => tile.x === column && tile.y === row)] };
  return { rows: data.series.length, columns: (row) => data.series[row].points.length, place: (row, column) => [row, column] };
}

function show(frame, { chart, data, sentence, at }, size) {
  const [datasetIndex, index] = size.place(...at);
  spoken(frame).textContent = sentence(data, datasetIndex, index);
  const element = chart.getDatasetMeta(datasetIndex).data[index];
  const isThere = element && Number.isFinite(element.y) && chart.isDatasetVisible(datasetIndex);
  const active = isThere ? [{ datasetIndex, index }] : [];
  chart.setActiveElements(active);
  chart.tooltip.setActiveElements(active, isThere ? { x: element.x, y: element.y } : { x: 0, y: 0 });
  chart.update("none");
}

function leave(frame) {
  const state = walking.get(frame);
  if (!state.at) return;
  state.at = null;
  spoken(frame).textContent = "";
  if (!state.chart.canvas) return; // drawn anew meanwhile
  state.chart.setActiveElements([]);
  state.chart.tooltip.setActiveElements([], { x: 0, y: 0 });
  state.chart.update("none");
}
