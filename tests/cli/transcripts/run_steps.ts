/**
 * The transcripts of `swink run`.
 *
 * @module
 */

import { type FakeHostOptions, scriptedCall, scriptedReply } from "../fake_host.ts";
import type { Step, Transcript } from "./transcript.ts";

const TERMINAL = ["input", "output", "messages"] as const;
const CONFIG = ".config/swink/config.toml";
/** The home directory of a test may have a long path. */
const WIDE = { terminals: TERMINAL, columns: 200 };
const DONE = scriptedReply("Done.");

type Model = NonNullable<FakeHostOptions["model"]>;

/** Returns a step in which the model replies. */
function reply(line: string, model: Model = [DONE], options: Omit<Step, "line" | "model"> = {}) {
  return { line, model, ...options };
}

/** Returns a reply with one call, and the one after it. */
function call(name: string, args: Readonly<Record<string, unknown>>): Model {
  return [scriptedReply(scriptedCall(name, args)), DONE];
}

function fail(status: number, type: string, message: string): Model {
  const headers = {
    "content-type": "application/json",
    "x-should-retry": "false",
    "request-id": "req_1",
  };
  return [{ status, headers, body: JSON.stringify({ type: "error", error: { type, message } }) }];
}

const BASH = call("bash", { command: "echo 1 > made" });
const SCHEMA = `'{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'`;

/** The transcripts: runs, their questions, and their errors. */
export const RUN_TRANSCRIPTS: readonly Transcript[] = [
  {
    name: "run",
    steps: [
      "swink run --help",
      reply('swink run "Say it"'),
      reply('swink run --plain "Say it"', [DONE], { terminals: TERMINAL }),
      reply("swink run -", [DONE], { input: "From a pipe" }),
      reply('swink run -q "Read it"', call("read_file", { path: "a.txt" })),
      reply('swink run "Read it"', call("read_file", { path: "a.txt" })),
      reply('swink run -v "Read it"', call("read_file", { path: "a.txt" })),
      reply('swink run "Read it"', call("read_file", { path: "b.txt" })),
      reply('swink run "Change it"', BASH),
      reply('swink run --permission-mode bypass "Change it"', BASH),
      reply('swink run --permission-mode acceptEdits --patch - "Change it"', [
        scriptedReply(scriptedCall("write_file", { path: "b.txt", content: "B\n" })),
        DONE,
      ]),
      reply('swink run --patch HOME/p.patch "Change it"'),
      reply('swink run -o json "Say it"'),
      reply(`swink run --json-schema ${SCHEMA} "Count"`, [
        scriptedReply(scriptedCall("structured_output", { n: 3 })),
      ]),
      reply('swink run --output-last-message HOME/last.txt "Say it"'),
      reply('swink run --disallowed-tools bash "Change it"', BASH),
      reply('swink run "Call it"', call("nothing", {})),
      reply('swink run "Say nothing"', [scriptedReply("")]),
      reply('swink run -c "Go on"'),
      reply('swink run "And @a.txt"'),
    ],
  },
  {
    name: "run_questions",
    files: { "q/.swink/config.toml": "max_turns = 5\n" },
    steps: [
      reply('swink run "Change it"', BASH, { terminals: TERMINAL, answers: [["?", "y"]] }),
      reply('swink run "Change it"', BASH, { terminals: TERMINAL, answers: ["n"] }),
      reply(
        'swink run "Change it"',
        call("write_file", { path: "b.txt", content: "B\n" }),
        { terminals: TERMINAL, answers: ["a"] },
      ),
      reply(
        'swink run "Change it"',
        call("edit_file", { path: "a.txt", edits: [{ old_string: "A", new_string: "B" }] }),
        { terminals: TERMINAL, answers: ["y"] },
      ),
      reply('swink run --cwd HOME "Say it"', [DONE], { ...WIDE, answers: ["y"] }),
      reply('swink run --cwd HOME "Say it"', [DONE], { ...WIDE, answers: ["n"] }),
      reply('swink run --cwd HOME/q "Say it"', [DONE], { ...WIDE, answers: ["n"] }),
      reply('swink run --cwd HOME/q "Say it"', [DONE], { ...WIDE, answers: ["y"] }),
      reply('swink run -r "Go on with it"', [DONE], { terminals: TERMINAL, answers: ["1"] }),
      reply('swink run -r "Go on with it"', [DONE], { terminals: TERMINAL, answers: ["q"] }),
      {
        line: 'swink run "Say it"',
        env: { ANTHROPIC_API_KEY: "" },
        terminals: TERMINAL,
        answers: ["q"],
      },
    ],
  },
  {
    name: "run_failures",
    files: {
      "empty.jsonl": "",
      "r/x": "",
      "q/.swink/config.toml": 'net = "on"\nmax_turns = 50\n',
      "q/AGENTS.md": "Be brief.\n",
    },
    steps: [
      { line: 'swink run "Say it"', env: { ANTHROPIC_API_KEY: "" } },
      'swink run -m openai/gpt-6.2-sol "Say it"',
      'swink run -m opneai/gpt-5 "Say it"',
      { line: "swink run --base-url http://127.0.0.1:1 x", env: { ANTHROPIC_API_KEY: "" } },
      reply('swink run "Say it"', fail(401, "authentication_error", "invalid x-api-key")),
      reply('swink run "Say it"', fail(404, "not_found_error", "model: nope")),
      reply('swink run "Say it"', fail(400, "invalid_request_error", "no")),
      reply(
        'swink run "Say it"',
        [1, 2].flatMap(() => fail(400, "invalid_request_error", "prompt is too long: 9 > 8")),
      ),
      reply('swink run "Say it"', fail(429, "rate_limit_error", "slow down")),
      reply('swink run "Say it"', fail(402, "billing_error", "no credit")),
      reply('swink run "Say it"', fail(529, "overloaded_error", "busy")),
      reply('swink run "Say it"', [
        { ...scriptedReply("Half an ans"), stopReason: "max_tokens" },
      ]),
      reply('swink run --max-budget-usd 1 "Say it"', [
        { ...scriptedReply("Half an ans"), stopReason: "max_tokens" },
      ]),
      reply('swink run --max-turns 1 "Read it"', call("read_file", { path: "a.txt" })),
      'swink run --max-budget-usd 0 "Say it"',
      reply('swink run --no-session -o json "Say it"', fail(400, "invalid_request_error", "no")),
      reply(`swink run --json-schema ${SCHEMA} "Count"`, [DONE, DONE, DONE, DONE]),
      reply('swink run --cwd HOME/q "Say it"'),
      reply('swink run --trust --cwd HOME/q "Say it"'),
      'swink run --cwd HOME "Say it"',
      "swink run --replay HOME/missing.jsonl x",
      "swink run --replay HOME/empty.jsonl x",
      reply('swink run -m anthropic/tiny --base-url https://own.test/v1 "Say it"'),
      'swink run -c "Go on"',
      'swink run -c --session-id a "Go on"',
      'swink run --cwd HOME/r -c "Go on"',
      { line: 'swink run -c "Go on"', env: { HOME: "" } },
      'swink run -r none "Go on"',
      'swink run -r "Go on with it"',
      `swink run --session-id ${"x".repeat(201)} x`,
      "swink run --fork x",
      {
        line: 'swink run "Say it"',
        before: (home) =>
          home.write(CONFIG, '[[hooks.UserPromptSubmit]]\ncommand = "echo no >&2; exit 2"\n'),
      },
      {
        line: 'swink run "Say it"',
        before: (home) => home.write(CONFIG, 'modle = "a/b"\ntimeout = "soon"\n'),
      },
      'swink run --strict-config "Say it"',
      {
        line: 'swink run "Say it"',
        before: (home) => home.write(CONFIG, '[providers.anthropic]\nkey_command = "exit 3"\n'),
        env: { ANTHROPIC_API_KEY: "", SWINK_MODEL: "anthropic/claude-sonnet-5-5" },
      },
      {
        line: 'swink run "Say it"',
        before: (home) =>
          home.write(CONFIG, '[providers.anthropic]\nkey_command = "echo two words"\n'),
        env: { ANTHROPIC_API_KEY: "", SWINK_MODEL: "anthropic/claude-sonnet-5-5" },
      },
      reply('swink run "Say it"', [DONE], {
        before: (home) => home.write(CONFIG, '[[hooks.Stop]]\ncommand = "exit 1"\n'),
      }),
      reply('swink run --bare "Say it"'),
      {
        line: "swink run --mcp-config HOME/mcp.json x",
        before: (home) => home.write("mcp.json", "[]"),
      },
      "swink run --mcp-config HOME/none.json x",
      reply('swink run --output-last-message HOME/full.txt "Say it"', [DONE], {
        before: (home) => Deno.symlink(`${home.path}/missing/file`, `${home.path}/full.txt`),
      }),
      reply('swink run "Say it"', [DONE], {
        before: async (home) => {
          await Deno.remove(`${home.path}/.local`, { recursive: true });
          home.write(".local", "a file");
        },
      }),
      reply("swink run --env SWINK_UNSET x"),
    ],
  },
  {
    name: "run_usage",
    files: {
      "b.bin": "\0",
      "latin1.txt": new Uint8Array([0x63, 0xe9]),
      "list.json": "[]",
      "broken.json": "{",
    },
    steps: [
      { line: "swink run", terminals: ["input"] },
      { line: "swink run", input: " \n" },
      { line: "swink run", input: "\0" },
      { line: "swink run", input: "x".repeat(10_000_001) },
      'swink run "- fix this"',
      "swink run --modle openai/x hello",
      "swink run x --model",
      "swink run x -r ''",
      "swink run --system -x y",
      "swink run --cwd= x",
      "swink run --approve-all=yes x",
      "swink run --max-turns many x",
      "swink run --max-turns 0 x",
      "swink run --max-turns 99999999999999999999 x",
      "swink run --session-id 'a\u0007' x",
      "swink run --max-budget-usd much x",
      "swink run -q -v x",
      "swink run --plan --approve-all x",
      "swink run -o stream_json x",
      "swink run -m llama3.2 x",
      "swink run --fallback-model a x",
      "swink run --effort huge x",
      "swink run -m openai/gpt-6.2-sol:hgih x",
      "swink run --yolo x",
      "swink run --json x",
      "swink run --output-schema HOME/none.json x",
      "swink run --permission-mode bypassPermissions x",
      "swink run --cwd /nowhere x",
      "swink run --add-dir /nowhere x",
      "swink run --base-url localhost:80 x",
      "swink run --record a.json -m local/qwen3-4b x",
      "swink run --net http://x x",
      "swink run --net true x",
      "swink run --net='-x, db.example' x",
      "swink run --plan --net on x",
      "swink run --env 1A=secret x",
      "swink run --timeout soon x",
      "swink run --config max_turns x",
      "swink run --config max_turn=5 x",
      "swink run --config max_turns=0 x",
      "swink run --config net=http://x x",
      "swink run --allowed-tools 'bash(' x",
      "swink run --tools 'Bash(git *)' x",
      "swink run --disallowed-tools bahs x",
      "swink run --patch . x",
      "swink run --patch /nowhere/a.patch x",
      "swink run --record /dev/null x",
      "swink run --debug-file /dev/full/x x",
      "swink run --system-file HOME/none.txt x",
      "swink run --system-file HOME/latin1.txt x",
      "swink run --replay HOME x",
      "swink run -i HOME/none.png x",
      "swink run -i HOME/b.bin x",
      "swink run --json-schema HOME/none.json x",
      "swink run --json-schema HOME/broken.json x",
      "swink run --json-schema HOME/list.json x",
      `swink run --json-schema '{"type":"nothing"}' x`,
      { line: "swink run --input-format stream-json", input: "" },
      { line: "swink run --input-format stream-json", input: '{"type":"pormpt"}\n' },
      "swink run --input-format stream-json -o json",
    ],
  },
];
