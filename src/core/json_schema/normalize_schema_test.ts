import { assert, assertEquals } from "@std/assert";
import { compileWithAjv } from "./ajv_validator.ts";
import type { IgnoredKeyword } from "./ignored_keyword.ts";
import type { JsonRecord } from "./json_object.ts";
import { normalizeSchema } from "./normalize_schema.ts";

async function getErrors(schema: JsonRecord, value: unknown): Promise<string[]> {
  const { validate } = await compileWithAjv(normalizeSchema(schema));
  return validate(value).map(({ path, message }) => `${path}: ${message}`);
}

async function getIgnored(schema: JsonRecord): Promise<readonly IgnoredKeyword[]> {
  const normalized = normalizeSchema(schema);
  return [...normalized.ignored, ...(await compileWithAjv(normalized)).ignored];
}

/** A schema, values that it accepts, and values that it rejects with their errors. */
type Case = readonly [
  schema: JsonRecord,
  valid: readonly unknown[],
  invalid: readonly (readonly [value: unknown, ...errors: string[]])[],
];

function testCases(name: string, cases: readonly Case[]): void {
  Deno.test(name, async () => {
    for (const [schema, valid, invalid] of cases) {
      assertEquals(await getIgnored(schema), []);
      for (const value of valid) assertEquals(await getErrors(schema, value), []);
      for (const [value, ...errors] of invalid) {
        assertEquals(await getErrors(schema, value), errors);
      }
    }
  });
}

testCases("keywords for values of any type", [
  [{ type: "integer" }, [1, 1.0, -3], [[1.5, ": must be integer"], ["1", ": must be integer"]]],
  [{ type: "number" }, [1e308], [[NaN, ": must be number"], [Infinity, ": must be number"]]],
  [{ type: "integer" }, [0], [[-Infinity, ": must be integer"]]],
  [{ type: ["string", "null"] }, ["", null], [[[], ": must be string or null"]]],
  [{ type: "object" }, [{}], [[[], ": must be object"], [null, ": must be object"]]],
  [{ type: "string", nullable: true }, ["", null], [[1, ": must be string or null"]]],
  [{ enum: [1, "a", { b: [1], c: 2 }] }, [1, "a", { c: 2, b: [1] }], [
    ["1", ': must be one of 1, "a", {"b":[1],"c":2}'],
  ]],
  [{ const: { a: null } }, [{ a: null }], [[{}, ': must be {"a":null}']]],
]);

testCases("keywords for numbers", [
  [{ minimum: 1, maximum: 3 }, [1, 3, "x"], [[0, ": must be >= 1"], [4, ": must be <= 3"]]],
  [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [[1, ": must be > 1"], [3, ": must be < 3"]]],
  [{ multipleOf: 0.1 }, [1.1, 0, 19.9, -0.3], [[1.15, ": must be multiple of 0.1"]]],
]);

testCases("keywords for strings count characters, not code units", [
  [{ minLength: 2, maxLength: 3 }, ["ab", "😀😀", "😀😀😀", 5], [
    ["😀", ": must NOT have fewer than 2 characters"],
    ["abcd", ": must NOT have more than 3 characters"],
  ]],
  [{ maxLength: 1 }, ["😀"], [["ab", ": must NOT have more than 1 characters"]]],
  [{ pattern: "^\\p{L}+$" }, ["été"], [["a1", ': must match pattern "^\\p{L}+$"']]],
]);

testCases("keywords for arrays", [
  [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1], []], [
    [[1, "a"], "/0: must be string", "/1: must be number"],
  ]],
  [{ prefixItems: [true], items: false }, [[1]], [
    [[1, 2], ": must NOT have more than 1 items"],
  ]],
  [{ minItems: 1, maxItems: 2 }, [[1]], [
    [[], ": must NOT have fewer than 1 items"],
    [[1, 2, 3], ": must NOT have more than 2 items"],
  ]],
  [{ uniqueItems: true }, [[1, "1", true, { a: 1, b: 2 }]], [
    [[{ a: 1, b: 2 }, 3, { b: 2, a: 1 }], ": must NOT have duplicate items"],
  ]],
  [{ contains: { type: "string" }, maxContains: 1 }, [["a", 1]], [
    [[1], "/0: must be string", ": must contain at least 1 and no more than 1 valid item(s)"],
    [["a", "b"], ": must contain at least 1 and no more than 1 valid item(s)"],
  ]],
  [{ contains: { const: 1 }, minContains: 0 }, [[]], []],
  [{ allOf: [{ prefixItems: [true] }], unevaluatedItems: false }, [[1]], [
    [[1, 2], ": must NOT have more than 1 items"],
  ]],
]);

testCases("keywords for objects", [
  [{ required: ["a"], properties: { a: { type: "string" } } }, [{ a: "" }, []], [
    [{}, "/a: is required"],
    [{ a: 1 }, "/a: must be string"],
  ]],
  [
    { properties: { a: true }, patternProperties: { "^x": true }, additionalProperties: false },
    [{ a: 1, x1: 1 }],
    [[{ b: 1 }, "/b: is not a known property"]],
  ],
  [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [[{ a: "" }, "/a: must be number"]]],
  [{ patternProperties: { "^x": { type: "number" } } }, [{ a: "" }], [
    [{ x: "" }, "/x: must be number"],
  ]],
  [{ propertyNames: { maxLength: 1 } }, [{ a: 1 }], [
    [{ ab: 1 }, ": must NOT have more than 1 characters", ": property name must be valid"],
  ]],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [
    [{}, ": must NOT have fewer than 1 properties"],
    [{ a: 1, b: 1, c: 1 }, ": must NOT have more than 2 properties"],
  ]],
  [{ dependentRequired: { a: ["b"] } }, [{}, { a: 1, b: 1 }], [
    [{ a: 1 }, '/b: is required together with "a"'],
  ]],
  [{ dependentSchemas: { a: { required: ["b"] } } }, [{}], [[{ a: 1 }, "/b: is required"]]],
  [
    { anyOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    [{ a: 1 }],
    [[{ b: 1 }, "/b: is not a known property"]],
  ],
]);

testCases("keywords that combine schemas", [
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [[0, ": must be >= 1"]]],
  [{ anyOf: [{ type: "string" }, { minimum: 1 }] }, ["", 1], [
    [0, ": must be string", ": must be >= 1", ": must match a schema in anyOf"],
  ]],
  [{ oneOf: [{ type: "number" }, { minimum: 1 }] }, [0, "x"], [
    [1, ": must match exactly one schema in oneOf"],
  ]],
  [{ oneOf: [{ type: "number" }] }, [0], [
    ["", ": must be number", ": must match exactly one schema in oneOf"],
  ]],
  [{ not: { type: "string" } }, [1], [["", ": must NOT be valid"]]],
  [
    { if: { type: "string" }, then: { minLength: 1 }, else: { minimum: 1 } },
    ["a", 1],
    [
      ["", ": must NOT have fewer than 1 characters", ': must match "then" schema'],
      [0, ": must be >= 1", ': must match "else" schema'],
    ],
  ],
]);

testCases("references", [
  // Recursive objects, as Zod writes them.
  [{ type: "object", properties: { list: { type: "array", items: { $ref: "#" } } } }, [
    { list: [{ list: [] }] },
  ], [[{ list: [{ list: 5 }] }, "/list/0/list: must be array"]]],
  // As TypeBox writes them.
  [{ items: { $id: "T0", properties: { list: { items: { $ref: "T0" } } }, required: ["list"] } }, [
    [{ list: [] }],
  ], [[[{ list: [{}] }], "/0/list/0/list: is required"]]],
  [{ $ref: "#/definitions/a~1b", definitions: { "a/b": { type: "string" } } }, [""], [
    [1, ": must be string"],
  ]],
  [{ $ref: "#/$defs/a%20b", $defs: { "a b": { type: "string" } } }, [""], [
    [1, ": must be string"],
  ]],
  // Escapes of `a/b`, `a~b` and `a~1`.
  [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "string" } } }, [""], [
    [1, ": must be string"],
  ]],
  [{ $ref: "#/$defs/a~0b", $defs: { "a~b": { type: "string" } } }, [""], [
    [1, ": must be string"],
  ]],
  [{ $ref: "#/$defs/a~01", $defs: { "a~1": { type: "string" } } }, [""], [
    [1, ": must be string"],
  ]],
  [{ $ref: "#word", $defs: { a: { $anchor: "word", type: "string" } } }, [""], [
    [1, ": must be string"],
  ]],
  [{ $ref: "#/unknown/0", unknown: [{ type: "string" }] }, [""], [[1, ": must be string"]]],
]);

testCases("keywords of older drafts", [
  // Draft 7.
  [{ items: [{ type: "string" }], additionalItems: { type: "number" } }, [["a", 1], []], [
    [[1], "/0: must be string"],
    [["a", "b"], "/1: must be number"],
  ]],
  [{ items: [{ type: "string" }], additionalItems: false }, [["a"]], [
    [["a", 1], ": must NOT have more than 1 items"],
  ]],
  [{ dependencies: { a: ["b"], c: { minProperties: 2 } } }, [{ a: 1, b: 1 }], [
    [{ a: 1 }, '/b: is required together with "a"'],
    [{ c: 1 }, ": must NOT have fewer than 2 properties"],
  ]],
  // The keyword of the current draft takes precedence.
  [{ dependencies: { a: ["b"] }, dependentRequired: { a: ["c"] } }, [{ a: 1, c: 1 }], [
    [{ a: 1 }, '/c: is required together with "a"'],
  ]],
  [
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#/definitions/a",
      maxLength: 0,
      definitions: { a: {} },
    },
    ["a"],
    [],
  ],
  // Draft 4.
  [{ minimum: 1, exclusiveMinimum: true }, [2], [[1, ": must be > 1"]]],
  [{ maximum: 1, exclusiveMaximum: true }, [0], [[1, ": must be < 1"]]],
  [
    {
      $schema: "http://json-schema.org/draft-04/schema#",
      id: "http://x/a",
      properties: { b: { $ref: "http://x/a" }, c: { type: "null" } },
    },
    [{ b: {} }],
    [
      [{ b: { c: 1 } }, "/b/c: must be null"],
    ],
  ],
  // Patterns without the flag `u`.
  [{ pattern: "^[\\w-\\.]+$" }, ["a-b.c"], [[
    "a b",
    ': must match pattern "^[\\w-\\.]+$"',
  ]]],
]);

Deno.test("properties with the names of built-in ones are optional, and checked as others", async () => {
  const names = ["constructor", "toString", "hasOwnProperty", "__proto__"];
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  assertEquals(await getErrors({ properties, additionalProperties: false }, {}), []);
  assertEquals(await getErrors({ properties }, { toString: 1 }), ["/toString: must be string"]);
  assertEquals(await getErrors({ required: ["toString", "__proto__"] }, {}), [
    "/toString: is required",
    "/__proto__: is required",
  ]);
});

Deno.test("a keyword with an invalid value is ignored and reported, and the others apply", async () => {
  const cases: [JsonRecord, string, string][] = [
    [
      { type: "strnig" },
      "/type",
      'must be one of array, boolean, integer, null, number, object, string, not "strnig"',
    ],
    [{ enum: "a" }, "/enum", "must be a list"],
    [{ minimum: "1" }, "/minimum", "must be a number"],
    [{ multipleOf: 0 }, "/multipleOf", "must be a number above 0"],
    [{ minLength: -1 }, "/minLength", "must be a number of at least 0"],
    [{ pattern: 5 }, "/pattern", "must be a string"],
    [{ items: "string" }, "/items", "must be a schema, true or false"],
    [{ properties: { a: { properties: [] } } }, "/properties/a/properties", "must be an object"],
    [{ properties: { a: "string" } }, "/properties/a", "must be a schema, true or false"],
    // A habit of draft 3.
    [
      { properties: { a: { required: true } } },
      "/properties/a/required",
      "must be a list of property names",
    ],
    [
      { properties: { "a/b": { anyOf: {} } } },
      "/properties/a~1b/anyOf",
      "must be a list of schemas",
    ],
    [{ $ref: "#/$defs/missing" }, "/$ref", 'refers to "#/$defs/missing", which does not exist'],
    [
      { $ref: "#/$defs/constructor", $defs: {} },
      "/$ref",
      'refers to "#/$defs/constructor", which does not exist',
    ],
    [{ $ref: "#/%zz", "%zz": {} }, "/$ref", 'refers to "#/%zz", which does not exist'],
    [{ $async: true }, "/$async", "is not part of JSON Schema: remove it"],
  ];
  for (const [schema, path, message] of cases) {
    assertEquals(await getIgnored(schema), [{ path, problem: "invalid", message }]);
    assertEquals(await getErrors({ ...schema, allOf: [{ const: 1 }] }, 2), [": must be 1"]);
  }
});

Deno.test("a keyword that cannot be checked is ignored and reported, and accepts every value", async () => {
  const reference = { $ref: "https://example.com/schema.json" };
  assertEquals(await getIgnored({ properties: { a: reference } }), [{
    path: "/properties/a/$ref",
    problem: "unsupported",
    message: 'refers to another document: "https://example.com/schema.json"',
  }]);
  assertEquals(await getErrors(reference, 5), []);
  assertEquals((await getIgnored({ $ref: "http://[" })).map(({ problem }) => problem), [
    "unsupported",
  ]);
  const [ignored] = await getIgnored({ pattern: "(a)\\1" });
  assertEquals([ignored?.path, ignored?.problem], ["/pattern", "unsupported"]);
  assertEquals(await getErrors({ pattern: "(a)\\1" }, "b"), []);
});

Deno.test("a schema of a library within a JSON Schema is reported", async () => {
  const library = { "~standard": { version: 1, vendor: "acme" } };
  assertEquals(await getIgnored({ properties: { a: library } }), [{
    path: "/properties/a",
    problem: "invalid",
    message: "must be a JSON Schema, not the schema of a library",
  }]);
});

Deno.test("a schema that refers to itself without end rejects every value", async () => {
  const expected = [": is too complex to be validated"];
  assertEquals(await getErrors({ $ref: "#" }, 1), expected);
  const loop = {
    $ref: "#/$defs/a",
    $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } },
  };
  assertEquals(await getErrors(loop, 1), expected);
});

Deno.test("references that multiply the work are stopped", async () => {
  const $defs: Record<string, unknown> = { d40: { type: "string" } };
  for (let level = 0; level < 40; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [{ allOf: [next, next] }] };
  }
  assertEquals(await getErrors({ $ref: "#/$defs/d0", $defs }, 1), [
    ": is too complex to be validated",
  ]);
});

Deno.test("at most 100 errors are reported", async () => {
  const values = Array.from({ length: 1_000 }, (_, index) => index);
  assertEquals((await getErrors({ items: { type: "string" } }, values)).length, 100);
  assertEquals((await getErrors({ anyOf: [{ items: { type: "string" } }] }, values)).length, 100);
});

Deno.test("a value that is nested 200 levels deep is checked against a recursive schema", async () => {
  let value: unknown = { list: 5 };
  for (let level = 0; level < 99; level++) value = { list: [value] };
  const schema = { properties: { list: { type: "array", items: { anyOf: [{ $ref: "#" }] } } } };
  const errors = await getErrors(schema, value);
  assert(errors[0]?.endsWith("/list: must be array"), errors[0]);
});

Deno.test("defaults of a type that the schema accepts stay, others are removed and reported", async () => {
  const accepted: readonly JsonRecord[] = [
    { type: "integer", default: 2 },
    { type: ["string", "null"], default: null },
    { type: "string", nullable: true, default: null },
    { type: "array", default: [] },
    { type: "object", default: {} },
    { default: 1.5 },
  ];
  for (const schema of accepted) {
    assertEquals(await getIgnored(schema), []);
    assertEquals(normalizeSchema(schema).schema["default"], schema["default"]);
  }
  const refused: readonly (readonly [schema: JsonRecord, message: string])[] = [
    [{ type: "integer", default: 1.5 }, "must be integer"],
    [{ type: "string", default: null }, "must be string"],
    [{ type: "object", default: [] }, "must be object"],
    [{ type: "string", nullable: true, default: 5 }, "must be string or null"],
  ];
  for (const [schema, message] of refused) {
    assertEquals(await getIgnored(schema), [{ path: "/default", problem: "invalid", message }]);
    assertEquals("default" in normalizeSchema(schema).schema, false);
  }
});

testCases("values and keywords with members that are named like methods", [
  [{ const: { a: 1 } }, [{ a: 1 }], [
    [{ toString: 1 }, ': must be {"a":1}'],
    [{ valueOf: 1, a: 1 }, ': must be {"a":1}'],
  ]],
  [{ const: { toString: 1, b: [2] } }, [{ b: [2], toString: 1 }], [
    [{ toString: 2, b: [2] }, ': must be {"toString":1,"b":[2]}'],
  ]],
  [{ enum: ["a", null, [1], { valueOf: null }] }, ["a", null, [1], { valueOf: null }], [
    [{ constructor: 1 }, ': must be one of "a", null, [1], {"valueOf":null}'],
    ["[1]", ': must be one of "a", null, [1], {"valueOf":null}'],
  ]],
  [{ $defs: { toString: { type: "string" } }, properties: { a: { $ref: "#/$defs/toString" } } }, [{
    a: "",
  }], [
    [{ a: 1 }, "/a: must be string"],
  ]],
  [{ dependentRequired: { toString: ["b"] } }, [{ a: 1 }], [
    [{ toString: 1 }, '/b: is required together with "toString"'],
  ]],
]);
