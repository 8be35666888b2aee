import { assert, assertEquals } from "@std/assert";
import { createConnectionError, describeLostConnection } from "./connection_error.ts";

Deno.test("createConnectionError(): advises to start a server only at a local address", () => {
  const isAdvised = (url: string) =>
    createConnectionError(new Error("connection refused"), {
      provider: "acme",
      url,
      connectHint: "start it with: acme serve",
    }).message.includes("acme serve");
  for (const host of ["localhost", "127.0.0.1", "127.0.0.2", "[::1]", "0.0.0.0"]) {
    assertEquals(isAdvised(`http://${host}:1/v1`), true, host);
  }
  for (const host of ["acme.example", "10.0.0.1", "[::2]", "128.0.0.1"]) {
    assertEquals(isAdvised(`http://${host}:1/v1`), false, host);
  }
});

Deno.test("createConnectionError(): a port that fetch refuses and a proxy without a password are configuration errors", () => {
  const url = "http://acme.example:6000/v1";
  const explain = (message: string) => {
    const cause = new TypeError("fetch failed", { cause: new Error(message) });
    const { code, retryable, message: text } = createConnectionError(cause, {
      provider: "acme",
      url,
    });
    return [code, retryable, text.replace("acme: request to acme.example:6000 failed: ", "")];
  };
  const connect =
    "error sending request for url (http://acme.example:6000/v1): client error (Connect)";
  const port = ["bad_request", false, "fetch refuses this port: change the baseUrl"];
  // Deno and Node.
  assertEquals(explain("Fetch failed: Requests to port 6000 are blocked"), port);
  assertEquals(explain("bad port"), port);
  const password = "the proxy requires a name and a password: check HTTPS_PROXY or HTTP_PROXY";
  for (
    const message of [
      `${connect}: proxy authentication required`,
      "Proxy response (407) !== 200 when HTTP Tunneling",
    ]
  ) assertEquals(explain(message), ["bad_request", false, password]);
  const tunnel = "the proxy did not connect to the host (see HTTPS_PROXY or HTTP_PROXY)";
  for (
    const message of [
      `${connect}: unsuccessful tunnel`,
      "Proxy response (503) !== 200 when HTTP Tunneling",
    ]
  ) assertEquals(explain(message), ["network_error", true, tunnel]);
});

Deno.test("createConnectionError(): the port that the runtime refuses is explained", async () => {
  const url = "http://127.0.0.1:6000/v1";
  const cause = await fetch(url).then(() => undefined, (error: unknown) => error);
  const { code, message } = createConnectionError(cause, { provider: "acme", url });
  assertEquals([code, message], [
    "bad_request",
    "acme: request to 127.0.0.1:6000 failed: fetch refuses this port: change the baseUrl",
  ]);
});

/** Creates an error as Node's `fetch` does, with the reason as its cause. */
function createNodeError(message: string, code: string, reason: string): Error {
  return new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
}

Deno.test("createConnectionError(), describeLostConnection(): the limit of Node's fetch is named, with what removes it", () => {
  const head = createNodeError("fetch failed", "UND_ERR_HEADERS_TIMEOUT", "Headers Timeout Error");
  const { message, retryable } = createConnectionError(head, {
    provider: "ollama",
    url: "http://localhost:11434/api/chat",
  });
  const body = createNodeError("terminated", "UND_ERR_BODY_TIMEOUT", "Body Timeout Error");
  for (const text of [message, describeLostConnection(body)]) {
    assert(text.includes("within the limit of Node's fetch, by default 5 minutes: set"), text);
  }
  assertEquals(retryable, true);
});

Deno.test("describeLostConnection(): names the cause of an unspecific error", () => {
  const error = createNodeError("terminated", "UND_ERR_SOCKET", "other side closed");
  assertEquals(describeLostConnection(error), "terminated: UND_ERR_SOCKET other side closed");
  assertEquals(describeLostConnection(new Error("reset")), "reset");
  assertEquals(describeLostConnection("gone"), "gone");
});
