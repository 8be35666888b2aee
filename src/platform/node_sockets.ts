/**
 * The operations on sockets over `node:net` and `node:dns`.
 *
 * @module
 */

import type { Server, Socket } from "node:net";
import { getBuiltinModule } from "./builtin_modules.ts";
import type { Connection, Listener, SocketAddress, SocketCalls } from "./socket_calls.ts";

/** The operations on sockets, for Node and Bun. */
export const nodeSockets: SocketCalls = {
  async listen({ hostname, port }) {
    const server = getBuiltinModule("node:net").createServer({ allowHalfOpen: true });
    const listener = new NodeListener(server);
    await untilReady(server, () => server.listen(port, hostname));
    return listener;
  },
  async connect({ hostname, port }) {
    const socket = new (getBuiltinModule("node:net").Socket)({ allowHalfOpen: true });
    await untilReady(socket, () => socket.connect(port, hostname));
    return new NodeConnection(socket);
  },
  async resolveDns(name, type) {
    const { resolve4, resolve6 } = getBuiltinModule("node:dns/promises");
    return await (type === "A" ? resolve4(name) : resolve6(name));
  },
};

/** Starts a server or connects a socket. */
function untilReady(target: Server | Socket, start: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    target.on("error", reject); // has no effect after the start; later failures reject the operations
    target.once("listening", resolve);
    target.once("connect", resolve);
    start();
  });
}

class NodeListener implements Listener {
  readonly #server: Server;
  readonly #connections: ReadableStream<Connection>;

  constructor(server: Server) {
    this.#server = server;
    this.#connections = new ReadableStream({
      start(controller) {
        server.on("connection", (socket) => controller.enqueue(new NodeConnection(socket)));
        server.on("close", () => controller.close());
      },
    });
  }

  get addr(): SocketAddress {
    const address = this.#server.address();
    return typeof address === "object" && address
      ? { hostname: address.address, port: address.port }
      : { hostname: "", port: 0 };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Connection> {
    const reader = this.#connections.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  }

  close(): void {
    this.#server.close();
  }
}

class NodeConnection implements Connection {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Received bytes that have not been read. */
  #pending: Uint8Array = new Uint8Array();

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
    socket.on("error", () => {}); // rejects the operations
  }

  async read(bytes: Uint8Array): Promise<number | null> {
    if (this.#pending.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return null;
      this.#pending = value;
    }
    const part = this.#pending.subarray(0, bytes.length);
    this.#pending = this.#pending.subarray(part.length);
    bytes.set(part);
    return part.length;
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => error ? reject(error) : resolve(bytes.length));
    });
  }

  closeWrite(): Promise<void> {
    return new Promise((resolve) => this.#socket.end(resolve));
  }

  close(): void {
    this.#socket.destroy();
  }
}
