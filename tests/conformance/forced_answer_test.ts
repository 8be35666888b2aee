import { assertEquals } from "@std/assert";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { testAgent } from "./test_agent.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;
const answer = (args: Record<string, unknown>) => reply([toolCall("structured_output", args)]);

Deno.test("structuredOutput() forces the call after a text, where the provider enforces the schema", async () => {
  for (const isStrict of [true, false]) {
    const script = scriptedStream([
      reply("It is Bern"),
      answer({ city: 5 }),
      answer({ city: "Bern" }),
      reply("Hello"),
    ]);
    const streamFn = Object.assign(script, { hasStrictSchema: () => isStrict });
    const { agent } = testAgent([], { streamFn, tools: [fakeTool({ name: "look" })] });
    assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
    await agent.prompt("Hi");
    const forced = isStrict ? { name: "structured_output" } : undefined;
    assertEquals(
      script.calls.map(({ options }) => options.toolChoice),
      [undefined, forced, forced, undefined],
    );
    assertEquals(script.calls[1]?.context.tools.length, 2);
    script.assertDone();
  }
});

Deno.test("structuredOutput() asks again without forcing the call when the provider refuses that", async () => {
  const script = scriptedStream([
    reply("It is Bern"),
    fail("bad_request", "Thinking mode does not support this tool_choice"),
    answer({ city: "Bern" }),
  ]);
  const streamFn = Object.assign(script, { hasStrictSchema: () => true });
  const { agent } = testAgent([], { streamFn, tools: [fakeTool({ name: "look" })] });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    script.calls.map(({ options }) => options.toolChoice),
    [undefined, { name: "structured_output" }, undefined],
  );
  script.assertDone();
});

Deno.test("structuredOutput() offers only its own tool to a model that must call none", async () => {
  const { agent, streamFn } = testAgent([reply("It is Bern"), answer({ city: "Bern" })], {
    tools: [fakeTool({ name: "look" })],
  });
  const options = { toolChoice: "none" } as const;
  assertEquals(await agent.structuredOutput("Which city?", city, options), { city: "Bern" });
  for (const { context, options } of streamFn.calls) {
    assertEquals(context.tools.map(({ name }) => name), ["structured_output"]);
    assertEquals(options.toolChoice, "auto");
  }
});
