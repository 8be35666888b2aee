/**
 * Runs whose conversation exceeds the context window of the model.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const OVERFLOW = {
  status: 400,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "prompt is too long: 210000 tokens > 200000 maximum",
    },
  }),
};

async function run(
  home: TemporaryDirectory,
  options: Parameters<typeof createFakeHost>[0],
  ...args: string[]
) {
  const host = createFakeHost({
    ...options,
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path },
  });
  const code = await main(["run", "--cwd", `${home.path}/p`, ...args], host);
  return { code, messages: host.messages, bodies: host.requests.map(({ body }) => body) };
}

/** A run that reads a file ten times, after which the next request is too long. */
const LINE = "A line of a long file, which the model reads several times.\n";
const READS = Array.from(
  { length: 10 },
  () => scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
);

Deno.test("swink run: a hook runs before a summary, and may end the run", async () => {
  for (
    const [command, expected] of [["cat > ../log", 0], ["echo enough >&2; exit 2", 5]] as const
  ) {
    await using home = await createTemporaryDirectory({
      "p/a.txt": LINE.repeat(100),
      ".config/swink/config.toml": `[[hooks.PreCompact]]\ncommand = ${JSON.stringify(command)}\n`,
    });
    const model = [...READS, OVERFLOW, scriptedReply("Goal: count."), scriptedReply("Done.")];
    const { code, messages, bodies } = await run(home, { model }, "--no-session", "Count");
    assertEquals([code, bodies.length], [expected, expected === 0 ? 13 : 11], messages);
    if (expected === 0) assertEquals(JSON.parse(home.read("log")).hook_event_name, "PreCompact");
    else assertStringIncludes(messages, "enough");
  }
});

for (
  const [words, status, type] of [
    ["the key of the model is rejected", 401, "authentication_error"],
    ["the provider of the model requests a long wait", 429, "rate_limit_error"],
  ] as const
) {
  Deno.test(`swink run --fallback-model: another model writes the summary when ${words}`, async () => {
    await using home = await createTemporaryDirectory({ "p/a.txt": LINE.repeat(100) });
    const rejected = {
      status,
      headers: { "content-type": "application/json", "retry-after": "1800" },
      body: JSON.stringify({ error: { type, message: "expired" } }),
    };
    const model = [
      ...READS,
      OVERFLOW,
      rejected,
      scriptedReply("Goal: count."),
      scriptedReply("Done."),
    ];
    const args = ["--no-session", "-m", "anthropic/a", "--fallback-model", "anthropic/b", "Count"];
    const { code, messages, bodies } = await run(home, { model }, ...args);
    assertEquals(code, 0, messages);
    const models = bodies.slice(READS.length).map((body) => JSON.parse(body).model);
    assertEquals(models, ["a", "a", "b", "a"]);
  });
}

Deno.test("swink run: continues with a summary when the conversation is too long for the model", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": LINE.repeat(100) });
  const { code, messages, bodies } = await run(home, {
    model: [
      ...READS,
      OVERFLOW,
      scriptedReply("Goal: count. Read a.txt ten times."),
      scriptedReply("Done."),
    ],
  }, "Count");
  assertEquals(code, 0, messages);
  const [overflowed = "", summary = "", last = ""] = bodies.slice(10);
  assert(last.length < overflowed.length / 2, `${last.length} of ${overflowed.length}`);
  assertStringIncludes(summary, "Call of read_file");
  assertStringIncludes(last, "Goal: count. Read a.txt ten times.");
  assertStringIncludes(messages, "context");
  // The session keeps the summary.
  const next = await run(home, { model: [scriptedReply("Yes.")] }, "--continue", "Really?");
  assertStringIncludes(next.bodies[0] ?? "", "Goal: count. Read a.txt ten times.");
  assert((next.bodies[0] ?? "").length < overflowed.length / 2);
});

Deno.test("swink run: a summary may take ten minutes, as models on this device need", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": LINE.repeat(100) });
  const delays: (number | undefined)[] = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((callback: () => void, delay?: number) => {
    delays.push(delay);
    return setTimeout(callback, delay);
  }) as typeof setTimeout;
  try {
    const model = [...READS, OVERFLOW, scriptedReply("Goal: count."), scriptedReply("Done.")];
    const { code, messages } = await run(home, { model }, "--no-session", "Count");
    assertEquals([code, delays.filter((delay) => delay === 600_000).length], [0, 1], messages);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
});
