import { assertEquals, assertRejects } from "@std/assert";
import {
  AbortedError,
  BadRequestError,
  StructuredOutputFailedError,
} from "../../src/core/errors/errors.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../src/testing/scripted_stream.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
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

/** Returns the model, whether a schema was sent, and the tools of each request. */
function outlineRequests({ calls }: ScriptedStream): unknown[] {
  return calls.map(({ model, options, context }) => [
    model.provider,
    options.responseSchema !== undefined,
    context.tools.map(({ name }) => name),
  ]);
}

/** Creates a stream function whose model `strict/m` alone enforces schemas. */
function createStrictStream(steps: readonly ScriptedStep[]) {
  const hasStrictSchema = ({ provider }: ModelSpec) => provider === "strict";
  return Object.assign(scriptedStream(steps), { hasStrictSchema });
}

Deno.test("structuredOutput() still calls its tool when an agent with tools changes to a model that enforces schemas", async () => {
  const streamFn = createStrictStream([reply([toolCall("look")]), answer({ city: "Bern" })]);
  const { agent } = testAgent([], { streamFn, tools: [fakeTool({ name: "look" })] });
  atFirst(agent, "turn_end", () => agent.setModel("strict/m"));
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(outlineRequests(streamFn), [
    ["test", false, ["look", "structured_output"]],
    ["strict", false, ["look", "structured_output"]],
  ]);
});

Deno.test("structuredOutput() calls its tool when a fallback model does not enforce schemas", async () => {
  const reset = fail("network_error", "Reset");
  const text = reply('{"city":"Bern"}');
  for (const [provider, isNative] of [["loose", false], ["strict", true]] as const) {
    const streamFn = createStrictStream([reset, isNative ? text : answer({ city: "Bern" })]);
    const fallback = [{ model: modelSpec(`${provider}/other`) }];
    const { agent } = testAgent([], { model: "strict/m", streamFn, retry: () => null, fallback });
    assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
    const tools = isNative ? [] : ["structured_output"];
    const requests = ["strict", provider].map((name) => [name, isNative, tools]);
    assertEquals(outlineRequests(streamFn), requests);
  }
  // The stream function of the fallback decides about its model.
  const own = Object.assign(scriptedStream([text]), { hasStrictSchema: () => true });
  const { agent } = testAgent([], {
    model: "strict/m",
    streamFn: createStrictStream([reset]),
    retry: () => null,
    fallback: [{ model: modelSpec("loose/m"), streamFn: own }],
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(outlineRequests(own), [["loose", true, []]]);
});

Deno.test("structuredOutput() calls its tool when the model changes to one that does not enforce schemas", async () => {
  const streamFn = createStrictStream([
    reply("Bern"),
    reply("Bern"),
    answer({ city: "Bern" }),
  ]);
  const { agent } = testAgent([], { model: "strict/m", streamFn });
  atFirst(agent, "turn_end", () => agent.setModel("loose/m"));
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(outlineRequests(streamFn), [
    ["strict", true, []],
    ["loose", false, ["structured_output"]],
    ["loose", false, ["structured_output"]],
  ]);
});

Deno.test("structuredOutput() keeps its tool in requests whose tools a preRequest policy replaces", async () => {
  const streamFn = Object.assign(scriptedStream([reply("Bern"), answer({ city: "Bern" })]), {
    hasStrictSchema: () => true,
  });
  const { agent } = testAgent([], {
    streamFn,
    tools: [fakeTool({ name: "look" }), fakeTool({ name: "write" })],
    policies: [{
      name: "only look",
      preRequest: ({ tools }) => ({
        type: "change",
        tools: tools.filter(({ name }) => name === "look"),
      }),
    }],
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    streamFn.calls.map(({ context, options }) => [
      context.tools.map(({ name }) => name),
      options.toolChoice,
    ]),
    [
      [["look", "structured_output"], undefined],
      [["look", "structured_output"], { name: "structured_output" }],
    ],
  );
});

Deno.test("structuredOutput(): a call that steering cancels is no attempt at an answer", async () => {
  const { agent, streamFn } = testAgent([answer({ city: "Bern" }), answer({ city: "Basel" })]);
  atFirst(agent, "message_update", () => agent.steer("The largest one"));
  const value = await agent.structuredOutput("Which city?", city, { maxRetries: 0 });
  assertEquals(value, { city: "Basel" });
  streamFn.assertDone();
});

Deno.test("structuredOutput(): abort() ends a run whose provider or validator never answers", async () => {
  const never = () => new Promise<never>(() => {});
  const streamFn = Object.assign(scriptedStream([]), { hasStrictSchema: never });
  for (const options of [{ streamFn }, { validator: never }]) {
    const { agent } = testAgent([], { ...scriptedPorts(new InstantClock()), ...options });
    const asked = agent.structuredOutput("Which city?", { ...city, minProperties: 1 });
    await settle();
    agent.abort("enough");
    const error = await assertRejects(() => asked, AbortedError);
    assertEquals([error.cause, agent.state.isRunning], ["enough", false]);
  }
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

Deno.test("structuredOutput() refuses a native answer with an integer whose last digits would be lost", async () => {
  const schema = { type: "object", properties: { id: { type: ["integer", "string"] } } } as const;
  const id = "1234567890123456789";
  const script = scriptedStream([reply(`{"id":${id}}`), reply(`{"id":"${id}"}`)]);
  const streamFn = Object.assign(script, { hasStrictSchema: () => true });
  const { agent } = testAgent([], { streamFn });
  assertEquals(await agent.structuredOutput("Which id?", schema), { id });
  script.assertDone();
});
