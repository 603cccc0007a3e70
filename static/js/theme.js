/* Loaded before the style sheets, so that no page flashes in the wrong colours: the choice made here, or else the system's. The choice lies in a
   cookie, and the server writes it into the page: to read it from the browser's storage would hold up every page. What is set on the root here is
   set before there is a page, for later each change would cost a look at the style of everything. */
(function () {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const ofSystem = () => (system.matches ? "dark" : "light");
  const A_YEAR = 31536000; // seconds

  let chosen = root.dataset.bsTheme ?? null;
  let shown = null;

  /* Who draws in the theme's colours hears of a change, not of the first time: a chart would be drawn twice. */
  function apply() {
    const wanted = chosen ?? ofSystem();
    const isNew = shown !== null && shown !== wanted;
    shown = wanted;
    if (root.dataset.bsTheme !== shown) root.dataset.bsTheme = shown;
    const toggle = document.getElementById("theme-toggle");
    if (toggle) {
      toggle.hidden = false;
      toggle.setAttribute("aria-pressed", String(shown === "dark"));
    }
    if (isNew) document.dispatchEvent(new CustomEvent("spindle:theme", { detail: shown }));
  }

  function toggle() {
    const wanted = shown === "dark" ? "light" : "dark";
    // back at the system's choice: nothing to remember, so that the page follows the system again
    chosen = wanted === ofSystem() ? null : wanted;
    document.cookie = `spindle_theme=${chosen ?? ""}; path=/; samesite=lax; max-age=${chosen ? A_YEAR : 0}`;
    apply();
  }

  root.classList.add("js");
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme-toggle")?.addEventListener("click", toggle);
  });
})();
