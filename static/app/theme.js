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
