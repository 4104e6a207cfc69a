/* Point at a link to a statement or a formula, or reach it with Tab: it is shown beside the link. Escape closes.
   On a touch screen the first tap shows, the second goes there. */
(() => {
  const ENDS = /^(thm|prop|prp|def|lem|cor|law|alg|eq)-/;
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const scripts = {}, bare = !window.MathJax; // a page without formulas of its own does not bring MathJax
  const box = document.createElement("div");
  Object.assign(box, { id: "preview", role: "tooltip", hidden: true });
  let shown = null, timer = 0, touch = false;

  function place(link) { // [page, end] of a link into the notes that has something to show
    const url = new URL(link.href, location.href), end = decodeURIComponent(url.hash.slice(1));
    if (url.protocol !== location.protocol || !url.pathname.startsWith(root.pathname)) return null;
    const page = url.pathname.slice(root.pathname.length).replace(/\.html$/, "");
    return ENDS.test(end) ? [page, end] : null;
  }

  function load(path) { // a script, once
    return scripts[path] ??= new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = new URL(path, root);
      script.onload = script.onerror = resolve;
      document.head.append(script);
    });
  }

  async function boxes(page) { // {end: html} of a page
    await load(`_static/previews/${page.replaceAll("/", "-")}.js`);
    return window.previews?.[page] || {};
  }

  async function typeset() {
    if (!/\\[([]/.test(box.textContent)) return;
    if (bare) await load("_static/mathjax.js");
    await window.MathJax.startup?.promise;
    await window.MathJax.typesetPromise?.([box]);
    window.measureFormulas?.(box);
  }

  function put(link) { // below the link if there is room, else above, and inside the window
    const at = link.getClientRects()[0], room = innerHeight - at.bottom;
    const below = room > box.offsetHeight + 12 || room > at.top;
    box.style.left = `${Math.max(12, Math.min(at.left, innerWidth - box.offsetWidth - 12))}px`;
    box.style.top = `${Math.max(6, below ? at.bottom + 6 : at.top - box.offsetHeight - 6)}px`;
    box.style.maxHeight = `${Math.max(120, (below ? room : at.top) - 18)}px`;
  }

  async function show(link) {
    const [page, end] = place(link), html = (await boxes(page))[end];
    if (!html) return;
    hide();
    shown = link;
    box.innerHTML = html + (touch ? '<p class="hint">Tap the link again to go there.</p>' : "");
    box.style.maxHeight = "";
    box.hidden = false;
    link.setAttribute("aria-describedby", "preview");
    put(link);
    await typeset();
    if (shown === link) put(link);
  }

  function hide() {
    shown?.removeAttribute("aria-describedby");
    if (shown) window.MathJax?.typesetClear?.([box]);
    shown = null;
    box.hidden = true;
  }

  function leave() { // the pointer went, or the page moved under it while Tab reached a link
    if (shown !== document.activeElement) hide();
  }

  function soon(action, wait) {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  }

  function link(event) {
    const found = event.target.closest?.("main a[href*='#']");
    return found && !box.contains(found) && place(found) ? found : null;
  }

  addEventListener("DOMContentLoaded", () => document.body.append(box));
  addEventListener("pointerdown", (event) => { touch = event.pointerType === "touch"; }, true);
  addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const found = link(event);
    if (found && found !== shown) soon(() => show(found), 200);
    else if (found || box.contains(event.target)) clearTimeout(timer);
    else soon(leave, 250);
  });
  addEventListener("focusin", (event) => {
    const found = link(event);
    if (found && !touch) {
      clearTimeout(timer);
      show(found);
    } else if (shown) soon(hide, 250);
  });
  addEventListener("click", (event) => {
    const found = link(event);
    if (touch && found && found !== shown) {
      event.preventDefault();
      show(found);
    } else if (!box.contains(event.target)) soon(hide, 0);
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") soon(hide, 0); });
  addEventListener("scroll", (event) => { if (shown && event.target !== box) put(shown); }, true);
})();
