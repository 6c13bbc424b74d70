// Keeps the counts in the header current, and the content of pages marked data-live when the store has newer tallies.
(() => {
  "use strict";
  const every = 5000;
  const box = document.querySelector("[data-live-counts]");
  const text = document.querySelector("[data-live-text]");
  const number = new Intl.NumberFormat("en-GB");
  let generation = null;
  let firing = null;

  const age = (iso) => {
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
    if (seconds < 90) return `${seconds} s`;
    if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
    return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
  };

  const show = (counts) => {
    const last = counts.last ? ` · last ${age(counts.last)} ago` : "";
    text.textContent = `${number.format(counts.traces)} traces · ${number.format(counts.verdicts)} verdicts${last}`;
    box.classList.remove("is-lost");
    box.hidden = false;
  };

  const isBeingRead = (content) => {
    const chosen = document.getSelection();
    return Boolean(chosen && !chosen.isCollapsed && content.contains(chosen.anchorNode));
  };

  const refresh = async () => {
    const content = document.getElementById("content");
    if (!content.hasAttribute("data-live") || isBeingRead(content)) return false;
    const answer = await fetch(window.location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("content");
    if (fresh) content.replaceChildren(...fresh.childNodes);
    return Boolean(fresh);
  };

  const tick = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch("/live", { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const counts = await answer.json();
      show(counts);
      const isNews = generation !== null && (counts.generation !== generation || counts.firing !== firing);
      if (generation === null || (isNews && (await refresh())) || !isNews) {
        generation = counts.generation;
        firing = counts.firing;
      }
    } catch {
      text.textContent = "no answer from Groundwatch";
      box.classList.add("is-lost");
      box.hidden = false;
    }
  };

  const loop = async () => {
    await tick();
    window.setTimeout(loop, every);
  };
  loop();
})();
