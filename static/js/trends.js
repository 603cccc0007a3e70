/* A watch's chart: runs as points, the level of each segment as a step, changes and marks as lines across. The same
   stands in the tables below it; a click on a point opens its run, and so does Enter for who walks by keyboard. */

import { keys } from "./chart-keys.js";
import { day, moment } from "./times.js";

let chart = null;
let at = null; // the run that the keyboard stands on
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (value) => new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(value).replaceAll(",", "\u202f");

const DAY = 86400000;
const STEPS = [1, 2, 7, 14, 28, 61, 91, 182, 365].map((days) => days * DAY);

/* Whole days, about as many as there is room for; of less than two days the moments themselves. */
function days(scale) {
  const { min, max } = scale;
  const room = Math.max(2, Math.floor(scale.width / 110));
  if (max - min < 2 * DAY) return;
  const step = STEPS.find((one) => (max - min) / one <= room) ?? STEPS.at(-1) * Math.ceil((max - min) / room / STEPS.at(-1));
  const first = Math.ceil(min / DAY) * DAY;
  scale.ticks = Array.from({ length: Math.floor((max - first) / step) + 1 }, (_, at) => ({ value: first + at * step }));
}

function bounds(data) {
  const [first, last] = [data.points[0].x, data.points.at(-1).x];
  const edge = Math.max((last - first) * 0.02, DAY / 24);
  return { min: first - edge, max: last + edge };
}

function points(data) {
  const ink = css("--series-1");
  const odd = css("--surface");
  return {
    label: "runs",
    data: data.points,
    showLine: false,
    order: 1,
    borderColor: ink,
    backgroundColor: ink,
    pointBackgroundColor: data.points.map((point) => (point.outlier ? odd : ink)),
    pointBorderColor: ink,
    pointStyle: data.points.map((point) => (point.outlier ? "rectRot" : "circle")),
    pointRadius: data.points.map((point) => (point.outlier ? 5 : data.isDense ? 2 : 3.5)),
    pointHoverRadius: 6,
  };
}

function levels(data) {
  const ink = css("--series-2");
  // a point that is no number breaks the line between two levels
  const ends = data.steps.flatMap(([start, end]) => [start, end, { x: end.x, y: NaN }]);
  return { label: "median of each level", order: 0, data: ends, borderColor: ink, backgroundColor: ink, borderWidth: 2.5, pointRadius: 0, pointHitRadius: 0, pointStyle: "line" };
}

/* Names at several heights, so that neighbours stay readable. */
function across(data) {
  const tall = ["start", "center", "end"];
  const line = (at, text, ink, dash, place) => ({
    type: "line",
    scaleID: "x",
    value: at,
    borderColor: ink,
    borderWidth: 1.5,
    borderDash: dash,
    label: { display: true, content: text, position: place, backgroundColor: css("--surface"), color: ink, borderColor: ink, borderWidth: 1, padding: { x: 5, y: 2 }, font: { size: 11, weight: 600 } },
  });
  const changes = data.changes.map((one, at) => line(one.x, `${one.text} ${one.direction}`, css(one.direction === "worse" ? "--bad" : "--ok"), [6, 4], tall[at % 2]));
  const short = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);
  return [...changes, ...data.marks.map((one) => line(one.x, short(one.text), css("--ink-2"), [2, 3], "end"))];
}

function options(data) {
  const ink = css("--ink-2");
  const grid = { color: css("--line") };
  return {
    animation: false,
    maintainAspectRatio: false,
    interaction: { mode: "nearest", intersect: true },
    onClick: (_, items) => {
      const found = items.find((item) => item.datasetIndex === 0);
      if (found) location.href = `/runs/${data.points[found.index].run}/`;
    },
    onHover: (event, items) => {
      event.native.target.classList.toggle("is-over-run", items.some((item) => item.datasetIndex === 0));
    },
    scales: {
      x: { type: "linear", ...bounds(data), afterBuildTicks: days, ticks: { color: ink, maxRotation: 0, autoSkipPadding: 18, callback: (value) => (data.isShort ? moment : day)(new Date(value)) }, grid },
      y: { grace: "12%", title: { display: true, text: data.y, color: ink }, ticks: { color: ink, callback: number }, grid },
    },
    plugins: {
      legend: { position: "bottom", labels: { color: css("--ink"), usePointStyle: true, boxHeight: 7 } },
      annotation: { annotations: across(data) },
      tooltip: {
        filter: (item) => item.datasetIndex === 0,
        callbacks: {
          title: () => "",
          label: (item) => sentence(data, item.dataIndex),
        },
      },
    },
  };
}

function sentence(data, index) {
  const { run, x, y, remark } = data.points[index];
  return [`run ${run}, ${moment(new Date(x))}: ${number(y)} ${data.unit}`.trim(), remark].filter(Boolean).join(", ");
}

/* One row: the runs; what changed is said at the first run after it. */
function walkable(data, frame) {
  const row = { rows: 1, columns: () => data.points.length, place: (_, index) => [0, index] };
  const says = (_, __, index) => {
    at = index;
    return sentence(data, index);
  };
  keys(chart, { tiles: [] }, says, () => row);
  frame.onkeydown = (event) => {
    if (event.key === "Enter" && at !== null) location.href = `/runs/${data.points[at].run}/`;
  };
  frame.onblur = () => {
    at = null;
  };
}

function draw() {
  chart?.destroy();
  chart = null;
  const source = document.getElementById("chart-data");
  const canvas = document.querySelector("[data-trend-chart] canvas");
  if (!source || !canvas || !window.Chart) return;
  const data = JSON.parse(source.textContent);
  data.isShort = data.points.at(-1).x - data.points[0].x < 2 * DAY;
  data.isDense = data.points.length / canvas.parentElement.clientWidth > 0.25;
  chart = new window.Chart(canvas, { type: "line", data: { datasets: [points(data), levels(data)] }, options: options(data) });
  walkable(data, canvas.parentElement);
}

document.addEventListener("spindle:theme", draw);
if (location.hash === "#runs") document.getElementById("runs")?.setAttribute("open", "");
draw();
