// What is on the page as the part of an address behind `#`, which is sent nowhere: what differs from an example, and what is chosen, deflated.

/** A longer address is cut by some programs, so a file is offered instead. */
export const LONGEST = 16 * 1024;
/** What an address may grow to when it is read. */
const LARGEST = 4 << 20;

async function through(stream, bytes, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error("the link holds more than the playground opens");
    }
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const toText = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

export async function toHash(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return `#p=${toText(await through(new CompressionStream("deflate-raw"), bytes))}`;
}

/** What an address holds; nothing where it holds nothing. */
export async function fromHash(hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  if (values.has("p")) {
    const bytes = await through(new DecompressionStream("deflate-raw"), toBytes(values.get("p")), LARGEST);
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  }
  return values.has("example") ? checked({ example: values.get("example") }) : undefined;
}

const isText = (value) => typeof value === "string";
const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A state of a form that the playground knows; others are no states. */
export function checked(state) {
  const { example, files = {}, removed = [], template, presets = [], inputs = {}, element } = isMap(state) ? state : {};
  const isRight =
    [example, template, element].every((value) => value === undefined || isText(value)) &&
    isMap(files) && Object.values(files).every(isText) &&
    [removed, presets].every((list) => Array.isArray(list) && list.every(isText)) && isMap(inputs);
  if (!isRight) throw new Error("the link is damaged");
  return { example, files, removed, template, presets, inputs, element };
}
