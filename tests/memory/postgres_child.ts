/**
 * A process that writes to a session in Postgres. `append` adds entries, and opens the session for each of them; `hold` adds one
 * for each text that arrives at standard input, and prints the result.
 *
 * @module
 */

import { SessionError } from "../../src/core/errors/errors.ts";
import type { Session, SessionStore } from "../../src/core/sessions/session.ts";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";

/** Opens a session as soon as no other writer has it open. */
async function openWhenFree(store: SessionStore, id: string): Promise<Session> {
  for (;;) {
    try {
      return await store.open(id);
    } catch (error) {
      if (!(error instanceof SessionError) || error.reason !== "locked") throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

async function appendEntries(store: SessionStore, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    await using session = await openWhenFree(store, "s");
    session.append({ type: "custom", name: "appended", data: [Deno.pid, number] });
  }
}

async function holdSession(store: SessionStore): Promise<void> {
  const session = await openWhenFree(store, "s");
  console.log("open");
  for await (const title of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    try {
      session.append({ type: "title", title });
      await session.flush();
      console.log("stored");
    } catch (error) {
      console.log(error instanceof SessionError ? error.reason : String(error));
    }
  }
  await session.close();
}

if (import.meta.main) {
  const [mode, connection = "", schema = "", count] = Deno.args;
  await using store = new PostgresSessionStore({
    connection,
    schema,
    maxConnections: 2,
    owner: mode ?? "",
  });
  if (mode === "append") await appendEntries(store, Number(count));
  if (mode === "hold") await holdSession(store);
}
