import { assert, assertEquals } from "@std/assert";
import { EventReader, TestServer, TOKENS } from "../../../tests/server/server_fixture.ts";
import { reply, scriptedStream } from "../../testing/mod.ts";

/** Returns a position before the events of all runs, made of that of a session. */
function toFirstEvent(eventId: string): string {
  return eventId.replace(/-\d+$/, "-0");
}

Deno.test("server: the events of a deleted session are not those of another with its id", async () => {
  const streamFn = scriptedStream([reply("A secret of acme"), reply("Hello zoo")]);
  const test = new TestServer({ agent: { streamFn } });
  const id = await test.create({ id: "shared" });
  const { eventId: left } = await test.prompt(id);
  await test.waitForIdle(id);
  const unread = await test.events(id, left);
  await test.json(204, "DELETE", `/v1/sessions/${id}`);

  const token = TOKENS.zoo;
  await test.create({ id }, token);
  const path = `/v1/sessions/${id}`;
  const body = { text: "A secret of zoo" };
  const { eventId } = await test.json(202, "POST", `${path}/prompt`, { token, body });
  for (const after of [toFirstEvent(eventId), toFirstEvent(left), left]) {
    const headers = { "last-event-id": after };
    const reader = new EventReader(await test.call("GET", `${path}/events`, { token, headers }));
    const read = await reader.until(({ type, data }) =>
      type === "entry" && data.type === "run_ended"
    );
    assert(!JSON.stringify(read).includes("acme"));
    await reader.close();
  }
  // Nor does a client of the deleted session get those of the new one.
  const rest = await unread.until(({ type }) => type === "end");
  assertEquals(rest.map(({ type }) => type), ["end"]);
  await unread.close();
  await test.server.close();
});
