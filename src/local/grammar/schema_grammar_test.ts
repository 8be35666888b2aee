import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { TAGGED_CALLS } from "../prompt/call_format.ts";
import { createCallGrammar, createReplyGrammar } from "./reply_grammar.ts";

function createGrammar(schema: Record<string, unknown>): string {
  return createReplyGrammar({ schema, tools: [], format: TAGGED_CALLS, mayThink: false });
}

/** Returns the rules of a schema, without those that all grammars share. */
function getRules(schema: Record<string, unknown>): string[] {
  return createGrammar(schema).split("\n").filter((line) => /^(v\d+|root) /.test(line));
}

Deno.test("createReplyGrammar(): required members come first, and others may be missing", () => {
  const schema = {
    type: "object",
    properties: { b: { type: "string" }, a: { type: "integer" }, c: { type: "boolean" } },
    required: ["a"],
  };
  const text = createGrammar(schema);
  const object = getRules(schema).find((rule) => rule.startsWith("v0 "));
  assertEquals(
    object,
    String
      .raw`v0 ::= "{" space "\"a\"" space ":" space v1 ("," space "\"b\"" space ":" space v2)? ` +
      String.raw`("," space "\"c\"" space ":" space v3)? "}" space`,
  );
  assertStringIncludes(text, "\nroot ::= (v0)\n");
});

Deno.test("createReplyGrammar(): expresses values, alternatives, bounds and references", () => {
  const rules = (schema: Record<string, unknown>) => getRules(schema).join("\n");
  assertStringIncludes(
    rules({ enum: ["a", 1, null] }),
    String.raw`v0 ::= "\"a\"" space | "1" space`,
  );
  assertStringIncludes(rules({ const: 'x"y' }), String.raw`"\"x\\\"y\""`);
  assertStringIncludes(rules({ type: ["string", "null"] }), "v0 ::= string | null");
  assertStringIncludes(rules({ type: "string", maxLength: 5 }), "char{0,5}");
  assertStringIncludes(rules({ type: "array", items: { type: "number" }, minItems: 2 }), "{1,}");
  const tree = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  };
  // The rule of the reference is that of the definition, which refers to itself.
  assert(rules(tree).includes("v2 ::= v1") || rules(tree).includes("v1"));
});

Deno.test("createReplyGrammar(): requires members that are not declared", () => {
  const [, declared] = getRules({ properties: { a: {} }, required: ["a", "b"] });
  assertStringIncludes(
    String(declared),
    String.raw`"\"a\"" space ":" space v1 "," space "\"b\"" space ":" space value  "}"`,
  );
  const [rule] = getRules({ type: "object", required: ["x"] });
  assertEquals(
    rule,
    String
      .raw`v0 ::= "{" space "\"x\"" space ":" space value ("," space string ":" space value)* "}" space`,
  );
  const closed = { type: "object", required: ["x"], additionalProperties: false };
  assertStringIncludes(getRules(closed).join(), String.raw`"\"x\"" space ":" space value  "}"`);
});

Deno.test("createReplyGrammar(): alternatives have the type of the schema around them", () => {
  const rules = getRules({ type: "object", anyOf: [{ required: ["a"] }, { type: "null" }, false] });
  assertStringIncludes(rules.join("\n"), String.raw`v1 ::= "{" space "\"a\""`);
  assertStringIncludes(rules.join("\n"), "v0 ::= v1 | v2");
  assertEquals(getRules({ type: [] }), ["v0 ::= value", "root ::= (v0)"]);
});

Deno.test("createReplyGrammar(): follows references within the schema, and no others", () => {
  const find = ($ref: string) =>
    getRules({
      properties: { a: { $ref } },
      required: ["a"],
      $defs: { "a b/~": { type: "null" }, node: { $anchor: "node", type: "null" } },
    }).join("\n");
  assertStringIncludes(find("#/$defs/a%20b~1~0"), "v1 ::= v2\n");
  assertStringIncludes(find("#"), "v1 ::= v0\n");
  for (const $ref of ["#node", "#/$defs/none", "#/$defs/%", "other.json#/$defs/node", ""]) {
    assertStringIncludes(find($ref), "v1 ::= value\n");
  }
});

Deno.test("createReplyGrammar(): no rule begins with itself", () => {
  assertEquals(getRules({ $ref: "#" }), ["v0 ::= value", "root ::= (v0)"]);
  const anyOf = [{ $ref: "#" }, { type: "string" }];
  assertStringIncludes(getRules({ anyOf }).join("\n"), "v0 ::= value | v2\n");
  const late = {
    anyOf: [{ properties: { a: { $ref: "#/$defs/b" } } }, { $ref: "#/$defs/b" }],
    $defs: { b: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
  };
  const rules = getRules(late);
  for (const rule of rules) {
    const [name = "", ...firsts] = rule.split(/ ::= | \| /);
    for (const first of firsts) {
      const next = rules.find((other) => other.startsWith(`${first} `)) ?? "";
      assert(!next.split(/ ::= | \| /).slice(1).includes(name), `${rule}\n${next}`);
    }
  }
  // Each of the schemas can begin with both of the next ones.
  const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { anyOf: [next, { ...next }] }];
  }));
  const getThreadTime = startThreadTimer();
  getRules({ $ref: "#/$defs/d0", $defs });
  assert(getThreadTime() < 2_000);
});

Deno.test("createCallGrammar(): the arguments are an object in any case", () => {
  for (const parameters of [{}, { anyOf: [{ required: ["a"] }] }]) {
    const tool = { name: "f", description: "", parameters };
    const rules = createCallGrammar([tool], TAGGED_CALLS).split("\n");
    assert(!rules.some((rule) => /^v\d+ ::= .*\bvalue$/.test(rule)), rules.join("\n"));
  }
});

Deno.test("createReplyGrammar(): leaves out what would make a grammar too large", () => {
  const huge = { type: "string", maxLength: 1_000_000_000 };
  assertEquals(getRules(huge), ["v0 ::= string", "root ::= (v0)"]);
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`member${index}`, { enum: ["a".repeat(100)] }]),
    ),
  };
  assert(createGrammar(wide).length < 10_000);
  let deep: Record<string, unknown> = { type: "string" };
  for (let level = 0; level < 5_000; level++) deep = { type: "array", items: deep };
  assert(getRules(deep).length < 100);
  const cycle: Record<string, unknown> = { type: "array" };
  cycle.items = cycle;
  assertEquals(getRules(cycle).length, 2);
  for (const $ref of ["#", "#/a", "https://example.org/x", "#/__proto__/x"]) getRules({ $ref });
});

Deno.test("createCallGrammar(): has one rule for each tool, and the texts around a call", () => {
  const parameters = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const tools = [{ name: "f", description: "", parameters }, {
    name: "g",
    description: "",
    parameters,
  }];
  const grammar = createCallGrammar(tools, TAGGED_CALLS);
  assertStringIncludes(
    grammar,
    String.raw`call0 ::= "{\"name\": \"f\", \"arguments\": " v0 "}"`,
  );
  assertStringIncludes(grammar, "\ncall ::= call0 | call1\n");
  assertStringIncludes(grammar, '\ncontent ::= space call space "</tool_call>"\n');
  const options = { tools, format: TAGGED_CALLS, mayThink: false };
  const calls = '"<tool_call>" content (space "<tool_call>" content)*';
  assertStringIncludes(createReplyGrammar(options), `\nroot ::= (${calls})\n`);
  const schema = { type: "string" };
  const either = createReplyGrammar({ ...options, schema });
  assertStringIncludes(either, `\nroot ::= (v0 | ${calls})\n`);
});

Deno.test("createReplyGrammar(): does not list the parts of a schema that has very many", () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `m${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  const schemas: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ anyOf: names.map(() => ({})) }, "value"],
    [{ anyOf: names.map((name) => ({ const: name })) }, "value"],
    [{ enum: names, type: "string" }, "string"],
    [{ type: "object", properties }, "object"],
    [{ type: "object", properties, required: names }, "object"],
    [{ type: "object", required: names }, "object"],
  ];
  for (const [schema, rule] of schemas) {
    const rules = getRules({ type: "object", properties: { a: schema, b: { type: "null" } } });
    assertEquals(rules.find((line) => line.startsWith("v1 ")), `v1 ::= ${rule}`);
  }
});

Deno.test("createReplyGrammar(): accepts any value where alternatives multiply", () => {
  const createUnions = (levels: number) => {
    const $defs = Object.fromEntries(Array.from({ length: levels }, (_, level) => [
      `d${level}`,
      { anyOf: Array.from({ length: 10 }, () => ({ $ref: `#/$defs/d${level + 1}` })) },
    ]));
    return { $defs: { ...$defs, [`d${levels}`]: { type: "string" } }, $ref: "#/$defs/d0" };
  };
  assertEquals(createGrammar(createUnions(4)), createGrammar({}));
  const { $defs, ...reference } = createUnions(14);
  const tools = [{
    name: "f",
    description: "",
    parameters: { $defs, properties: { a: reference } },
  }];
  const simple = tools.map((tool) => ({ ...tool, parameters: { type: "object" } }));
  assertEquals(createCallGrammar(tools, TAGGED_CALLS), createCallGrammar(simple, TAGGED_CALLS));
  // A few levels of alternatives, and many alternatives, keep their grammar.
  assertNotEquals(createGrammar(createUnions(2)), createGrammar({}));
  assertEquals(createGrammar({ type: ["null", "null"] }), createGrammar({ type: "null" }));
  const wide = { anyOf: Array.from({ length: 400 }, (_, index) => ({ const: index })) };
  assertNotEquals(createGrammar(wide), createGrammar({}));
});
