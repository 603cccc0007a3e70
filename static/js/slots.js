/* The slot map: an array lights its members at once, and the arrow keys move in the grid. Without scripts the same links load
   the page with that array lit. */

const span = document.getElementById("span");
const tables = [...document.querySelectorAll("[data-slots]")];
const links = [...document.querySelectorAll("[data-array]")];

function light(link) {
  const id = link?.dataset.array;
  for (const table of tables) {
    table.classList.toggle("has-lit", Boolean(id));
    for (const cell of table.querySelectorAll("td.slot")) {
      const isLit = Boolean(id) && (cell.dataset.arrays ?? "").split(" ").includes(id);
      cell.classList.toggle("is-lit", isLit);
      cell.setAttribute("aria-selected", String(isLit));
    }
  }
  for (const one of links) {
    if (one === link) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  span.textContent = link ? link.dataset.span : "";
}

function choose(link) {
  const again = link.getAttribute("aria-current") === "true";
  light(again ? null : link);
  const address = new URL(link.href);
  if (again) address.searchParams.delete("array");
  history.replaceState(null, "", address);
}

function clicked(event) {
  const link = event.target.closest("[data-array]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    choose(link);
  } else if (event.target.closest("[data-unlight]")) {
    event.preventDefault();
    light(null);
    const address = new URL(location.href);
    address.searchParams.delete("array");
    history.replaceState(null, "", address);
  }
}

/* Space on a link does nothing by itself; here it presses: an array's link, or in the grid the first array of that disk. */
function pressed(event) {
  if (event.key !== " ") return;
  const link = event.target.closest("[data-array]");
  const ids = event.target.closest("td.slot")?.dataset.arrays?.split(" ") ?? [];
  const wanted = link ?? links.find((one) => ids.includes(one.dataset.array));
  if (!wanted) return;
  event.preventDefault();
  choose(wanted);
}

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
  if (key === "Home") return far ? rows[0].find(Boolean) : across(1, 0);
  if (key === "End") return far ? rows.at(-1).findLast(Boolean) : across(-1, rows[y].length - 1);
  return undefined;
}

function moved(event) {
  const table = event.target.closest("[data-slots]");
  if (!table || event.altKey || event.metaKey) return;
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

/* One stop for the Tab key in each grid; the arrow keys do the rest. */
function prepare(table) {
  table.setAttribute("role", "grid");
  table.setAttribute("aria-readonly", "true");
  const stops = rowsOf(table).flat().filter(Boolean);
  for (const stop of stops) stop.tabIndex = -1;
  if (stops.length) stops[0].tabIndex = 0;
  table.addEventListener("keydown", moved);
  table.addEventListener("focusin", (event) => {
    if (!stops.includes(event.target)) return;
    for (const stop of stops) stop.tabIndex = stop === event.target ? 0 : -1;
  });
  for (const cell of table.querySelectorAll("td.slot")) cell.setAttribute("aria-selected", String(cell.classList.contains("is-lit")));
}

tables.forEach(prepare);
document.addEventListener("click", clicked);
document.addEventListener("keydown", pressed);
