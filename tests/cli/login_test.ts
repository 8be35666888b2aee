/**
 * `swink login`, `swink logout` and `swink keys`, and runs with saved keys.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedReply } from "./fake_host.ts";
import { startMockProvider } from "./mock_provider.ts";
import { getBasicEnvironment, startSwink } from "./swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const KEY = "sk-canary-0123456789";
const TERMINALS = ["input", "output", "messages"] as const;

/** Runs the program with a home directory. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  options: FakeHostOptions = {},
) {
  const host = createFakeHost({ ...options, env: { HOME: home.path, ...options.env } });
  const code = await main(args, host);
  const hide = (text: string) => text.replaceAll(home.path, "HOME");
  return { code, host, output: hide(host.output), messages: hide(host.messages) };
}

const FILES = "HOME/.local/state/swink/credentials (files that only you can read)";

Deno.test("swink login: saves a piped key, which the next run uses", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const saved = await run(home, ["login", "anthropic"], { input: `${KEY}\n` });
  assertEquals([saved.code, saved.output], [0, ""]);
  assertEquals(saved.messages, `The key for anthropic is saved in ${FILES}\n`);
  const args = ["run", "--cwd", `${home.path}/p`, "Hello"];
  const { code, host } = await run(home, args, { model: [scriptedReply("Hi.")] });
  assertEquals([code, host.output], [0, "Hi.\n"]);
  assertEquals(new Headers(host.requests[0]?.headers).get("x-api-key"), KEY);
});

Deno.test("swink run: a rejected key is described by its source", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["login", "anthropic"], { input: `${KEY}\n` });
  const args = ["run", "--cwd", `${home.path}/p`, "Hello"];
  const rejection = {
    status: 401,
    body: JSON.stringify({ error: { type: "authentication_error", message: "no" } }),
  };
  const getAdvice = async (env: Readonly<Record<string, string>>) =>
    (await run(home, args, { model: [rejection], env })).messages.match(/Check that (.*) is/)?.[1];
  const saved = "the key that key_command prints or swink login anthropic has saved";
  assertEquals(await getAdvice({}), saved);
  assertEquals(await getAdvice({ ANTHROPIC_API_KEY: "k" }), "the key in ANTHROPIC_API_KEY");
});

Deno.test("swink login: a typed key is not shown", async () => {
  await using home = await createTemporaryDirectory();
  const options = { terminals: TERMINALS, answers: [`x\x7f\x1b[200~${KEY}\x1b[201~\r`] };
  const { code, host, messages } = await run(home, ["login", "openai"], options);
  assertEquals([code, host.screen.includes("canary"), host.isRaw], [0, false, false]);
  assertStringIncludes(messages, "Key for openai (not shown): \n");
  assertEquals(home.read(".local/state/swink/credentials/openai.key"), `${KEY}\n`);
});

Deno.test("swink login: Ctrl+D and the end of the input save nothing", async () => {
  await using home = await createTemporaryDirectory();
  for (const answer of ["abc\x04", "abc"]) {
    const options = { terminals: TERMINALS, answers: [answer] };
    assertEquals((await run(home, ["login", "openai"], options)).code, 130);
  }
  assertEquals(
    (await run(home, ["keys"])).messages,
    "No key: save one with swink login PROVIDER\n",
  );
});

Deno.test("swink login: rejects what is no key, and an unknown provider", async () => {
  await using home = await createTemporaryDirectory();
  for (const input of ["", "two words", "a\nb", "\u00fc"]) {
    const { code, messages } = await run(home, ["login", "openai"], { input });
    assertEquals(code, 2);
    assertStringIncludes(messages, "swink: That is no key: a key is one word");
  }
  const unknown = await run(home, ["login", "opnai"], { input: KEY });
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.messages, 'Unknown provider "opnai". Did you mean openai?\n');
  assertEquals((await run(home, ["login", "../x"], { input: KEY })).code, 2);
});

Deno.test("swink login: warns about a variable that precedes the saved key", async () => {
  await using home = await createTemporaryDirectory();
  const { messages } = await run(home, ["login", "openai"], {
    input: KEY,
    env: { OPENAI_API_KEY: "other" },
  });
  assertStringIncludes(
    messages,
    "warning: the variable OPENAI_API_KEY is set and precedes the saved key\n",
  );
});

Deno.test("swink keys: lists where keys are; swink logout deletes one", async () => {
  await using home = await createTemporaryDirectory({
    ".config/swink/config.toml": '[providers.mistral]\nkey_command = "echo x"\n',
  });
  await run(home, ["login", "openai"], { input: KEY });
  const env = { ANTHROPIC_API_KEY: "sk-canary-variable" };
  const { output } = await run(home, ["keys"], { env });
  assertEquals(
    output,
    `anthropic  ANTHROPIC_API_KEY\nmistral    key command\nopenai     ${FILES}\n`,
  );
  assertEquals((await run(home, ["logout", "openai"])).messages, "The key for openai is deleted\n");
  assertEquals((await run(home, ["logout", "openai"])).messages, "No key for openai is saved\n");
  assertEquals((await run(home, ["keys"])).output, "mistral  key command\n");
});

Deno.test("swink run: uses the key command and the URL of the configuration; variables precede them", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": `[providers.anthropic]
key_command = "echo ${KEY}"
base_url = "https://configured.example"
[providers.own]
base_url = "https://own.example/v1"
`,
  });
  const getRequest = async (env: Readonly<Record<string, string>>, model: string) => {
    const args = ["run", "--cwd", `${home.path}/p`, "-m", model, "Hello"];
    const { host } = await run(home, args, { env, model: [{ status: 400, body: "{}" }] });
    const [request] = host.requests;
    return [request?.url, new Headers(request?.headers).get("x-api-key")];
  };
  assertEquals(await getRequest({}, "anthropic/x"), [
    "https://configured.example/v1/messages",
    KEY,
  ]);
  const env = { ANTHROPIC_API_KEY: "variable", ANTHROPIC_BASE_URL: "https://variable.example" };
  assertEquals(await getRequest(env, "anthropic/x"), [
    "https://variable.example/v1/messages",
    "variable",
  ]);
  assertEquals(await getRequest({}, "own/x"), ["https://own.example/v1/chat/completions", null]);
});

Deno.test("swink run: a key command that fails ends the run before the first request", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": '[providers.anthropic]\nkey_command = "echo locked >&2; exit 1"\n',
  });
  const args = ["run", "--cwd", `${home.path}/p`, "-m", "anthropic/x", "Hello"];
  const { code, messages } = await run(home, args);
  assertEquals(code, 3);
  assertEquals(
    messages,
    "swink: The key command for anthropic: sh failed with exit code 1: locked\n",
  );
});

Deno.test("swink run: says that the saved key is in a keyring that is not available", async () => {
  const mark = ".local/state/swink/credentials/anthropic.keyring";
  await using home = await createTemporaryDirectory({ "p/x": "", [mark]: "" });
  const host = createFakeHost({ env: { HOME: home.path } });
  const args = ["-m", "anthropic/c", "--no-session", "--cwd", `${home.path}/p`, "Hi"];
  assertEquals(await main(["run", ...args], host), 3);
  assertStringIncludes(
    host.messages,
    "No API key for anthropic: the saved one is in a keyring that is not available here; set ANTHROPIC_API_KEY",
  );
  const unnamed = await run(home, ["run", "--cwd", `${home.path}/p`, "Hi"]);
  assertEquals(unnamed.code, 3);
  assertStringIncludes(
    unnamed.messages,
    "swink: No model is configured: the key for anthropic is in a keyring that is not available here\n",
  );
});

Deno.test("swink run: a key command selects the default model of its provider, which a variable of another precedes", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": '[providers.openai]\nkey_command = "echo sk-command"\n',
  });
  const args = ["run", "--no-session", "--dry-run", "--cwd", `${home.path}/p`, "-ojson", "Hi"];
  const getUrl = async (env: Readonly<Record<string, string>>) =>
    JSON.parse((await run(home, args, { env })).output).url;
  assertEquals(new URL(await getUrl({})).host, "api.openai.com");
  assertEquals(new URL(await getUrl({ ANTHROPIC_API_KEY: "k" })).host, "api.anthropic.com");
});

Deno.test("process: a key is in the keyring only, and never in output, arguments, files or recordings", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "a\n" });
  home.write("bin/secret-tool", SECRET_TOOL, 0o755);
  await using provider = startMockProvider(scriptedReply("Hi."));
  const env = {
    HOME: home.path,
    XDG_CONFIG_HOME: "",
    XDG_STATE_HOME: "",
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent",
    PATH: `${home.path}/bin:${getBasicEnvironment().PATH}`,
    ANTHROPIC_BASE_URL: provider.url,
  };
  await using login = startSwink(["login", "anthropic"], {
    cwd: `${home.path}/p`,
    env,
    stdin: "piped",
  });
  const writer = login.child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${KEY}\n`));
  await writer.close();
  const saved = await login.waitForExit();
  assertEquals([saved.code, saved.messages], [
    0,
    "The key for anthropic is saved in the keyring (secret-tool)\n",
  ]);
  const args = ["run", "--record", `${home.path}/recording.json`, "-ostream-json", "Hello"];
  await using process = startSwink(args, { cwd: `${home.path}/p`, env });
  const { code, output, messages } = await process.waitForExit();
  assertEquals(code, 0, messages);
  await using listing = startSwink(["keys"], { cwd: `${home.path}/p`, env });
  const listed = await listing.waitForExit();
  assertEquals(listed.output, "anthropic  the keyring (secret-tool)\n");
  const texts = [saved.output, saved.messages, output, messages, listed.output, listed.messages];
  assert(texts.every((text) => !text.includes("canary")));
  const files = await findFiles(home.path, "canary");
  assertEquals(files, ["bin/item-anthropic"]);
  assertEquals(provider.requests.length, 1);
});

/** Behaves like `secret-tool`, and records its arguments. */
const SECRET_TOOL = `#!/bin/sh
cd "$(dirname "$0")"
printf "%s\\n" "$@" >> arguments
case "$1" in
  store) cat > "item-$6" ;;
  lookup) test -e "item-$5" || exit 1; cat "item-$5" ;;
  clear) rm -f "item-$5" ;;
esac
`;

/** Returns the paths of the files below a directory that contain a text. */
async function findFiles(directory: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) {
      found.push(...(await findFiles(path, text)).map((file) => `${name}/${file}`));
    } else if ((await Deno.readTextFile(path)).includes(text)) found.push(name);
  }
  return found.sort();
}
