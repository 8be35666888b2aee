import { assertEquals } from "@std/assert";
import { promptSync } from "../../src/sync/mod.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { DEADLINE_MS } from "../deadline.ts";
import createAgent from "../fixtures/sync/agent.ts";

Deno.test("promptSync() blocks until the run has ended and returns the result of prompt() [AC-15, 6.15]", async () => {
  const module = new URL("../fixtures/sync/agent.ts", import.meta.url);
  // The first call loads the threads of the runtime, during which Deno runs microtasks.
  promptSync(module, "hello", { timeoutMs: DEADLINE_MS });
  let isBlocked = true;
  queueMicrotask(() => isBlocked = false);
  const result = promptSync(module, "hello", { timeoutMs: DEADLINE_MS });
  assertEquals(isBlocked, true, "no microtask ran during the call");
  const awaited = await createAgent().prompt("hello");
  assertEquals(outlineMessages(result.messages), outlineMessages(awaited.messages));
  assertEquals([result.stopReason, result.turns], [awaited.stopReason, awaited.turns]);
});
