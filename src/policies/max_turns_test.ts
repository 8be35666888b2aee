import { assertEquals, assertThrows } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { fakeTool, reply, toolCall } from "../testing/mod.ts";
import { maxTurns } from "./mod.ts";

Deno.test("maxTurns() stops an endless chain of tool calls at its limit [A102]", async () => {
  const work = () => reply([toolCall("work")]);
  const { agent } = testAgent([work(), work()], {
    tools: [fakeTool({ name: "work" })],
    policies: [maxTurns(2)],
  });
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy], [2, {
    policy: "max_turns",
    reason: "The run reached its limit of 2 turns",
  }]);
});

Deno.test("maxTurns() throws for a limit that is not a number above 0", () => {
  for (const limit of [0, -1, Number.NaN, "5", undefined]) {
    assertThrows(() => maxTurns(limit as number), BadRequestError, "must be a number above 0");
  }
  assertThrows(() => maxTurns("5" as never), BadRequestError, 'above 0, not "5"');
});
