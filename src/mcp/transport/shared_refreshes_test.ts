import { assertEquals } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { createTokenFetch } from "./token_fetch.ts";

/** An authorization server whose answers the test gives, and the client's requests to it. */
class TokenClient {
  /** The answers that are waited for. */
  readonly sent = [] as ReturnType<typeof createDeferred<Response>>[];
  readonly discarded: string[] = [];
  readonly clock = new ManualClock();
  readonly #fetch = createTokenFetch({
    fetch: () => {
      const answer = createDeferred<Response>();
      this.sent.push(answer);
      return answer.promise;
    },
    invalidate: (credentials) => Promise.resolve(void this.discarded.push(credentials)),
    report: () => {},
    clock: this.clock,
  });

  async refresh(token: string): Promise<unknown> {
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token });
    const response = await this.#fetch("https://a.test/token", { method: "POST", body });
    return await response.json();
  }

  answer(body: object, status = 200): void {
    this.sent.at(-1)?.resolve(Response.json(body, { status }));
  }
}

const next = { access_token: "b", token_type: "Bearer", refresh_token: "2" };

Deno.test("OAuth: a refresh token is sent once for requests at the same time and shortly after", async () => {
  const client = new TokenClient();
  const results = [client.refresh("1"), client.refresh("1")];
  client.answer(next);
  results.push(client.refresh("1"));
  assertEquals(await Promise.all(results), [next, next, next]);
  client.clock.advance(9_999);
  assertEquals(await client.refresh("1"), next);
  assertEquals(client.sent.length, 1);

  client.clock.advance(1);
  const late = client.refresh("1");
  assertEquals(client.sent.length, 2);
  client.answer({ error: "invalid_grant" }, 400);
  await late;
  assertEquals(client.discarded, ["tokens"]);
});

Deno.test("OAuth: a refresh token that stays valid, or another one, is sent again", async () => {
  for (const answer of [{ access_token: "b" }, { access_token: "b", refresh_token: "1" }]) {
    const client = new TokenClient();
    for (let count = 1; count <= 2; count++) {
      const result = client.refresh("1");
      assertEquals(client.sent.length, count);
      client.answer(answer);
      assertEquals(await result, answer);
    }
  }
  const client = new TokenClient();
  const results = [client.refresh("1"), client.refresh("2")];
  assertEquals(client.sent.length, 2);
  for (const sent of client.sent) sent.resolve(Response.json(next));
  await Promise.all(results);
});

Deno.test("OAuth: a failure is the answer of the requests at the same time only, and is reported once", async () => {
  const client = new TokenClient();
  const results = [client.refresh("1"), client.refresh("1")];
  client.answer({ error: "invalid_grant" }, 400);
  await Promise.all(results);
  assertEquals(client.discarded, ["tokens"]);
  const again = client.refresh("1");
  assertEquals(client.sent.length, 2);
  client.sent.at(-1)?.reject(new TypeError("connection refused"));
  await again;
});

Deno.test("OAuth: a refresh token is sent again after 30 seconds when the authorization server does not answer", async () => {
  const client = new TokenClient();
  const results = [client.refresh("1"), client.refresh("1")];
  client.clock.advance(29_999);
  results.push(client.refresh("1"));
  assertEquals(client.sent.length, 1);
  client.clock.advance(1);
  const failure = {
    error: "temporarily_unavailable",
    error_description: "The authorization server did not answer within 30 seconds",
  };
  assertEquals(await Promise.all(results), [failure, failure, failure]);

  const again = client.refresh("1");
  assertEquals(client.sent.length, 2);
  client.answer(next);
  assertEquals(await again, next);
  assertEquals([client.clock.sleepers, client.discarded], [0, []]);
});
