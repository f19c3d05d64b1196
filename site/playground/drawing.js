// The drawing of a topology in the page: its style is the page's, and each node can be pressed.

let sheet;

/** The style of drawings, with the page's choice of light and dark instead of the system's. */
function style(text) {
  if (sheet !== undefined) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(text.replace(/@media \(prefers-color-scheme: dark\) \{ (\.topology \{[^}]*\}) \}/, ".dark $1"));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** Draws the topology in `parent`: what the variant has, what it lacks, and all alike where there is none. */
export function draw(parent, text, presence, explain) {
  // Its style is taken out as text, since the policy of the page forbids elements of style.
  const [element = "", own = ""] = text.match(/<style>([\s\S]*?)<\/style>/) ?? [];
  style(own);
  const { documentElement: svg } = new DOMParser().parseFromString(text.replace(element, ""), "image/svg+xml");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "Topology: press a node to see why it is present or absent");
  for (const part of svg.querySelectorAll("[data-id].plain")) {
    const isPresent = presence?.[part.dataset.id];
    if (isPresent !== undefined) part.classList.replace("plain", isPresent ? "present" : "absent");
  }
  for (const node of svg.querySelectorAll(".node[data-id]")) {
    const { id } = node.dataset;
    const state = ["present", "absent"].find((it) => node.classList.contains(it));
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "0");
    node.setAttribute("aria-label", state ? `${id}, ${state}` : id);
  }
  parent.replaceChildren(document.importNode(svg, true));
  const pressed = (event) => event.target.closest?.(".node[data-id]")?.dataset.id;
  parent.onclick = (event) => pressed(event) && explain(pressed(event));
  parent.onkeydown = (event) => {
    if (!["Enter", " "].includes(event.key) || !pressed(event)) return;
    event.preventDefault();
    explain(pressed(event));
  };
}
