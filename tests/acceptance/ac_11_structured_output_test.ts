import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { StructuredOutputFailedError } from "../../src/core/errors/errors.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;
const answer = (args: Record<string, unknown>) => reply([toolCall("structured_output", args)]);

Deno.test("structuredOutput() returns invalid answers to the model with their errors until one matches [AC-11, 6.11]", async () => {
  const { agent, streamFn } = testAgent([
    answer({}),
    answer({ city: 5 }),
    answer({ city: "Bern" }),
  ]);
  const value = await agent.structuredOutput("Which city?", schema);
  const city: string = value.city;
  assertEquals(city, "Bern");
  streamFn.assertDone();
  assertStringIncludes(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1) ?? "",
    "/city",
  );
  assertEquals(agent.state.tools, []);
});

Deno.test("structuredOutput() rejects after 1 + maxRetries attempts with their number and the last error [AC-11, 6.11, 4.16, A72]", async () => {
  for (const [maxRetries, attempts] of [[undefined, 4], [0, 1], [1, 2]] as const) {
    const answers = [...Array(attempts - 1).fill(answer({})), answer({ city: 1 })];
    const { agent, streamFn } = testAgent(answers);
    const options = maxRetries === undefined ? {} : { maxRetries };
    const error = await assertRejects(
      () => agent.structuredOutput("Which city?", schema, options),
      StructuredOutputFailedError,
      `No valid answer after ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}: `,
    );
    assertEquals([error.code, error.attempts], ["structured_output_failed", attempts]);
    assertStringIncludes(error.lastError, "- /city: must be string");
    assertEquals(repairHistory(agent.state.messages).repairs, []);
    streamFn.assertDone();
  }
});
