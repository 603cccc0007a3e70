/* Arrow keys in a grid: one stop for the Tab key in each table, the arrows, Home and End do the rest. */

function rowsOf(table) {
  return [...table.rows].map((row) => [...row.cells].filter((cell) => cell.tagName === "TD").map((cell) => cell.firstElementChild));
}

function nearest(row, column) {
  for (let off = 0; off < row.length; off += 1) {
    if (row[column - off]) return row[column - off];
    if (row[column + off]) return row[column + off];
  }
  return row.findLast(Boolean);
}

function beside(rows, y, x, key, far) {
  const across = (step, from) => {
    for (let n = from; n >= 0 && n < rows[y].length; n += step) if (rows[y][n]) return rows[y][n];
    return undefined;
  };
  const along = (step, from) => {
    for (let n = from; n >= 0 && n < rows.length; n += step) if (rows[n].some(Boolean)) return nearest(rows[n], x);
    return undefined;
  };
  if (key === "ArrowRight") return across(1, x + 1);
  if (key === "ArrowLeft") return across(-1, x - 1);
  if (key === "ArrowDown") return along(1, y + 1);
  if (key === "ArrowUp") return along(-1, y - 1);
  if (key === "Home") return far ? rows.find((row) => row.some(Boolean))?.find(Boolean) : across(1, 0);
  if (key === "End") return far ? rows.at(-1).findLast(Boolean) : across(-1, rows[y].length - 1);
  return undefined;
}

function moved(event) {
  const table = event.currentTarget;
  if (event.altKey || event.metaKey) return;
  const rows = rowsOf(table);
  const y = rows.findIndex((row) => row.includes(event.target));
  if (y < 0) return;
  const next = beside(rows, y, rows[y].indexOf(event.target), event.key, event.ctrlKey);
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function focused(event) {
  const all = rowsOf(event.currentTarget).flat().filter(Boolean);
  if (!all.includes(event.target)) return;
  for (const stop of all) stop.tabIndex = stop === event.target ? 0 : -1;
}

/* Makes a table such a grid; called again when what is in it was changed, it keeps the stop where the focus is. A listener that a table
   has already is not added once more. */
export function makeGrid(table) {
  table.setAttribute("role", "grid");
  const stops = rowsOf(table).flat().filter(Boolean);
  const first = stops.find((stop) => stop === document.activeElement) ?? stops.find((stop) => stop.hasAttribute("aria-current")) ?? stops[0];
  for (const stop of stops) stop.tabIndex = stop === first ? 0 : -1;
  table.addEventListener("keydown", moved);
  table.addEventListener("focusin", focused);
}
