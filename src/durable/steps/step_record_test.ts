import { assertEquals, assertRejects } from "@std/assert";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { DetachedError } from "./step_journal.ts";
import { captureOutcome } from "./step_record.ts";

Deno.test("captureOutcome(): the end of the engine is no outcome of a step, that of another engine is", async () => {
  const open = new AbortController().signal;
  const closed = AbortSignal.abort();
  for (const error of [new EngineClosedError(), new DetachedError()]) {
    const fail = () => Promise.reject(error);
    await assertRejects(() => captureOutcome(fail, closed), Error, error.message);
    const outcome = await captureOutcome(fail, open);
    assertEquals("error" in outcome && outcome.error.message, error.message);
  }
  const failed = await captureOutcome(() => Promise.reject(new Error("out of paper")), closed);
  assertEquals(failed, { error: { message: "out of paper" } });
});
