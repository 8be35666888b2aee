import { assertEquals, assertRejects } from "@std/assert";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { DetachedError } from "./step_journal.ts";
import { captureOutcome } from "./step_record.ts";

Deno.test("captureOutcome(): the end of an engine is no outcome of a step", async () => {
  for (const error of [new EngineClosedError(), new DetachedError()]) {
    await assertRejects(() => captureOutcome(() => Promise.reject(error)), Error, error.message);
  }
  const failed = await captureOutcome(() => Promise.reject(new Error("out of paper")));
  assertEquals(failed, { error: { message: "out of paper" } });
});
