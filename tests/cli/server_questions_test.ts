/**
 * Requests of MCP servers for data of the user, in runs and conversations.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { toPlainText } from "../../cli/render/plain_text.ts";
import { type PlainConversation, typeConversation } from "./conversation/plain_conversation.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** A server with the tool `sign`, which asks for a name and returns the answer of the client. */
const SERVER = `while read -r line; do
  case "$line" in *'"id":'*) id=\${line##*'"id":'} id=\${id%%[,\\}]*} ;; *) continue ;; esac
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"mock","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"sign","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*)
      printf '{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{"message":"Who signs?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}\\n'
      read -r answer
      text=$(printf '%s' "$answer" | sed 's/.*"result"://; s/"/\\\\"/g')
      result="{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"$text\\"}]}" ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`;

const FILES = {
  "p/server.sh": SERVER,
  ".config/swink/mcp.json": JSON.stringify({
    mcpServers: { own: { command: "sh", args: ["server.sh"] } },
  }),
};
const MODEL = [scriptedReply(scriptedCall("mcp__own__sign", {})), scriptedReply("Done.")];

/** The answers to questions, by a part of the question. */
type Answers = readonly (readonly [question: string, answer: string])[];

interface RunOptions extends FakeHostOptions {
  readonly answers?: Answers;
  readonly args?: readonly string[];
}

/** Runs again if the server did not start within the five seconds that a run waits for it, on a busy machine. */
async function run(options: RunOptions = {}) {
  for (let attempt = 1;; attempt++) {
    const ran = await runOnce(options);
    if (ran.hasTool || attempt === MAX_ATTEMPTS) {
      assertEquals(ran.unasked, []);
      return ran;
    }
  }
}

const MAX_ATTEMPTS = 5;

/** Runs `swink run`; the model calls the tool, and the user answers. */
async function runOnce({ answers = [], args = [], ...options }: RunOptions) {
  await using home = await createTemporaryDirectory(FILES);
  let keys: ReadableStreamDefaultController<Uint8Array> | undefined;
  const input = new ReadableStream<Uint8Array>({ start: (controller) => void (keys = controller) });
  const host = createFakeHost({
    model: MODEL,
    input,
    ...options,
    env: {
      ANTHROPIC_API_KEY: "k",
      NO_COLOR: "1",
      HOME: home.path,
      PATH: Deno.env.get("PATH") ?? "",
    },
  });
  const remaining = [...answers];
  host.onMessage((text) => {
    const [question = "", answer = ""] = remaining[0] ?? [];
    if (question === "" || !text.includes(question)) return;
    remaining.shift();
    if (answer === "end") keys?.close();
    else keys?.enqueue(new TextEncoder().encode(answer));
  });
  const words = ["--no-session", "--cwd", `${home.path}/p`, ...args];
  const code = await main(["run", ...words, "Sign"], host);
  return {
    code,
    /** The questions that were not asked. */
    unasked: remaining.map(([question]) => question),
    hasTool: host.requests[0]?.body.includes("mcp__own__sign") ?? false,
    screen: toPlainText(host.screen),
    messages: host.messages,
    output: host.output,
    result: JSON.stringify(JSON.parse(host.requests[1]?.body ?? "{}").messages?.at(-1)),
  };
}

const TERMINAL = ["input", "output", "messages"] as const;

Deno.test("swink run: asks for data that a server requests at the terminal", async () => {
  const { code, screen, result } = await run({
    terminals: TERMINAL,
    answers: [["Allow?", "y"], ["Answer?", "y"], ["name: ", "Ada\n"], ["Send?", "y"]],
  });
  assertEquals(code, 0);
  assertStringIncludes(result, "accept");
  assertStringIncludes(result, "Ada");
  assertStringIncludes(screen, "\n? MCP server own asks for data\n  │ Who signs?\n  name\n");
  assertStringIncludes(
    screen,
    "? Data for MCP server own\n  │ name: Ada\n  Send? [y]es / [n]o: yes\n",
  );
});

Deno.test("swink run: the user declines or cancels a request for data", async () => {
  const answer = async (...answers: Answers) =>
    (await run({ terminals: TERMINAL, answers: [["Allow?", "y"], ...answers] })).result;
  assertStringIncludes(await answer(["Answer?", "n"]), "decline");
  assertStringIncludes(await answer(["Answer?", "end"]), "cancel");
  assertStringIncludes(await answer(["Answer?", "y"], ["name: ", "end"]), "cancel");
  assertStringIncludes(
    await answer(["Answer?", "y"], ["name: ", "Ada\n"], ["Send?", "n"]),
    "decline",
  );
});

Deno.test("swink run: without a terminal, a request for data is declined, and a warning says so", async () => {
  const reason = "MCP server own asked for data, which was declined: this run is not interactive";
  const text = await run({ input: "", args: ["--approve-all"] });
  assertEquals(text.code, 0);
  assertStringIncludes(text.result, "decline");
  assertMatch(text.messages, new RegExp(`^warning: ${reason}$`, "m"));
  const json = await run({ input: "", args: ["--approve-all", "--output-format", "json"] });
  assertStringIncludes(json.result, "decline");
  assertStringIncludes(json.messages, reason);
});

Deno.test("swink run --input-format stream-json: a request for data is declined", async () => {
  const lines = '{"type":"prompt","text":"Sign"}\n';
  const { result } = await run({
    terminals: TERMINAL,
    input: lines,
    args: ["--approve-all", "--input-format", "stream-json", "--output-format", "stream-json"],
  });
  assertStringIncludes(result, "decline");
});

/** Repeats a conversation whose server did not start in time. */
async function converse(type: () => Promise<PlainConversation>): Promise<PlainConversation> {
  for (let attempt = 1;; attempt++) {
    const conversation = await type();
    const tools = conversation.requests[0]?.tools ?? [];
    const hasTool = tools.some(({ name }) => name === "mcp__own__sign");
    if (hasTool || attempt === MAX_ATTEMPTS) return conversation;
    await conversation[Symbol.asyncDispose]();
  }
}

Deno.test("conversation: asks for data that a server requests", async () => {
  const files = { ...FILES };
  const env = { PATH: Deno.env.get("PATH") ?? "" };
  const typed = ["Sign", "y", "y", "Ada", "y", "/quit"];
  await using conversation = await converse(() =>
    typeConversation({ files, env, model: MODEL, typed })
  );
  const { transcript, requests } = conversation;
  assertStringIncludes(JSON.stringify(requests.at(-1)?.messages.at(-1)), "Ada");
  assertStringIncludes(transcript, "? MCP server own asks for data\n  │ Who signs?\n");
  assertStringIncludes(transcript, "  name: Ada\n");
  assertStringIncludes(transcript, "  Send? [y]es / [n]o: y\n");
});
