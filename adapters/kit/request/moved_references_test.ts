import { assert, assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/core/json/json.ts";
import { toToolSchema } from "./tool_schema.ts";
import { toValidSchema } from "./valid_schema.ts";

const NUMBER = { type: "number" };
const TEXT = { type: "string" };

/** Returns the schemas of the properties of a tool in requests. */
function convertProperties(schema: JsonSchema): unknown {
  return toToolSchema(schema)["properties"];
}

Deno.test("toToolSchema(): references to the items of a tuple of draft 7 are inlined, since these are moved", () => {
  const point = { type: "array", items: [NUMBER, { $ref: "#/properties/point/items/0" }] };
  const rest = { type: "array", items: [TEXT], additionalItems: NUMBER };
  assertEquals(
    convertProperties({
      type: "object",
      properties: {
        point,
        x: { $ref: "#/properties/point/items/0", description: "A part." },
        rest,
        other: { $ref: "#/properties/rest/additionalItems" },
      },
    }),
    {
      point: { type: "array", prefixItems: [NUMBER, NUMBER], items: {} },
      x: { ...NUMBER, description: "A part." },
      rest: { type: "array", items: NUMBER, prefixItems: [TEXT] },
      other: NUMBER,
    },
  );
});

Deno.test("toToolSchema(): references to alternatives and parts of the root are inlined, since these are merged", () => {
  const position = { type: "object", properties: { x: NUMBER } };
  const first = { type: "object", properties: { from: position } };
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const second = {
      type: "object",
      properties: { to: { $ref: `#/${keyword}/0/properties/from` } },
    };
    assertEquals(convertProperties({ [keyword]: [first, second] }), {
      from: position,
      to: position,
    });
  }
});

Deno.test("toToolSchema(): keeps the references that still lead to a schema, and those that never did", () => {
  const properties = {
    kept: { $ref: "#/$defs/a" },
    root: { $ref: "#" },
    missing: { $ref: "#/$defs/b" },
    remote: { $ref: "https://a.example/b.json" },
  };
  assertEquals(convertProperties({ type: "object", properties, $defs: { a: TEXT } }), properties);
});

Deno.test("toToolSchema(): a moved reference within its own target accepts any value of its type", () => {
  const node = {
    type: "object",
    properties: { next: { $ref: "#/properties/pair/items/0" }, at: NUMBER },
  };
  const inlined = {
    type: "object",
    properties: { next: { type: "object" }, at: NUMBER },
  };
  assertEquals(
    convertProperties({ type: "object", properties: { pair: { type: "array", items: [node] } } }),
    {
      pair: {
        type: "array",
        prefixItems: [{ ...node, properties: { next: inlined, at: NUMBER } }],
        items: {},
      },
    },
  );
});

Deno.test("toValidSchema(): inlines a limited number of moved references", () => {
  const level = (depth: number) => ({ $ref: `#/properties/p/items/${depth}` });
  const items = Array.from({ length: 30 }, (_, depth) => ({
    type: "object",
    properties: { a: level(depth + 1), b: level(depth + 1) },
  }));
  const schema = toValidSchema({ type: "object", properties: { p: { type: "array", items } } });
  assert(JSON.stringify(schema).length < 200_000);
});
