// Light or dark before anything is drawn: as chosen, or as the system has it.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const set = () => root.classList.toggle("dark", root.dataset.look === "dark" || (root.dataset.look === "system" && system.matches));
  system.addEventListener("change", set);
  set();
})();
