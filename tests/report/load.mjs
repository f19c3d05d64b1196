// The page's scripts without a page: they are plain scripts, so they are evaluated and what they declare is handed out.

import { readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`../../src/report/${name}`, import.meta.url), 'utf8');

export const { Solver, Choices, conditions, deployment, uncomputed } = new Function(
  `"use strict";${read('solver.js')}\n${read('choices.js')}\n${read('planning.js')}\nreturn { Solver, Choices, conditions, deployment, uncomputed };`,
)();

/** Random numbers that are the same in every run. */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return { below: (bound) => Math.floor(next() * bound), chance: (part) => next() < part };
}
