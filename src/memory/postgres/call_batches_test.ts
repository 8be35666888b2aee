import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { CallBatches } from "./call_batches.ts";
import type { PostgresClient } from "./postgres_client.ts";
import { PostgresDatabase } from "./postgres_database.ts";
import { quoteSchema, TABLES_VERSION } from "./postgres_tables.ts";

/** A server that answers when the test lets it, refuses the value `refused`, and has locked that of `locked`. */
class FakeServer {
  readonly statements: (readonly unknown[])[] = [];
  #gate = createDeferred();
  #lock = createDeferred();

  readonly connection: PostgresClient = {
    query: async (text: string, values: unknown[]) => {
      if (text.includes("migrations")) {
        return { rows: [{ version: TABLES_VERSION, encoding: "UTF8" }] };
      }
      this.statements.push(values);
      await this.#gate.promise;
      if (values.includes("locked")) {
        if (text.includes("lock_timeout")) {
          throw Object.assign(new Error("lock timeout"), { severity: "ERROR", code: "55P03" });
        }
        await this.#lock.promise;
      }
      if (values.includes("refused")) {
        throw Object.assign(new Error("value too long"), { severity: "ERROR", code: "22001" });
      }
      return { rows: [Object.fromEntries(values.map((value, index) => [`call_${index}`, value]))] };
    },
  };

  unlock(): void {
    this.#lock.resolve();
  }

  /** Answers all statements from now on. */
  answer(): void {
    this.#gate.resolve();
  }
}

function createBatches({ connection }: FakeServer): CallBatches {
  const options = { connection, maxConnections: 1, timeoutMs: 1_000, retryMs: 0 };
  return new CallBatches(new PostgresDatabase({ ...options, schema: quoteSchema("swink") }));
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

Deno.test("CallBatches: sends two calls at once, and joins those that arrive meanwhile, in the order of their ids", async () => {
  const server = new FakeServer();
  const batches = createBatches(server);
  const ids = ["e", "d", "c", "a", "b"];
  const results = ids.map((id) => batches.call({ functionName: "f", id, values: [id] }));
  await settle();
  assertEquals(server.statements, [["e"], ["d"]]);
  server.answer();
  assertEquals((await Promise.all(results)).map(({ value }) => value), ids);
  assertEquals(server.statements, [["e"], ["d"], ["a", "b", "c"]]);
});

Deno.test("CallBatches: joins at most 64 calls, and at most 16 MiB of text, in a statement", async () => {
  const server = new FakeServer();
  const batches = createBatches(server);
  const call = (id: string, length: number) =>
    batches.call({ functionName: "f", id, values: [id], length });
  const first = ["a", "b"].map((id) => call(id, 0));
  await settle();
  const long = [call("c", 9e6), call("d", 7e6), call("e", 1e6), call("f", 99e6), call("g", 1e6)];
  const ids = Array.from({ length: 70 }, (_, number) => `h${number}`);
  const short = ids.map((id) => call(id, 0));
  server.answer();
  const results = await Promise.all([...first, ...long, ...short]);
  assertEquals(results.map(({ value }) => value), [..."abcdefg", ...ids]);
  assertEquals(server.statements.slice(2).map((values) => values.length), [2, 1, 1, 64, 7]);
});

for (const others of [["c", "d"], ["d"]]) {
  Deno.test(`CallBatches: rejects only the call that the server refuses, of ${others.length + 1} in a statement`, async () => {
    const server = new FakeServer();
    const batches = createBatches(server);
    const values = ["a", "b", "refused", ...others];
    const results = values.map((value) =>
      batches.call({ functionName: "f", id: value, values: [value] })
    );
    server.answer();
    const settled = await Promise.allSettled(results);
    assertEquals(
      settled.map((result) => result.status === "fulfilled" && result.value.value),
      ["a", "b", false, ...others],
    );
    await assertRejects(() => results[2] ?? Promise.resolve(), Error, "value too long");
    assertEquals(server.statements.length, 2 + 1 + values.length - 2);
  });
}

Deno.test("CallBatches: a call that waits for a lock delays no other one", async () => {
  const server = new FakeServer();
  const batches = createBatches(server);
  const call = (value: string) => batches.call({ functionName: "f", id: value, values: [value] });
  const blocked = Array.from({ length: 5 }, () => call("locked"));
  server.answer();
  const others = ["a", "b", "c"].map(call);
  assertEquals((await Promise.all(others)).map(({ value }) => value), ["a", "b", "c"]);
  server.unlock();
  assertEquals((await Promise.all(blocked)).map(({ value }) => value), Array(5).fill("locked"));
});

Deno.test("CallBatches: rejects all calls of a statement when the server cannot be reached", async () => {
  const server = new FakeServer();
  const batches = createBatches(server);
  server.connection.query = () => Promise.reject(new Error("read ECONNRESET"));
  const settled = await Promise.allSettled(
    ["a", "b", "c", "d"].map((id) => batches.call({ functionName: "f", id, values: [] })),
  );
  assertEquals(settled.map(({ status }) => status), Array(4).fill("rejected"));
});
