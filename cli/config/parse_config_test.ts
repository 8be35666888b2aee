import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { formatConfigProblem } from "./config_value.ts";
import { type FileOrigin, parseConfig } from "./parse_config.ts";

const USER: FileOrigin = { type: "user", file: "config.toml" };
const PROJECT: FileOrigin = { type: "project", file: ".swink/config.toml" };

/** Returns the values and the formatted problems. */
function parse(text: string, origin = USER) {
  const { settings, problems } = parseConfig(text, origin);
  return {
    values: Object.fromEntries(settings.map(({ key, value }) => [key, value])),
    problems: problems.map(formatConfigProblem),
  };
}

Deno.test("parseConfig(): reads the keys of the options", () => {
  const text = 'model = "a/b" # comment\nmax_turns = 5\nallowed_tools = [\n  "bash(git *)",\n]\n';
  assertEquals(parse(text), {
    values: { model: "a/b", max_turns: 5, allowed_tools: ["bash(git *)"] },
    problems: [],
  });
  assertEquals(parse(""), { values: {}, problems: [] });
});

Deno.test("parseConfig(): names an unknown key with its line and a suggestion, and reads the others", () => {
  const text = 'model = "a/b"\n\nmaxTurns = 5\n[servers.x]\na = 1\n';
  assertEquals(parse(text), {
    values: { model: "a/b" },
    problems: [
      'config.toml:3: Unknown key "maxTurns". Did you mean max_turns?',
      'config.toml:4: Unknown key "servers"',
    ],
  });
});

Deno.test("parseConfig(): reports a value of the wrong type with its line", () => {
  const { settings, problems } = parseConfig("plain = true\nmax_turns = 'x'\n", USER);
  assertEquals(settings.map(({ key }) => key), ["plain"]);
  assertEquals(problems.map(({ type, line }) => ({ type, line })), [{ type: "error", line: 2 }]);
});

Deno.test("parseConfig(): reads the keys of the conversation, and names invalid ones", () => {
  const text =
    '[keys]\nsubmit = "Ctrl+S"\nnewline = ["enter", "alt+j"]\neditr = "f4"\nquit = "ctrl-x"\nabort = 5\n';
  assertEquals(parse(text), {
    values: { "keys.submit": ["ctrl+s"], "keys.newline": ["enter", "alt+j"] },
    problems: [
      'config.toml:4: Unknown key "keys.editr". Did you mean keys.editor?',
      'config.toml:5: keys.quit: "ctrl-x" is no key. Did you mean ctrl+x?',
      "config.toml:6: keys.abort must be a list of strings, not 5",
    ],
  });
  assertEquals(parse('[keys]\nsubmit = "ctrl+s"\n', PROJECT), {
    values: {},
    problems: [
      ".swink/config.toml:2: keys.submit cannot be set by a project; set it in your own configuration or on the command line",
    ],
  });
});

Deno.test("parseConfig(): a value instead of a table is an error", () => {
  assertEquals(parse('keys = "vi"\nproviders = []\n').problems, [
    "config.toml:1: keys must be a table: write [keys]",
    "config.toml:2: providers must be a table: write [providers.NAME]",
  ]);
  assertEquals(parse('[providers]\nlab = "https://lab.example"\n').problems, [
    "config.toml:2: providers.lab must be a table: write [providers.lab]",
  ]);
});

Deno.test("parseConfig(): reports the line of a key in a table", () => {
  const lines = (text: string) => parseConfig(text, USER).problems.map(({ line }) => line);
  assertEquals(lines('[providers.a]\nbase_url = "http://x"\n\n[providers.b]\nbase_url = 5\n'), [5]);
  assertEquals(lines('providers.a.base_url = 5\n[providers.b]\nbase_url = "http://x"\n'), [1]);
  assertEquals(lines("# keys\n[keys]\nsubmit = 5\n"), [3]);
  assertEquals(lines("a = 1\nkeys = { submit = 5 }\n"), [1, 2]);
});

Deno.test("parseConfig(): reports a syntax error with its line", () => {
  assertEquals(parse("model = 'a'\nmax_turns = \n").problems, [
    "config.toml:2: Invalid TOML: invalid value (texts need quotes)",
  ]);
  assertEquals(parse("model = openai/a\n").problems, [
    "config.toml:1: Invalid TOML: invalid value (texts need quotes)",
  ]);
  assertEquals(parse('model = "openai/a\nmax_turns = 5\n').problems, [
    "config.toml:1: Invalid TOML: control characters are not allowed in strings (is a closing quote missing?)",
  ]);
  assertEquals(parse("a = 1\na = 2").problems, [
    "config.toml:2: Invalid TOML: trying to redefine an already defined table or value",
  ]);
  for (const path of ["C:\\Users\\me", "C:\\projects"]) {
    const [problem = ""] = parse(`add_dir = "${path}"`).problems;
    assertMatch(problem, /escape.* \(single quotes keep backslashes as they are\)$/);
    assertEquals(parse(`add_dir = '${path}'`).values, { add_dir: [path] });
  }
});

Deno.test("parseConfig(): a project cannot extend the rights of the user", () => {
  const text =
    'net = "on"\nsandbox = "off"\npermission_mode = "bypass"\nallowed_tools = ["bash"]\nenv = ["A"]\ndisallowed_tools = ["bash"]\n';
  const { values, problems } = parse(text, PROJECT);
  assertEquals(values, { disallowed_tools: ["bash"] });
  assertEquals(problems.length, 5);
  assertEquals(
    problems[0],
    ".swink/config.toml:1: net cannot be set by a project; set it in your own configuration or on the command line",
  );
});

Deno.test("parseConfig(): never throws", () => {
  const fragments = fc.constantFrom(
    "model",
    "=",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "#",
    "1",
    ".",
    "__proto__",
    "\u0000",
    "constructor",
  );
  fc.assert(fc.property(fc.array(fc.oneof(fragments, fc.string())), (parts) => {
    const { settings, problems } = parseConfig(parts.join(""), USER);
    assert(Array.isArray(settings) && Array.isArray(problems));
  }));
});

Deno.test("parseConfig(): reports nesting that is too deep", () => {
  assertEquals(parse(`a = ${"[".repeat(100_000)}`).problems.length, 1);
});
