/**
 * The sockets of the connections to Postgres.
 *
 * @module
 */

import { getBuiltinModule } from "../../platform/builtin_modules.ts";

const loadNet = () => getBuiltinModule("node:net");

/** A socket of Node, which Deno and Bun have, too. */
type Socket = InstanceType<ReturnType<typeof loadNet>["Socket"]>;

/**
 * The sockets of an engine. A connection waits without a limit for a server that does not answer, such as one behind a
 * network that is interrupted, also when it is ended.
 */
export class Sockets {
  readonly #open = new Set<Socket>();
  #isDestroyed = false;

  /** Creates a socket, as the option `stream` of a client. */
  readonly create = (): Socket => {
    const { Socket } = loadNet();
    const socket = new Socket();
    if (this.#isDestroyed) socket.destroy(createError());
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  /** Ends all connections, and those that begin later: their statements fail. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const socket of this.#open) socket.destroy(createError());
  }
}

function createError(): Error {
  return new Error("The connection was ended: Postgres did not answer while the engine was closed");
}
