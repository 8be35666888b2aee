/**
 * `swink run -m local/…` and `swink models local`, as processes with a model and a hub on this machine.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { PRESETS } from "../../src/local/mod.ts";
import { createTemporaryDirectory } from "../cli/temporary_directory.ts";
import { root } from "../project.ts";
import { startHub } from "./hub_server.ts";
import { CHAT_TEMPLATE, createTinyModel } from "./tiny_model.ts";
import { llama, SCRIPTS } from "./tiny_models.ts";

const ignore = llama === undefined;

/** Shortens the system prompt and the descriptions of the tools, which have thousands of tokens of one byte. */
const TEMPLATE = "{% if messages[0].role == 'system' %}{{ messages[0].content[:20] }}{% endif %}" +
  "{% for tool in tools or [] %}{{ tool.function.description[:20] }}{% endfor %}" +
  CHAT_TEMPLATE.slice(CHAT_TEMPLATE.indexOf("{%- for message in messages %}"));

const MODEL = createTinyModel({
  scripts: [...SCRIPTS.filter((script) => !script.includes("<tool_call>")), [
    "<|list|>",
    "<tool_call>",
    '\n{"name": "list_directory"',
    ', "arguments": {"path": "."}}',
    "\n</tool_call>",
    "<|im_end|>",
  ]],
  chatTemplate: TEMPLATE,
});

interface SwinkEnd {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
}

interface Swink extends AsyncDisposable {
  /** The directory with the model. */
  readonly directory: string;
  /** Creates a process in a directory with a model. */
  command(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    permissions?: readonly string[],
  ): Deno.Command;
  /** Runs a process to its end. */
  run(...call: Parameters<Swink["command"]>): Promise<SwinkEnd>;
}

async function createSwink(): Promise<Swink> {
  const home = await createTemporaryDirectory({ "p/note.txt": "A note" });
  const directory = `${home.path}/p`;
  await Deno.writeFile(`${directory}/tiny.gguf`, MODEL);
  const config = decodeURIComponent(new URL("deno.llama.json", root).pathname);
  const main = decodeURIComponent(new URL("cli/main.ts", root).pathname);
  const cache = await findCache();
  const command: Swink["command"] = (args, env = {}, permissions = []) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", ...permissions, "-q", "-c", config, main, ...args],
      cwd: directory,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      env: {
        HOME: home.path,
        XDG_CONFIG_HOME: "",
        XDG_STATE_HOME: "",
        XDG_DATA_HOME: "",
        NO_COLOR: "1",
        ANTHROPIC_API_KEY: "",
        OPENAI_API_KEY: "",
        DENO_DIR: cache,
        SWINK_LOCAL_THREADS: "1",
        SWINK_LOCAL_GPU: "off",
        SWINK_LOCAL_CONTEXT: "1024",
        ...env,
      },
    });
  return {
    directory,
    command,
    async run(...call) {
      const { code, stdout, stderr } = await command(...call).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, output: text(stdout), messages: text(stderr) };
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

/** Returns the cache of this process, which depends on the home directory otherwise. */
async function findCache(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-config"],
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

Deno.test({ name: "swink run: runs a GGUF file by its path, without a key", ignore }, async () => {
  await using swink = await createSwink();
  const { code, output, messages } = await swink.run(["run", "-m", "local/tiny.gguf", "!hello"]);
  assertEquals([code, output], [0, "Hello world, dear user\n"], messages);
  assertStringIncludes(messages, "local/tiny.gguf");
});

Deno.test({ name: "swink run: a model on this device calls tools", ignore }, async () => {
  await using swink = await createSwink();
  const args = ["run", "-m", "local/./tiny.gguf", "-o", "stream-json", "!list"];
  const { code, output, messages } = await swink.run(args);
  assertEquals(code, 0, messages);
  const lines = output.trim().split("\n").map((line) => JSON.parse(line));
  const result = lines.find(({ type }) => type === "tool_execution_end");
  assert(JSON.stringify(result).includes("note.txt"), output);
  assertEquals(lines.at(-1)?.text, "It is sunny");
});

Deno.test(
  { name: "swink run: an interrupt ends a local reply, and keeps its text", ignore },
  async () => {
    await using swink = await createSwink();
    // `signal-exit`, a dependency of node-llama-cpp, would end the process.
    const env = { SWINK_LOCAL_CONTEXT: "2048" };
    const args = ["run", "-m", "local/tiny.gguf", "-o", "stream-json", "!loop"];
    const child = swink.command(args, env).spawn();
    const messages = new Response(child.stderr).text();
    let output = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      if (output === "") child.kill("SIGINT");
      output += text;
    }
    const { code } = await child.status;
    assertEquals(code, 130, await messages);
    assertStringIncludes(output, "la la");
    assertStringIncludes(await messages, "interrupted");
  },
);

Deno.test({ name: "swink run: names the command that downloads a preset", ignore }, async () => {
  await using swink = await createSwink();
  const { code, messages } = await swink.run(["run", "-m", "local/qwen3-4b", "Hi"]);
  assertEquals(code, 3);
  assertStringIncludes(
    messages,
    "The model qwen3-4b is not on this device; download it (2.5 GB) with: swink models local pull qwen3-4b",
  );
  const embedder = await swink.run(["run", "-m", "local/nomic-embed-text-v1.5", "Hi"]);
  assertStringIncludes(embedder.messages, "only creates embeddings: use it with createEmbedder()");
  const invalid = await swink.run(["run", "-m", "local/tiny.gguf", "Hi"], { SWINK_LOCAL_GPU: "x" });
  assert(invalid.code !== 0);
  assertStringIncludes(invalid.messages, 'SWINK_LOCAL_GPU is "x"');
});

Deno.test({ name: "createLocal(): names the permission that Deno lacks", ignore }, async () => {
  await using swink = await createSwink();
  const args = ["run", "-m", "local/tiny.gguf", "!hello"];
  const { code, messages } = await swink.run(args, {}, ["--deny-ffi"]);
  assertEquals(code, 1, messages);
  assertStringIncludes(messages, "Deno needs --allow-ffi for it");
});

Deno.test("swink models local: imports, lists and removes a model", async () => {
  await using swink = await createSwink();
  const imported = await swink.run(["models", "local", "import", "tiny.gguf"]);
  assertEquals(imported.code, 0, imported.messages);
  assertMatch(imported.output, /\/swink\/models\/tiny\.gguf\n$/);
  assertStringIncludes(imported.messages, 'Imported Tiny: swink run -m local/tiny "PROMPT"');
  const list = await swink.run(["models", "local", "list"]);
  assertEquals(list.output.trim().split("\n").length, PRESETS.length + 1);
  assertMatch(list.output, /\ntiny +on this device +\d+ KB\n$/);
  const json = JSON.parse((await swink.run(["models", "local", "list", "-o", "json"])).output);
  assertEquals(json.at(-1).name, "tiny");
  assertEquals(json[2].sha256, PRESETS[2]?.sha256);
  const part = `${imported.output.trim().slice(0, -"tiny.gguf".length)}qwen3-4b.gguf.part`;
  await Deno.writeFile(part, new Uint8Array(2_000_000));
  const partial = await swink.run(["models", "local", "list"]);
  assertMatch(partial.output, /\nqwen3-4b +incomplete +2 MB of 2\.5 GB /);
  const entries = JSON.parse((await swink.run(["models", "local", "list", "-o", "json"])).output);
  assertEquals(entries[2].incomplete, { path: part, size: 2_000_000 });
  assertEquals([entries[2].path, entries[2].size], [undefined, PRESETS[2]?.size]);
  assertEquals((await swink.run(["models", "local", "remove", "qwen3-4b"])).code, 0);
  assertEquals((await swink.run(["models", "local", "remove", "tiny"])).code, 0);
  const again = await swink.run(["models", "local", "remove", "tiny"]);
  assertEquals(again.code, 2);
  assertStringIncludes(again.messages, 'There is no model "tiny"');
  const missing = await swink.run(["models", "local", "import", "nofile.gguf"]);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.messages, 'Invalid value "nofile.gguf" for <file>');
});

Deno.test("swink models local import: does not advise to chat with a model for embeddings", async () => {
  await using swink = await createSwink();
  const file = `${swink.directory}/vectors.gguf`;
  await Deno.writeFile(file, createTinyModel({ pooling: "mean" }));
  const { code, messages } = await swink.run(["models", "local", "import", file]);
  assertEquals([code, messages], [0, 'Imported Tiny for createEmbedder({ model: "vectors" })\n']);
});

Deno.test("swink models local list: reports a directory that cannot be read", async () => {
  await using swink = await createSwink();
  const { code, messages } = await swink.run(["models", "local", "list"], {
    SWINK_MODELS: "tiny.gguf",
  });
  assertEquals(code, 3, messages);
  assertMatch(messages, /^swink: Cannot read tiny\.gguf: /);
});

Deno.test("swink models local pull: downloads from a mirror, and reports failures", async () => {
  await using swink = await createSwink();
  await using hub = await startHub(MODEL);
  const env = { HF_ENDPOINT: hub.endpoint };
  const name = "hf:owner/repo/tiny.gguf";
  hub.behavior = { cutAfter: 30_000, onCut: () => hub.behavior = { status: 418 } };
  const cut = await swink.run(["models", "local", "pull", name], env);
  assertEquals(cut.code, 4, cut.messages);
  assertStringIncludes(cut.messages, "swink: ");
  const list = await swink.run(["models", "local", "list"], env);
  assertMatch(list.output, /\nowner--repo--tiny +incomplete +\d+ KB\n$/);
  hub.behavior = {};
  const pulled = await swink.run(["models", "local", "pull", name], env);
  assertEquals(pulled.code, 0, pulled.messages);
  assertMatch(pulled.output, /\/owner--repo--tiny\.gguf\n$/);
  assertMatch(
    pulled.messages,
    /^Downloading hf:owner\/repo\/tiny\.gguf \(\d+ KB\), of which \d+ KB are present\n$/,
  );
  hub.behavior = { status: 404 };
  const missing = await swink.run(["models", "local", "pull", "hf:owner/repo/other.gguf"], env);
  assertEquals(missing.code, 3);
  assertStringIncludes(missing.messages, "The hub has no 127.0.0.1");
  hub.behavior = { content: MODEL.map((byte) => byte ^ 1) };
  const preset = await swink.run(["models", "local", "pull", "qwen3-0.6b"], env);
  assertEquals(preset.code, 4);
});
