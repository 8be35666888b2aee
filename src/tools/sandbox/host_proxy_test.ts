import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { withDeadline } from "../../../tests/deadline.ts";
import type { Connection } from "../../platform/socket_calls.ts";
import { system } from "../../platform/system.ts";
import { isAllowedHost, type ProxyTarget, startHostProxy } from "./host_proxy.ts";

/** Starts a server that sends back the first data of each connection and closes it. */
async function startEchoServer(): Promise<{ readonly port: number } & AsyncDisposable> {
  const listener = await system.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(65_536);
      const length = await connection.read(buffer);
      await connection.write(buffer.subarray(0, length ?? 0));
      connection.close();
    }
  })();
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

function sendThroughProxy(port: number, first: string, second?: string): Promise<string> {
  return withDeadline(exchange(port, first, second));
}

async function exchange(port: number, first: string, second?: string): Promise<string> {
  const connection = await system.connect({ hostname: "127.0.0.1", port });
  let received = "";
  await connection.write(new TextEncoder().encode(first));
  if (second !== undefined) {
    const buffer = new Uint8Array(65_536);
    const length = await connection.read(buffer) ?? 0;
    received += new TextDecoder().decode(buffer.subarray(0, length));
    await connection.write(new TextEncoder().encode(second));
  }
  received += await readText(connection);
  connection.close();
  return received;
}

/** Reads all data until the other side ends. */
async function readText(connection: Connection): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    const length = await connection.read(buffer);
    if (length === null) return text;
    text += decoder.decode(buffer.subarray(0, length));
  }
}

Deno.test("startHostProxy(): tunnels to allowed hosts, and only to public addresses of hosts that a wildcard allows", async () => {
  await using server = await startEchoServer();
  const reached: ProxyTarget[] = [];
  await using proxy = await startHostProxy({
    hosts: ["*.example.org", "example.net"],
    resolve: () => Promise.resolve(["10.0.0.1", "93.184.215.14"]),
    connect: (target) => {
      reached.push(target);
      return system.connect({ hostname: "127.0.0.1", port: server.port });
    },
  });
  for (const host of ["a.example.org", "example.net"]) {
    const received = await sendThroughProxy(
      proxy.port,
      `CONNECT ${host}:443 HTTP/1.1\r\n\r\n`,
      "secret bytes",
    );
    assertEquals(received, "HTTP/1.1 200 Connection established\r\n\r\nsecret bytes");
  }
  assertEquals(reached, [
    { hostname: "93.184.215.14", port: 443 },
    { hostname: "example.net", port: 443 },
  ]);
});

Deno.test("startHostProxy(): forwards one plain request per connection to the host of its URL, without proxy headers", async () => {
  await using server = await startEchoServer();
  await using proxy = await startHostProxy({
    hosts: ["example.org:80"],
    resolve: () => Promise.resolve(["93.184.215.14"]),
    connect: () => system.connect({ hostname: "127.0.0.1", port: server.port }),
  });
  const received = await sendThroughProxy(
    proxy.port,
    "GET http://example.org/a?b HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\n\r\n",
  );
  assertEquals(received, "GET /a?b HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
});

Deno.test("startHostProxy(): refuses other hosts, private addresses behind a wildcard, and invalid requests", async () => {
  await using proxy = await startHostProxy({
    hosts: ["*.example.org"],
    resolve: () => Promise.resolve(["10.0.0.1"]),
    connect: () => Promise.reject(new Error("must not connect")),
  });
  const sendHead = (head: string) => sendThroughProxy(proxy.port, `${head}\r\n\r\n`);
  assertStringIncludes(await sendHead("CONNECT evil.test:443 HTTP/1.1"), "403 Forbidden");
  assertStringIncludes(
    await sendHead("CONNECT example.org.evil.test:443 HTTP/1.1"),
    "403 Forbidden",
  );
  assertStringIncludes(await sendHead("CONNECT 127.0.0.1:22 HTTP/1.1"), "403 Forbidden");
  assertStringIncludes(await sendHead("CONNECT a.example.org:443 HTTP/1.1"), "502 Bad Gateway");
  assertStringIncludes(await sendHead("GET / HTTP/1.1"), "400 Bad Request");
  assertStringIncludes(await sendHead("GET ftp://example.org/ HTTP/1.1"), "400 Bad Request");
  assertStringIncludes(await sendHead("nonsense"), "400 Bad Request");
});

Deno.test("isAllowedHost(): compares names, subdomains of a wildcard, and ports", () => {
  const allows = (hostname: string, port: number, ...hosts: string[]) =>
    isAllowedHost({ hostname, port }, hosts);
  assertEquals(allows("example.org", 443, "example.org"), true);
  assertEquals(allows("EXAMPLE.org.", 443, "example.ORG"), true);
  assertEquals(allows("a.example.org", 443, "example.org"), false);
  assertEquals(allows("a.example.org", 443, "*.example.org"), true);
  assertEquals(allows("notexample.org", 443, "*.example.org"), false);
  assertEquals(allows("example.org", 80, "example.org:443"), false);
});

Deno.test("host proxy: serves 256 connections at a time, and others when these end", async () => {
  await using proxy = await startHostProxy({ hosts: [] });
  const connect = () => system.connect({ hostname: "127.0.0.1", port: proxy.port });
  const idle = await Promise.all(Array.from({ length: 256 }, connect));
  const later = await connect();
  await later.write(new TextEncoder().encode("GET http://example.org/ HTTP/1.1\r\n\r\n"));
  const response = readText(later);
  const waiting = new Promise<string>((resolve) => setTimeout(resolve, 50, "waits"));
  const first = await Promise.race([response, waiting]);
  idle.forEach((connection) => connection.close());
  assertMatch(await response, /403 Forbidden/);
  later.close();
  assertEquals(first, "waits");
});
