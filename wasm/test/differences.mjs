// What differs, for people: `node differences.mjs`, beside the installed package and `cases.json`.

import { readFileSync } from "node:fs";
import * as cuvee from "cuvee";
import { same } from "./same.mjs";

const { held, wrong } = same(cuvee, JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8")));
for (const { name, question, choice, expected, found } of wrong) console.log(`${name} ${question} ${JSON.stringify(choice)}\n- ${expected}\n+ ${found}\n`);
console.log(`${wrong.length} of ${held} differ`);
