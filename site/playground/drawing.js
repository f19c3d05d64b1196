// The drawing of a topology in the page: its style is the page's, and each node can be pressed.

let sheet;

/** The style of drawings, with the page's choice of light and dark instead of the system's. */
function style(text) {
  if (sheet !== undefined) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(text.replace(/@media \(prefers-color-scheme: dark\) \{ (\.topology \{[^}]*\}) \}/, ".dark $1"));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** What is drawn where. */
const drawn = new WeakMap();

/** Draws the topology in `parent`: what the variant has, what it lacks, and all alike where there is none. */
export function draw(parent, text, presence, explain) {
  // A drawing that is there stays, with what is focused in it.
  if (drawn.get(parent) !== text) {
    parent.replaceChildren(drawing(text));
    drawn.set(parent, text);
  }
  for (const part of parent.querySelectorAll("[data-id]")) {
    const isPresent = presence?.[part.dataset.id];
    const state = isPresent === undefined ? "plain" : isPresent ? "present" : "absent";
    part.classList.remove("plain", "present", "absent");
    part.classList.add(state);
    if (part.matches(".node")) part.setAttribute("aria-description", state === "plain" ? "" : state);
  }
  const pressed = (event) => event.target.closest?.(".node[data-id]")?.dataset.id;
  parent.onclick = (event) => pressed(event) && explain(pressed(event));
  parent.onkeydown = (event) => {
    if (!["Enter", " "].includes(event.key) || !pressed(event)) return;
    event.preventDefault();
    explain(pressed(event));
  };
}

function drawing(text) {
  // Its style is taken out as text, since the policy of the page forbids elements of style.
  const [element = "", own = ""] = text.match(/<style>([\s\S]*?)<\/style>/) ?? [];
  style(own);
  const { documentElement: svg } = new DOMParser().parseFromString(text.replace(element, ""), "image/svg+xml");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "Topology: press a node to see why it is present or absent");
  for (const node of svg.querySelectorAll(".node[data-id]")) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "0");
  }
  return document.importNode(svg, true);
}
