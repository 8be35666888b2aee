import { assertEquals, assertThrows } from "@std/assert";
import { RequestFailure } from "../http/problem.ts";
import { checkHost } from "./check_origin.ts";

Deno.test("checkHost(): a Host header that is no name of a host is an error of the client", () => {
  // A server passes the header on as it is; the constructor refuses it.
  const request = new Request("http://localhost/v1/sessions");
  Object.defineProperty(request, "url", { value: "http://a b<>/v1/sessions" });
  const check = () => checkHost(request, { allowedHosts: undefined, connection: undefined });
  const { problem } = assertThrows(check, RequestFailure);
  assertEquals(problem.code, "bad_request");
});
