import { assertEquals, assertRejects } from "@std/assert";
import { AlreadyRunningError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedAnswer } from "../../src/testing/script.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("prompt() during a run is rejected and does not affect the run [AC-8, 6.8, 4.4, A56, B60]", async () => {
  const answer = createDeferred<ScriptedAnswer>();
  const { agent, streamFn } = testAgent([() => answer.promise]);
  const first = agent.prompt("Hi");
  await assertRejects(() => agent.prompt("Me too"), AlreadyRunningError);
  await assertRejects(() => agent.continue(), AlreadyRunningError);
  await assertRejects(() => agent.structuredOutput("Me too", {}), AlreadyRunningError);
  await assertRejects(() => agent.promptStream("Me too").getReader().read(), AlreadyRunningError);
  await assertRejects(() => agent.continueStream().getReader().read(), AlreadyRunningError);
  answer.resolve(reply("Hello"));
  assertEquals(outlineMessages((await first).messages), ["user: Hi", "assistant: Hello"]);
  streamFn.assertDone();
});

Deno.test("prompt() is rejected right after a call of structuredOutput() [AC-8]", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("structured_output", { n: 1 })])]);
  const first = agent.structuredOutput("A number?", { type: "object" });
  await assertRejects(() => agent.prompt("Me too"), AlreadyRunningError);
  assertEquals(await first, { n: 1 });
  streamFn.assertDone();
});
