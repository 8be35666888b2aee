import type { ExpectedReply, ReplyFixture } from "../../src/testing/stream_fixture.ts";

/** The project's own fixtures of a provider: the files that are named, and what each must come to. */
export function ownFixtures(
  provider: string,
  expected: Readonly<Record<string, ExpectedReply>>,
): ReplyFixture[] {
  return Object.entries(expected).map(([name, expect]) => {
    const file = new URL(`../fixtures/${provider}/${name}.sse`, import.meta.url);
    return { name, body: Deno.readFileSync(file), expect };
  });
}
