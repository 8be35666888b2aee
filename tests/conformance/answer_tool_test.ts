import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError, StructuredOutputFailedError } from "../../src/core/errors.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;

/** A reply that answers with these values. */
const answer = (args: Record<string, unknown>): ScriptedStep =>
  reply([toolCall("structured_output", args)]);

Deno.test("structuredOutput() calls its tool when the support of schemas cannot be determined", async () => {
  const script = scriptedStream([answer({ city: "Bern" })]);
  const hasStrictSchema = () => {
    throw new Error("unknown model");
  };
  const { agent } = testAgent([], { streamFn: Object.assign(script, { hasStrictSchema }) });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
});

Deno.test("structuredOutput(): a failed call of another tool is no attempt at an answer", async () => {
  const { agent, streamFn } = testAgent([
    reply([toolCall("look")]),
    reply([toolCall("lok")]),
    answer({ city: "Bern" }),
  ], { tools: [fakeTool({ name: "look", result: new Error("Too dark") })] });
  const value = await agent.structuredOutput("Which city?", city, { maxRetries: 0 });
  assertEquals(value, { city: "Bern" });
  streamFn.assertDone();
});

Deno.test("structuredOutput(): a tool of the same name that the agent gets during the run does not receive the answer", async () => {
  const own = fakeTool({ name: "structured_output" });
  const steps = [{ n: "one" }, { n: 1 }].map(answer);
  const { agent, streamFn } = testAgent(steps);
  atFirst(agent, "turn_end", () => agent.setTools([own]));
  const schema = { type: "object", properties: { n: { type: "number" } } } as const;
  assertEquals(await agent.structuredOutput("Go", schema), { n: 1 });
  const sent = streamFn.calls.map(({ context }) => context.tools.length);
  assertEquals([sent, own.calls.length], [[1, 1], 0]);
});

Deno.test("structuredOutput() rejects without a request when maxRetries is not a number of at least 0", async () => {
  for (const [maxRetries, shown] of [[NaN, "NaN"], [-1, "-1"], ["2", '"2"']] as const) {
    const { agent, streamFn } = testAgent([]);
    await assertRejects(
      () => agent.structuredOutput("Which city?", city, { maxRetries: maxRetries as number }),
      BadRequestError,
      `maxRetries must be a number of at least 0, not ${shown}`,
    );
    assertEquals(streamFn.calls, []);
  }
});

Deno.test("structuredOutput() refuses a native answer with a number that is out of range", async () => {
  const streamFn = Object.assign(scriptedStream([reply('{"n":1e400}')]), {
    hasStrictSchema: () => true,
  });
  const { agent } = testAgent([], { streamFn });
  const asked = agent.structuredOutput("?", { type: "object" }, { maxRetries: 0 });
  const error = await assertRejects(() => asked, StructuredOutputFailedError);
  assertEquals(error.lastError, "The answer is not readable, since a number is out of range");
});
