import { assertEquals } from "@std/assert";
import { createCounter, TestServer } from "../../../tests/server/server_fixture.ts";
import { createMemoryStorage } from "../../memory/storage/memory_storage.ts";
import { storeFrom } from "../../memory/storage/store_from.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";

Deno.test("server: a message for a run that cannot be stored is not accepted", async () => {
  let isFull = false;
  const storage = createMemoryStorage();
  const append = storage.append.bind(storage);
  storage.append = (id, entries) =>
    isFull ? Promise.reject(new Error("out of space")) : append(id, entries);
  for (const path of ["steer", "follow_up"]) {
    const streamFn = scriptedStream([reply([toolCall("count", { what: "sheep" })])]);
    const tool = { ...createCounter([]), execute: () => new Promise<never>(() => {}) };
    const test = new TestServer({ store: storeFrom(storage), agent: { streamFn, tools: [tool] } });
    const id = await test.create();
    await test.prompt(id);
    const events = await test.events(id);
    await events.until(({ type, data }) => type === "entry" && data.type === "tool_started");
    isFull = true;
    const { error } = await test.json(503, "POST", `/v1/sessions/${id}/${path}`, {
      body: { text: "Faster" },
    });
    assertEquals(error.code, "storage_failed");
    isFull = false;
    await events.close();
    await test.waitForIdle(id);
    await test.server.close();
  }
});

Deno.test("server: a message for a run is accepted when it is stored", async () => {
  const storage = createMemoryStorage();
  const append = storage.append.bind(storage);
  const held: Promise<void>[] = [];
  storage.append = async (...entries) => {
    await Promise.all(held);
    return await append(...entries);
  };
  const streamFn = scriptedStream([reply([toolCall("count", { what: "sheep" })]), reply("Done")]);
  const { promise: counted, resolve: count } = Promise.withResolvers<void>();
  const tool = { ...createCounter([]), execute: () => counted.then(() => "done") };
  const test = new TestServer({ store: storeFrom(storage), agent: { streamFn, tools: [tool] } });
  const id = await test.create();
  await test.prompt(id);
  const events = await test.events(id);
  await events.until(({ type, data }) => type === "entry" && data.type === "tool_started");
  const { promise, resolve: store } = Promise.withResolvers<void>();
  held.push(promise);
  let isAccepted = false;
  const steered = test.json(202, "POST", `/v1/sessions/${id}/steer`, { body: { text: "Faster" } })
    .then(() => isAccepted = true);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(isAccepted, false);
  store();
  await steered;
  count();
  await events.close();
  await test.waitForIdle(id);
  await test.server.close();
});
