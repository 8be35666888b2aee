import { assertEquals } from "@std/assert";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { getStyle } from "../render/style.ts";
import { formatSessions } from "./session_list.ts";

Deno.test("formatSessions: leaves out messages and cost where they leave no space for the title", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "20261128-184557-91fa1av5k5p6" });
  session.append({
    type: "message",
    message: { role: "user", content: [{ type: "text", text: "Repair the tests" }], timestamp: 0 },
  });
  await session.close();
  const sessions = await store.list();
  const format = (columns: number) =>
    formatSessions(sessions, {
      columns,
      style: getStyle({ isTerminal: false }, () => undefined),
      now: sessions[0]?.updated ?? 0,
      home: undefined,
      hasDirectories: false,
    }).trimEnd();
  assertEquals(format(56), "20261128-184557-91fa1av5k5p6  now  Repair the tests");
  assertEquals(
    format(76),
    "20261128-184557-91fa1av5k5p6  now  1 message  $0.00  Repair the tests",
  );
});
