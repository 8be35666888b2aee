import { assert, assertEquals } from "@std/assert";
import { createMemoryStorage } from "./memory_storage.ts";
import { storeFrom } from "./store_from.ts";

Deno.test("storeFrom(): other tasks run while a long path is read", async () => {
  const storage = createMemoryStorage();
  const store = storeFrom({
    ...storage,
    readLines(...args) {
      // As a storage that blocks the thread: other tasks run after 15 ms.
      for (const end = performance.now() + 20; performance.now() < end;);
      return storage.readLines(...args);
    },
  });
  const writer = await store.create({ id: "long" });
  for (let number = 0; number < 1_100; number++) {
    writer.append({ type: "title", title: `Title ${number}` });
  }
  await writer.close();
  await using session = await store.open("long", { access: "read" });
  let path: readonly unknown[] | undefined;
  const reading = session.path().then((entries) => path = entries);
  let tasks = 0;
  for (; !path; tasks++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals((await reading).length, 1_100);
  assert(tasks >= 4, `${tasks} tasks`);
});
