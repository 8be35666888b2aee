import {
  PostgresSessionStore,
  type PostgresSessionStoreOptions,
} from "../../src/memory/postgres/mod.ts";
import { testSessionStore } from "../../src/testing/mod.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "./postgres_server.ts";

const ignore = POSTGRES_DIRECTORY === undefined;
const server = ignore ? undefined : await startPostgres();
Deno.test.afterAll(() => server?.stop());

let schemas = 0;

/** Stores over the same sessions, which are closed at the end. */
class Stores implements AsyncDisposable {
  readonly schema = `sessions_${schemas++}`;
  readonly #stores: PostgresSessionStore[] = [];

  open(options: Partial<PostgresSessionStoreOptions> = {}): PostgresSessionStore {
    const connection = server?.url ?? "";
    const store = new PostgresSessionStore({
      connection,
      schema: this.schema,
      maxConnections: 3,
      ...options,
    });
    this.#stores.push(store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) await store.close();
    await server?.sql(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
  }
}

testSessionStore(
  (name, fn) => Deno.test({ name: `PostgresSessionStore: ${name}`, ignore, fn }),
  () => {
    const stores = new Stores();
    return {
      store: stores.open(),
      reopen: () => stores.open(),
      damage: async (id, position) => {
        await server?.sql(
          `UPDATE ${stores.schema}.entries SET line = 'garbled' WHERE session = $1 AND position = $2`,
          [id, position],
        );
      },
      endLease: async (id) => {
        await server?.sql(
          `UPDATE ${stores.schema}.sessions SET lease_end = now() - interval '1 second' WHERE id = $1`,
          [id],
        );
      },
      dispose: () => stores[Symbol.asyncDispose](),
    };
  },
);
