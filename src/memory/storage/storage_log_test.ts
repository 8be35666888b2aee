import { assert, assertEquals } from "@std/assert";
import type { EntryStorage } from "./entry_storage.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { storeFrom } from "./store_from.ts";

Deno.test("storeFrom(): other tasks run while a long path is read", async () => {
  const storage = createMemoryStorage();
  const readLines = storage.readLines.bind(storage);
  const blocking: Pick<EntryStorage, "readLines"> = {
    readLines(...args) {
      // As a storage that blocks the thread: other tasks run after 15 ms.
      for (const end = performance.now() + 20; performance.now() < end;);
      return readLines(...args);
    },
  };
  const store = storeFrom(Object.assign(storage, blocking));
  const writer = await store.create({ id: "long" });
  for (let number = 0; number < 4_200; number++) {
    writer.append({ type: "title", title: `Title ${number}` });
  }
  await writer.close();
  await using session = await store.open("long", { access: "read" });
  let path: readonly unknown[] | undefined;
  const reading = session.path().then((entries) => path = entries);
  let tasks = 0;
  for (; !path; tasks++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals((await reading).length, 4_200);
  assert(tasks >= 4, `${tasks} tasks`);
});
