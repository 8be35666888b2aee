import { assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../ports/ports.ts";
import { checkToken } from "./check_token.ts";

function check(authorization: string | undefined, timeoutMs = 1_000): Promise<string> {
  const headers = authorization === undefined ? {} : { authorization };
  return checkToken(new Request("http://localhost", { headers }), {
    decide: (token) => `<${token}>`,
    timeoutMs,
    clock: systemClock,
  });
}

Deno.test("checkToken(): passes the bearer token, or an empty one", async () => {
  assertEquals(await check("Bearer a.b-c"), "<a.b-c>");
  assertEquals(await check("bearer  a "), "<a>");
  for (const header of [undefined, "", "Basic YTpi", "Bearer", "Bearer a b", "xBearer a"]) {
    assertEquals(await check(header), "<>", header);
  }
});

Deno.test("checkToken(): rejects if the decision throws, rejects or takes too long", async () => {
  const request = new Request("http://localhost");
  const decisions: [() => Promise<never>, string][] = [
    [() => {
      throw new Error("thrown");
    }, "thrown"],
    [() => Promise.reject(new Error("rejected")), "rejected"],
    [() => new Promise<never>(() => {}), "The decision about the token took longer than 1 ms"],
  ];
  for (const [decide, message] of decisions) {
    const checking = checkToken(request, { decide, timeoutMs: 1, clock: systemClock });
    await assertRejects(() => checking, Error, message);
  }
});
