/* A study's page: print, and open what is folded while printing. */

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

/* What is folded on the screen is open on paper. */
const folded = () => document.querySelectorAll("details.fold:not([open])");
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...folded()].filter((one) => !one.classList.contains("on-screen"));
  for (const one of opened) one.open = true;
});
window.addEventListener("afterprint", () => {
  for (const one of opened) one.open = false;
});

/* The part that is being read is marked in the contents. */
const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-70px 0px -70% 0px" });
for (const part of document.querySelectorAll(".part")) seen.observe(part);
