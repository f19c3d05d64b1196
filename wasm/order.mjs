// Names the functions of a module by the order in which they pack best: `node order.mjs MODULE`. What packs sees 32 KB at a time, so functions that are alike lie
// close to each other: behind a function comes the one that shares most with those before it. The module needs no names of its own.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** What is compared: so many bytes in a row. */
const LENGTH = 6;
/**
 * Ways to find an order, of which the best one is taken: which one that is differs from module to module by a thousandth. Bytes in more functions than `common` tell
 * nothing; each function counts by `fading` less than the one behind it; and short functions are not alike because they share a few bytes, so each has `least` more.
 */
const WAYS = [
    { common: 150, fading: 0.993, least: 20 },
    { common: 150, fading: 0.993, least: 50 },
];

/** Reads numbers and sections of a module. */
class Reader {
    constructor(bytes, at = 0) {
        Object.assign(this, { bytes, at });
    }

    number() {
        for (let value = 0, shift = 0; ; shift += 7) {
            const byte = this.bytes[this.at++];
            value += (byte & 127) * 2 ** shift;
            if (byte < 128) return value;
        }
    }

    skip(length) {
        this.at += length;
        return this.bytes.subarray(this.at - length, this.at);
    }
}

/** The sections of a module: the kind and the content of each. */
function* sections(bytes) {
    const reader = new Reader(bytes, 8);
    while (reader.at < bytes.length) {
        const [kind] = reader.skip(1);
        yield { kind, content: reader.skip(reader.number()) };
    }
}

/** How many functions a module imports: they are numbered first. */
function imported(content) {
    const reader = new Reader(content);
    let functions = 0;
    for (let left = reader.number(); left > 0; left--) {
        reader.skip(reader.number());
        reader.skip(reader.number());
        if (reader.skip(1)[0] !== 0) throw new Error("only functions are imported");
        reader.number();
        functions++;
    }
    return functions;
}

function bodies(content) {
    const reader = new Reader(content);
    return Array.from({ length: reader.number() }, () => reader.skip(reader.number()));
}

/** For each function, the rows of bytes that it shares with some others; each of them knows all functions that have it. */
function rows(functions, common) {
    const byText = new Map();
    functions.forEach((body, index) => {
        for (let at = 0; at + LENGTH <= body.length; at++) {
            let key = 0;
            for (let next = at; next < at + LENGTH; next++) key = key * 256 + body[next];
            const having = byText.get(key);
            if (having === undefined) byText.set(key, [index]);
            else if (having.at(-1) !== index && having.length <= common) having.push(index);
        }
    });
    const of = functions.map(() => []);
    for (const having of byText.values()) {
        if (having.length === 1 || having.length > common) continue;
        const row = { having, counted: 0 };
        having.forEach((index) => of[index].push(row));
    }
    return of;
}

/** The functions in an order in which they pack well. */
function ordered(functions, { common, fading, least }) {
    const of = rows(functions, common);
    const alike = new Float64Array(functions.length);
    const left = new Set(functions.keys());
    const order = [];
    for (let weight = 1, next = 0; left.size > 0; weight /= fading) {
        left.delete(next);
        order.push(next);
        for (const row of of[next]) {
            for (const index of row.having) alike[index] += weight - row.counted;
            row.counted = weight;
        }
        let most = -1;
        for (const index of left) {
            const share = alike[index] / (of[index].length + least);
            if (share > most) [most, next] = [share, index];
        }
        if (left.size > 0 && most < 0) throw new Error("there are too many functions for this way of counting");
    }
    return order;
}

/** The functions in the order in which they pack best. */
function packed(functions) {
    const orders = WAYS.map((way) => ordered(functions, way));
    const size = (order) => gzipSync(Buffer.concat(order.map((index) => functions[index])), { level: 9 }).length;
    const sizes = orders.map(size);
    return orders[sizes.indexOf(Math.min(...sizes))];
}

function number(value) {
    const bytes = [];
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    return [...bytes, value];
}

const text = (value) => [...number(value.length), ...Buffer.from(value)];
const sized = (bytes) => [...number(bytes.length), ...bytes];

/** The section that names functions by their places in an order. */
function named(order, first) {
    const places = new Map(order.map((index, place) => [index, String(place).padStart(6, "0")]));
    const entries = order.map((_, index) => [...number(first + index), ...text(places.get(index))]);
    return [0, ...sized([...text("name"), 1, ...sized([...number(order.length), ...entries.flat()])])];
}

const [module] = process.argv.slice(2);
const bytes = readFileSync(module);
const all = [...sections(bytes)];
const content = (wanted) => all.find(({ kind }) => kind === wanted)?.content ?? Uint8Array.of(0);
const order = packed(bodies(content(10)));
writeFileSync(module, Buffer.concat([bytes, Buffer.from(named(order, imported(content(2))))]));
