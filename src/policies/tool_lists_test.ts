import { assertEquals, assertThrows } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { extractText } from "../core/messages/content.ts";
import { fakeTool, reply, toolCall } from "../testing/mod.ts";
import { allowTools, denyTools } from "./mod.ts";

async function callTools(policy: Policy): Promise<string[]> {
  const { agent } = testAgent([reply([toolCall("read"), toolCall("write")]), reply("Done")], {
    tools: [fakeTool({ name: "read" }), fakeTool({ name: "write" })],
    policies: [policy],
  });
  const { messages } = await agent.prompt("Go");
  return messages.filter((message) => message.role === "tool_result")
    .map(({ content }) => extractText(content));
}

Deno.test("denyTools() refuses a listed tool with a reason for the model [A104]", async () => {
  assertEquals(await callTools(denyTools(["write"])), [
    "ok",
    'Tool call refused: The tool "write" is not allowed',
  ]);
});

Deno.test("allowTools() refuses a tool that is not listed", async () => {
  assertEquals(await callTools(allowTools(["read"])), [
    "ok",
    'Tool call refused: The tool "write" is not allowed. Allowed tools: read',
  ]);
});

Deno.test("allowTools() and denyTools() throw for a list that is not an array of strings", () => {
  for (const create of [allowTools, denyTools]) {
    const untyped = create as (names: unknown) => Policy;
    for (const names of ["bash", undefined, [5], new Set(["bash"])]) {
      assertThrows(() => untyped(names), BadRequestError, "must be an array of names");
    }
  }
});
