/* Loaded before the style sheets, so that no page flashes in the wrong colours: the choice made here, or else the system's. */
(function () {
  const KEY = "spindle-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem(KEY);
  const current = () => chosen() || (system.matches ? "dark" : "light");

  let shown = null;

  /* Who draws in the theme's colours hears of a change, not of the first time: a chart would be drawn twice. */
  function apply() {
    const isNew = shown !== null && shown !== current();
    shown = current();
    document.documentElement.setAttribute("data-bs-theme", shown);
    const toggle = document.getElementById("theme-toggle");
    if (toggle) {
      toggle.hidden = false;
      toggle.setAttribute("aria-pressed", String(shown === "dark"));
    }
    if (isNew) document.dispatchEvent(new CustomEvent("spindle:theme", { detail: shown }));
  }

  function toggle() {
    const wanted = current() === "dark" ? "light" : "dark";
    // back at the system's choice: nothing to remember, so that the page follows the system again
    if (wanted === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, wanted);
    apply();
  }

  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme-toggle")?.addEventListener("click", toggle);
  });
})();
