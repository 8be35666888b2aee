/**
 * A proxy on the loopback interface that connects commands to allowed hosts only. It sees host names, not the content
 * of encrypted connections.
 *
 * @module
 */

import type { Connection, Listener } from "../../platform/socket_calls.ts";
import { system } from "../../platform/system.ts";
import { isPrivateAddress } from "./private_address.ts";

/** A running proxy. */
export interface HostProxy extends AsyncDisposable {
  /** Port on 127.0.0.1. */
  readonly port: number;
}

/** Options for {@linkcode startHostProxy}. */
export interface HostProxyOptions {
  /** Allowed hosts: `example.org`, `*.example.org`, either with `:port`. */
  readonly hosts: readonly string[];
  /** Resolves a host name to its addresses. Default: A and AAAA records. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Connects to a server. Default: TCP. */
  readonly connect?: (target: ProxyTarget) => Promise<Connection>;
}

/** Host and port of a request. */
export interface ProxyTarget {
  /** Name or IP address. */
  readonly hostname: string;
  /** TCP port. */
  readonly port: number;
}

const MAX_HEAD_BYTES = 64 * 1024;

/** Maximum number of connections that are served at a time: a command must not use up the descriptors of this process. */
const MAX_CONNECTIONS = 256;

/** Time after which connections are accepted again when this process has no descriptor left. */
const ACCEPT_RETRY_MS = 100;

/** Starts a proxy. */
export async function startHostProxy(options: HostProxyOptions): Promise<HostProxy> {
  const listener = await system.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Connection>();
  const closing = new AbortController();
  const serving = acceptConnections(listener, closing.signal, async (client) => {
    connections.add(client);
    try {
      await handleConnection(client, options, connections);
    } catch {
      // One side closed the connection; the other side is closed below.
    } finally {
      connections.delete(client);
      close(client);
    }
  });
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      closing.abort();
      listener.close();
      for (const connection of connections) close(connection);
      await serving;
    },
  };
}

async function acceptConnections(
  listener: Listener,
  closing: AbortSignal,
  handleClient: (client: Connection) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  while (!closing.aborted) {
    try {
      for await (const client of listener) {
        const task = handleClient(client).finally(() => running.delete(task));
        running.add(task);
        if (running.size >= MAX_CONNECTIONS) await Promise.race(running);
      }
      break;
    } catch {
      // Other parts of this process may use its descriptors up.
      await new Promise((resolve) => setTimeout(resolve, ACCEPT_RETRY_MS));
    }
  }
  await Promise.all(running);
}

async function handleConnection(
  client: Connection,
  options: HostProxyOptions,
  connections: Set<Connection>,
): Promise<void> {
  const { head, remainder } = await readHead(client);
  const request = parseRequest(head);
  if (!request) {
    return await sendResponse(client, "400 Bad Request", "Not a proxy request.");
  }
  const { target } = request;
  if (!isAllowedHost(target, options.hosts)) {
    const message = `${target.hostname}:${target.port} is not an allowed host of this sandbox.`;
    return await sendResponse(client, "403 Forbidden", message);
  }
  const server = await connectToTarget(target, options).catch(() => undefined);
  if (!server) {
    const message = `Cannot connect to ${target.hostname}:${target.port}.`;
    return await sendResponse(client, "502 Bad Gateway", message);
  }
  connections.add(server);
  try {
    if (request.tunnel) {
      await writeAll(client, encode("HTTP/1.1 200 Connection established\r\n\r\n"));
    } else await writeAll(server, encode(request.forwardedHead));
    await writeAll(server, remainder);
    await Promise.all([copy(client, server), copy(server, client)]);
  } finally {
    connections.delete(server);
    close(server);
  }
}

/**
 * Connects to a host. A host that is listed by name may have a private address; one that only matches a `*` must have
 * a public address, since its owner is unknown.
 */
async function connectToTarget(
  target: ProxyTarget,
  options: HostProxyOptions,
): Promise<Connection> {
  const { hosts, resolve = resolveHost, connect = (to) => system.connect({ ...to }) } = options;
  const { hostname, port } = target;
  if (isAllowedHost(target, hosts.filter((host) => !host.startsWith("*")))) {
    return await connect(target);
  }
  const [address] = (await resolve(hostname)).filter((candidate) => !isPrivateAddress(candidate));
  if (address === undefined) throw new Error(`${hostname} has no public address`);
  return await connect({ hostname: address, port });
}

/** Resolves a host name to its A and AAAA records; empty when it has none. */
export async function resolveHost(name: string): Promise<readonly string[]> {
  const results = await Promise.allSettled([
    system.resolveDns(name, "A"),
    system.resolveDns(name, "AAAA"),
  ]);
  return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

interface ProxyRequest {
  readonly target: ProxyTarget;
  readonly tunnel: boolean;
  /** The request head for the server. */
  readonly forwardedHead: string;
}

/** Parses `CONNECT host:port` or a request for an absolute `http:` URL. */
function parseRequest(head: string): ProxyRequest | undefined {
  const [requestLine = "", ...headers] = head.split("\r\n");
  const [method = "", address = "", version = ""] = requestLine.split(" ");
  if (!version.startsWith("HTTP/1.")) return undefined;
  const tunnel = method === "CONNECT";
  const text = tunnel ? `http://${address}` : address;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "http:") return undefined;
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  // The URL parser drops port 80, also from CONNECT.
  const port = Number(url.port || (tunnel ? /:(\d+)$/.exec(address)?.[1] : "80"));
  if (hostname === "" || !(port > 0)) return undefined;
  // One request per connection: a later one could be for another host.
  const forwardedHeaders = headers.filter((line) =>
    !/^(proxy-|connection:|keep-alive:|host:)/i.test(line)
  );
  const lines = [
    `${method} ${url.pathname}${url.search} ${version}`,
    // A server of many hosts would serve the one that this header names.
    `Host: ${url.host}`,
    "Connection: close",
    ...forwardedHeaders,
  ];
  return { target: { hostname, port }, tunnel, forwardedHead: lines.join("\r\n") };
}

/** Whether a list of hosts allows a target. */
export function isAllowedHost({ hostname, port }: ProxyTarget, hosts: readonly string[]): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return hosts.some((entry) => {
    const [, pattern = "", wantedPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
    return pattern.startsWith("*.") ? name.endsWith(pattern.slice(1)) : name === pattern;
  });
}

/** Reads a request head and returns it with the bytes after it. An incomplete or too long head is empty. */
async function readHead(client: Connection): Promise<{ head: string; remainder: Uint8Array }> {
  let bytes = new Uint8Array();
  while (bytes.length < MAX_HEAD_BYTES) {
    const chunk = new Uint8Array(4_096);
    const length = await client.read(chunk);
    if (length === null) break;
    const joined = new Uint8Array(bytes.length + length);
    joined.set(bytes);
    joined.set(chunk.subarray(0, length), bytes.length);
    bytes = joined;
    const end = new TextDecoder("latin1").decode(bytes).indexOf("\r\n\r\n");
    if (end === -1) continue;
    return {
      head: new TextDecoder("latin1").decode(bytes.subarray(0, end + 4)),
      remainder: bytes.subarray(end + 4),
    };
  }
  return { head: "", remainder: bytes };
}

async function sendResponse(client: Connection, status: string, message: string): Promise<void> {
  const body = `${message}\n`;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n` +
    `Content-Length: ${encode(body).length}\r\n\r\n`;
  await writeAll(client, encode(head + body));
}

async function copy(from: Connection, to: Connection): Promise<void> {
  const buffer = new Uint8Array(32 * 1024);
  for (;;) {
    const length = await from.read(buffer);
    if (length === null) break;
    await writeAll(to, buffer.subarray(0, length));
  }
  await to.closeWrite().catch(() => {});
}

async function writeAll(to: Connection, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length;) offset += await to.write(bytes.subarray(offset));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function close(connection: Connection): void {
  try {
    connection.close();
  } catch {
    // The connection is closed already.
  }
}
