import { assert, assertEquals } from "@std/assert";
import {
  createMessageEntry,
  openSqlite,
  testDatabase,
} from "../../../tests/memory/sqlite_database.ts";
import { text, toolResultMessage } from "../../testing/messages.ts";
import { SqliteSessionStore } from "./sqlite_store.ts";

const CHANGES = {
  "is broken": "UPDATE entries SET line = 'x' WHERE session = 'a'",
  "has more words":
    "UPDATE entries SET line = replace(line, 'zebra', 'the data of this image was lost zebra')",
} as const;

for (const [change, statement] of Object.entries(CHANGES)) {
  testDatabase(`delete() removes the words of an entry whose line ${change}`, async (path) => {
    await using store = new SqliteSessionStore({ path });
    for (const id of ["a", "b"]) {
      await using session = await store.create({ id });
      for (let number = 0; number < 50; number++) {
        session.append(createMessageEntry(id === "a" ? `zebra ${number}` : `needle ${number}`));
      }
    }
    await store.close();
    const database = openSqlite(path);
    database.exec(`PRAGMA secure_delete = ON; ${statement}`);
    database.close();

    await using reopened = new SqliteSessionStore({ path });
    await reopened.delete("a");
    assertEquals((await reopened.search("needle", { limit: 100 })).length, 50);
    await reopened.close();
    assert(!await hasText(path, "zebra"));
  });
}

testDatabase("delete() removes the words of a result that the session has twice", async (path) => {
  await using store = new SqliteSessionStore({ path });
  const content = [text(Array.from({ length: 400 }, (_, number) => `zebra${number}`).join(" "))];
  const call = { id: "c", name: "look" };
  const journal = { messageId: null, toolCallId: "c", name: "look", isError: false };
  for (const id of ["a", "b"]) {
    const isDeleted = id === "a";
    await using session = await store.create({ id });
    const result = { content: isDeleted ? content : [text("needle")] };
    session.append({ type: "tool_finished", ...journal, result });
    session.append({ type: "message", message: toolResultMessage(call, result.content) });
  }
  await store.delete("a");
  assertEquals((await store.search("needle")).map(({ type }) => type), ["tool_finished"]);
  await store.close();
  assert(!await hasText(path, "zebra"));
});

/** Whether a file has a text. */
async function hasText(path: string, text: string): Promise<boolean> {
  return new TextDecoder("latin1").decode(await Deno.readFile(path)).includes(text);
}

testDatabase("deleteAll() lets other tasks run while it deletes many sessions", async (path) => {
  await using store = new SqliteSessionStore({ path });
  for (let number = 0; number < 30; number++) {
    await using session = await store.create({ tenant: "acme" });
    for (let entry = 0; entry < 10; entry++) session.append(createMessageEntry(`zebra ${entry}`));
  }
  let deleted: readonly string[] | undefined;
  const deletion = store.deleteAll({ tenant: "acme" }).then((ids) => deleted = ids);
  let tasks = 0;
  for (; !deleted; tasks++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals((await deletion).length, 30);
  assert(tasks > 2, `${tasks} tasks`);
});
