/**
 * The transcripts of all commands but `swink run`.
 *
 * @module
 */

import { FileSessionStore } from "../../../src/memory/mod.ts";
import { createTinyModel } from "../../local/tiny_model.ts";
import { FAKE_TIME, scriptedReply } from "../fake_host.ts";
import type { TemporaryDirectory } from "../temporary_directory.ts";
import type { Transcript } from "./transcript.ts";

const TERMINAL = ["input", "output", "messages"] as const;
const CONFIG = ".config/swink/config.toml";
const HOUR_MS = 3_600_000;

/** Saves two sessions of the current directory, and one of another. */
async function saveSessions(home: TemporaryDirectory): Promise<void> {
  const directory = `${home.path}/.local/state/swink/sessions`;
  for (
    const { id, cwd, text, age } of [
      { id: "old", cwd: Deno.cwd(), text: "Write a poem", age: 2_400 * HOUR_MS },
      { id: "new-1", cwd: Deno.cwd(), text: "Fix the parser", age: 2 * HOUR_MS },
      { id: "new-2", cwd: "/elsewhere", text: "Other work", age: 60_000 },
    ]
  ) {
    const time = FAKE_TIME - age;
    const store = new FileSessionStore({ directory, now: () => time });
    await using session = await store.create({ id, cwd });
    const message = { role: "user", content: [{ type: "text", text }], timestamp: time } as const;
    session.append({ type: "message", message });
  }
}

/** The transcripts, by command. */
export const COMMAND_TRANSCRIPTS: readonly Transcript[] = [
  {
    name: "swink",
    steps: [
      "swink",
      "swink --help",
      "swink --version",
      "swink rnu",
      "swink runs fail",
      { line: "swink --cwd HOME/p 'fix the tests'", model: [scriptedReply("Done.")] },
      { line: "swink --cwd HOME/p -- runs fail", model: [scriptedReply("Done.")] },
      "swink --modle x",
      "swink --cwd HOME/p -m openai/x hello",
      "swink --version=1",
      "swink help nothing",
      "swink exec 'fix the tests'",
      "swink version",
    ],
  },
  {
    name: "sessions",
    steps: [
      "swink sessions --help",
      "swink sessions list --help",
      { line: "swink sessions list --all" },
      { line: "swink sessions list", before: saveSessions },
      "swink sessions list --all --limit 1",
      "swink sessions list -o yaml",
      "swink sessions list --limit 0",
      "swink sessions list --limit many",
      "swink sessions list --limit",
      "swink sessions list 5",
      "swink sessions 'two words'",
      { line: "swink sessions list", env: { HOME: "" } },
      "swink sessions show --help",
      "swink sessions show old",
      "swink sessions show",
      "swink sessions show none",
      'swink sessions delete --yes ""',
      "swink sessions show new",
      "swink sessions show old --html HOME/missing/page.html",
      "swink sessions show old --html HOME/page.html",
      "swink sessions search --help",
      "swink sessions search parser",
      "swink sessions search nothing",
      "swink sessions search other --all",
      "swink sessions export --help",
      "swink sessions export old",
      "swink sessions import --help",
      "swink sessions import HOME/missing.jsonl",
      { line: "swink sessions import -", input: "no session\n" },
      { line: "swink sessions import --session-id old -", input: "{}\n" },
      "swink sessions delete --help",
      "swink sessions delete",
      "swink sessions delete new-1",
      { line: "swink sessions delete new-1", terminals: TERMINAL, answers: [["x", "n"]] },
      "swink sessions delete new-1 --yes",
      "swink sessions delete --older-than 90 --yes",
      "swink sessions delete --older-than 90 --yes",
      "swink sessions lsit",
      "swink sessions rm old",
      {
        line: "swink sessions list --all",
        before: (home) =>
          Deno.rename(`${home.path}/.local/state/swink/sessions`, `${home.path}/moved`)
            .then(() => home.write(".local/state/swink/sessions", "a file")),
      },
    ],
  },
  {
    name: "serve",
    files: {
      "tokens.txt": "short\n",
      "two.txt": "0123456789abcdef acme amy\n",
      "none.txt": "# none\n",
    },
    steps: [
      "swink serve --help",
      "swink serve --host 0.0.0.0",
      "swink serve --port 70000",
      "swink serve --allowed-origin '*'",
      "swink serve --token-file HOME/missing.txt",
      "swink serve --token-file HOME/tokens.txt",
      {
        line: "swink serve --token-file HOME/tokens.txt",
        before: (home) => Deno.chmod(`${home.path}/tokens.txt`, 0o600),
      },
      {
        line: "swink serve --token-file HOME/two.txt",
        before: (home) => Deno.chmod(`${home.path}/two.txt`, 0o600),
      },
      {
        line: "swink serve --token-file HOME/none.txt",
        before: (home) => Deno.chmod(`${home.path}/none.txt`, 0o600),
      },
      {
        line: "swink serve --host 192.0.2.1 --cwd HOME/p --token-file HOME/tokens.txt",
        before: (home) => home.write("tokens.txt", "0123456789abcdef0123\n"),
      },
      { line: "swink serve --cwd HOME/p", env: { ANTHROPIC_API_KEY: "" } },
      { line: "swink serve --cwd HOME/p", env: { HOME: "" } },
      "swink serve -c",
    ],
  },
  {
    name: "models",
    files: { "p/tiny.gguf": createTinyModel() },
    steps: [
      "swink models --help",
      "swink models sonnet-5-5",
      "swink models nothing",
      "swink models sonet",
      "swink models haiku 4-5 -o json",
      "swink models local --help",
      "swink models local",
      "swink models local lst",
      "swink models local list --help",
      "swink models local list",
      "swink models local pull --help",
      "swink models local pull",
      "swink models local pull nothing",
      "swink models local pull hf:a/b",
      { line: "swink models local pull qwen3-0.6b", model: [{ status: 404, body: "" }] },
      { line: "swink models local pull qwen3-0.6b", model: [{ status: 503, body: "" }] },
      "swink models local import --help",
      "swink models local import nofile.gguf",
      "swink models local import HOME/p/a.txt",
      "swink models local import HOME/p/tiny.gguf",
      "swink models local import HOME/p/tiny.gguf",
      "swink models local list -o json",
      "swink models local remove --help",
      "swink models local remove tiny",
      "swink models local remove tiny",
      { line: "swink models local list", env: { HOME: "" } },
    ],
  },
  {
    name: "config",
    steps: [
      "swink config --help",
      ...["get", "set", "unset", "edit", "path", "schema"].map((name) =>
        `swink config ${name} --help`
      ),
      "swink config schema",
      "swink config path",
      "swink config set model anthropic/claude-opus-5",
      "swink config set keys.editor f4",
      "swink config get",
      "swink config list",
      "swink config get max_turns",
      "swink config unset model",
      "swink config get model",
      "swink config set",
      "swink config set max_turn 5",
      "swink config set max_turns 0",
      "swink config set plain maybe",
      "swink config set sandbox on",
      "swink config set tools '[1]'",
      "swink config set tools '['",
      "swink config set keys.quit a",
      "swink config set keys.quit f4",
      { line: "swink config edit", env: { EDITOR: "false" } },
      { line: "swink config edit", env: { EDITOR: "missing-editor" } },
      { line: "swink config path", env: { HOME: "" } },
      {
        line: "swink config get",
        before: (home) => home.write(CONFIG, 'modle = "a/b"\nnet = 5\nhooks = 1\nproviders = 2\n'),
      },
      {
        line: "swink config set max_turns 5",
        before: (home) => home.write(CONFIG, "model = \n"),
      },
      {
        line: "swink config set max_turns 5",
        before: async (home) => {
          await Deno.remove(`${home.path}/${CONFIG}`);
          await Deno.mkdir(`${home.path}/${CONFIG}`);
        },
      },
    ],
  },
  {
    name: "rules",
    steps: [
      "swink rules --help",
      ...["list", "add", "remove", "why"].map((name) => `swink rules ${name} --help`),
      "swink rules list",
      "swink rules add deny 'bash(git push *)'",
      "swink rules add deny 'bash(git push *)'",
      "swink rules add allow 'Bash(git log *)'",
      "swink rules list",
      "swink rules why bash 'git push'",
      "swink rules why Bash 'git log -1'",
      "swink rules why write_file a.txt",
      "swink rules why read_file a.txt",
      "swink rules why bsah ls",
      "swink rules why bash '{'",
      'swink rules why mcp__github__push \'{"branch":"main"}\'',
      "swink rules why mcp__github__push main",
      "swink rules remove deny bash",
      "swink rules remove allow 'Bash(git log *)'",
      "swink rules add maybe bash",
      "swink rules add deny 'bash('",
      "swink rules add deny 'bash, read_file'",
      "swink rules add deny bsah",
      {
        line: "swink rules list",
        before: (home) => home.write(CONFIG, "model = \n"),
      },
    ],
  },
  {
    name: "mcp",
    steps: [
      "swink mcp --help",
      ...["add", "list", "remove", "test"].map((name) => `swink mcp ${name} --help`),
      "swink mcp list",
      "swink mcp test",
      "swink mcp add files -- mcp-server-filesystem .",
      "swink mcp add web https://mcp.example --header 'Authorization: Bearer secret'",
      "swink mcp add files -- mcp-server-filesystem . /tmp",
      "swink mcp remove constructor",
      "swink mcp list",
      "swink mcp add 'a b' -- x",
      "swink mcp add x https://mcp.example more",
      "swink mcp add x --header 'A: b' -- program",
      "swink mcp add x --env A -- program",
      "swink mcp add x https://mcp.example --header A",
      "swink mcp add x",
      "swink mcp remove web",
      "swink mcp remove web",
      "swink mcp test web",
      {
        line: "swink mcp list",
        before: (home) => home.write(".config/swink/mcp.json", "{"),
      },
    ],
  },
  {
    name: "keys",
    steps: [
      ...["login", "logout", "keys"].map((name) => `swink ${name} --help`),
      { line: "swink keys", env: { ANTHROPIC_API_KEY: "" } },
      { line: "swink login openai", input: "sk-canary\n" },
      { line: "swink login anthropic", input: "sk-canary\n" },
      "swink keys",
      { line: "swink login openai", terminals: TERMINAL, answers: ["sk-other\r"] },
      { line: "swink login openai", terminals: ["input"] },
      { line: "swink login openai", terminals: TERMINAL, answers: ["\x04"] },
      { line: "swink login openai", input: "two words\n" },
      { line: "swink login opneai", input: "sk-canary\n" },
      "swink login",
      "swink logout openai",
      "swink logout openai",
      { line: "swink keys", env: { HOME: "" } },
      { line: "swink login openai", input: "sk-canary\n", env: { HOME: "" } },
      {
        line: "swink login openai",
        input: "sk-canary\n",
        before: async (home) => {
          await Deno.remove(`${home.path}/.local/state/swink/credentials`, { recursive: true });
          home.write(".local/state/swink/credentials", "a file");
        },
      },
    ],
  },
  {
    name: "completions",
    steps: [
      "swink completions --help",
      "swink completions",
      "swink completions csh",
      "swink completions bash zsh",
    ],
  },
  { name: "doctor", steps: ["swink doctor --help", "swink doctor 1"] },
  { name: "demo", steps: ["swink demo --help", "swink demo 1"] },
];
