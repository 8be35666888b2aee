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

Deno.test({
  name: "server: a client that waits for entries of other processes reads no entries meanwhile",
  ignore: POSTGRES_DIRECTORY === undefined,
  async fn() {
    const postgres = await startPostgres();
    const statements: string[] = [];
    const store = new PostgresSessionStore({
      connection: {
        query: async (text, values) => {
          statements.push(text);
          return { rows: await postgres.sql(text, values) };
        },
      },
    });
    const test = new TestServer({ store, pollMs: 5 });
    const id = await test.create({ title: "Shared" });
    const reader = await test.events(id);
    await reader.until(({ type }) => type === "state");
    const next = reader.until(({ type }) => type === "entry");
    const untilQueries = async (count: number) => {
      const to = statements.length + count;
      while (statements.length < to) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await untilQueries(10);
    const from = statements.length;
    await untilQueries(10);
    assertEquals(statements.slice(from).filter((text) => text.includes(".entries")), []);
    await using session = await store.open(id);
    session.append({ type: "title", title: "Written elsewhere" });
    await session.flush();
    const [entry] = await next;
    assertEquals(entry?.data.title, "Written elsewhere");
    await reader.close();
    await test.server.close();
    await session.close();
    await postgres.stop();
  },
});
