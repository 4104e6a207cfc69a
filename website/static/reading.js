// Wide tables become cards on a telephone; the contents column follows the reader.

// each cell with the head of its column, formulas as they are drawn; hidden but on cards
function nameCells(table, heads) {
  for (const row of table.tBodies[0].rows)
    [...row.cells].forEach((cell, i) => {
      cell.classList.toggle("empty", !cell.textContent.trim() && !cell.querySelector("img, svg"));
      if (!heads[i]?.textContent.trim() || !(i || heads[i].querySelector("mjx-container"))) return;
      const name = document.createElement("span");
      name.className = "column";
      name.append(...(heads[i].querySelector("p") ?? heads[i]).cloneNode(true).childNodes, ": ");
      cell.prepend(name);
    });
}

// a table that is wider than the text: on a telephone a card for each row (notes.css)
function dealCards() {
  for (const table of document.querySelectorAll("main table:not(.cell_output table)")) {
    const heads = [...table.querySelectorAll("thead th")];
    table.classList.remove("cards");
    if (heads.length < 2 || table.offsetWidth <= table.parentElement.clientWidth + 1) continue;
    if (!table.querySelector(".column")) nameCells(table, heads);
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
  dealCards();
  matchMedia("(max-width: 600px)").addEventListener("change", dealCards);
}));
