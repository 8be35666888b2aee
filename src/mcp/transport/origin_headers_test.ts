import { assertEquals } from "@std/assert";
import { keepHeadersAtOrigin } from "./origin_headers.ts";

/** Returns the headers with which a request to an address is sent. */
async function send(
  address: string | URL | Request,
  init?: RequestInit,
): Promise<Record<string, string>> {
  const sent: Headers[] = [];
  const fetch = keepHeadersAtOrigin(
    (input, init) => {
      sent.push(new Request(input, init).headers);
      return Promise.resolve(new Response());
    },
    {
      origin: "https://mcp.example",
      headers: { Authorization: "Bearer configured", "X-Key": "secret" },
    },
  );
  await fetch(address, init);
  return Object.fromEntries(sent[0] ?? []);
}

const CONFIGURED = { authorization: "Bearer configured", "x-key": "secret" };

Deno.test("keepHeadersAtOrigin(): the server gets its headers", async () => {
  const headers = { ...CONFIGURED, accept: "text/plain" };
  assertEquals(await send("https://mcp.example/a", { headers }), headers);
  assertEquals(await send(new URL("https://mcp.example:443/b?c"), { headers }), headers);
});

Deno.test("keepHeadersAtOrigin(): other origins get none of them, but the credentials that are for them", async () => {
  const headers = { ...CONFIGURED, accept: "text/plain" };
  for (
    const address of [
      "https://auth.example/token",
      "http://mcp.example/a",
      "https://mcp.example:8443/a",
      "https://mcp.example.test/a",
      new Request("https://auth.example/token"),
    ]
  ) {
    assertEquals(await send(address, { headers }), { accept: "text/plain" });
  }
  const basic = { authorization: "Basic client", "x-key": "secret" };
  assertEquals(await send("https://auth.example/token", { headers: basic }), {
    authorization: "Basic client",
  });
});
