import { assert, assertEquals } from "@std/assert";
import { isJsonObject, type JsonObject, type JsonSchema } from "../../src/core/json/json.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { toGoogleSchema } from "./schema.ts";

/** The keywords of Google's schema object. */
const KEYWORDS = [
  "type",
  "format",
  "description",
  "nullable",
  "enum",
  "items",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
  "pattern",
  "properties",
  "required",
  "anyOf",
];

/** Lists the parts of a schema that Google would refuse. */
function findProblems(schema: unknown, path = "$"): string[] {
  if (!isJsonObject(schema)) return [`${path} is not a schema`];
  const { type, items, properties, required, anyOf, enum: values } = schema;
  const problems = Object.keys(schema).filter((keyword) => !KEYWORDS.includes(keyword)).map(
    (keyword) => `${path} has ${keyword}`,
  );
  if ((type === undefined) === (anyOf === undefined)) {
    problems.push(`${path} needs either type or anyOf`);
  }
  if (anyOf !== undefined && Object.keys(schema).length > 1) {
    problems.push(`${path} specified other fields alongside any_of`);
  }
  if ((type === "ARRAY") !== (items !== undefined)) problems.push(`${path} and its items`);
  if (values !== undefined && type !== "STRING") problems.push(`${path} has a non-string enum`);
  const members = isJsonObject(properties) ? properties : {};
  for (const name of Array.isArray(required) ? required : []) {
    if (!Object.hasOwn(members, name)) problems.push(`${path} requires ${name}`);
  }
  const children: [string, unknown][] = [
    ...Object.entries(members),
    ...(items === undefined ? [] : [["items", items] as [string, unknown]]),
    ...(Array.isArray(anyOf) ? Object.entries(anyOf) : []),
  ];
  return [
    ...problems,
    ...children.flatMap(([name, child]) => findProblems(child, `${path}.${name}`)),
  ];
}

/** Converts an object schema with one property, and returns the schema of that property. */
function convertProperty(schema: unknown, definitions: JsonObject = {}): unknown {
  const root = { type: "object", properties: { p: schema }, $defs: definitions };
  const { properties } = toGoogleSchema(root);
  return isJsonObject(properties) ? properties["p"] : undefined;
}

Deno.test("toGoogleSchema(): keeps common keywords and drops those that Google does not support", () => {
  assertEquals(
    toGoogleSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "T",
      description: "A file.",
      properties: {
        path: { type: "string", minLength: 1, pattern: "^/", format: "uri", default: "/" },
        size: { type: "integer", minimum: 0, exclusiveMaximum: 9, format: "int64" },
        tags: { type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 9 },
        at: { type: "string", format: "date-time" },
      },
      required: ["path", "gone"],
      additionalProperties: false,
    }),
    {
      type: "OBJECT",
      description: "A file.",
      properties: {
        path: { type: "STRING", minLength: 1, pattern: "^/" },
        size: { type: "INTEGER", minimum: 0, format: "int64" },
        tags: { type: "ARRAY", items: { type: "STRING" }, maxItems: 9 },
        at: { type: "STRING", format: "date-time" },
      },
      required: ["path"],
    },
  );
});

Deno.test("toGoogleSchema(): marks a schema as nullable when null is among its types", () => {
  const nullable = { type: "STRING", nullable: true };
  assertEquals(convertProperty({ type: ["string", "null"] }), nullable);
  assertEquals(convertProperty({ anyOf: [{ type: "string" }, { type: "null" }] }), nullable);
  assertEquals(convertProperty({ oneOf: [{ type: "null" }, { type: "string" }] }), nullable);
});

Deno.test("toGoogleSchema(): converts several types, oneOf and prefixItems to anyOf", () => {
  const anyOf = [{ type: "STRING" }, { type: "NUMBER" }];
  assertEquals(convertProperty({ type: ["string", "number"] }), { anyOf });
  assertEquals(convertProperty({ oneOf: [{ type: "string" }, { type: "number" }] }), { anyOf });
  assertEquals(convertProperty({ prefixItems: [{ type: "string" }, { type: "number" }] }), {
    type: "ARRAY",
    items: { anyOf },
  });
});

Deno.test("toGoogleSchema(): describes each of several alternatives, and makes each nullable", () => {
  const described = (type: string, description: string) => ({ type, description, nullable: true });
  const alternatives = [
    { type: "string", description: "A name." },
    { type: ["integer", "boolean"] },
    { type: "null" },
  ];
  assertEquals(convertProperty({ anyOf: alternatives, description: "Whom." }), {
    anyOf: [
      described("STRING", "Whom. A name."),
      { anyOf: [described("INTEGER", "Whom."), described("BOOLEAN", "Whom.")] },
    ],
  });
  assertEquals(convertProperty({ type: ["string", "number", "null"] }), {
    anyOf: [{ type: "STRING", nullable: true }, { type: "NUMBER", nullable: true }],
  });
});

Deno.test("toGoogleSchema(): lists allowed strings, and describes other allowed values", () => {
  assertEquals(convertProperty({ enum: ["a", "b"] }), { type: "STRING", enum: ["a", "b"] });
  assertEquals(convertProperty({ const: "a" }), { type: "STRING", enum: ["a"] });
  assertEquals(convertProperty({ type: "integer", enum: [1, 2], description: "How many." }), {
    type: "INTEGER",
    description: "How many. One of: 1, 2.",
  });
});

Deno.test("toGoogleSchema(): resolves references and merges allOf", () => {
  const definitions = {
    named: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  };
  assertEquals(convertProperty({ $ref: "#/$defs/named", description: "Who." }, definitions), {
    type: "OBJECT",
    properties: { name: { type: "STRING" } },
    required: ["name"],
    description: "Who.",
  });
  assertEquals(
    convertProperty({
      allOf: [{ $ref: "#/$defs/named" }, { properties: { age: { type: "integer" } } }],
    }, definitions),
    {
      type: "OBJECT",
      properties: { name: { type: "STRING" }, age: { type: "INTEGER" } },
      required: ["name"],
    },
  );
});

Deno.test("toGoogleSchema(): resolves encoded references and those to one of several schemas", () => {
  const definitions = { "List<text>": { anyOf: [{ type: "integer" }, { type: "string" }] } };
  assertEquals(convertProperty({ $ref: "#/$defs/List%3Ctext%3E/anyOf/1" }, definitions), {
    type: "STRING",
  });
});

Deno.test("toGoogleSchema(): reduces a recursive schema to its type", () => {
  const definitions = {
    tree: {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#/$defs/tree" } } },
    },
    list: { type: "array", items: { $ref: "#/$defs/list" } },
    loop: { $ref: "#/$defs/loop" },
  };
  assertEquals(convertProperty({ $ref: "#/$defs/tree" }, definitions), {
    type: "OBJECT",
    properties: { kids: { type: "ARRAY", items: { type: "OBJECT" } } },
  });
  for (const name of Object.keys(definitions)) {
    assertEquals(findProblems(convertProperty({ $ref: `#/$defs/${name}` }, definitions)), [], name);
  }
});

Deno.test("toGoogleSchema(): omits a pattern that Google does not support", () => {
  for (const pattern of ["(?=a)b", "(?<!a)b", "(a)\\1", "(?<a>b)", "\\p{L}", "\\u00e9"]) {
    assertEquals(convertProperty({ type: "string", pattern }), { type: "STRING" });
  }
});

Deno.test("toGoogleSchema(): limits the size of the result when references multiply", () => {
  const definitions: Record<string, unknown> = {};
  for (let index = 0; index < 40; index++) {
    const next = { $ref: `#/$defs/d${index + 1}` };
    definitions[`d${index}`] = { type: "object", properties: { a: next, b: next } };
  }
  const converted = convertProperty({ $ref: "#/$defs/d0" }, definitions);
  assertEquals(findProblems(converted), []);
  assert(JSON.stringify(converted).length < 1_000_000);
});

Deno.test("toGoogleSchema(): gives a schema that Google accepts for any input", () => {
  const random = seededRandom(1);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const createChild = (depth: number): unknown =>
    depth === 0 ? pick([true, {}, null, 5]) : createSchema(depth - 1);
  const createSchema = (depth: number): JsonSchema => {
    const child = () => createChild(depth);
    const keywords: readonly (readonly [string, () => unknown])[] = [
      ["type", () => pick(["string", "object", "array", "null", "odd", ["string", "null"], 5])],
      ["properties", () => ({ a: child(), "b-c": child(), __proto__: child() })],
      ["required", () => pick([["a"], ["z"], "a", null])],
      ["items", () => pick([child(), [child()], false])],
      ["anyOf", () => pick([[child(), child()], [], null])],
      ["oneOf", () => [child()]],
      ["allOf", () => pick([[child(), child()], "odd"])],
      ["enum", () => pick([["a", 1, null], [], [""], "a"])],
      ["const", () => pick(["a", 1, null])],
      ["$ref", () => pick(["#", "#/properties/a", "#/$defs/none", "https://example.com", "#/%"])],
      ["pattern", () => pick(["^a$", "(?=a)", 5])],
      ["minimum", () => pick([1, "1"])],
      ["additionalProperties", child],
      ["not", child],
    ];
    const chosen = keywords.filter(() => random() < 0.2);
    return Object.fromEntries(chosen.map(([keyword, createValue]) => [keyword, createValue()]));
  };
  for (let round = 0; round < 2000; round++) {
    const schema = createSchema(3);
    assertEquals(findProblems(toGoogleSchema(schema)), [], JSON.stringify(schema));
  }
});

Deno.test("toGoogleSchema(): lists only strings that are not empty", () => {
  assertEquals(toGoogleSchema({ type: "string", enum: ["a", "", "b"] })["enum"], ["a", "b"]);
  assertEquals(toGoogleSchema({ type: "string", enum: [""] })["enum"], undefined);
});
