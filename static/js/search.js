/* The search field of the header: "/" goes to it, what is found comes as one types, arrows choose, Enter opens, Escape leaves.
   Without this module it is a plain form. */

const field = document.querySelector("[data-search-field]");
const found = document.querySelector("[data-search-found]");
const status = document.querySelector("[data-search-status]");
let before = null; // what had the focus

const options = () => [...found.querySelectorAll('a[role="option"]')];
const chosen = () => found.querySelector('[aria-selected="true"]');
const isTyping = (element) => element.isContentEditable || /^(input|textarea|select)$/i.test(element.tagName);

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  if (!option) return field.removeAttribute("aria-activedescendant");
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option.id);
}

function open(isOpen) {
  found.hidden = !isOpen;
  field.setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) choose(null);
}

function move(step) {
  const all = options();
  if (!all.length) return;
  if (found.hidden) open(true);
  const place = all.indexOf(chosen());
  const next = place < 0 ? (step > 0 ? 0 : all.length - 1) : place + step;
  choose(all[next] ?? null); // past either end: back to what was typed
}

function leave() {
  if (!found.hidden) return open(false);
  field.blur();
  before?.focus?.();
}

function inField(event) {
  const keys = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: leave };
  if (event.key === "Enter" && chosen()) {
    event.preventDefault();
    location.assign(chosen().href);
  } else if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  } else if (event.key === "Tab") open(false);
}

function anywhere(event) {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key !== "/" || !plain || isTyping(event.target)) return;
  event.preventDefault();
  before = document.activeElement;
  field.focus();
  field.select();
}

function arrived(event) {
  if (!event.target.closest?.(".site-search")) return;
  const count = options().filter((one) => one.id !== "found-all").length;
  open(document.activeElement === field && field.value.trim() !== "" && found.childElementCount > 0);
  status.textContent = field.value.trim() ? `${count} found` : "";
}

if (field && found) {
  const said = { role: "combobox", "aria-expanded": "false", "aria-controls": found.id, "aria-autocomplete": "list" };
  for (const [name, value] of Object.entries(said)) field.setAttribute(name, value);
  found.setAttribute("role", "listbox");
  found.setAttribute("aria-label", "Found");
  field.addEventListener("keydown", inField);
  field.addEventListener("input", () => { choose(null); if (!field.value.trim()) open(false); });
  field.addEventListener("focus", () => { if (field.value.trim() && options().length) open(true); });
  document.addEventListener("keydown", anywhere);
  document.addEventListener("click", (event) => { if (!event.target.closest(".site-search")) open(false); });
  document.addEventListener("htmx:after:swap", arrived);
}
