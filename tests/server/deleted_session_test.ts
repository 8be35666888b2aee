import { assertEquals } from "@std/assert";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { DurableWorkers } from "./durable_workers.ts";
import { EventReader, TOKENS } from "./server_fixture.ts";

Deno.test("durableRunner(): the events of a deleted session are not those of another with its id", async () => {
  await using workers = new DurableWorkers();
  const { test } = await workers.start({
    agent: { streamFn: scriptedStream([reply("A secret")]) },
  });
  const id = await test.create({ id: "shared" });
  const { eventId } = await test.prompt(id);
  await test.waitForIdle(id);
  await test.json(204, "DELETE", `/v1/sessions/${id}`);
  const token = TOKENS.zoo;
  await test.create({ id }, token);
  const headers = { "last-event-id": eventId.replace(/^.*~/, "0-~") };
  const path = `/v1/sessions/${id}/events`;
  const events = new EventReader(await test.call("GET", path, { token, headers }));
  const types = (await events.until(({ type, data }) => type === "state" && data.status === "idle"))
    .map(({ type }) => type);
  assertEquals(types, ["entry", "state"]);
  await events.close();
});
