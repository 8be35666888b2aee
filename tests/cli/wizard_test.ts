/**
 * The questions of the first run.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { toPlainText } from "../../cli/render/plain_text.ts";
import type { ReplayFixture } from "../../src/testing/mod.ts";
import { createFakeHost, type FakeHostOptions, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const KEY = "sk-canary-0123456789";
const TERMINALS = ["input", "output", "messages"] as const;
const QUESTION = "Model? [a]nthropic / [o]penai / [l]ocal / [d]emo / [q]uit: ";

/** Runs a prompt with a home directory, at a terminal and without a key. */
async function run(home: TemporaryDirectory, options: FakeHostOptions, args: string[] = []) {
  const host = createFakeHost({
    terminals: TERMINALS,
    ...options,
    env: { HOME: home.path, NO_COLOR: "1", ...options.env },
  });
  const code = await main(["run", ...args, "--cwd", `${home.path}/p`, "Hello"], host);
  const screen = toPlainText(host.screen).replaceAll(home.path, "HOME");
  return { code, host, screen };
}

function json(value: unknown, status = 200): ReplayFixture {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

const MODELS = json({ data: [] });
const NO_SERVER = json({ error: "not found" }, 404);
/** The answer to a request that is not repeated. */
const REJECTED = json({ error: "bad request" }, 400);

Deno.test("first run: saves a key that the provider accepts, and then runs the prompt", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, host, screen } = await run(home, {
    answers: ["a", `${KEY}\r`],
    model: [MODELS, scriptedReply("Hi.")],
  });
  assertEquals(code, 0, screen);
  assertEquals([host.isRaw, screen.includes("canary")], [false, false]);
  assertEquals(host.requests.map(({ method, url }) => `${method} ${url}`), [
    "GET https://api.anthropic.com/v1/models?limit=1",
    "POST https://api.anthropic.com/v1/messages",
  ]);
  assertEquals(host.requests.map(({ headers }) => new Headers(headers).get("x-api-key")), [
    KEY,
    KEY,
  ]);
  const [, questions = ""] = screen.split("? No model is configured yet.\n");
  assertStringIncludes(questions, `${QUESTION}anthropic\n`);
  assertStringIncludes(questions, "The key for anthropic is saved in HOME/.local/state/swink");
  assertStringIncludes(host.output, "Hi.");
  const again = await run(home, { model: [scriptedReply("Hi.")] });
  assertEquals([again.code, again.screen.includes("Model?")], [0, false]);
});

Deno.test({
  name: "first run: reads a pipe of the command line once",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using home = await createTemporaryDirectory({ "p/x": "" });
    const pipe = `${home.path}/pipe`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    const writer = new Deno.Command("sh", {
      args: ["-c", 'echo "Be brief." > "$0"; rm "$0"', pipe],
    }).spawn();
    try {
      const { code, host, screen } = await run(home, {
        answers: ["a", `${KEY}\r`],
        model: [MODELS, scriptedReply("Hi.")],
      }, ["--system-file", pipe]);
      assertEquals(code, 0, screen);
      assertStringIncludes(host.requests[1]?.body ?? "", "Be brief.");
    } finally {
      await writer.status;
    }
  },
});

Deno.test("first run: the offers have a row each in a terminal with 60 columns", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { screen } = await run(home, { answers: ["q"] });
  const [, offers = ""] = screen.split("? No model is configured yet.\n");
  const rows = offers.split("  Model? ")[0]?.trimEnd().split("\n") ?? [];
  assertEquals(rows.length, 5);
  assertEquals(rows.filter((row) => row.length > 60), []);
});

Deno.test("first run: asks again for a key that is rejected, or no key", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, host, screen } = await run(home, {
    answers: ["o", "two words\r", "sk-wrong\r", `${KEY}\r`],
    model: [
      json({ error: { message: "Incorrect API key provided: sk-wrong" } }, 401),
      MODELS,
      { status: 401, body: "{}" },
    ],
  });
  assertStringIncludes(screen, "That is no key: a key is one word. Copy it again.\n");
  assertStringIncludes(
    screen,
    "openai rejects this key (HTTP 401). Copy it again.\n",
  );
  assertEquals([screen.includes("canary"), screen.includes("sk-wrong")], [false, false]);
  assertEquals(
    host.requests.map(({ headers }) => new Headers(headers).get("authorization")),
    ["Bearer sk-wrong", `Bearer ${KEY}`, `Bearer ${KEY}`],
  );
  assertEquals(code, 3);
  assertEquals(home.read(".local/state/swink/credentials/openai.key"), `${KEY}\n`);
});

Deno.test("first run: saves a key that cannot be checked, and warns", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, screen } = await run(home, {
    answers: ["a", `${KEY}\r`],
    model: [json({}, 529), scriptedReply("Hi.")],
  });
  assertEquals(code, 0, screen);
  assertStringIncludes(screen, "warning: the key was not checked: HTTP 529\n");
  assert(home.read(".local/state/swink/credentials/anthropic.key").includes(KEY));
});

Deno.test("first run: checks the key at the URL of the environment or the configuration", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": '[providers.openai]\nbase_url = "https://own.test/v1/"\n',
  });
  const options = { answers: ["o", `${KEY}\r`], model: [MODELS, { status: 401, body: "{}" }] };
  const configured = await run(home, options);
  assertEquals(configured.host.requests[0]?.url, "https://own.test/v1/models");
  await Deno.remove(`${home.path}/.local/state/swink/credentials/openai.key`);
  const env = { OPENAI_BASE_URL: "https://variable.test/v1" };
  const fromVariable = await run(home, { ...options, env });
  assertEquals(fromVariable.host.requests[0]?.url, "https://variable.test/v1/models");
});

Deno.test("first run: saves a model of a local server", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": "# mine\nmax_turns = 5\n",
  });
  const tags = {
    models: [
      { name: "qwen3:8b", details: { family: "qwen3" } },
      { name: "nomic-embed-text" },
      { name: "mine", details: { family: "nomic-bert" } },
      { name: 5, details: null },
      null,
    ],
  };
  const { host, screen } = await run(home, {
    answers: ["l", ["9", "2"]],
    model: [
      json(tags),
      json({
        data: [{ id: "google/gemma-3\u001b[2J" }, { id: "google/gemma-3" }, { id: "BAAI/bge-m3" }],
      }),
      NO_SERVER,
      { status: 200, body: "<html>" },
      json({ error: "model not found" }, 404),
    ],
  });
  assertEquals(host.requests.slice(0, 4).map(({ url }) => url), [
    "http://127.0.0.1:11434/api/tags",
    "http://127.0.0.1:1234/v1/models",
    "http://127.0.0.1:8080/v1/models",
    "http://127.0.0.1:8000/v1/models",
  ]);
  assertStringIncludes(
    screen,
    "? Models on this machine:\n  1  ollama/qwen3:8b (Ollama)\n  2  lmstudio/google/gemma-3 (LM Studio)\n" +
      "  3  local/qwen3-0.6b (download 639 MB)\n  4  local/qwen3-1.7b (download 1.8 GB)\n" +
      "  5  local/qwen3-4b (download 2.5 GB)\n  6  local/qwen3-8b (download 5.0 GB)\n" +
      "  Model? [1]–[6] / [b]ack: ",
  );
  assertStringIncludes(screen, "The model lmstudio/google/gemma-3 is saved in HOME/.config");
  assertEquals(host.requests[4]?.url, "http://localhost:1234/v1/chat/completions");
  assertEquals(
    home.read(".config/swink/config.toml"),
    '# mine\nmax_turns = 5\nmodel = "lmstudio/google/gemma-3"\n',
  );
});

Deno.test("first run: finds servers at the URLs of the configuration, and names that are paths", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": '[providers.ollama]\nbase_url = "http://gpu.test:1"\n' +
      '[providers.llamacpp]\nbase_url = "http://gpu.test:2"\n' +
      '[providers.vllm]\nbase_url = "http://gpu.test:3/v1"\n',
  });
  const name = "/home/José/My embedded Models/qwen3.gguf";
  const { host, screen } = await run(home, {
    answers: ["l", "1"],
    model: [
      NO_SERVER,
      NO_SERVER,
      json({ data: [{ id: name }, { id: " a" }, { id: "a\nb" }, { id: "a\u202eb" }] }),
      NO_SERVER,
      REJECTED,
    ],
    env: { VLLM_BASE_URL: "http://variable.test/v1" },
  });
  assertEquals(host.requests.slice(0, 4).map(({ url }) => url), [
    "http://gpu.test:1/api/tags",
    "http://127.0.0.1:1234/v1/models",
    "http://gpu.test:2/v1/models",
    "http://variable.test/v1/models",
  ]);
  assertStringIncludes(screen, `  1  llamacpp/${name} (llama.cpp)\n  2  local/qwen3-0.6b (`);
  assertStringIncludes(screen, `The model llamacpp/${name} is saved in HOME/.config`);
});

Deno.test("first run: reports a server that answers only with a key", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { screen } = await run(home, {
    answers: ["l", "b", "q"],
    model: [NO_SERVER, NO_SERVER, NO_SERVER, json({ error: "Unauthorized" }, 401)],
  });
  assertStringIncludes(
    screen,
    "  vLLM answers only with a key. Save it with: swink login vllm\n" +
      "  and its model with: swink config set model vllm/NAME\n",
  );
  assertEquals(screen.includes("No server with a model answers"), false);
});

Deno.test("first run: without a local server, asks again", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, screen, host } = await run(home, {
    answers: ["l", "b", "q"],
    model: [NO_SERVER, NO_SERVER, NO_SERVER, NO_SERVER],
    env: {
      OLLAMA_HOST: "0.0.0.0:1",
      LMSTUDIO_BASE_URL: "http://gpu.test/v1",
      // The adapter adds the version, too.
      VLLM_BASE_URL: "http://gpu.test:8000/",
    },
  });
  assertStringIncludes(
    screen,
    "  No server with a model answers (Ollama: 11434, LM Studio: 1234, llama.cpp:\n" +
      "  8080, vLLM: 8000).\n",
  );
  assertEquals(host.requests.slice(0, 4).map(({ url }) => url), [
    "http://127.0.0.1:1/api/tags",
    "http://gpu.test/v1/models",
    "http://127.0.0.1:8080/v1/models",
    "http://gpu.test:8000/v1/models",
  ]);
  assertEquals([code, screen.split(QUESTION).length], [3, 3]);
});

Deno.test("first run: a download that fails is reported, and the model is asked for again", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, screen, host } = await run(home, {
    answers: ["l", "2", "q"],
    model: [NO_SERVER, NO_SERVER, NO_SERVER, NO_SERVER, { status: 404, body: "" }],
  });
  assertEquals(code, 3, screen);
  assertStringIncludes(screen, "  2  local/qwen3-1.7b (download 1.8 GB)\n");
  assertStringIncludes(screen, "  The hub has no huggingface.co/Qwen/Qwen3-1.7B-GGUF/resolve/");
  assertEquals(host.requests.length, 5);
});

Deno.test("first run: a model on this device is offered, and saved", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".local/share/swink/models/mine.gguf": "a damaged model",
  });
  const { screen } = await run(home, {
    answers: ["l", "1"],
    model: [NO_SERVER, NO_SERVER, NO_SERVER, NO_SERVER],
  });
  assertStringIncludes(screen, "  1  local/mine (this device)\n");
  assertStringIncludes(screen, "The model local/mine is saved in HOME/.config");
  assertStringIncludes(screen, "mine.gguf: it is no GGUF file");
  assertEquals(home.read(".config/swink/config.toml"), 'model = "local/mine"\n');
});

Deno.test("first run: a directory of models that cannot be read hides no server", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { screen } = await run(home, {
    answers: ["l", "1"],
    model: [json({ models: [{ name: "qwen3:8b" }] }), NO_SERVER, NO_SERVER, NO_SERVER, REJECTED],
    env: { SWINK_MODELS: `${home.path}/p/x` },
  });
  assertStringIncludes(screen, "  1  ollama/qwen3:8b (Ollama)\n");
  assertStringIncludes(screen, "The model ollama/qwen3:8b is saved in HOME/.config");
});

Deno.test("first run: back, an empty key and quit save nothing; quit lists the other ways", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, screen } = await run(home, {
    answers: [["x", "a"], "\r", "l", "b", "q"],
    model: [json({ models: [{ name: "a" }] }), NO_SERVER, NO_SERVER, NO_SERVER],
  });
  assertEquals(code, 3, screen);
  assertStringIncludes(screen, "swink: No model is configured\n");
  assertStringIncludes(screen, "Possible answers: anthropic, openai, local, demo, quit\n");
  assertStringIncludes(screen, "  Model? [1]–[5] / [b]ack: back\n");
});

Deno.test("first run: the demo takes the place of the prompt", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, screen, host } = await run(home, { answers: ["d"] });
  assertEquals([code, host.requests.length], [0, 0], screen);
  assertStringIncludes(screen, "The model was scripted.");
});

Deno.test("first run: Ctrl+C, Ctrl+D and a closed terminal end the questions", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  for (const answers of [["\x04"], ["a", `${KEY}`]]) {
    assertEquals((await run(home, { answers })).code, 130);
  }
  const host = createFakeHost({
    terminals: TERMINALS,
    env: { HOME: home.path },
    answers: ["", ""],
  });
  host.onMessage((text) => {
    if (text.includes("Model?")) host.sendSignal("SIGTERM");
  });
  assertEquals(await main(["run", "--cwd", `${home.path}/p`, "Hello"], host), 143);
});

Deno.test("first run: scripts get the list of ways instead of questions", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const cases: readonly [FakeHostOptions, string[]][] = [
    [{ terminals: [] }, []],
    [{ terminals: ["input", "output"] }, []],
    [{}, ["--output-format", "json"]],
    [{}, ["--bare"]],
    [{}, ["--dry-run"]],
  ];
  for (const [options, args] of cases) {
    const { code, screen, host } = await run(home, options, args);
    assertEquals([code, host.requests.length], [3, 0], args.join(" "));
    assertStringIncludes(screen, "Ways to configure one:");
    assertEquals(screen.includes("Model?"), false);
  }
});

Deno.test("first run: a user without a home directory cannot save a key", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, screen } = await run(home, { answers: ["a"], env: { HOME: "" } });
  assertEquals(code, 3);
  assertStringIncludes(screen, "There is no home directory for keys\n");
});
