/**
 * The operations on sockets in use, with the names and the behaviour of the `Deno` namespace.
 *
 * @module
 */

/** Address of a TCP server. */
export interface SocketAddress {
  /** Name or IP address. */
  readonly hostname: string;
  /** TCP port; 0 selects a free one to listen on. */
  readonly port: number;
}

/** A TCP connection. */
export interface Connection {
  /** Reads some bytes; resolves to their number, `null` at the end. */
  read(bytes: Uint8Array): Promise<number | null>;
  /** Writes some of the bytes; resolves to their number. */
  write(bytes: Uint8Array): Promise<number>;
  /** Ends the written data; the other side can still send. */
  closeWrite(): Promise<void>;
  /** Closes the connection. */
  close(): void;
}

/** A listening TCP socket, which iterates over its new connections until it is closed. */
export interface Listener extends AsyncIterable<Connection> {
  /** Local address. */
  readonly addr: SocketAddress;
  /** Stops listening. */
  close(): void;
}

/** The operations on sockets. */
export interface SocketCalls {
  /** Listens for TCP connections. */
  listen(address: SocketAddress): Listener | Promise<Listener>;
  /** Connects to a TCP server. */
  connect(address: SocketAddress): Promise<Connection>;
  /** Resolves a host name to its IPv4 or IPv6 addresses. */
  resolveDns(name: string, type: "A" | "AAAA"): Promise<readonly string[]>;
}
