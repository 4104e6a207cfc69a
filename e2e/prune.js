// Once a page has been typeset, the glyphs of its formulas go: what is measured is the box around them, and
// without them a page is laid out in a quarter of the time. Links and errors in formulas stay.
() => {
  for (const svg of document.querySelectorAll("main mjx-container > svg")) {
    const kept = svg.querySelectorAll("a, [data-mjx-error]");
    svg.replaceChildren(...kept);
    for (const one of kept) one.replaceChildren();
  }
  for (const math of document.querySelectorAll("main mjx-assistive-mml > math")) math.replaceChildren(math.textContent);
}
