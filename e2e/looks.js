// Before axe-core, which is slow: [themes, looks weighed on other pages] → the looks of this page that are new.
// A look is all that contrast depends on, in every theme: colours, what lies behind, size, weight, underline, the
// text around. window.looks keeps two texts of each new look, and what holds them; tokens of code and formulas
// that nobody will weigh become plain text.
([themes, weighed]) => {
  const shown = (el) => el.getClientRects().length && !el.closest("mjx-container")
    && [...el.childNodes].some((o) => o.nodeType === Node.TEXT_NODE && o.data.trim());
  const behind = (el, known) => {
    if (!el) return "";
    if (!known.has(el)) {
      const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(el);
      const own = [backgroundColor, backgroundImage, opacity, filter].join(), under = behind(el.parentElement, known);
      known.set(el, own === "rgba(0, 0, 0, 0),none,1,none" ? under : `${under} < ${own}`);
    }
    return known.get(el);
  };
  const ink = (el) => {
    const { color, fontSize, fontWeight, textDecorationLine, visibility } = getComputedStyle(el);
    return [el.tagName === "A", color, fontSize, fontWeight, textDecorationLine, visibility].join();
  };
  const texts = [...document.body.querySelectorAll("*")].filter(shown), looks = texts.map(() => "");
  for (const theme of themes) {
    Object.assign(document.documentElement.dataset, { theme, mode: theme });
    const known = new Map();
    texts.forEach((el, i) => { looks[i] += `${ink(el)} in ${ink(el.parentElement)} on ${behind(el, known)}; `; });
  }
  const old = new Set(weighed), times = {}, kept = window.looks = new Set();
  texts.forEach((el, i) => {
    if (old.has(looks[i]) || (times[looks[i]] = (times[looks[i]] ?? 0) + 1) > 2) return;
    for (let box = el; box && !kept.has(box); box = box.parentElement) kept.add(box);
  });
  const plain = (el) => !kept.has(el) && !el.querySelector("a") && el.replaceWith(...el.childNodes);
  document.querySelectorAll("main pre span").forEach(plain);
  for (const formula of document.querySelectorAll("main mjx-container"))
    if (!formula.querySelector("a")) formula.replaceWith(formula.textContent);
  return Object.keys(times);
}
