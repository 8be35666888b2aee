import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { editConfig } from "./edit_config.ts";

const FILE = `# My settings
model = "a/b" # the good one

  # Not more than this.
max_turns = 50

[keys] # later
submit = "ctrl+j"
`;

Deno.test("editConfig(): changes a value and keeps the comments", () => {
  assertEquals(editConfig(FILE, "max_turns", 7), FILE.replace("50", "7"));
  assertEquals(editConfig(FILE, "model", "c/d"), FILE.replace("a/b", "c/d"));
});

Deno.test("editConfig(): adds a key before the first table", () => {
  const edited = editConfig(FILE, "tools", ["a", "b"]);
  assertEquals(parse(edited).tools, ["a", "b"]);
  assertEquals(edited.split("\n").filter((line) => line.includes("#")).length, 4);
  assertEquals(editConfig("", "plain", true), "plain = true\n");
  assertEquals(editConfig("# only a comment\n", "plain", true), "# only a comment\nplain = true\n");
});

Deno.test("editConfig(): removes a key", () => {
  assertEquals(parse(editConfig(FILE, "max_turns", undefined)), {
    model: "a/b",
    keys: { submit: "ctrl+j" },
  });
  assertEquals(editConfig(FILE, "plain", undefined), FILE);
});

Deno.test("editConfig(): keeps the comments above a removed key", () => {
  const files = [
    [
      '# My settings\n# max_turns = 5\nmodel = "a/b" # the good one\nvi = true\n',
      "model",
      'model = "a/b" # the good one\n',
    ],
    ['\ufeff# My settings\r\nmodel = "a/b"\r\n', "model", 'model = "a/b"\r\n'],
    ['vi = true\n# the last one\nmodel = "a/b"', "model", 'model = "a/b"'],
    [
      '[providers.lab]\n# url\nbase_url = "https://lab.example"\n# later\n',
      "providers.lab.base_url",
      'base_url = "https://lab.example"\n',
    ],
  ] as const;
  for (const [file, key, line] of files) {
    assertEquals(editConfig(file, key, undefined), file.replace(line, ""));
  }
  assertEquals(editConfig(FILE, "max_turns", undefined), FILE.replace("max_turns = 50\n", ""));
  // A blank at the end of another line is not kept.
  assertEquals(
    editConfig('# mine\nmodel = "a/b"\nvi = true \n', "model", undefined),
    "# mine\nvi = true\n",
  );
});

Deno.test("editConfig(): keeps a table without keys if it has comments", () => {
  const file = `[keys] # mine
submit = "enter"
# newline = ["ctrl+j"]

[providers.lab]
base_url = "https://lab.example"
`;
  const edited = editConfig(file, "keys.submit", undefined);
  assertEquals(edited, file.replace('submit = "enter"\n', ""));
  const rest = editConfig(edited, "providers.lab.base_url", undefined);
  assertEquals(parse(rest), { keys: {} });
  assertEquals(rest.includes("# newline"), true);
});

Deno.test("editConfig(): keeps the comments of empty lists", () => {
  const file = "allowed_tools = [ ] # none yet\nenv = [] # none\n";
  const edited = editConfig(file, "max_turns", 7);
  assertEquals(edited, "allowed_tools = [] # none yet\nenv = [] # none\nmax_turns = 7\n");
  assertEquals(
    editConfig(edited, "env", ["A"]),
    edited.replace("env = []", 'env = [ "A" ]'),
  );
});

Deno.test("editConfig(): rejects a file that is not valid TOML", () => {
  assertThrows(() => editConfig("model = ", "plain", true), Error, "Invalid TOML");
});

Deno.test("editConfig(): changes one key only, of any file", () => {
  const name = fc.stringMatching(/^[a-z_]{1,8}$/);
  const scalar = fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean());
  const list = fc.array(fc.string(), { maxLength: 4 });
  const value = fc.oneof(scalar, list, fc.dictionary(name, fc.oneof(scalar, list), { maxKeys: 3 }));
  const table = fc.dictionary(name, value, { maxKeys: 6, noNullPrototype: true });
  fc.assert(
    fc.property(table, name, fc.oneof(scalar, list), (before, key, setting) => {
      const text = stringify(before);
      const edited = editConfig(text, key, setting);
      assertEquals(parse(edited), parse(stringify({ ...before, [key]: setting })));
      const { [key]: _removed, ...others } = parse(text);
      assertEquals(parse(editConfig(text, key, undefined)), others);
    }),
    { numRuns: 500 },
  );
});
