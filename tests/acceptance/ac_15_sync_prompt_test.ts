import { assertEquals } from "@std/assert";
import { promptSync } from "../../src/sync/mod.ts";
import makeAgent from "../fixtures/sync/agent.ts";
import { sayingsOf } from "../conformance/outline.ts";

Deno.test("a synchronous prompt blocks until the run has ended, and gives what prompt gives [AC-15, 6.15]", async () => {
  let isBlocked = true;
  queueMicrotask(() => isBlocked = false);
  const result = promptSync(new URL("../fixtures/sync/agent.ts", import.meta.url), "hello");
  assertEquals(isBlocked, true, "nothing else ran on this thread meanwhile");
  const awaited = await makeAgent().prompt("hello");
  assertEquals(sayingsOf(result.messages), sayingsOf(awaited.messages));
  assertEquals([result.stopReason, result.turns], [awaited.stopReason, awaited.turns]);
});
