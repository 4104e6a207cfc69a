// Wide formulas scroll inside the text and shrink on paper; the contents column follows the reader.

// natural widths, for the rules of notes.css; an inline formula that may scroll keeps its baseline
function measureFormulas() {
  for (const box of document.querySelectorAll("mjx-container")) {
    const svg = box.querySelector("svg"), full = box.getAttribute("width") === "full";  // a tag at the margin
    if (!svg) continue;
    const width = parseFloat(full ? getComputedStyle(svg).minWidth : getComputedStyle(svg).width);
    box.style.setProperty("--natural", `${width}px`);
    if (!box.hasAttribute("display") && width > 180) {
      box.style.verticalAlign = svg.style.verticalAlign;
      box.classList.add("wide");
    }
  }
}

// a table of words that is wider than the text: on a telephone a card for each row (notes.css)
function dealCards() {
  for (const table of document.querySelectorAll("main table:not(.cell_output table)")) {
    const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    table.classList.remove("cards");
    if (names.length < 3 || table.offsetWidth <= table.parentElement.clientWidth + 1) continue;
    for (const row of table.tBodies[0].rows)
      [...row.cells].forEach((cell, i) => {
        if (i && names[i]) cell.dataset.column = names[i];
        cell.classList.toggle("empty", !cell.textContent.trim() && !cell.querySelector("img, svg"));
      });
    table.classList.add("cards");
  }
}

// the section that is being read: the last heading above the upper third of the window
function follow() {
  const links = [...document.querySelectorAll("#pst-page-toc-nav a[href^='#']")].filter((link) => link.hash.length > 1);
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const mark = () => {
    const passed = headings.filter((section) => section && section.getBoundingClientRect().top < innerHeight / 3);
    const here = links[Math.max(0, headings.indexOf(passed.pop()))];
    for (const link of links) {
      link.classList.toggle("active", link === here);
      if (link === here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
    for (const entry of document.querySelectorAll("#pst-page-toc-nav .toc-entry"))
      entry.classList.toggle("active", entry.contains(here));
  };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(mark, 50); };  // after the theme's own guess
  if (links.length) addEventListener("scroll", soon, { passive: true });
}

addEventListener("DOMContentLoaded", follow);
addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(() => {
  measureFormulas();
  dealCards();
  matchMedia("(max-width: 600px)").addEventListener("change", dealCards);
}));
