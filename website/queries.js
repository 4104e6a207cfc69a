/* node queries.js SITE < JSON list of queries: for each, the three places that the site's search lists first.
   It runs Sphinx's own searchtools.js on the built index, as a browser would. */
const fs = require("fs"), path = require("path"), vm = require("vm");
const site = process.argv[2], read = (name) => fs.readFileSync(path.join(site, name), "utf8");
const context = vm.createContext({
  document: { addEventListener() {}, getElementById: () => null, createElement: () => ({}) },
  window: { addEventListener() {} }, DOCUMENTATION_OPTIONS: {}, SPHINX_HIGHLIGHT_ENABLED: false,
  _: (text) => text, _ready() {}, URLSearchParams, console,
});
context.window = Object.assign(context, context.window);
vm.runInContext(read("_static/language_data.js") + read("_static/searchtools.js").replace('"use strict";', "")
  + ";globalThis.Search = Search;", context);
vm.runInContext(read("searchindex.js"), context);
const answers = JSON.parse(fs.readFileSync(0, "utf8")).map((query) => {
  const results = context.Search._performSearch(...context.Search._parseQuery(query));
  return results.reverse().slice(0, 3).map(([page, title, end]) => page + end);
});
console.log(JSON.stringify(answers));
