import { assertEquals, assertNotEquals } from "@std/assert";
import { seededRandom } from "../../testing/seeded_random.ts";
import { toCanonicalText } from "./canonical_text.ts";

Deno.test("toCanonicalText(): orders the properties of nested objects", () => {
  const value = { b: [{ d: 1, c: "x" }], a: null, 10: true, 2: false };
  assertEquals(toCanonicalText(value), '{"2":false,"10":true,"a":null,"b":[{"c":"x","d":1}]}');
});

Deno.test("toCanonicalText(): keeps a property named __proto__", () => {
  const value = JSON.parse('{"__proto__":{"b":1,"a":2},"a":1}');
  assertEquals(toCanonicalText(value), '{"__proto__":{"a":2,"b":1},"a":1}');
  assertNotEquals(toCanonicalText(value), toCanonicalText({ a: 1 }));
});

Deno.test("toCanonicalText(): converts values as JSON does", () => {
  const toJSON = () => ({ b: 1, a: new Date(0) });
  const value = {
    z: { toJSON },
    y: undefined,
    x: [undefined, NaN],
    w: { toJSON: () => undefined },
  };
  const text = '{"x":[null,null],"z":{"a":"1970-01-01T00:00:00.000Z","b":1}}';
  assertEquals(toCanonicalText(value), text);
  assertEquals(toCanonicalText(JSON.parse(text)), text);
});

/** Creates a JSON value, and the same one with its properties in another order. */
function createPair(random: () => number, depth = 0): [unknown, unknown] {
  const kind = Math.floor(random() * (depth < 4 ? 6 : 4));
  const pairs = Array.from({ length: 3 }, () => kind > 3 ? createPair(random, depth + 1) : []);
  const keys = ["b", "a", "__proto__"];
  const toObject = (side: 0 | 1) => {
    const entries = keys.map((key, index) => [key, pairs[index]?.[side]]);
    return Object.fromEntries(side === 0 ? entries : entries.reverse());
  };
  const scalar = [null, true, random(), String(random())][kind];
  if (kind === 4) return [pairs.map(([left]) => left), pairs.map(([, right]) => right)];
  return kind === 5 ? [toObject(0), toObject(1)] : [scalar, scalar];
}

Deno.test("toCanonicalText(): is equal for equal values, and has all of their content", () => {
  const random = seededRandom(1);
  for (let round = 0; round < 300; round++) {
    const [left, right] = createPair(random);
    assertEquals(toCanonicalText(left), toCanonicalText(right));
    assertEquals(JSON.parse(toCanonicalText(left)), left);
  }
});
