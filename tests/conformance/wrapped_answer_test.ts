import { assertEquals, assertStringIncludes } from "@std/assert";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

/** A reply that answers with these values. */
const answer = (value: readonly unknown[]): ScriptedStep =>
  reply([toolCall("structured_output", { value })]);

Deno.test("structuredOutput(): the errors of a library's schema in a wrapped answer have the path of the arguments", async () => {
  const cities = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) =>
        (value as string[]).includes("Atlantis")
          ? { issues: [{ message: "does not exist", path: [1] }] }
          : { value: value as string[] },
      jsonSchema: { input: () => ({ type: "array", items: { type: "string" } }) },
    },
  } as const;
  const { agent, streamFn } = testAgent([
    answer(["Bern", "Atlantis"]),
    answer(["Bern"]),
  ]);
  assertEquals(await agent.structuredOutput("Which cities?", cities), ["Bern"]);
  const feedback = outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1) ?? "";
  assertStringIncludes(feedback, "- /value/1: does not exist");
});

Deno.test("structuredOutput() keeps the definitions of a wrapped schema with an $id in it, which its references need", async () => {
  const schema = {
    $id: "https://example.com/words",
    type: "array",
    items: { $ref: "#/$defs/word" },
    $defs: { word: { type: "string" } },
  } as const;
  const { agent, streamFn } = testAgent([answer([1]), answer(["one"])]);
  const value: unknown = await agent.structuredOutput("Which words?", schema);
  assertEquals(value, ["one"]);
  const [tool] = streamFn.calls[0]?.context.tools ?? [];
  assertEquals(tool?.parameters["properties"], { value: schema });
});

Deno.test("structuredOutput(): references in a part of a wrapped schema that has an $id stay relative to that part", async () => {
  const node = {
    $id: "https://example.com/node",
    type: "object",
    properties: { next: { $ref: "#" } },
    additionalProperties: false,
  };
  const { agent } = testAgent([answer([{ next: { last: 1 } }]), answer([{ next: {} }])]);
  const value: unknown = await agent.structuredOutput("Which?", { type: "array", items: node });
  assertEquals(value, [{ next: {} }]);
});
