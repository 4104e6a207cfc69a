// Settings of MathJax, which follows in the same file. A page is typeset in steps, what is on the screen first;
// MathJax.startup.promise is kept when all of it is.
window.MathJax = {
  ...window.MathJax,
  tex: { packages: { "[+]": ["ams", "newcommand", "boldsymbol"] }, tags: "ams" },
  chtml: { fontURL: new URL("mathfonts", document.currentScript.src).href, scale: 0.9 },
  startup: { pageReady: typesetPage },
};

async function typesetPage() {
  const goal = landing(), steps = [[], [], []]; // on the screen, below it, above it
  for (const box of document.querySelectorAll(".math")) {
    const { top, bottom } = box.getBoundingClientRect();
    steps[top > innerHeight || !box.getClientRects().length ? 1 : bottom < 0 ? 2 : 0].push(box);
  }
  for (const boxes of steps)
    while (boxes.length) {
      const next = boxes.splice(0, 40);
      await MathJax.typesetPromise(next);
      next.forEach(measureFormulas);
      await new Promise((done) => setTimeout(done)); // the page is drawn, and follows its reader
      performance.mark("formulas"); // e2e/audit.py tells when the first were there
    }
  for (const face of document.fonts) { // those of closed solutions too, which a printer will not wait for
    const letter = face.family.match(/^MJXTEX-?(\w*)$/);
    if (letter && (!letter[1] || document.querySelector(`.TEX-${letter[1]}`))) face.load();
  }
  await document.fonts.ready;
  goal?.();
}

// what brings a reader back to where a link led, unless he has moved meanwhile
function landing() {
  const end = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!end || performance.getEntriesByType("navigation")[0]?.type !== "navigate") return null;
  let moved = false;
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(kind, () => { moved = true; }, { once: true, passive: true });
  end.scrollIntoView();
  return () => moved || end.scrollIntoView();
}

// natural widths, for the rules of notes.css; an inline formula that may scroll keeps its baseline
function measureFormulas(where) {
  for (const box of where.querySelectorAll("mjx-container")) {
    const tagged = box.getAttribute("width") === "full"; // a tag at the margin
    const width = tagged ? parseFloat(box.style.minWidth) * parseFloat(getComputedStyle(box).fontSize)
      : box.firstElementChild.offsetWidth;
    box.style.setProperty("--natural", `${width}px`);
    if (box.hasAttribute("display")) widths.observe(box.parentElement);
    else if (width > 180) {
      const foot = document.createElement("mjx-box"); // stands on the line
      box.append(foot);
      box.style.verticalAlign = `${foot.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom}px`;
      foot.remove();
      box.classList.add("wide");
      widths.observe(box);
    }
  }
}

// the edges at which more of a formula is hidden: notes.css lets it fade there
function fade(box) {
  const behind = box.scrollWidth - box.clientWidth - box.scrollLeft;
  box.classList.toggle("fades", box.scrollWidth > box.clientWidth + 1);
  box.style.setProperty("--before", `${Math.min(40, box.scrollLeft)}px`);
  box.style.setProperty("--behind", `${Math.min(40, Math.max(0, behind))}px`);
}
const widths = new ResizeObserver((boxes) => boxes.forEach(({ target }) => fade(target)));
addEventListener("scroll", ({ target }) => target.matches?.(".fades") && fade(target), true);
