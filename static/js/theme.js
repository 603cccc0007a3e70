/* Loaded before the style sheets, so that no page flashes in the wrong colours: the choice made here, or else the system's. */
(function () {
  const KEY = "spindle-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem(KEY);
  const current = () => chosen() || (system.matches ? "dark" : "light");

  function apply() {
    document.documentElement.setAttribute("data-bs-theme", current());
    const toggle = document.getElementById("theme-toggle");
    if (toggle) {
      toggle.hidden = false;
      toggle.setAttribute("aria-pressed", String(current() === "dark"));
    }
    document.dispatchEvent(new CustomEvent("spindle:theme", { detail: current() }));
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
