import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { FileSessionStore, type FileStoreOptions } from "./file_store.ts";
import type { FileSystem } from "./file_system.ts";
import { localFileSystem } from "./local_file_system.ts";

/** Length of a text whose entry makes an open log write its index. */
const INDEXED_LENGTH = 1_100_000;

/** The moments in microtasks after the end of a sync at which a write ends; negative before it. */
const MOMENTS = Array.from({ length: 25 }, (_, index) => index - 12);

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

/** Calls a function after a number of microtasks. */
async function callAfter(microtasks: number, act: () => void): Promise<void> {
  for (let number = 0; number < microtasks; number++) await undefined;
  act();
}

/** Writes an entry that ends at a moment after the sync of an earlier one. */
async function writeAtMoment(directory: string, moment: number): Promise<Session> {
  const [synced, written] = [createDeferred(), createDeferred()];
  let [writes, syncs] = [0, 0];
  const files: FileSystem = {
    ...localFileSystem,
    async openToAppend(path) {
      const file = await localFileSystem.openToAppend(path);
      if (!path.endsWith(".jsonl")) return file;
      return {
        ...file,
        async sync() {
          syncs++;
          await file.sync();
          if (syncs === 2) await synced.promise;
        },
        async write(bytes) {
          const length = await file.write(bytes);
          if (++writes === 3) await written.promise;
          return length;
        },
      };
    },
  };
  const options: FileStoreOptions = { directory, files };
  const session = await new FileSessionStore(options).create({ id: "s" });
  session.append(createMessageEntry("first"));
  await session.flush();
  session.append(createMessageEntry("x".repeat(INDEXED_LENGTH)));
  const flushed = session.flush();
  while (syncs < 2) await new Promise((resolve) => setTimeout(resolve));
  session.append(createMessageEntry("last"));
  while (writes < 3) await new Promise((resolve) => setTimeout(resolve));
  await new Promise((resolve) => setTimeout(resolve, 5));
  void callAfter(MOMENTS.length, synced.resolve);
  void callAfter(MOMENTS.length + moment, written.resolve);
  await flushed;
  await session.flush();
  return session;
}

Deno.test("FileLog: the index does not hide an entry that is written while it is created", async () => {
  for (const moment of MOMENTS) {
    const directory = await Deno.makeTempDir();
    const session = await writeAtMoment(directory, moment);
    for (const close of [() => {}, () => session.close()]) {
      await close();
      const reader = await new FileSessionStore({ directory }).open("s", { access: "read" });
      assertEquals(reader.outline.length, 3, `at moment ${moment}`);
      await reader.close();
    }
    await Deno.remove(directory, { recursive: true });
  }
});
