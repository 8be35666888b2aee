/**
 * Grammars from schemas, in llama.cpp.
 */

import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { createCallGrammar, createReplyGrammar } from "../../src/local/grammar/reply_grammar.ts";
import { findCallFormat, TAGGED_CALLS } from "../../src/local/prompt/call_format.ts";
import { createFixture } from "./local_fixture.ts";
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
  for (const format of [TAGGED_CALLS, findCallFormat("[TOOL_CALLS]")]) {
    assertEquals(await accepts(createCallGrammar(tools, format)), true);
    for (const schema of [undefined, { type: "integer" }]) {
      const grammar = createReplyGrammar({ schema, tools, format, mayThink: schema !== undefined });
      assertEquals(await accepts(grammar), true, grammar);
    }
  }
  await instance.dispose();
});
