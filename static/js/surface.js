/* A heat map as a surface in three dimensions. Its library is fetched when somebody asks for it, and only then. */

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const STEP = Math.PI / 12;
const NARROW = 480; // px
let fetched = null;

function library(address) {
  fetched ??= new Promise((done, failed) => {
    const script = Object.assign(document.createElement("script"), { src: address, onload: () => done(window.vis), onerror: () => failed(new Error("the library did not arrive")) });
    document.head.append(script);
  });
  return fetched;
}

/* On a narrow screen four names of an axis have room, and the whole stands a little farther away. */
function options(data, isNarrow) {
  const ink = css("--ink-2");
  const every = (axis) => (isNarrow ? Math.ceil(axis.labels.length / 4) : 1);
  const label = (axis) => (value) => (Number.isInteger(value) && value % every(axis) === 0 ? (axis.labels[value] ?? "") : "");
  return {
    width: "100%", height: "100%", style: "surface", showPerspective: true, showGrid: true, showShadow: false, keepAspectRatio: false, verticalRatio: 0.5, xCenter: isNarrow ? "56%" : "50%", yCenter: "42%",
    xLabel: data.x.title, yLabel: data.y.title, zLabel: data.z.title, xStep: 1, yStep: 1, xValueLabel: label(data.x), yValueLabel: label(data.y),
    axisColor: ink, gridColor: css("--line-strong"), axisFontSize: 22, backgroundColor: css("--surface"), colormap: data.ramp, showLegend: false,
    tooltip: ({ x, y, z }) => `${data.y.labels[y]}, ${data.x.labels[x]}: ${Number(z.toPrecision(3))} ${data.unit}`,
    cameraPosition: { horizontal: -0.9, vertical: 0.5, distance: isNarrow ? 3 : 2.8 },
  };
}

export class Surface {
  /* `place`: the empty element to draw into; `data`: the heat map. */
  constructor(vis, place, data) {
    const rows = data.tiles.filter((tile) => tile.v !== null).map((tile) => ({ x: tile.x, y: tile.y, z: tile.v }));
    this.graph = new vis.Graph3d(place, new vis.DataSet(rows), options(data, place.clientWidth < NARROW));
  }

  static async made(place, data, address) {
    return new Surface(await library(address), place, data);
  }

  turn(what) {
    const { horizontal, vertical, distance } = this.graph.getCameraPosition();
    const to = {
      left: [horizontal - STEP, vertical], right: [horizontal + STEP, vertical],
      up: [horizontal, Math.min(vertical + STEP, Math.PI / 2)], down: [horizontal, Math.max(vertical - STEP, 0)],
    }[what];
    if (to) this.graph.setCameraPosition({ horizontal: to[0], vertical: to[1], distance });
    if (to) this.graph.redraw();
  }
}
