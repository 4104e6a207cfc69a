// What a reader of this page cannot see, as it now stands: [{kind, where, by: pixels}].
// {column: selector of the text column, print: nothing can be scrolled on paper}
({ column, print }) => {
  const slack = 1.5, found = [];
  const text = document.querySelector(column) || document.body;
  const seen = (el) => el.getClientRects().length && el.getBoundingClientRect().width > 0
    && getComputedStyle(el).visibility !== "hidden";

  // pixels of el before the start and behind the end of what its boxes show or scroll to
  const lost = (el) => {
    const page = (text.contains(el) ? text : document.body).getBoundingClientRect();
    let { left, right } = el.getBoundingClientRect(), before = 0, behind = 0, scrolls = 0;
    for (let box = el; box && box !== document.body; box = box.parentElement) {
      const how = getComputedStyle(box).overflowX, edge = box.getBoundingClientRect();
      if (how === "visible" || getComputedStyle(box).display === "inline") continue;
      const start = edge.left + box.clientLeft, end = start + box.clientWidth;
      if (box === el) { scrolls = box.scrollWidth - box.clientWidth; continue; }
      if (how === "auto" || how === "scroll") {
        before = Math.max(before, start - box.scrollLeft - left);
        scrolls = Math.max(scrolls, right - end);
      } else {
        before = Math.max(before, start - left);
        behind = Math.max(behind, right - end);
      }
      [left, right] = [Math.max(left, start), Math.min(right, end)];
    }
    return { before: Math.max(before, page.left - left), behind: Math.max(behind, right - page.right), scrolls };
  };
  const where = (el) => {
    const home = el.closest("[id]"), cell = el.closest("div.cell");
    const said = el.getAttribute("aria-label") || el.alt || (el.closest("mjx-container") || el).textContent || "";
    const words = said.trim().replace(/\s+/g, " ").slice(0, 60);
    return `${home ? "#" + home.id : ""} ${cell ? "cell " : ""}${words}`.trim();
  };
  const note = (kind, el, by) => found.push({ kind, where: where(el), by: Math.round(by) });
  const judge = (selector, kinds) => {
    for (const el of document.querySelectorAll(selector)) {
      if (!seen(el)) continue;
      const { before, behind, scrolls } = lost(el);
      if (before > slack) note(kinds.before, el, before);
      if (behind > slack) note(kinds.behind, el, behind);
      if (scrolls > slack && kinds.scrolls && (kinds.scrolls.always || print)) note(kinds.scrolls.kind, el, scrolls);
    }
  };

  const wide = innerWidth >= 1000;
  judge("mjx-container[display] > mjx-math", {
    before: "formula clipped at its left end", behind: "formula cut",
    scrolls: { kind: "formula wider than its box", always: wide } });
  judge("mjx-container:not([display]) > mjx-math", {
    before: "inline formula clipped", behind: "inline formula cut", scrolls: { kind: "inline formula cut" } });
  for (const box of document.querySelectorAll("div.math, mjx-container"))  // on a telephone it may, and says so
    if (!wide && !print && seen(box) && getComputedStyle(box).overflowX === "auto"
        && box.scrollWidth > box.clientWidth + slack && getComputedStyle(box).maskImage === "none")
      note("formula scrolls, and nothing says so", box, box.scrollWidth - box.clientWidth);
  judge("div.cell_input:not(details div) pre", {
    before: "code cut", behind: "code cut", scrolls: { kind: "code wider than its box", always: wide } });
  judge("details pre", { before: "code cut", behind: "code cut", scrolls: { kind: "code wider than its box" } });
  judge("div.cell_output pre", {
    before: "output cut", behind: "output cut", scrolls: { kind: "output wider than its box", always: true } });
  judge("main img, main table, main video", {
    before: "picture or table cut", behind: "picture or table cut", scrolls: { kind: "picture or table cut" } });
  if (innerWidth < 600)  // cards, or fewer columns
    for (const el of document.querySelectorAll("main table:not(.cell_output table)")) {
      const { scrolls } = lost(el);
      if (seen(el) && scrolls > slack) note("table scrolls sideways", el, scrolls);
    }
  const drawn = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);  // folded texts too
  for (let node = drawn.nextNode(); node; node = drawn.nextNode())
    if (/\$[^$]+\$|\]\([^)]+\)/.test(node.data)
        && !node.parentElement.closest("pre, code, script, style, mjx-container, svg"))
      note("source not drawn", node.parentElement, 0);
  for (const wrong of document.querySelectorAll("[data-mjx-error], mjx-merror")) note("formula with an error", wrong, 0);
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over > slack && !print) note("page wider than the window", document.querySelector("h1") || document.body, over);
  for (const img of document.querySelectorAll("img"))
    if (!img.hasAttribute("alt")) found.push({ kind: "picture without alt", where: img.src.split("/").pop(), by: 0 });
  if (print)
    for (const el of document.querySelectorAll("details:not(.hide) > :not(summary)"))
      if (!el.checkVisibility() && el.textContent.trim()) note("closed on paper", el, 0);
  return found;
}
