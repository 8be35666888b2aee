import type { ExpectedReply, ReplyFixture } from "../../src/testing/stream_fixture.ts";

/** Loads the fixtures of a provider by name, `.sse` files unless the name has another extension, with expected replies. */
export function loadFixtures(
  provider: string,
  expected: Readonly<Record<string, ExpectedReply>>,
): ReplyFixture[] {
  return Object.entries(expected).map(([name, expect]) => {
    const fileName = name.includes(".") ? name : `${name}.sse`;
    const file = new URL(`../fixtures/${provider}/${fileName}`, import.meta.url);
    const contentType = fileName.endsWith(".ndjson") ? "application/x-ndjson" : "text/event-stream";
    return { name, body: Deno.readFileSync(file), contentType, expect };
  });
}
