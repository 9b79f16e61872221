// Runs before the page is drawn: a dark screen must never flash white (without a
// choice of the user the theme follows the system), and Back must always work.
(function () {
  const root = document.documentElement;
  root.classList.add("js"); // lines are folded only where they can be unfolded
  if (root.hasAttribute("data-bs-theme")) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => root.setAttribute("data-bs-theme", dark.matches ? "dark" : "light");
  apply();
  dark.addEventListener("change", apply);
})();

// Back and Forward load the page anew once htmx has started. Until then this
// does it, or the page would show something else than its address says.
addEventListener("popstate", () => {
  if (!window.onpopstate) location.reload();
});

// Paper is white. The theme of the screen comes back afterwards.
{
  const paper = matchMedia("print");
  let screen = null;
  const change = () => {
    const root = document.documentElement;
    if (paper.matches && screen === null) {
      screen = root.getAttribute("data-bs-theme") ?? "";
      root.setAttribute("data-bs-theme", "light");
    } else if (!paper.matches && screen !== null) {
      if (screen) root.setAttribute("data-bs-theme", screen);
      else root.removeAttribute("data-bs-theme");
      screen = null;
    }
  };
  paper.addEventListener("change", change);
}
