import { assertEquals, assertThrows } from "@std/assert";
import type { JsonSchema } from "../json/json.ts";
import { fillDefaults } from "./defaults.ts";

Deno.test("fillDefaults() fills in missing properties at every level, and keeps the value unchanged", () => {
  const schema = {
    properties: {
      days: { type: "integer", default: 3 },
      options: { properties: { unit: { default: "c" } }, default: {} },
      places: { items: { $ref: "#/$defs/place" } },
    },
    additionalProperties: { properties: { extra: { default: true } } },
    $defs: { place: { allOf: [{ properties: { zoom: { default: 1 } } }] } },
  };
  const places = [{ name: "Bern" }, { zoom: 5 }, { name: "Chur" }];
  const value = { places, other: {} };
  const filled = {
    places: [{ name: "Bern", zoom: 1 }, { zoom: 5 }, { name: "Chur", zoom: 1 }],
    other: { extra: true },
    days: 3,
    options: { unit: "c" },
  };
  assertEquals(fillDefaults(schema, value), filled);
  assertEquals(value, {
    places: [{ name: "Bern" }, { zoom: 5 }, { name: "Chur" }],
    other: {},
  });
  assertEquals(fillDefaults(schema, filled) === filled, true);
});

Deno.test("fillDefaults() returns a new default each time, and one level of a default that contains itself", () => {
  const schema = { properties: { tags: { default: [] } } };
  const [first, second] = [fillDefaults(schema, {}), fillDefaults(schema, {})] as {
    tags: unknown[];
  }[];
  first?.tags.push("a");
  assertEquals(second, { tags: [] });
  const recursive = { properties: { child: { $ref: "#", default: {} } } };
  assertEquals(fillDefaults(recursive, {}), { child: {} });
});

Deno.test("fillDefaults() treats names of methods like any other name", () => {
  const place = { properties: { zoom: { default: 1 } } };
  assertEquals(fillDefaults({ additionalProperties: place }, { constructor: {} }), {
    constructor: { zoom: 1 },
  });
  assertEquals(fillDefaults({ properties: { toString: { default: "x" } } }, {}), {
    toString: "x",
  } as never);
});

Deno.test("fillDefaults() fills in the items of a tuple, and those after it", () => {
  const place = (zoom: number) => ({ properties: { zoom: { default: zoom } } });
  const schema = { prefixItems: [place(1), {}, place(3)], items: place(4) };
  assertEquals(fillDefaults(schema, [{}, {}, {}, {}, {}]), [
    { zoom: 1 },
    {},
    { zoom: 3 },
    { zoom: 4 },
    { zoom: 4 },
  ]);
});

Deno.test("fillDefaults() fills in the default of a schema that a property refers to", () => {
  const schema = {
    properties: {
      unit: { $ref: "#/$defs/unit" },
      place: { allOf: [{ type: "object" }, { $ref: "#/$defs/place" }] },
      own: { $ref: "#/$defs/unit", default: "f" },
      endless: { $ref: "#/$defs/endless" },
    },
    $defs: {
      unit: { enum: ["c", "f"], default: "c" },
      place: { properties: { zoom: { default: 1 } }, default: { name: "Bern" } },
      endless: { $ref: "#/$defs/endless" },
    },
  };
  const place = { name: "Bern", zoom: 1 };
  assertEquals(fillDefaults(schema, {}), { unit: "c", place, own: "f" });
});

/** Creates definitions that each refer twice to the next one. */
function createDoubledReferences(count: number): JsonSchema {
  const entries = Array.from({ length: count }, (_, index) => {
    const next = { $ref: `#/$defs/${index + 1}` };
    return [index, { allOf: [next, next] }];
  });
  return Object.fromEntries([...entries, [count, { type: "object" }]]);
}

Deno.test("fillDefaults() ends when references multiply the schemas of a value", () => {
  const doubled = { $ref: "#/$defs/0" };
  const $defs = createDoubledReferences(40);
  assertEquals(fillDefaults({ properties: { a: doubled }, $defs }, {}), {});
  const schema = { properties: { a: { ...doubled, default: {} } }, $defs };
  assertThrows(() => fillDefaults(schema, {}), RangeError, "the schema is too complex");
});

Deno.test("fillDefaults() fills in a default once at each level of a schema that refers to itself", () => {
  const names = Array.from({ length: 12 }, (_, index) => `child${index}`);
  const children = Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/node" }]));
  const node = { properties: { ...children, depth: { default: 1 } }, default: {} };
  const schema = { properties: { tree: { $ref: "#/$defs/node" } }, $defs: { node } };
  assertEquals(fillDefaults(schema, {}), { tree: { depth: 1 } });
  assertEquals(fillDefaults(schema, { tree: { depth: 2 } }), {
    tree: { depth: 2, ...Object.fromEntries(names.map((name) => [name, { depth: 1 }])) },
  });
});
