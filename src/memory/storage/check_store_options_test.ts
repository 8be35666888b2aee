import { assert, assertFalse, assertMatch, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { FileSessionStore } from "../file/file_store.ts";
import { PostgresSessionStore } from "../postgres/postgres_store.ts";
import { SqliteSessionStore } from "../sqlite/sqlite_store.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { storeFrom } from "./store_from.ts";

Deno.test("FileSessionStore, SqliteSessionStore: refuse a path that is missing or empty", () => {
  for (const path of ["", undefined, null, 5] as unknown as readonly string[]) {
    const message = "must be a path such as";
    assertThrows(() => new FileSessionStore({ directory: path }), BadRequestError, message);
    assertThrows(() => new SqliteSessionStore({ path }), BadRequestError, message);
  }
});

Deno.test("PostgresSessionStore: refuses a connection that is neither a URL nor a client", () => {
  for (const value of [undefined, null, 5, {}, { host: "db" }, { query: "SELECT 1" }, ""]) {
    const connection = value as unknown as string;
    const error = assertThrows(() => new PostgresSessionStore({ connection }), BadRequestError);
    assertMatch(error.message, /^Invalid connection: use a URL such as/);
  }
  assert(new PostgresSessionStore({ connection: { query: () => Promise.resolve({ rows: [] }) } }));
});

Deno.test("FileSessionStore, SqliteSessionStore, PostgresSessionStore: say how to write options that are no object", () => {
  const url = "postgres://user:secret@localhost/app";
  for (const options of ["data/sessions", url, undefined, null, 5, ["data"]] as never[]) {
    for (const Store of [FileSessionStore, SqliteSessionStore, PostgresSessionStore]) {
      const error = assertThrows(() => new Store(options), BadRequestError);
      assertMatch(
        error.message,
        /must be an object, not .+: write new \w+Store\(\{ \w+: ".+" \}\)$/,
      );
      assertFalse(error.message.includes("secret"));
    }
  }
});

Deno.test("storeFrom(), PostgresSessionStore: refuse leases without a positive duration", () => {
  const connection = "postgres://localhost/app";
  const storage = createMemoryStorage();
  for (const leaseMs of [0, -1, NaN, "30"] as unknown as readonly number[]) {
    assertThrows(() => storeFrom(storage, { leaseMs }), BadRequestError, "leaseMs must be");
    assertThrows(() => new PostgresSessionStore({ connection, leaseMs }), BadRequestError);
  }
  assert(storeFrom(storage, { leaseMs: Infinity }));
  for (const name of ["maxConnections", "timeoutMs", "retryMs"]) {
    assertThrows(
      () => new PostgresSessionStore({ connection, [name]: NaN }),
      BadRequestError,
      name,
    );
  }
  const forever = () => new PostgresSessionStore({ connection, leaseMs: Infinity });
  assertThrows(forever, BadRequestError, "leaseMs must be finite");
});
