/**
 * Grammars from schemas, in llama.cpp.
 */

import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { Agent, defineTool } from "../../mod.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import { createCallGrammar, createReplyGrammar } from "../../src/local/grammar/reply_grammar.ts";
import { CHANNEL_CALLS, findCallFormat, TAGGED_CALLS } from "../../src/local/prompt/call_format.ts";
import { createFixture, WEATHER } from "./local_fixture.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

/** Schemas whose values end soon, since a model with random weights writes texts and lists without end. */
const finite = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constant({ type: "boolean" }),
    fc.constant({ type: "null" }),
    fc.uniqueArray(fc.oneof(fc.string({ maxLength: 6 }), fc.integer()), {
      minLength: 1,
      maxLength: 3,
    })
      .map((values) => ({ enum: values })),
    fc.record({ type: fc.constant("string"), maxLength: fc.integer({ min: 1, max: 4 }) }),
    fc.array(tie("schema"), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    fc.record({
      type: fc.constant("array"),
      items: tie("schema"),
      minItems: fc.integer({ min: 0, max: 1 }),
      maxItems: fc.constant(2),
    }),
    fc.dictionary(
      fc.string({ maxLength: 5 }).filter((name) => name !== "__proto__"),
      tie("schema"),
      {
        maxKeys: 3,
      },
    )
      .chain((properties) =>
        fc.subarray(Object.keys(properties)).map((required) => ({
          type: "object",
          properties,
          required,
          additionalProperties: false,
        }))
      ),
  ),
})).schema;

const reference = fc.constantFrom("#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#a", "b", "#/%")
  .map(($ref) => ({ $ref }));

/** Schemas with any keywords, references and mistakes. */
const odd = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    reference,
    fc.record({
      type: fc.oneof(
        fc.constantFrom("object", "array", "string", "integer", "null", "file"),
        fc.array(fc.constantFrom("object", "string", "number", "boolean"), { maxLength: 3 }),
      ),
      enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
      const: fc.jsonValue({ maxDepth: 1 }),
      minLength: fc.integer({ min: -1, max: 400 }),
      maxLength: fc.integer({ min: -1, max: 400 }),
      minItems: fc.integer({ min: -1, max: 5 }),
      maxItems: fc.integer({ min: -1, max: 5 }),
      items: tie("schema"),
      anyOf: fc.array(tie("schema"), { maxLength: 3 }),
      oneOf: fc.array(tie("schema"), { maxLength: 2 }),
      allOf: fc.array(tie("schema"), { maxLength: 2 }),
      properties: fc.dictionary(fc.string({ unit: "binary", maxLength: 4 }), tie("schema"), {
        maxKeys: 3,
      }),
      required: fc.array(fc.string({ maxLength: 2 }), { maxLength: 3 }),
      additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
      pattern: fc.string(),
    }, { requiredKeys: [] }),
    fc.boolean(),
  ),
})).schema;

Deno.test({ name: "grammar: a reply of any model is valid by its schema", ignore }, async () => {
  await using fixture = await createFixture();
  let finished = 0;
  await fc.assert(
    fc.asyncProperty(finite, fc.constantFrom("!hello", "!loop", "!x"), async (schema, text) => {
      const reply = await fixture.ask(text, { responseSchema: schema, maxTokens: 300 });
      // Bytes that are no UTF-8 are one character for llama.cpp, and several here.
      if (reply.stopReason !== "stop" || reply.text.includes("\ufffd")) return;
      finished++;
      const isValid = new Ajv2020({ strict: false }).compile(schema);
      assert(isValid(JSON.parse(reply.text)), `${reply.text} ${JSON.stringify(schema)}`);
    }),
    { numRuns: 40, seed: 5 },
  );
  assert(finished > 15, `${finished} replies were finished`);
});

Deno.test(
  { name: "structuredOutput(): an agent with tools gets a call by grammar after a text", ignore },
  async () => {
    await using fixture = await createFixture();
    const weather = defineTool({ ...WEATHER, execute: () => Promise.resolve("Sunny") });
    const agent = new Agent({
      model: "local/tiny",
      streamFn: fixture.streamFn,
      tools: [weather],
      streamOptions: { temperature: 0, maxTokens: 200 },
    });
    const { value, messages } = await agent.structuredOutput("!hello", {
      type: "object",
      properties: { city: { enum: ["Oslo", "Bern"] } },
      required: ["city"],
      additionalProperties: false,
    }, { full: true });
    assert(value.city === "Oslo" || value.city === "Bern");
    assertEquals(messages.filter(({ role }) => role === "assistant").length, 2);
  },
);

Deno.test({ name: "grammar: llama.cpp accepts the grammars of all schemas", ignore }, async () => {
  assert(llama);
  const instance = await llama.getLlama({ gpu: false, build: "never", logLevel: "disabled" });
  const accepts = async (grammar: string) =>
    await instance.createGrammar({ grammar }).then(() => true, () => false);
  await fc.assert(
    fc.asyncProperty(finite, async (schema) => {
      const options = { schema, tools: [], format: TAGGED_CALLS, mayThink: true };
      assert(await accepts(createReplyGrammar(options)), createReplyGrammar(options));
    }),
    { numRuns: 60, seed: 1 },
  );
  await fc.assert(
    fc.asyncProperty(odd, odd, odd, async (schema, a, b) => {
      const root = { ...(isJsonObject(schema) ? schema : {}), $defs: { a, b } };
      const tools = [{ name: "f", description: "", parameters: root }];
      const options = { schema: root, tools, format: TAGGED_CALLS, mayThink: true };
      assert(await accepts(createReplyGrammar(options)), createReplyGrammar(options));
    }),
    { numRuns: 300, seed: 1 },
  );
  const parameters = {
    type: "object",
    properties: {
      'a "quoted" \\ name\n': { type: ["string", "null"] },
      list: { type: "array", items: { $ref: "#/$defs/node" }, minItems: 2, maxItems: 5 },
      ...Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [`m${index}`, { type: "number" }]),
      ),
    },
    required: ["list"],
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  };
  const tools = [{ name: "f", description: "", parameters }, {
    name: "g",
    description: "",
    parameters: {},
  }];
  const formats = ["[TOOL_CALLS]", "[TOOL_CALLS][ARGS]"].map(findCallFormat);
  for (const format of [TAGGED_CALLS, ...formats, CHANNEL_CALLS]) {
    assertEquals(await accepts(createCallGrammar(tools, format)), true);
    for (const schema of [undefined, { type: "integer" }]) {
      const grammar = createReplyGrammar({ schema, tools, format, mayThink: schema !== undefined });
      assertEquals(await accepts(grammar), true, grammar);
    }
  }
  await instance.dispose();
});
