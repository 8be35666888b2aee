import { assertEquals } from "@std/assert";
import { isLocalCaller, isLoopbackConnection, isLoopbackName } from "./local_caller.ts";

const LOCAL = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 } };

Deno.test("isLoopbackName(): knows the names and addresses of this machine, and no others", () => {
  for (
    const name of [
      "localhost",
      "LOCALHOST",
      "127.0.0.1",
      "127.1.2.3",
      "::1",
      "[::1]",
      "::ffff:127.0.0.1",
    ]
  ) {
    assertEquals(isLoopbackName(name), true, name);
  }
  for (
    const name of ["", "localhost.example.com", "127.0.0.1.nip.io", "128.0.0.1", "::2", "0.0.0.0"]
  ) {
    assertEquals(isLoopbackName(name), false, name);
  }
});

Deno.test("isLoopbackConnection(): is false without an address, and for one of another form", () => {
  assertEquals(isLoopbackConnection(LOCAL), true);
  for (
    const remoteAddr of [undefined, null, "127.0.0.1", {}, { hostname: 1 }, {
      hostname: "10.0.0.1",
    }]
  ) {
    assertEquals(isLoopbackConnection({ remoteAddr }), false, JSON.stringify(remoteAddr));
  }
  assertEquals(isLoopbackConnection(undefined), false);
});

Deno.test("isLocalCaller(): is false for requests that a reverse proxy has forwarded", () => {
  const request = (headers: HeadersInit) => new Request("http://localhost", { headers });
  assertEquals(isLocalCaller(request({}), LOCAL), true);
  for (const name of ["Forwarded", "Via", "X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP"]) {
    assertEquals(isLocalCaller(request({ [name]: "a" }), LOCAL), false, name);
  }
});
