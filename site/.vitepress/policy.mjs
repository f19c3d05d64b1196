// What a page may do: load and run what the site itself has, and the module of WebAssembly. VitePress writes a few short scripts into each page; they are named by
// their digests, so that no other can run.

import { createHash } from "node:crypto";

const scripts = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

export function secure(html) {
  const digests = [...html.matchAll(scripts)].map(([, text]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval' ${[...new Set(digests)].join(" ")}`,
    // Colours of code and columns of tables stand at their elements.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return html.replace("<head>", `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">`);
}
