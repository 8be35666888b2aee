import { assertEquals, assertStringIncludes } from "@std/assert";
import { isAllowed, type ProxyTarget, startHostProxy } from "./host_proxy.ts";

/** A server that answers every connection with what it was sent, and then closes. */
function startEchoServer(): { readonly port: number } & AsyncDisposable {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
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

async function sendThroughProxy(port: number, first: string, second?: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let heard = "";
  await connection.write(new TextEncoder().encode(first));
  if (second !== undefined) {
    heard += decoder.decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
    await connection.write(new TextEncoder().encode(second));
  }
  for (
    let length = await connection.read(buffer);
    length !== null;
    length = await connection.read(buffer)
  ) {
    heard += decoder.decode(buffer.subarray(0, length));
  }
  return heard;
}

Deno.test("a tunnel to an allowed host carries bytes both ways; a name that a star stands for is judged", async () => {
  await using server = startEchoServer();
  const reached: ProxyTarget[] = [];
  await using proxy = startHostProxy({
    hosts: ["*.example.org", "example.net"],
    resolve: () => Promise.resolve(["10.0.0.1", "93.184.215.14"]),
    connect: (target) => {
      reached.push(target);
      return Deno.connect({ hostname: "127.0.0.1", port: server.port });
    },
  });
  for (const host of ["a.example.org", "example.net"]) {
    const heard = await sendThroughProxy(
      proxy.port,
      `CONNECT ${host}:443 HTTP/1.1\r\n\r\n`,
      "secret bytes",
    );
    assertEquals(heard, "HTTP/1.1 200 Connection established\r\n\r\nsecret bytes");
  }
  assertEquals(reached, [
    { hostname: "93.184.215.14", port: 443 },
    { hostname: "example.net", port: 443 },
  ]);
});

Deno.test("a plain request is handed on for its host, once per connection", async () => {
  await using server = startEchoServer();
  await using proxy = startHostProxy({
    hosts: ["example.org:80"],
    resolve: () => Promise.resolve(["93.184.215.14"]),
    connect: () => Deno.connect({ hostname: "127.0.0.1", port: server.port }),
  });
  const heard = await sendThroughProxy(
    proxy.port,
    "GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\n\r\n",
  );
  assertEquals(heard, "GET /a?b HTTP/1.1\r\nConnection: close\r\nHost: example.org\r\n\r\n");
});

Deno.test("other hosts, private addresses behind a name, and what is no proxy request are refused", async () => {
  await using proxy = startHostProxy({
    hosts: ["*.example.org"],
    resolve: () => Promise.resolve(["10.0.0.1"]),
    connect: () => Promise.reject(new Error("must not connect")),
  });
  const say = (head: string) => sendThroughProxy(proxy.port, `${head}\r\n\r\n`);
  assertStringIncludes(await say("CONNECT evil.test:443 HTTP/1.1"), "403 Forbidden");
  assertStringIncludes(await say("CONNECT example.org.evil.test:443 HTTP/1.1"), "403 Forbidden");
  assertStringIncludes(await say("CONNECT 127.0.0.1:22 HTTP/1.1"), "403 Forbidden");
  assertStringIncludes(await say("CONNECT a.example.org:443 HTTP/1.1"), "502 Bad Gateway");
  assertStringIncludes(await say("GET / HTTP/1.1"), "400 Bad Request");
  assertStringIncludes(await say("GET ftp://example.org/ HTTP/1.1"), "400 Bad Request");
  assertStringIncludes(await say("nonsense"), "400 Bad Request");
});

Deno.test("a list of hosts: whole names, everything below a name, ports", () => {
  const fits = (hostname: string, port: number, ...hosts: string[]) =>
    isAllowed({ hostname, port }, hosts);
  assertEquals(fits("example.org", 443, "example.org"), true);
  assertEquals(fits("EXAMPLE.org.", 443, "example.ORG"), true);
  assertEquals(fits("a.example.org", 443, "example.org"), false);
  assertEquals(fits("a.example.org", 443, "*.example.org"), true);
  assertEquals(fits("notexample.org", 443, "*.example.org"), false);
  assertEquals(fits("example.org", 80, "example.org:443"), false);
});
