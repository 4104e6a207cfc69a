// Formulas, then each slide into its frame: smaller a little, else cut in two, else smaller still; then reveal.js.
const WIDTH = 1280, HEIGHT = 720, PADDING = 24, SMALL = 0.8, SMALLEST = 0.5;
const stage = document.querySelector(".slides");

const drawn = slide => [...slide.querySelectorAll("*")].filter(o => !o.closest("mjx-assistive-mml, svg"));

function room(slide) {
  const frame = slide.getBoundingClientRect(), boxes = drawn(slide).map(o => o.getBoundingClientRect());
  return boxes.every(o => frame.right + 1 >= o.right && frame.top + HEIGHT - PADDING >= o.bottom);
}

function shrink(slide, least) {
  for (let size = 1; size >= least - 1e-9 && !room(slide); size -= 0.05) slide.style.fontSize = `${size}em`;
  return room(slide);
}

// the last of the blocks that hold the text: paragraphs of a box, or rows of a table
function blocks(slide) {
  const holder = slide.querySelector("tbody") || slide.querySelector(".box") || slide;
  return [holder, [...holder.children].filter(o => !o.matches("h2, .label"))];
}

function cut(slide) {
  const next = slide.cloneNode(true), [from, parts] = blocks(slide), [to, copies] = blocks(next);
  if (parts.length < 2) return;
  const heading = next.querySelector("h2");
  if (!heading.textContent.endsWith("(continued)")) heading.append(" (continued)");
  slide.after(next);
  let kept = parts.length;
  while (kept > 1 && !room(slide)) parts[--kept].remove();
  copies.slice(0, kept).forEach(o => o.remove());
}

// a wide formula becomes as small as its line asks for, and the words beside it stay as they are
function narrow(formula) {
  const wide = formula.querySelector("svg").getBoundingClientRect().width;
  const line = formula.parentElement.getBoundingClientRect().width;
  if (wide > line) formula.style.fontSize = `${Math.floor(98 * line / wide)}%`;
}

function fit() {
  stage.classList.add("measuring");
  stage.querySelectorAll("mjx-container").forEach(narrow);
  for (let slide = stage.querySelector("section"); slide; slide = slide.nextElementSibling) {
    if (room(slide) || shrink(slide, SMALL)) continue;
    slide.style.fontSize = "";
    cut(slide);
    if (!room(slide)) shrink(slide, SMALLEST);
  }
  const all = [...stage.querySelectorAll("section")], bad = all.filter(o => !room(o));
  document.body.dataset.slides = all.length;
  document.body.dataset.clipped = bad.map(o => o.querySelector("h1, h2").textContent).join("; ");
  stage.classList.remove("measuring");
}

new Promise(loaded => addEventListener("load", loaded))
  .then(() => MathJax.startup.promise)
  .then(() => MathJax.typesetPromise())
  .then(fit)
  .then(() => Reveal.initialize({width: WIDTH, height: HEIGHT, margin: 0.02, center: false, hash: true,
                                 controls: false, slideNumber: "c/t", transition: "none"}));
