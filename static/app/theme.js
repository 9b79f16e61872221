// Runs before the page is drawn, so that a dark screen never flashes white:
// without a choice of the user the theme follows the system.
(function () {
  const root = document.documentElement;
  if (root.hasAttribute("data-bs-theme")) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => root.setAttribute("data-bs-theme", dark.matches ? "dark" : "light");
  apply();
  dark.addEventListener("change", apply);
})();
