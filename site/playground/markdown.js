// The little Markdown that notes are written in, as elements: paragraphs, lists, code and bold words. Text stays text.

function inline(parent, text) {
  for (const [, code, bold, plain] of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|((?:(?!`[^`]+`|\*\*[^*]+\*\*)[\s\S])+)/g)) {
    if (plain !== undefined) {
      parent.append(plain);
      continue;
    }
    const part = document.createElement(code === undefined ? "strong" : "code");
    part.textContent = code ?? bold;
    parent.append(part);
  }
}

export function markdown(text) {
  const dom = document.createElement("div");
  let list;
  for (const line of text.split("\n")) {
    const entry = line.match(/^\s*[-*] (.*)/)?.[1];
    if (entry === undefined) list = undefined;
    if (line.trim() === "") continue;
    if (entry !== undefined && list === undefined) dom.append((list = document.createElement("ul")));
    const part = document.createElement(entry === undefined ? "p" : "li");
    inline(part, (entry ?? line).replace(/^#+ /, ""));
    (list ?? dom).append(part);
  }
  return dom;
}
