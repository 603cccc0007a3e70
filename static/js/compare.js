/* Draws the comparison's chart from the data beside it: the same numbers as the table. */

const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
const shapes = ["circle", "rect", "triangle", "rectRot", "star", "crossRot", "rectRounded", "cross"];
let chart = null;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (value) => new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(value).replaceAll(",", "\u202f");

/* 1, 2 and 5 and their tenfolds: the ticks of a logarithmic axis that have room for a number. */
const isRound = (value) => [1, 2, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(3)));

/* No line of full strength leads to what is not one measured figure. */
const isVague = (point) => point.range || point.bound || point.approximate;

function dataset(series, index, kind, labels) {
  const color = css(`--series-${(index % 8) + 1}`);
  // the error bars plug-in counts places along the axis and knows no null: an empty cell is a point that is no number
  const points = series.points.map((point, at) => ({ x: labels[at], y: NaN, hollow: series.hollow[at], ...point }));
  const fill = points.map((point) => (point.hollow ? css("--surface") : color));
  return {
    label: series.label,
    data: points,
    borderColor: color,
    backgroundColor: kind === "bar" ? color : fill,
    pointBackgroundColor: fill,
    pointBorderColor: color,
    // two bounds have no middle to mark
    pointStyle: points.map((point) => (point.range ? false : point.bound ? "triangle" : shapes[index % shapes.length])),
    pointRotation: points.map((point) => (point.bound === "high" ? 180 : 0)),
    pointRadius: points.map((point) => (point.bound ? 7 : 4.5)),
    segment: { borderDash: ({ p0DataIndex: from, p1DataIndex: to }) => (isVague(points[from]) || isVague(points[to]) ? [2, 5] : undefined) },
    spanGaps: true,
    pointHoverRadius: 6,
    borderWidth: kind === "bar" ? 0 : 2,
    borderDash: dashes[Math.floor(index / 8) % dashes.length],
    errorBarColor: color,
    errorBarWhiskerColor: color,
    errorBarLineWidth: 1.5,
  };
}

function tooltip(data) {
  return {
    label(item) {
      const { y, yMin, yMax, n, hollow, range, bound, approximate, modes, outliers } = item.raw;
      if (bound) return `${item.dataset.label}: ${bound === "low" ? "at least" : "at most"} ${number(y)} ${data.unit}`;
      if (range) return `${item.dataset.label}: between ${number(yMin)} and ${number(yMax)} ${data.unit}`;
      const interval = yMin === undefined ? "" : ` (${number(yMin)} to ${number(yMax)})`;
      const odd = modes ? `, two modes: ${modes.map(number).join(" and ")}` : outliers ? `, outliers: ${outliers.map(number).join(", ")}` : "";
      return `${item.dataset.label}: ${approximate ? "about " : ""}${number(y)} ${data.unit}${interval}, n = ${n}${odd}${hollow ? ", file fits into RAM" : ""}`;
    },
  };
}

function options(data) {
  const ink = css("--ink-2");
  const grid = { color: css("--line") };
  const title = (text) => ({ display: true, text, color: ink });
  return {
    animation: false,
    maintainAspectRatio: false,
    interaction: { mode: "nearest", intersect: false },
    scales: {
      x: { type: "category", labels: data.labels, title: title(data.x), ticks: { color: ink }, grid, offset: true },
      y: {
        type: data.scale === "log" ? "logarithmic" : "linear",
        beginAtZero: data.scale !== "log",
        grace: "6%", // the tallest error bar keeps off the frame
        title: title(data.y),
        ticks: { color: ink, callback: (value) => (data.scale !== "log" || isRound(value) ? number(value) : "") },
        grid,
      },
    },
    plugins: {
      legend: { position: "bottom", labels: { color: css("--ink"), usePointStyle: true, boxHeight: 7 } },
      tooltip: { callbacks: tooltip(data) },
    },
  };
}

function draw() {
  chart?.destroy();
  chart = null;
  const source = document.getElementById("chart-data");
  const canvas = document.querySelector("[data-compare-chart] canvas");
  if (!source || !canvas || !window.Chart) return;
  const data = JSON.parse(source.textContent);
  chart = new window.Chart(canvas, {
    type: data.kind === "bar" ? "barWithErrorBars" : "lineWithErrorBars",
    data: { labels: data.labels, datasets: data.series.map((series, index) => dataset(series, index, data.kind, data.labels)) },
    options: options(data),
  });
}

/* A morph leaves a form's fields as the reader set them; what is in force is what the server says. */
function asTheServerSays() {
  for (const box of document.querySelectorAll("#results input[type=checkbox]")) box.checked = box.defaultChecked;
  for (const option of document.querySelectorAll("#results option")) option.selected = option.defaultSelected;
}

function swapped(event) {
  // the choices of the filters come by themselves and fresh: nothing to set back, nothing to draw
  if (event.target.id === "facets") return;
  asTheServerSays();
  draw();
}

async function copyText(event) {
  const button = event.target.closest("[data-copy-text]");
  if (!button) return;
  const status = document.querySelector("[data-copy-status]");
  try {
    const answer = await fetch(button.dataset.copyText);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    await navigator.clipboard.writeText(await answer.text());
    status.textContent = "Copied.";
  } catch (error) {
    status.textContent = `Not copied (${error.message}): open the link and copy from there.`;
  }
}

document.addEventListener("click", copyText);
document.addEventListener("htmx:after:swap", swapped);
document.addEventListener("spindle:theme", draw);
draw();
