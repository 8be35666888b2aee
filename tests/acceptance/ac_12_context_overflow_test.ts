import { assertEquals, assertInstanceOf } from "@std/assert";
import { ContextWindowOverflowError } from "../../src/core/errors/errors.ts";
import { fail } from "../../src/testing/script.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("prompt(): the error of a context overflow is a ContextWindowOverflowError [AC-12, 6.12]", async () => {
  const { agent, streamFn } = testAgent([fail("context_window_overflow", "prompt is too long")]);
  const result = await agent.prompt("Hi");
  assertInstanceOf(result.error, ContextWindowOverflowError);
  assertEquals(result.error.code, "context_window_overflow");
  assertEquals(agent.state.error, result.error);
  assertEquals(result.stopReason, "error");
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
  streamFn.assertDone();
});
