import { assert, assertEquals } from "@std/assert";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { hang, reply, scriptedStream } from "../../src/testing/mod.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";
import { TestServer, TOKENS } from "./server_fixture.ts";

Deno.test({
  name: "server: two processes with one Postgres store serve the same sessions, runs and events",
  ignore: POSTGRES_DIRECTORY === undefined,
  async fn() {
    const postgres = await startPostgres();
    const stores = [1, 2].map(() => new PostgresSessionStore({ connection: postgres.url }));
    const [first, second] = stores.map((store, index) =>
      new TestServer({
        store,
        pollMs: 20,
        agent: { streamFn: scriptedStream(index === 0 ? [hang()] : [reply("From the second")]) },
      })
    );
    assert(first && second);
    const id = await first.create({ title: "Shared" });
    const reader = await second.events(id);
    await reader.until(({ type }) => type === "state");
    await first.prompt(id);
    const prompted = await reader.until(({ data }) => data.message?.role === "user");
    assertEquals(prompted.at(-1)?.type, "entry");
    const busy = await second.json(409, "POST", `/v1/sessions/${id}/prompt`, {
      body: { text: "Me too" },
    });
    assertEquals(busy.error.code, "session_busy");
    await second.json(404, "GET", `/v1/sessions/${id}`, { token: TOKENS.zoo });
    assertEquals(await first.server.close({ timeoutMs: 0 }), { ended: 0, handedOver: 1 });

    await reader.until(({ data }) => data.name === "run_handed_over");
    await second.json(202, "POST", `/v1/sessions/${id}/continue`);
    const rest = await reader.until(({ type, data }) => type === "state" && data.status === "idle");
    const replies = rest.filter(({ data }) => data.message?.role === "assistant");
    assertEquals(replies.find(({ type }) => type === "entry")?.data.message.content, [
      { type: "text", text: "From the second" },
    ]);
    await reader.close();
    await second.server.close();
    for (const store of stores) await store.close();
    await postgres.stop();
  },
});
