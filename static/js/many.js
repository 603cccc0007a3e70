/* Whoever types into a field means it: its box is ticked. Without this module one ticks by hand. */

document.addEventListener("input", (event) => {
  const row = event.target.closest(".many-field");
  const box = row?.querySelector("[data-on]");
  if (box && event.target !== box) box.checked = true;
});
