// Packs the built-in types: `node pack.mjs DIRECTORY` writes each file of `presets/profiles` there, as the module unpacks it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

const profiles = new URL("../presets/profiles/", import.meta.url);
for (const name of readdirSync(profiles).filter((name) => name.endsWith(".yaml"))) {
    writeFileSync(`${process.argv[2]}/${name}.deflate`, deflateRawSync(readFileSync(new URL(name, profiles)), { level: 9 }));
}
