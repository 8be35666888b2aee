import { assert, assertEquals } from "@std/assert";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { deleteMatching } from "./delete_matching.ts";

Deno.test("deleteMatching(): lets other tasks run while it deletes sessions of a store that blocks the thread", async () => {
  const store = new InMemorySessionStore();
  const ids = ["a", "b", "c", "d", "e"];
  for (const id of ids) {
    await using session = await store.create({ id });
    session.append({ type: "title", title: "Hello" });
  }
  let isDone = false;
  const deletion = deleteMatching({
    list: (options) => store.list(options),
    delete(id) {
      // As a store that blocks the thread: other tasks run after 15 ms.
      for (const end = performance.now() + 20; performance.now() < end;);
      return store.delete(id);
    },
  }, {}).finally(() => isDone = true);
  let tasks = 0;
  for (; !isDone; tasks++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals((await deletion).toSorted(), ids);
  assert(tasks >= ids.length - 1, `${tasks} tasks`);
});
