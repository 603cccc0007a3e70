/* Draws a chart from the server's description of it: the same numbers as the table and the pictures, in the site's
   colours, light and dark. What a point says stands in chart-words.js, the marks in chart-marks.js. */

import { keys } from "./chart-keys.js";
import { FOOTED, KINDS, feet, notes, shape, tileTexts } from "./chart-marks.js";
import { sentence } from "./chart-words.js";
import { significant, tick } from "./quantities.js";

const MARKED = ["line", "curve", "bar", "paired", "box"]; // kinds whose series have a mark each, besides their colour
const drawnOn = new Map(); // canvas → [data, who hears of zooming], to draw again when the theme changes

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const tone = (index) => css(`--series-${(index % 8) + 1}`);

/* 1, 2 and 5 and their tenfolds: the ticks of a logarithmic axis that have room for a number; over many decades only
   their ends have. */
const isRound = (value) => [1, 2, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(3)));
const hasRoom = (value, { min, max }) => (max / min > 1e4 ? /^1e/.test(value.toExponential()) : isRound(value));

function ticks(axis, colour) {
  const isLog = axis.scale === "log";
  const text = (value) => (axis.baseUnit && !axis.unit ? tick(value, axis.baseUnit) : significant(value).replace(/\.0+$|(\.\d*?)0+$/, "$1"));
  return { color: colour, maxRotation: 0, autoSkip: !isLog, autoSkipPadding: 14, callback(value) { return !isLog || hasRoom(value, this) ? text(value) : ""; } };
}

function scale(axis, { isUp = false, isTiled = false } = {}) {
  const ink = css("--ink-2");
  const shared = { title: { display: Boolean(axis.title), text: axis.title, color: ink }, border: { color: css("--line") } };
  const grid = { color: css("--line"), display: !isTiled };
  if (axis.scale === "even") return { ...shared, type: "category", labels: axis.labels, offset: true, grid, ticks: { color: ink, maxRotation: 50, autoSkip: !isUp } };
  if (axis.scale === "nines") {
    const last = axis.labels.length - 1;
    return { ...shared, type: "linear", min: 0, max: last, grid, ticks: { color: ink, stepSize: 1, callback: (value) => axis.labels[value] ?? "" } };
  }
  const type = axis.scale === "log" ? "logarithmic" : "linear";
  return { ...shared, type, beginAtZero: isUp && axis.scale !== "log", grace: isUp ? "14%" : undefined, grid, ticks: ticks(axis, ink) };
}

/* A true axis has its ends from the server, and ticks where something was measured, as far as their labels have room.
   What has no number stands at the edge, apart from all numbers. */
function ends(data) {
  const { places, apart, low, high, labels } = data.x;
  if (!places) return {};
  const isLog = data.x.scale === "log";
  const { ticks: plain } = scale(data.x);
  const names = new Map(places.map((value, at) => [value, labels[at]]));
  const most = Math.max(...places.filter((value) => value !== apart));
  const text = (axis, value) => (isLog || value === apart ? names.get(value) : undefined) ?? plain.callback.call(axis, value);
  const afterBuildTicks = (axis) => {
    const numbers = isLog ? places.filter((value) => value !== apart) : axis.ticks.map(({ value }) => value);
    const known = numbers.filter((value) => value >= axis.min && value <= Math.min(axis.max, most));
    const last = apart !== null && apart <= axis.max ? [apart] : [];
    if (known.length + last.length > 1 || !isLog) axis.ticks = withRoom([...known, ...last], axis, (value) => text(axis, value)); // else a part between two places is looked at
  };
  return { min: low, max: high, afterBuildTicks, ticks: { ...plain, autoSkip: false, callback(value) { return text(this, value); } } };
}

/* Ticks whose labels do not overlap: the last, the first, and of the others those with room, from the left. */
function withRoom(values, axis, text) {
  const share = axis.type === "logarithmic" ? (value) => Math.log(value / axis.min) / Math.log(axis.max / axis.min) : (value) => (value - axis.min) / (axis.max - axis.min);
  const half = (value) => text(value).length * 3.4 + 5;
  const shown = [];
  for (const value of [...values.slice(-1), ...values.slice(0, -1)]) {
    if (shown.every((other) => Math.abs(share(value) - share(other)) * axis.width > half(value) + half(other))) shown.push(value);
  }
  return shown.sort((a, b) => a - b).map((value) => ({ value }));
}

/* Below bars and boxes stand the marks of their series. */
function footroom(data) {
  return FOOTED.includes(data.kind) ? { ticks: { ...scale(data.x).ticks, padding: 12 } } : {};
}

const LABEL = 16; // px, the height of a line's label
const ROWS = 4; // of them: the RAM of two hosts, and what a plan asks of each
const NARROW = 480; // px: there a ceiling's label is its figure; its colour says whose it is
const uprights = (data) => data.lines.filter((one) => one.axis === "x");

/* RAM's labels stand above the frame, one above the other, where neither marks nor ceilings are. */
const headroom = (data) => (uprights(data).length ? LABEL * Math.min(uprights(data).length, ROWS) + 4 : 0);

function lineText(one, chart) {
  return one.axis === "y" && chart.width < NARROW ? `${one.label.split(" ")[0]} ${significant(one.at)}` : one.label;
}

/* A ceiling's label stands above its line; below where the frame or a line close above is in the way. */
function besideLine(chart, value, ceilings) {
  if (!chart.scales.y || !chart.chartArea) return -LABEL / 2 - 2;
  const at = chart.scales.y.getPixelForValue(value);
  const isTaken = ceilings.some((other) => other > value && at - chart.scales.y.getPixelForValue(other) < 1.5 * LABEL);
  return isTaken || at - chart.chartArea.top < LABEL ? LABEL / 2 + 2 : -LABEL / 2 - 2;
}

/* Of the whole chart every line is, which the axes then reach out to. */
const isInSight = (chart, { axis, at }) => !chart.isZoomedOrPanned?.() || (at >= chart.scales[axis].min && at <= chart.scales[axis].max);

/* RAM, caches and ceilings. */
function references(data) {
  const found = {};
  const ceilings = data.lines.filter((one) => one.axis === "y").map((one) => one.at).sort((a, b) => a - b);
  data.lines.forEach((one, index) => {
    const colour = one.tone === null ? css("--warn") : tone(one.tone);
    const at = one.axis === "x" ? { xMin: one.at, xMax: one.at } : { yMin: one.at, yMax: one.at };
    const place = one.axis === "x" ? { position: "end", yAdjust: -LABEL * (1 + (uprights(data).indexOf(one) % ROWS)) - 2 } : { position: ceilings.indexOf(one.at) % 2 ? "start" : "end", yAdjust: ({ chart }) => besideLine(chart, one.at, ceilings) };
    const label = { display: true, content: ({ chart }) => lineText(one, chart), color: css("--ink-2"), backgroundColor: css("--surface"), padding: 2, font: { size: 11, weight: "normal" }, drawTime: "beforeDatasetsDraw", ...place };
    found[`line${index}`] = { type: "line", ...at, display: ({ chart }) => isInSight(chart, one), borderColor: colour, borderWidth: 1.5, borderDash: [6, 3], drawTime: "beforeDatasetsDraw", label };
  });
  data.regions.forEach((one, index) => {
    const colour = one.what === "apart" ? `${css("--line-strong")}24` : `${css("--warn")}14`;
    found[`region${index}`] = { type: "box", xMin: one.low ?? undefined, xMax: one.high ?? undefined, backgroundColor: colour, borderWidth: 0, drawTime: "beforeDatasetsDraw" };
  });
  return found;
}

function legend(data) {
  const isBaseline = (index) => data.series[index]?.baseline;
  const isMarked = MARKED.includes(data.kind);
  const labels = { color: css("--ink"), usePointStyle: isMarked, boxHeight: 7, boxWidth: 18 };
  labels.generateLabels = (chart) => {
    const named = window.Chart.defaults.plugins.legend.labels.generateLabels(chart);
    // Chart.js takes colour and pattern of the first mark, which may be hollow
    const shown = named.slice(0, data.named).map((item) => ({ ...item, text: item.text + (isBaseline(item.datasetIndex) ? " (baseline)" : ""), fillStyle: tone(item.datasetIndex), strokeStyle: tone(item.datasetIndex), fontColor: css("--ink"), ...(isMarked && { pointStyle: shape(item.datasetIndex)[0], rotation: shape(item.datasetIndex)[1], lineWidth: 2 }) }));
    return data.unnamed ? [...shown, { text: data.unnamed, fillStyle: "transparent", lineWidth: 0, fontColor: css("--ink-2") }] : shown;
  };
  const onClick = (event, item, its) => item.datasetIndex !== undefined && window.Chart.defaults.plugins.legend.onClick(event, item, its);
  return { display: !data.tiles.length, position: "bottom", align: "start", labels, onClick };
}

function options(data, zoomed) {
  const isTiled = data.tiles.length > 0;
  const isOfRun = data.kind === "histogram" || data.kind === "curve";
  const y = scale(data.y, { isUp: true, isTiled });
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    layout: { padding: { top: headroom(data) } },
    interaction: { mode: "nearest", intersect: false, axis: isOfRun ? "x" : "xy" },
    scales: { x: { ...scale(data.x, { isTiled }), ...ends(data), ...footroom(data) }, y: { ...y, reverse: data.kind === "heat" } },
    plugins: {
      legend: legend(data),
      annotation: { clip: false, annotations: references(data) },
      tooltip: {
        backgroundColor: css("--ink"), titleColor: css("--surface"), bodyColor: css("--surface"), displayColors: !isTiled,
        callbacks: { title: () => "", label: (item) => sentence(data, item.datasetIndex, item.dataIndex) },
      },
      zoom: {
        zoom: { drag: { enabled: !isOfRun, threshold: 8, backgroundColor: `${css("--accent")}30` }, pinch: { enabled: !isOfRun }, mode: "xy", onZoomComplete: zoomed },
        limits: { x: { min: "original", max: "original" }, y: { min: "original", max: "original" } },
      },
    },
  };
}

/* Draws, or draws again, on a canvas. `zoomed` hears when a part is looked at. */
export function draw(canvas, data, zoomed = () => {}) {
  window.Chart.getChart(canvas)?.destroy();
  const look = { surface: css("--surface"), ink: css("--ink"), quiet: css("--ink-2"), strong: css("--line-strong"), tone };
  const chart = new window.Chart(canvas, {
    type: KINDS[data.kind].type,
    data: { labels: data.x.labels, datasets: KINDS[data.kind].sets(data, look) },
    options: options(data, zoomed),
    plugins: [notes(data, look), feet(data, look), tileTexts(data, look)],
  });
  drawnOn.set(canvas, [data, zoomed]);
  keys(chart, data, sentence);
  return chart;
}

document.addEventListener("spindle:theme", () => {
  for (const [canvas, [data, zoomed]] of drawnOn) {
    if (canvas.isConnected) draw(canvas, data, zoomed);
    else drawnOn.delete(canvas);
  }
});
