import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { findLoggedCut } from "./logged_cut.ts";
import { readLoggedHistory } from "./logged_history.ts";

const IDS = ["e1", "e2", "e3", "e4", "e5"];

/** Returns the texts that the cut of the entries 2 to 4 omits when a log has lost some entries. */
async function findOmitted(...lostIds: readonly string[]): Promise<readonly string[] | undefined> {
  const messages = IDS.map((id): SessionEntry => ({
    ...{ type: "message", message: { ...userMessage(id, 1), id: `m_${id}` } },
    ...{ id, parentId: null, timestamp: 1 },
  }));
  const compaction: SessionEntry = {
    type: "compaction",
    ...{ firstDroppedId: "e2", lastDroppedId: "e4", droppedCount: 3 },
    ...{ tokensBefore: 9, tokensAfter: 5, summary: "three" },
    ...{ id: "c", parentId: null, timestamp: 1 },
  };
  const path = [...messages, compaction].filter(({ id }) => !lostIds.includes(id));
  await using session = await new InMemorySessionStore().create();
  const history = await readLoggedHistory(session, path);
  const found = findLoggedCut(path, history);
  return found && IDS.filter((id) => !lostIds.includes(id)).slice(found.cut.from, found.cut.to);
}

Deno.test("findLoggedCut(): omits only what was omitted when a log has lost some of it", async () => {
  assertEquals(await findOmitted(), ["e2", "e3", "e4"]);
  assertEquals(await findOmitted("e3"), ["e2", "e4"]);
  assertEquals(await findOmitted("e1"), ["e2", "e3", "e4"]);
  assertEquals(await findOmitted("e2"), ["e3", "e4"]);
  assertEquals(await findOmitted("e4"), ["e2", "e3"]);
  assertEquals(await findOmitted("e2", "e4"), undefined);
});
