import { assertEquals } from "@std/assert";
import { createConnectionError } from "./connection_error.ts";

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
