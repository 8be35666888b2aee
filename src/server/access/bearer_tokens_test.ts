import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { bearerTokens } from "./bearer_tokens.ts";

const request = new Request("http://localhost/");

Deno.test("bearerTokens(): returns the caller of a token, without the token", async () => {
  const authenticate = bearerTokens([
    { token: "first-token-0123456789", tenant: "acme", user: "amy" },
    { token: "second-token-0123456789", mayReadMetrics: true },
  ]);
  assertEquals(await authenticate("first-token-0123456789", request), {
    tenant: "acme",
    user: "amy",
  });
  assertEquals(await authenticate("second-token-0123456789", request), { mayReadMetrics: true });
});

Deno.test("bearerTokens(): begins no work before the first token is checked", async () => {
  const { subtle } = crypto;
  const { importKey } = subtle;
  let calls = 0;
  subtle.importKey = ((...values: Parameters<typeof importKey>) => {
    calls++;
    return importKey.apply(subtle, values);
  }) as typeof importKey;
  try {
    const authenticate = bearerTokens([{ token: "first-token-0123456789" }]);
    assertEquals(calls, 0);
    await Promise.all([authenticate("a", request), authenticate("b", request)]);
    assertEquals(calls, 1);
  } finally {
    subtle.importKey = importKey;
  }
});

Deno.test("bearerTokens(): accepts no other text", async () => {
  const token = "first-token-0123456789";
  const authenticate = bearerTokens([{ token }]);
  const others = ["", " ", token.slice(1), `${token}0`, token.toUpperCase(), `${token}\0`, "é"];
  for (const other of others) assertEquals(await authenticate(other, request), undefined);
});

Deno.test("bearerTokens(): throws for a list that is empty or has an invalid token", () => {
  const token = "first-token-0123456789";
  const cases: [unknown, string][] = [
    [[], "list of tokens"],
    ["token", "list of tokens"],
    [[{ token: "short" }], "16 or more"],
    [[{ token: "a token with blanks in it" }], "letters"],
    [[{ token }, { token }], "Token 2 is in the list twice"],
    [[{ token, tenat: "acme" }], "did you mean tenant?"],
    [[null], "Token 1 must be an object"],
  ];
  for (const [tokens, message] of cases) {
    assertThrows(() => bearerTokens(tokens as never), BadRequestError, message);
  }
});
