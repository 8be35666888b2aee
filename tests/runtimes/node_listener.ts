/**
 * A TCP server with the interface of `Deno.listen()`, over `node:net`.
 *
 * @module
 */

import { type AddressInfo, createServer, type Socket } from "node:net";
import process from "node:process";

/** A connection of a listener. */
interface TestConnection extends Disposable {
  read(bytes: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  close(): void;
}

/** A server that accepts connections. */
interface TestListener extends Disposable {
  readonly addr: { readonly hostname: string; readonly port: number };
  accept(): Promise<TestConnection>;
  [Symbol.asyncIterator](): AsyncGenerator<TestConnection>;
  close(): void;
}

/** Listens on a free port. The options are ignored: without a host name, the port is known immediately. */
export function listen(): TestListener {
  const server = createServer({ allowHalfOpen: true });
  const { readable, writable } = new TransformStream<Socket, Socket>();
  const reader = readable.getReader();
  const writer = writable.getWriter();
  server.on("connection", (socket) => void writer.write(socket).catch(() => {}));
  server.on("close", () => void writer.close().catch(() => {}));
  server.listen(0);
  const { port } = server.address() as AddressInfo;
  const close = (): void => void server.close();
  const accept = async (): Promise<TestConnection | undefined> => {
    const { value } = await reader.read();
    return value && toConnection(value);
  };
  return {
    addr: { hostname: "127.0.0.1", port },
    async accept() {
      const connection = await accept();
      if (!connection) throw new Error("The listener is closed");
      return connection;
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const connection = await accept();
        if (!connection) return;
        yield connection;
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}

/**
 * Time between the last write and the end of a connection, in milliseconds: Bun's `fetch` drops what has arrived of a body
 * that ends too early, unless it was read before.
 */
const CLOSE_DELAY_MS = "bun" in process.versions ? 50 : 0;

function toConnection(socket: Socket): TestConnection {
  const chunks = socket[Symbol.asyncIterator]();
  socket.on("error", () => {}); // rejects the operations
  let pending = new Uint8Array();
  const close = (): void => void setTimeout(() => socket.destroySoon(), CLOSE_DELAY_MS);
  return {
    async read(bytes) {
      if (pending.length === 0) {
        const { done, value } = await chunks.next();
        if (done) return null;
        pending = value;
      }
      const part = pending.subarray(0, bytes.length);
      pending = pending.subarray(part.length);
      bytes.set(part);
      return part.length;
    },
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => error ? reject(error) : resolve(bytes.length));
      }),
    closeWrite: () => new Promise((resolve) => socket.end(resolve)),
    close,
    [Symbol.dispose]: close,
  };
}
