// What a server cannot do: times that go on, keys, and a question before what cannot be taken back.
const say = (seconds) => {
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return `${Math.max(0, Math.floor(seconds))} s`;
};
const clocks = () => {
  const now = Date.now() / 1000;
  for (const one of document.querySelectorAll("time[data-ago]")) {
    const past = now - one.dataset.ago;
    const words = past < 5 ? "just now" : `${say(past)} ago`;
    if (one.textContent !== words) one.textContent = words;
  }
  for (const one of document.querySelectorAll("time[data-until]")) {
    const left = Math.max(0, Math.floor(one.dataset.until - now));
    one.textContent = left < 3600 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : say(left);
  }
};
setInterval(clocks, 1000);

document.addEventListener("submit", (event) => {
  const question = event.target.dataset?.confirm;
  if (question && !confirm(question)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent.trim());
    copy.querySelector("[data-word]").textContent = "Copied";
  }
  const cancel = event.target.closest("[data-close]");
  if (cancel) {
    const open = cancel.closest("details");
    open.open = false;
    open.querySelector("summary").focus();
  }
});

// Lists that are gone through with j and k; on the one that has the focus, a letter presses its button.
const typing = (at) => at.closest("input, textarea, select, [contenteditable]");
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const open = event.target.closest?.("details.more[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
      event.preventDefault();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (event.key === "/") {
    const search = document.querySelector("main input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
    return;
  }
  const items = [...document.querySelectorAll("[data-item]")];
  if (!items.length) return;
  const at = items.findIndex((one) => one.contains(document.activeElement));
  if (event.key === "j" || event.key === "k") {
    const next = items[Math.min(items.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
    event.preventDefault();
    return;
  }
  const button = at < 0 ? null : items[at].querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (button) {
    event.preventDefault();
    const more = button.closest("details");
    const box = more?.querySelector("input:not([type=hidden]), textarea, select");
    if (button.matches("summary")) more.addEventListener("toggle", () => more.open && box?.focus(), { once: true });
    button.click();
  }
});

// After a part was exchanged: whoever had the focus in it has it in the new part, and clocks go on at once.
document.addEventListener("htmx:after:settle", clocks);
