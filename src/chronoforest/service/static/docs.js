// Lists what /openapi.json describes; nothing is loaded from elsewhere.
const add = (parent, tag, text) => {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
};

const { paths, components } = await (await fetch("/openapi.json")).json();
const main = document.querySelector("main");
for (const [path, verbs] of Object.entries(paths)) {
  for (const [verb, about] of Object.entries(verbs)) {
    add(main, "h2", `${verb.toUpperCase()} ${path}`);
    add(main, "p", about.description ?? about.summary ?? "");
  }
}
for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
  add(main, "h3", name);
  add(main, "pre", JSON.stringify(schema, null, 2));
}
