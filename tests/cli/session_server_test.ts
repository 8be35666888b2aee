/**
 * Sessions whose server an option named.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { FileSessionStore } from "../../src/memory/mod.ts";
import { typeConversation } from "./conversation/plain_conversation.ts";
import { createFakeHost, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const OWN = "https://own.test/v1";
const DONE = scriptedReply("Done.");

/** Runs `swink run` in a home directory. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  model = [DONE],
) {
  const host = createFakeHost({
    model,
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path, ...env },
  });
  const code = await main(["run", "--cwd", `${home.path}/p`, "-q", ...args], host);
  return { code, messages: host.messages, url: host.requests[0]?.url };
}

Deno.test("swink run --continue: sends nothing to another server than that of --base-url", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const first = ["-m", "anthropic/tiny", "--base-url", `https://user:word@own.test/v1/?key=secret`];
  await run(home, [...first, "First"]);
  const refused = await run(home, ["-c", "Next"]);
  assertEquals([refused.code, refused.url], [3, undefined]);
  assertStringIncludes(refused.messages, `The session used the server at ${OWN}`);
  assertStringIncludes(refused.messages, `add --base-url ${OWN}`);
  assertStringIncludes(refused.messages, "add -m anthropic/tiny");
  assertStringIncludes((await run(home, ["-c", "--fork", "Next"])).messages, OWN);
  for (const [baseUrl, result] of [[OWN, 0], ["https://other.test", 3], [OWN, 0]] as const) {
    const { code, url } = await run(home, ["-c", "Next"], { ANTHROPIC_BASE_URL: baseUrl });
    assertEquals([code, url], [result, result === 0 ? `${OWN}/messages` : undefined]);
  }
});

Deno.test("swink run --continue: after a run with -m, sends the session to the provider's own server", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const model = ["-m", "anthropic/tiny"];
  await run(home, [...model, "First"]);
  assertEquals((await run(home, ["-c", "--base-url", OWN, ...model, "Next"])).code, 0);
  assertEquals((await run(home, ["-c", "Next"])).code, 3);
  const url = "https://api.anthropic.com/v1/messages";
  assertEquals((await run(home, ["-c", ...model, "Next"])).url, url);
  assertEquals((await run(home, ["-c", "Next"])).url, url);
});

Deno.test("swink run --continue: ignores a server that is not valid", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["First"]);
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  const [summary] = await store.list();
  const session = await store.open(summary?.id ?? "");
  for (const data of [7, [], { provider: "anthropic", baseUrl: "own" }, { baseUrl: OWN }]) {
    session.append({ type: "custom", name: "base_url", data });
  }
  await session.close();
  assertEquals((await run(home, ["-c", "Next"])).code, 0);
});

Deno.test("swink run --fork: sends a session to no other server after a rewind", async () => {
  const args = ["-m", "anthropic/tiny", "--base-url", OWN];
  const model = ["Hello!", "Hello again!"].map((text) => scriptedReply(text));
  await using first = await typeConversation({
    typed: ["First", "/rewind", "Second", "/quit"],
    model,
    args,
  });
  const { code, url } = await run(first.home, ["-c", "--fork", "Next"]);
  assertEquals([code, url], [3, undefined]);
  assertEquals((await run(first.home, ["-c", "--fork", "--base-url", OWN, "Next"])).code, 0);
  const { messages } = await run(first.home, ["-c", "Next"]);
  assertStringIncludes(messages, OWN);
});

Deno.test("swink run --resume: sends the session of a sub-agent to no other server", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const task = scriptedReply(scriptedCall("task", { prompt: "Look" }));
  const args = ["-m", "anthropic/tiny", "--base-url", OWN];
  await run(home, [...args, "First"], {}, [task, DONE, DONE]);
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  const id = (await store.list()).find(({ metadata }) => metadata)?.id ?? "";
  const refused = await run(home, ["-r", id, "Next"]);
  assertEquals([refused.code, refused.url], [3, undefined]);
  assertStringIncludes(refused.messages, `add --base-url ${OWN}`);
  assertEquals((await run(home, ["-r", id, "--fork", "Next"])).code, 3);
  assertEquals((await run(home, ["-r", id, "--base-url", OWN, "Next"])).code, 0);
  assertEquals((await run(home, ["-r", id, "Next"])).code, 3);
  assertEquals((await run(home, ["-r", id, "-m", "anthropic/tiny", "Next"])).code, 0);
  assertEquals((await run(home, ["-r", id, "Next"])).code, 0);
});

Deno.test("swink run --continue: quotes a URL with signs of a shell", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  for (
    const [url, quoted] of [
      ["http://[::1]:8080/v1", "'http://[::1]:8080/v1'"],
      ["https://own.test/$(id);'", String.raw`'https://own.test/$(id);'\'''`],
      [OWN, OWN],
    ] as const
  ) {
    await run(home, ["-m", "anthropic/tiny", "--base-url", url, "First"]);
    const { messages } = await run(home, ["-c", "Next"]);
    assertStringIncludes(messages, `add --base-url ${quoted}; to send`);
  }
});

Deno.test("/model: does not send a session of --base-url to another server", async () => {
  const args = ["-m", "anthropic/tiny", "--base-url", OWN];
  const model = [scriptedReply("Hello!")];
  await using first = await typeConversation({
    typed: ["First", "/model ollama/any", "/quit"],
    model,
    args,
  });
  const { home } = first;
  const typed = ["/model anthropic/tiny", "/quit"];
  await using refused = await typeConversation({ typed, home, args: ["-c"] });
  assertStringIncludes(refused.outputs[0] ?? "", `The session used the server at ${OWN}`);
  await using named = await typeConversation({
    typed: ["/model anthropic/other", "Next", "/quit"],
    home,
    model,
    args: ["-c", ...args],
  });
  assertEquals(named.host.requests.map(({ url }) => url), [`${OWN}/messages`]);
  await using own = await typeConversation({
    typed: ["/model anthropic/other", "Next", "/model anthropic/tiny", "/quit"],
    home,
    model,
    args: ["-c", "-m", "anthropic/tiny"],
  });
  assertEquals(own.host.requests.map(({ url }) => url), ["https://api.anthropic.com/v1/messages"]);
  assertStringIncludes(own.outputs[2] ?? "", "anthropic/tiny from now on");
});

Deno.test("/resume: does not continue a session of --base-url without that server", async () => {
  const args = ["-m", "anthropic/tiny", "--base-url", OWN];
  const model = [scriptedReply("Hello!")];
  await using first = await typeConversation({ typed: ["First", "/quit"], model, args });
  const { home } = first;
  assertStringIncludes(first.transcript, `--base-url ${OWN} continues this conversation`);
  const typed = ["/resume 1", "Next", "/quit"];
  await using second = await typeConversation({ typed, home, model });
  assertStringIncludes(second.outputs[0] ?? "", `The session used the server at ${OWN}`);
  assertEquals(second.requests.map(({ messages }) => messages.length), [1]);
  await using third = await typeConversation({
    typed: ["/resume 2", "Next", "/quit"],
    home,
    model,
    args: ["--base-url", "https://next.test", "-m", "anthropic/other"],
  });
  assertEquals(third.requests.map(({ messages }) => messages.length), [3]);
});
