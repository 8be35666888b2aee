import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { VERSION } from "../../cli/host/version.ts";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Runs `swink run` in a temporary directory. */
async function runSession(options: FakeHostOptions, ...args: string[]) {
  await using home = await createTemporaryDirectory({ "project/notes.txt": "milk\neggs\n" });
  const env = { ...(options.env ?? KEY_ENV), HOME: home.path };
  const host = createFakeHost({ ...options, env });
  const code = await main(["run", "--cwd", `${home.path}/project`, ...args], host);
  return { code, host };
}

const READ_REPLY = scriptedReply("Let me look.", scriptedCall("read_file", { path: "notes.txt" }));
const DONE_REPLY = scriptedReply("Milk and eggs.");
const KEY_ENV = { ANTHROPIC_API_KEY: "k" };
const NO_COLOR_ENV = { ...KEY_ENV, NO_COLOR: "1" };
const ALL_TERMINALS = { terminals: ["input", "output", "messages"] } as const;

Deno.test("swink run: writes the answer to standard output and the rest to standard error", async () => {
  const { code, host } = await runSession(
    { model: [READ_REPLY, DONE_REPLY] },
    "--sandbox",
    "off",
    "What is to be bought?",
  );
  assertEquals(code, 0);
  const answer = host.written.filter(({ to }) => to === "output");
  assertEquals(answer, [{ to: "output", text: "Milk and eggs.\n" }]);
  const header =
    `anthropic/claude-sonnet-5-5 · ~/project · refuses what needs approval · net on · sandbox off\n`;
  assertEquals(
    host.messages,
    `${header}• read_file notes.txt · 2 lines\n2 turns · 200 tokens in, 40 out · $0.0008 · 0.0 s\n`,
  );
});

Deno.test("swink run: streams text between the lines of tool calls on a terminal", async () => {
  const { host } = await runSession(
    {
      ...ALL_TERMINALS,
      model: [READ_REPLY, DONE_REPLY],
      env: NO_COLOR_ENV,
    },
    "--sandbox",
    "off",
    "What?",
  );
  assertEquals(
    host.screen,
    "anthropic/claude-sonnet-5-5 · ~/project · asks first · net on · sandbox off\n\n" +
      "Let me look.\n\n• read_file notes.txt · 2 lines\n\nMilk and eggs.\n\n" +
      "2 turns · 200 tokens in, 40 out · $0.0008 · 0.0 s\n",
  );
});

Deno.test("swink run: colors lines on a terminal, except with NO_COLOR or TERM=dumb", async () => {
  const isColored = async (env: Record<string, string>) => {
    const { host } = await runSession({
      ...ALL_TERMINALS,
      model: [READ_REPLY, DONE_REPLY],
      env: { ...KEY_ENV, ...env },
    }, "?");
    return host.screen.includes("\x1b[");
  };
  assertEquals(await isColored({}), true);
  assertEquals(await isColored({ NO_COLOR: "1" }), false);
  assertEquals(await isColored({ TERM: "dumb" }), false);
});

Deno.test("swink run: wraps text and truncates lines to 60 columns", async () => {
  const text =
    "A rather long sentence that has to be broken somewhere, and another one behind it. ";
  const { host } = await runSession({
    ...ALL_TERMINALS,
    columns: 60,
    env: NO_COLOR_ENV,
    model: [
      scriptedReply(
        text.repeat(3),
        scriptedCall("search_files", { pattern: "x".repeat(200), path: "." }),
      ),
      scriptedReply(text.repeat(2)),
    ],
  }, "?");
  for (const line of host.screen.split("\n")) assert(line.length <= 60, line);
});

Deno.test("swink run: removes escape sequences from text and tool calls of the model", async () => {
  const { host } = await runSession({
    ...ALL_TERMINALS,
    env: NO_COLOR_ENV,
    model: [
      scriptedReply(
        "\x1b]0;owned\x07Hello \x1b[31mred\x1b[0m \u202eback",
        scriptedCall("read_file", { path: "\x1b[2Ja" }),
      ),
      scriptedReply("\x9b31mDone\x07."),
    ],
  }, "?");
  // deno-lint-ignore no-control-regex -- control characters must be absent
  assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(host.screen), JSON.stringify(host.screen));
  assertStringIncludes(host.screen, "Hello red back");
  assertStringIncludes(host.screen, "Done.");
});

Deno.test("swink -p: is short for run, with options before or after it", async () => {
  for (
    const args of [["-p", "Hello"], ["-m", "anthropic/claude-opus-5", "-p", "Hello"], [
      "-p",
      "-o",
      "text",
      "Hello",
    ]]
  ) {
    const host = createFakeHost({ model: [scriptedReply("Hi.")] });
    assertEquals(await main(args, host), 0);
    assertEquals(host.output, "Hi.\n");
  }
});

Deno.test("swink run: arguments after -- are part of the prompt", async () => {
  const { host } = await runSession({ model: [DONE_REPLY] }, "--", "--explain", "-x");
  assertEquals(getPromptText(host.requests[0]?.body), "--explain -x");
});

Deno.test("swink run: piped input is the prompt or is added to it", async () => {
  const getSentPrompt = async (input: string, ...words: string[]) => {
    const { code, host } = await runSession({ input, model: [DONE_REPLY] }, ...words);
    return code === 0 ? getPromptText(host.requests[0]?.body) : host.messages;
  };
  assertEquals(await getSentPrompt("What is new?\n"), "What is new?\n");
  assertEquals(await getSentPrompt("a\nb\n", "Sort this"), "Sort this\n\n<stdin>\na\nb\n</stdin>");
  assertEquals(await getSentPrompt("a\n", "Sort", "-"), "Sort\n\n<stdin>\na\n</stdin>");
  assertEquals(await getSentPrompt("a\n", "-"), "a\n");
  assertEquals(await getSentPrompt("", "Sort this"), "Sort this");
  assertStringIncludes(await getSentPrompt(" \n"), "The prompt is empty");
});

Deno.test("swink run: rejects input larger than 10 MB", async () => {
  const { code, host } = await runSession({ input: "x".repeat(10_000_001) }, "Hello");
  assertEquals(code, 2);
  assertStringIncludes(host.messages, "larger than 10 MB");
});

Deno.test("swink run: passes the options to the provider", async () => {
  const options = [
    "--system",
    "Be brief.",
    "--base-url",
    "http://127.0.0.1:9/x",
    "-m",
    "anthropic/claude-opus-5:high",
  ];
  const { host } = await runSession({ model: [DONE_REPLY] }, ...options, "Hello");
  const [request] = host.requests;
  const body = JSON.parse(request?.body ?? "");
  assertEquals(request?.url, "http://127.0.0.1:9/x/v1/messages");
  assertEquals(body.model, "claude-opus-5");
  assertEquals(body.system[0].text, "Be brief.");
  assertEquals(body.output_config, { effort: "high" });
});

Deno.test("swink run: sends the default system prompt and seven tools", async () => {
  const { host } = await runSession({ model: [DONE_REPLY] }, "Hello");
  const body = JSON.parse(host.requests[0]?.body ?? "");
  assertStringIncludes(body.system[0].text, "You are Swink");
  assertMatch(body.system[0].text, /Working directory: .*swink test /);
  assertEquals(body.tools.length, 7);
});

Deno.test("swink run: --base-url connects to an OpenAI-compatible server", async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const body = `${chunk({ role: "assistant", content: "Hi " })}${chunk({ content: "there." })}${
    chunk({}, "stop")
  }data: [DONE]\n\n`;
  const response = { headers: { "content-type": "text/event-stream" }, body };
  const args = ["-m", "openai/tiny", "--base-url", "http://127.0.0.1:8000/v1"];
  const env = { OPENAI_API_KEY: "k" };
  const { code, host } = await runSession({ model: [response], env }, ...args, "Hello");
  assertEquals({ code, output: host.output }, { code: 0, output: "Hi there.\n" });
  assertEquals(host.requests[0]?.url, "http://127.0.0.1:8000/v1/chat/completions");
});

Deno.test("swink run: identifies itself to the provider", async () => {
  const { host } = await runSession({ model: [DONE_REPLY] }, "Hello");
  assertEquals(host.requests[0]?.headers.get("user-agent"), `swink/${VERSION}`);
});

Deno.test("swink run: a value may follow a short flag, and the last occurrence of an option applies", async () => {
  const args = ["-manthropic/claude-opus-5", "-m", "anthropic/claude-haiku-5-5", "-ojson"];
  const { host } = await runSession({ model: [DONE_REPLY] }, ...args, "Hello");
  assertEquals(JSON.parse(host.requests[0]?.body ?? "").model, "claude-haiku-5-5");
  assertEquals(JSON.parse(host.output).text, "Milk and eggs.");
});

Deno.test("swink run: -q writes the answer only, --plain neither colors nor escape sequences", async () => {
  const model = [READ_REPLY, DONE_REPLY];
  const quiet = await runSession({ ...ALL_TERMINALS, model }, "-q", "What?");
  assertEquals(quiet.host.screen, "Milk and eggs.\n");
  const env = { ...KEY_ENV, FORCE_COLOR: "1" };
  const plain = await runSession({ ...ALL_TERMINALS, model, env }, "--plain", "What?");
  assert(!plain.host.screen.includes("\x1b"));
});

Deno.test("swink run: an answer without text is reported", async () => {
  const { code, host } = await runSession({ model: [scriptedReply()] }, "Hello");
  assertEquals([code, host.output], [0, ""]);
  assertStringIncludes(host.messages, "swink: the model replied without text\n");
});

Deno.test("swink run: SWINK_MODEL selects the model without -m", async () => {
  const env = { SWINK_MODEL: "anthropic/claude-haiku-5-5", ANTHROPIC_API_KEY: "k" };
  const { host } = await runSession({ model: [DONE_REPLY], env }, "Hello");
  assertEquals(JSON.parse(host.requests[0]?.body ?? "").model, "claude-haiku-5-5");
});

/** Returns the text of the last message of a request to Anthropic. */
function getPromptText(body = "{}"): string {
  const { messages } = JSON.parse(body);
  return messages.at(-1).content.at(-1).text;
}
