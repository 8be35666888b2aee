/**
 * `swink config`.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "smol-toml";
import { main } from "../../cli/main.ts";
import { createFakeHost } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const FILE = ".config/swink/config.toml";

/** Runs `swink config` with a home directory. */
async function run(home: TemporaryDirectory, args: readonly string[], env = {}) {
  const host = createFakeHost({ env: { HOME: home.path, NO_COLOR: "1", ...env } });
  const code = await main(["config", ...args], host);
  const hide = (text: string) => text.replaceAll(home.path, "HOME");
  return [code, hide(host.output), hide(host.messages)] as const;
}

Deno.test("swink config get: prints the settings with their sources, or one value", async () => {
  await using home = await createTemporaryDirectory({
    [FILE]: 'model = "a/b"\ntools = ["read_file", "bash"]\n',
  });
  const env = { SWINK_MAX_TURNS: "5" };
  assertEquals(await run(home, ["get"], env), [
    0,
    `model = "a/b"  # HOME/${FILE}\ntools = ["read_file","bash"]  # HOME/${FILE}\nmax_turns = 5  # SWINK_MAX_TURNS\n`,
    "",
  ]);
  assertEquals(await run(home, ["get", "tools"]), [0, "read_file\nbash\n", ""]);
  assertEquals(await run(home, ["get", "max_turns"]), [0, "100\n", ""]);
  assertEquals(await run(home, ["get", "system"]), [0, "", ""]);
  await using empty = await createTemporaryDirectory();
  const notice = "No key is set: set one with swink config set\n";
  assertEquals(await run(empty, ["get"]), [0, "", notice]);
});

Deno.test("swink config get: reports what is wrong with the configuration", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: "max_turns = 'x'\nmodle = 'a/b'\n" });
  assertEquals(await run(home, ["get"]), [
    3,
    "",
    `error: HOME/${FILE}:1: max_turns must be an integer, not "x"\n` +
    `warning: HOME/${FILE}:2: Unknown key "modle". Did you mean model?\n`,
  ]);
});

Deno.test("swink config set: keeps all changes of programs that change the file at the same time", async () => {
  await using home = await createTemporaryDirectory();
  const names = Array.from({ length: 20 }, (_, index) => `lab${index}`);
  const ends = await Promise.all(
    names.map((name) => run(home, ["set", `providers.${name}.base_url`, "http://localhost"])),
  );
  assertEquals(ends, names.map(() => [0, "", ""]));
  const { providers } = parse(home.read(FILE)) as { readonly providers: object };
  assertEquals(Object.keys(providers).sort(), names.toSorted());
  const files = Array.from(Deno.readDirSync(`${home.path}/.config/swink`), ({ name }) => name);
  assertEquals(files, ["config.toml"]);
});

Deno.test("swink config set: creates the file, which only the user can read", async () => {
  await using home = await createTemporaryDirectory();
  assertEquals(await run(home, ["set", "max_turns", "7"]), [0, "", ""]);
  assertEquals(await run(home, ["set", "allowed_tools", '["bash(git log *)"]']), [0, "", ""]);
  assertEquals(await run(home, ["set", "model", "a/b"]), [0, "", ""]);
  assertEquals(parse(home.read(FILE)), {
    max_turns: 7,
    allowed_tools: ["bash(git log *)"],
    model: "a/b",
  });
  const { mode } = await Deno.stat(`${home.path}/${FILE}`);
  assertEquals((mode ?? 0) & 0o777, 0o600);
});

Deno.test("swink config set, unset: keep the comments, the mode and a link", async () => {
  const text = '# mine\nmodel = "a/b" # good\nmax_turns = 5\n';
  await using home = await createTemporaryDirectory({ "dotfiles/swink.toml": text });
  await Deno.mkdir(`${home.path}/.config/swink`, { recursive: true });
  await Deno.chmod(`${home.path}/dotfiles/swink.toml`, 0o640);
  await Deno.symlink(`${home.path}/dotfiles/swink.toml`, `${home.path}/${FILE}`);
  await run(home, ["set", "model", "c/d"]);
  await run(home, ["unset", "max_turns"]);
  assertEquals(home.read("dotfiles/swink.toml"), '# mine\nmodel = "c/d" # good\n');
  assert((await Deno.lstat(`${home.path}/${FILE}`)).isSymlink);
  const { mode } = await Deno.stat(`${home.path}/${FILE}`);
  assertEquals((mode ?? 0) & 0o777, 0o640);
  assertEquals([...Deno.readDirSync(`${home.path}/dotfiles`)].length, 1);
});

Deno.test("swink config set: rejects invalid keys and values, and an invalid file, which stays unchanged", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: "model = \n" });
  const [code, output, messages] = await run(home, ["set", "max_turn", "7"]);
  assertEquals([code, output], [2, ""]);
  assertStringIncludes(messages, 'Unknown key "max_turn". Did you mean max_turns?\nKeys: model, ');
  assertEquals(await run(home, ["set", "max_turns", "0"]), [
    2,
    "",
    "swink: max_turns must be at least 1, not 0\n",
  ]);
  assertEquals(await run(home, ["set", "max_turns", "7"]), [
    3,
    "",
    `swink: HOME/${FILE}:1: Invalid TOML: invalid value (texts need quotes)\nCorrect the file first: swink config edit\n`,
  ]);
  assertEquals(home.read(FILE), "model = \n");
});

Deno.test("swink config set, get, unset: keys of a provider", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: "plain = true # always\n" });
  const key = "providers.lab.base_url";
  assertEquals(await run(home, ["set", key, "https://lab.example/v1"]), [0, "", ""]);
  assertEquals(parse(home.read(FILE)), {
    plain: true,
    providers: { lab: { base_url: "https://lab.example/v1" } },
  });
  assertEquals(await run(home, ["get", key]), [0, "https://lab.example/v1\n", ""]);
  assertEquals(await run(home, ["unset", key]), [0, "", ""]);
  assertEquals(home.read(FILE), "plain = true # always\n");
  const [code, , messages] = await run(home, ["set", "providers.lab.baseurl", "x"]);
  assertEquals(code, 2);
  assertStringIncludes(messages, "Did you mean providers.lab.base_url?");
});

Deno.test("swink config set, get, unset: keys of the conversation", async () => {
  await using home = await createTemporaryDirectory();
  assertEquals(await run(home, ["get", "keys.newline"]), [0, "shift+enter\nctrl+j\n", ""]);
  assertEquals(await run(home, ["set", "keys.newline", "enter"]), [
    2,
    "",
    "swink: keys.newline: enter sends the prompt; set keys.submit to another key first\n",
  ]);
  assertEquals(await run(home, ["set", "keys.submit", "Ctrl+S, alt+s"]), [0, "", ""]);
  assertEquals(await run(home, ["set", "keys.newline", "enter"]), [0, "", ""]);
  assertEquals(await run(home, ["set", "keys.editor", ""]), [0, "", ""]);
  assertEquals(parse(home.read(FILE)), {
    keys: { submit: ["ctrl+s", "alt+s"], newline: ["enter"], editor: [] },
  });
  assertEquals(await run(home, ["get", "keys.submit"]), [0, "ctrl+s\nalt+s\n", ""]);
  assertEquals(await run(home, ["unset", "keys.submit"]), [
    2,
    "",
    "swink: keys.newline: enter sends the prompt; set keys.submit to another key first\n",
  ]);
  const [code, , messages] = await run(home, ["set", "keys.submitt", "x"]);
  assertEquals(code, 2);
  assertStringIncludes(messages, "Did you mean keys.submit?\nKeys: keys.submit, keys.newline, ");
});

Deno.test("swink config set: another key can be set while the file has a conflict", async () => {
  const text = '[keys]\nquit = "f5"\neditor = "f5"\n';
  await using home = await createTemporaryDirectory({ [FILE]: text });
  assertEquals(await run(home, ["get"]), [
    3,
    `keys.quit = ["f5"]  # HOME/${FILE}\nkeys.editor = ["f5"]  # HOME/${FILE}\n`,
    `error: HOME/${FILE}: keys.editor: f5 is in keys.quit, too\n`,
  ]);
  assertEquals(await run(home, ["set", "max_turns", "5"]), [0, "", ""]);
});

Deno.test("swink config edit: opens the editor, and reports what is wrong with the file afterwards", async () => {
  await using home = await createTemporaryDirectory();
  home.write("editor", '#!/bin/sh\necho "max_turns = 0" > "$2"\n', 0o755);
  // The path of the temporary directory has blanks. The shell reads the variable, as that of /editor and of git.
  assertEquals(await run(home, ["edit"], { EDITOR: `"${home.path}/editor" --wait` }), [
    3,
    "",
    `error: HOME/${FILE}:1: max_turns must be at least 1, not 0\n`,
  ]);
  const [code, , messages] = await run(home, ["edit"], {
    EDITOR: "missing-editor",
    VISUAL: "true",
  });
  assertEquals(code, 3);
  assertStringIncludes(messages, 'swink: The editor "missing-editor" is not installed\n');
  assertEquals(await run(home, ["edit"], { EDITOR: "false" }), [
    3,
    "",
    'swink: The editor "false" failed\nSet EDITOR to the command of an editor.\n',
  ]);
});

Deno.test("swink config path: prints the path", async () => {
  await using home = await createTemporaryDirectory();
  assertEquals(await run(home, ["path"]), [0, `HOME/${FILE}\n`, ""]);
  assertEquals(await run(home, ["path"], { XDG_CONFIG_HOME: "/c" }), [
    0,
    "/c/swink/config.toml\n",
    "",
  ]);
  const [code, , messages] = await run(home, ["path"], { HOME: "" });
  assertEquals([code, messages.startsWith("swink: There is no home directory")], [3, true]);
});

Deno.test("swink config schema: describes every key and rejects invalid files", async () => {
  await using home = await createTemporaryDirectory();
  const [code, output] = await run(home, ["schema"]);
  assertEquals(code, 0);
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(output));
  assertEquals(validate({ model: "a/b", max_turns: 5, tools: ["a"], sandbox: "off" }), true);
  const keys = { submit: "ctrl+s", newline: ["enter", "alt+,"], editor: [] };
  assertEquals(validate({ keys, providers: { lab: { base_url: "http://x" } } }), true);
  for (
    const invalid of [
      { max_turns: 0 },
      { modle: "a" },
      { sandbox: "on" },
      { providers: { lab: { base_url: "ftp://x" } } },
      { plain: 1 },
      { keys: { submit: "ctrl-s" } },
      { keys: { sumbit: "ctrl+s" } },
      { providers: { lab: { url: "x" } } },
    ]
  ) assertEquals(validate(invalid), false, JSON.stringify(invalid));
});

Deno.test("swink config set: rejects values with which every run would fail", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: "plain = true\n" });
  const reject = async (key: string, value: string) => {
    const [code, , messages] = await run(home, ["set", key, value]);
    assertEquals([code, home.read(FILE)], [2, "plain = true\n"], key);
    return messages.split("\n", 1)[0] ?? "";
  };
  assertEquals(
    await reject("timeout", "10"),
    'swink: Invalid value "10" for timeout: must be a duration such as 90s, 10m or 1h',
  );
  assertEquals(
    await reject("env", "A,B"),
    'swink: Invalid value "A,B" for env: must be NAME or NAME=VALUE',
  );
  assertEquals(
    await reject("allowed_tools", "bsh(git *)"),
    'swink: Unknown tool "bsh". Did you mean bash?',
  );
  assertStringIncludes(await reject("model", "sonnet"), 'Cannot parse the model "sonnet"');
  assertStringIncludes(await reject("net", "a b"), 'Invalid value "a b" for net');
  assertStringIncludes(await reject("add_dir", "/no/directory"), "the directory does not exist");
  assertStringIncludes(await reject("disallowed_tools", "bash("), "its parentheses do not match");
  for (const [key, value] of [["timeout", "10m"], ["env", '["A=1", "B"]'], ["net", "a.example"]]) {
    assertEquals(await run(home, ["set", key ?? "", value ?? ""]), [0, "", ""]);
  }
});

Deno.test("swink config set: leaves a file unchanged that is not UTF-8, which no command reads", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: "" });
  const bytes = Uint8Array.of(...new TextEncoder().encode("# caf"), 0xe9, 0x0a);
  await Deno.writeFile(`${home.path}/${FILE}`, bytes);
  assertEquals(await run(home, ["set", "max_turns", "5"]), [
    3,
    "",
    `swink: HOME/${FILE} cannot be read: it is not text in UTF-8\n`,
  ]);
  assertEquals(await Deno.readFile(`${home.path}/${FILE}`), bytes);
  assertEquals(await run(home, ["get", "max_turns"]), [
    3,
    "100\n",
    `error: HOME/${FILE}: The file is not text in UTF-8\n`,
  ]);
  const mark = "\uFEFF# mine\n";
  await Deno.writeTextFile(`${home.path}/${FILE}`, mark);
  assertEquals(await run(home, ["set", "max_turns", "5"]), [0, "", ""]);
  assert((await Deno.readTextFile(`${home.path}/${FILE}`)).startsWith(mark));
});
