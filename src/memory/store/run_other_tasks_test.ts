import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { runOtherTasks } from "./run_other_tasks.ts";

Deno.test("runOtherTasks(): tasks that are due run before it resolves", async () => {
  const events: string[] = [];
  setTimeout(() => events.push("timer"), 0);
  await runOtherTasks();
  assertEquals(events, ["timer"]);
});

Deno.test("InMemorySessionStore: deleteAll() and path() resolve while a test has replaced timers", async () => {
  using time = new FakeTime(0);
  const store = new InMemorySessionStore();
  for (const id of ["a", "b"]) {
    await using session = await store.create({ id });
    for (let number = 0; number < 300; number++) session.append({ type: "title", title: "T" });
  }
  const session = await store.open("a", { access: "read" });
  assertEquals((await session.path()).length, 300);
  time.tick(1_000);
  const deleted = await store.deleteAll({ updatedBefore: 500 });
  assertEquals(deleted.toSorted(), ["a", "b"]);
});
