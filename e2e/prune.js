// Once a page has been typeset, the glyphs of its formulas go: what is measured is the box around them, and
// without them a page is laid out in a fraction of the time. Links and errors in formulas stay.
() => {
  const boxes = [...document.querySelectorAll("main mjx-container[style*='--natural']")];
  const ems = boxes.map((box) => parseFloat(box.style.getPropertyValue("--natural")) / parseFloat(getComputedStyle(box).fontSize));
  boxes.forEach((box, i) => {
    const math = box.querySelector("mjx-math"), kept = math.querySelectorAll("a, mjx-merror");
    if (box.getAttribute("width") !== "full") math.style.width = `${ems[i]}em`; // else a rule gives it
    math.replaceChildren(...kept);
    for (const one of kept) one.replaceChildren();
  });
  for (const math of document.querySelectorAll("main mjx-assistive-mml > math")) math.replaceChildren(math.textContent);
}
