/* The marks of each kind of chart. Numbers come as they are drawn; here is only how they look. */

const DASHES = [[], [7, 3], [8, 3, 2, 3], [3, 2]];
// all can be hollow; a triangle turned is another shape
const SHAPES = [["circle", 0], ["rect", 0], ["triangle", 0], ["rectRot", 0], ["triangle", 90], ["rectRounded", 0], ["triangle", 270], ["triangle", 180]];
const ENOUGH_FOR_BOX = 5; // with fewer values quartiles say little, and the values themselves are drawn

const veil = (colour, share) => `${colour}${Math.round(share * 255).toString(16).padStart(2, "0")}`;
/* The second eight begin at the next mark and dash, so that no colour comes twice with the same: as mark_of in
   apps/comparison/charts/picture_marks.py. */
export const shape = (index) => SHAPES[(index + Math.floor(index / 8)) % SHAPES.length];
export const dash = (index) => DASHES[(index + Math.floor(index / 8)) % DASHES.length];

/* No line of full strength leads to what is not one measured figure. */
const isVague = (point) => point.range || point.bound || point.approximate;

/* The error bars plug-in counts places along the axis and knows no null: an empty cell is a point that is no number. A
   logarithmic axis has no place for an interval's end at or below 0; it goes down to the frame. */
function points(data, series) {
  const isLog = data.y.scale === "log";
  return series.points.map((point, at) => {
    const found = { x: data.x.places?.[at] ?? data.x.labels[at], y: NaN, ...point };
    if (isLog && found.yMin <= 0) found.yMin = found.y / 1000;
    return found;
  });
}

const errorBars = (colour) => ({ errorBarColor: colour, errorBarWhiskerColor: colour, errorBarLineWidth: 1.5 });

function lineSets(data, look) {
  return data.series.map((series, index) => {
    const colour = look.tone(index);
    const data_ = points(data, series);
    const fill = data_.map((point) => (point.hollow ? look.surface : colour));
    return {
      label: series.label,
      data: data_,
      borderColor: colour,
      backgroundColor: fill,
      pointBackgroundColor: fill,
      pointBorderColor: colour,
      // two bounds have no middle to mark
      pointStyle: data_.map((point) => (point.range ? false : point.bound ? "triangle" : shape(index)[0])),
      // a point with error bars reads these names, and none that begins with `point`
      rotation: data_.map((point) => (point.bound ? (point.bound === "high" ? 180 : 0) : shape(index)[1])),
      radius: data_.map((point) => (point.bound ? 7 : 4.5)),
      segment: {
        borderDash: ({ p0DataIndex: from, p1DataIndex: to }) => (isVague(data_[from]) || isVague(data_[to]) ? [2, 5] : undefined),
        borderColor: ({ p1DataIndex: to }) => (data_[to].apart ? "transparent" : undefined), // no line leads to what has no place
      },
      spanGaps: true,
      hoverRadius: 6,
      borderWidth: series.baseline ? 3 : 2,
      borderDash: dash(index),
      ...errorBars(colour),
    };
  });
}

/* A measured bar is full; one that may show memory is hollow, a bound is hatched, two bounds have no bar at all. */
function barSets(data, look) {
  return data.series.map((series, index) => {
    const colour = look.tone(index);
    const data_ = points(data, series);
    const face = (point) => (point.range ? "transparent" : point.bound ? hatch(colour) : point.hollow ? look.surface : colour);
    return { label: series.label, data: data_, backgroundColor: data_.map(face), borderColor: data_.map((point) => (point.range ? "transparent" : colour)), borderWidth: 1.5, ...errorBars(look.ink) };
  });
}

function hatch(colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  for (const shift of [-8, 0, 8]) {
    pen.moveTo(shift, 8);
    pen.lineTo(shift + 8, 0);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}

function boxSets(data, look) {
  return data.series.map((series, index) => {
    const colour = look.tone(index);
    const few = series.points.map((point) => !point?.box || point.values.length < ENOUGH_FOR_BOX);
    const clear = (shade) => few.map((isFew) => (isFew ? "transparent" : shade));
    return {
      label: series.label,
      data: series.points.map((point, at) => boxOf(point, few[at])),
      backgroundColor: clear(veil(colour, 0.25)),
      borderColor: clear(colour),
      medianColor: clear(colour),
      borderWidth: 1.5,
      meanRadius: 0,
      itemRadius: 0,
      outlierRadius: 3,
      outlierStyle: series.points.map((point) => (point?.bound ? "triangle" : "circle")),
      outlierBackgroundColor: series.points.map((point) => (point?.hollow ? look.surface : colour)),
      outlierBorderColor: colour,
    };
  });
}

function boxOf(point, isFew) {
  if (!point) return { min: NaN, q1: NaN, median: NaN, q3: NaN, max: NaN, outliers: [], items: [] };
  if (!point.box) {
    const ends = point.range ? [point.yMin, point.yMax] : [point.y];
    return { min: ends[0], whiskerMin: ends[0], q1: ends[0], median: ends[0], q3: ends.at(-1), max: ends.at(-1), whiskerMax: ends.at(-1), outliers: ends, items: [] };
  }
  const { low, q1, median, q3, high, mean, beyond } = point.box;
  // the axis reaches from `min` to `max`: to the dots beyond the whiskers too
  return { min: Math.min(low, ...beyond), whiskerMin: low, q1, median, q3, max: Math.max(high, ...beyond), whiskerMax: high, mean, outliers: isFew ? point.values : beyond, items: [] };
}

function tileSet(data, look) {
  const slot = (axis, size) => ({ chart }) => (chart.chartArea ? Math.max(chart.chartArea[size] / (chart.scales[axis].max - chart.scales[axis].min + 1) - 3, 1) : 1);
  return [{
    label: data.title,
    data: data.tiles.map((tile) => ({ ...tile, x: data.x.labels[tile.x], y: data.y.labels[tile.y] })),
    backgroundColor: data.tiles.map((tile) => tile.fill || "transparent"),
    borderColor: data.tiles.map((tile) => (tile.v === null ? look.strong : "transparent")),
    hoverBorderColor: look.ink,
    hoverBorderWidth: 2,
    hoverBackgroundColor: data.tiles.map((tile) => tile.fill || "transparent"),
    borderWidth: 1,
    width: slot("x", "width"),
    height: slot("y", "height"),
  }];
}

function stepSets(data, look) {
  return data.series.map((series, index) => {
    const colour = look.tone(index);
    return { label: series.label, data: series.points, stepped: "middle", fill: "origin", borderColor: colour, backgroundColor: veil(colour, 0.4), borderWidth: 1.5, borderDash: dash(index), pointRadius: 0, pointHoverRadius: 4, pointHitRadius: 8 };
  });
}

function curveSets(data, look) {
  return data.series.map((series, index) => {
    const colour = look.tone(index);
    return { label: series.label, data: series.points, borderColor: colour, backgroundColor: colour, borderWidth: 2, borderDash: dash(index), pointRadius: 2.5, pointStyle: shape(index)[0], pointRotation: shape(index)[1], pointHoverRadius: 5, pointHitRadius: 8 };
  });
}

/* The chart of Chart.js and the marks of each kind, by the names of `ChartKind` in apps/comparison/charts/chart.py. */
export const KINDS = {
  line: { type: "lineWithErrorBars", sets: lineSets },
  bar: { type: "barWithErrorBars", sets: barSets },
  paired: { type: "barWithErrorBars", sets: barSets },
  box: { type: "boxplot", sets: boxSets },
  heat: { type: "matrix", sets: tileSet },
  matrix: { type: "matrix", sets: tileSet },
  histogram: { type: "line", sets: stepSets },
  curve: { type: "line", sets: curveSets },
};

/* The ratio above a pair of bars. */
export function notes(data, look) {
  return {
    id: "notes",
    afterDatasetsDraw(chart) {
      if (data.kind !== "paired") return;
      data.x.labels.forEach((_, at) => {
        const pair = data.series.map((series) => series.points[at]).filter(Boolean);
        const noted = pair.find((point) => point.note);
        if (!noted) return;
        const note = noted.warning ? `${noted.note}*` : noted.note;
        const top = Math.max(...pair.map((point) => point.yMax ?? point.y));
        write(chart.ctx, note, chart.scales.x.getPixelForValue(at), chart.scales.y.getPixelForValue(top) - 8, look.ink);
      });
    },
  };
}

export const FOOTED = ["bar", "paired", "box"];
const FOOT = 5; // px, half of a mark
const NARROWEST = 7; // px: a mark on a narrower bar would cover its neighbours

/* The mark of each series below its bars or boxes, so that they are told apart without colours: below the axis, because
   inside the frame it would be taken for a value. */
export function feet(data, look) {
  return {
    id: "feet",
    afterDatasetsDraw(chart) {
      if (!FOOTED.includes(data.kind)) return;
      data.series.forEach((series, index) => {
        if (!chart.isDatasetVisible(index)) return;
        const { data: bars } = chart.getDatasetMeta(index);
        series.points.forEach((point, at) => {
          const { x, width } = bars[at].getProps(["x", "width"], true);
          if (point && width >= NARROWEST && x > chart.chartArea.left && x < chart.chartArea.right) mark(chart.ctx, shape(index), x, chart.chartArea.bottom + FOOT + 4, look.tone(index), look.surface);
        });
      });
    },
  };
}

function mark(pen, [style, rotation], x, y, colour, face) {
  pen.save();
  Object.assign(pen, { fillStyle: face, strokeStyle: colour, lineWidth: 1.5 });
  window.Chart.helpers.drawPoint(pen, { pointStyle: style, rotation, radius: FOOT - 0.5, borderWidth: 1.5 }, x, y);
  pen.restore();
}

function write(pen, text, x, y, colour, font = "12px sans-serif") {
  pen.save();
  Object.assign(pen, { font, fillStyle: colour, textAlign: "center", textBaseline: "middle" });
  pen.fillText(text, x, y);
  pen.restore();
}

const isInside = (area, x, y) => x > area.left && x < area.right && y > area.top && y < area.bottom;

/* The largest letters in which the tile's text has room; none where it has not. */
function fitting(pen, tile, width) {
  const fonts = [12, 10, 9].map((size) => `${tile.v === null ? "italic " : ""}${size}px sans-serif`);
  return fonts.find((font) => {
    pen.font = font;
    return pen.measureText(tile.text).width < width - 3;
  });
}

/* The value on each tile that has room for it. */
export function tileTexts(data, look) {
  return {
    id: "tileTexts",
    afterDatasetsDraw(chart) {
      if (!data.tiles.length) return;
      chart.getDatasetMeta(0).data.forEach((element, index) => {
        const { x, y, width, height } = element.getProps(["x", "y", "width", "height"], true);
        const tile = data.tiles[index];
        const [left, top] = [x + width / 2, y + height / 2];
        const font = fitting(chart.ctx, tile, width);
        if (font && height > 13 && isInside(chart.chartArea, left, top)) write(chart.ctx, tile.text, left, top, tile.ink || look.quiet, font);
      });
    },
  };
}
