/**
 * A proxy between a client and a Postgres server, whose network a test interrupts.
 *
 * @module
 */

import { createDeferred, type Deferred } from "../../src/core/ports/deferred.ts";
import type { PostgresServer } from "../memory/postgres_server.ts";

/** A proxy on the loopback interface. */
export class PostgresProxy implements Disposable {
  readonly #path: string;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections = new Set<Deno.Conn>();
  #interruption: Deferred<void> | undefined;
  #accepted = 0;

  constructor({ url }: PostgresServer) {
    const directory = new URLSearchParams(url.slice(url.indexOf("?"))).get("host") ?? "";
    this.#path = `${directory}/.s.PGSQL.5432`;
    void this.#accept();
  }

  /** URL of the database, through the proxy. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#listener.addr.port}/postgres`;
  }

  /** Number of connections that clients have opened. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Passes nothing on any more, and ends no connection. */
  interrupt(): void {
    this.#interruption ??= createDeferred();
  }

  /** Ends the proxy and its connections. */
  [Symbol.dispose](): void {
    this.#listener.close();
    for (const connection of this.#connections) close(connection);
    this.#interruption?.resolve();
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) {
      this.#accepted++;
      this.#connections.add(client);
      const server = await Deno.connect({ transport: "unix", path: this.#path });
      this.#connections.add(server);
      void this.#copy(client, server);
      void this.#copy(server, client);
    }
  }

  async #copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (let length; (length = await from.read(buffer)) !== null;) {
        await this.#interruption?.promise;
        for (let start = 0; start < length;) {
          start += await to.write(buffer.subarray(start, length));
        }
      }
    } catch {
      // One of the two connections has ended.
    }
    close(from);
    close(to);
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
