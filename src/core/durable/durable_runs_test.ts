import { assertEquals } from "@std/assert";
import { addDurableRun, getDurableRunKey, removeDurableRun } from "./durable_runs.ts";

Deno.test("durable runs: a run is known until its last execution has ended, and a later one with its id is another", () => {
  addDurableRun("run", "1");
  addDurableRun("run", "1");
  removeDurableRun("run", "1");
  assertEquals(getDurableRunKey("run"), "1");
  addDurableRun("run", "2");
  removeDurableRun("run", "1");
  assertEquals(getDurableRunKey("run"), "2");
  removeDurableRun("run", "2");
  assertEquals(getDurableRunKey("run"), undefined);
});
