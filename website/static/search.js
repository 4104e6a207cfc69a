/* The search box of every page, and search.html?q=...: hits as one types. Arrows go through them, Enter opens one,
   Escape closes. What it reads is loaded when the box is first used; that needs no server. */
(() => {
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  let ready = null;

  function script(name) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      Object.assign(element, { src: new URL(`_static/${name}.js`, root), onload: resolve, onerror: reject });
      document.head.append(element);
    });
  }

  function load() { // the search, once
    return ready ??= Promise.all(["minisearch", "ranking", "sections"].map(script)).then(() => makeSearch(SECTIONS));
  }

  function element(name, kind, pieces) { // pieces: text, or [text, marked] pairs
    const made = document.createElement(name);
    made.className = kind;
    for (const [text, marked] of typeof pieces === "string" ? [[pieces]] : pieces) {
      if (marked) made.append(Object.assign(document.createElement("mark"), { textContent: text }));
      else made.append(text);
    }
    return made;
  }

  function item(hit) {
    const entry = document.createElement("li"), link = element("a", "", []);
    link.href = new URL(hit.place, root);
    link.append(element("span", "hit-title", makeSearch.line(hit.title, hit.words, 400)));
    if (hit.of !== hit.title) link.append(element("span", "hit-page", hit.of));
    link.append(element("span", "hit-text", makeSearch.line(hit.text, hit.words)));
    entry.append(link);
    return entry;
  }

  function mount(form, box, most) {
    const input = form.querySelector("input"), count = box.querySelector(".hits-count"), list = box.querySelector("ol");
    const dialog = form.closest("dialog");
    let shown = null;

    async function show() {
      const query = input.value.trim();
      if (query === shown) return;
      shown = query;
      box.hidden = !query;
      if (!query) return list.replaceChildren();
      try {
        const search = await load();
        if (query !== shown) return;
        const hits = search(query);
        list.replaceChildren(...hits.slice(0, most).map(item));
        count.textContent = hits.length ? `${hits.length} places` : "Nothing found: try another word for it.";
        if (hits.length <= most) return;
        const more = element("a", "", "see more of them");
        more.href = new URL(`search.html?q=${encodeURIComponent(query)}`, root);
        count.append("; ", dialog ? more : `the first ${most} are here`);
      } catch {
        count.textContent = "The search could not be loaded.";
      }
    }

    function move(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const stops = [input, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
      stops[Math.max(0, Math.min(at + step, stops.length - 1))].focus();
    }

    input.addEventListener("focus", () => load().catch(() => {}));
    input.addEventListener("input", show);
    for (const part of [form, box]) part.addEventListener("keydown", move);
    if (dialog) {
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        await show();
        list.querySelector("a")?.click();
      });
      list.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
    } else {
      input.value = new URLSearchParams(location.search).get("q") ?? "";
      input.focus();
      show();
    }
  }

  addEventListener("DOMContentLoaded", () => {
    for (const form of document.querySelectorAll("form.bd-search"))
      if (form.nextElementSibling?.matches(".hits")) mount(form, form.nextElementSibling, form.closest("dialog") ? 10 : 50);
  });
})();
