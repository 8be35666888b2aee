import { assertEquals } from "@std/assert";
import { formatConfigProblem } from "./config_value.ts";
import { DEFAULT_KEY_BINDINGS, resolveKeyBindings } from "./key_bindings.ts";
import { parseConfig } from "./parse_config.ts";

/** Returns the keys that differ from the defaults, and the formatted problems. */
function resolve(text: string) {
  const { settings } = parseConfig(text, { type: "user", file: "config.toml" });
  const map = new Map(settings.map((setting) => [setting.key, setting]));
  const { bindings, problems } = resolveKeyBindings(map);
  const defaults: Readonly<Record<string, readonly string[]>> = DEFAULT_KEY_BINDINGS;
  const changed = Object.entries(bindings).filter(([action, keys]) =>
    keys.join() !== defaults[action]?.join()
  );
  return {
    changed: Object.fromEntries(changed),
    problems: problems.map(formatConfigProblem),
  };
}

Deno.test("resolveKeyBindings(): has the default keys without configuration", () => {
  assertEquals(resolve(""), { changed: {}, problems: [] });
  assertEquals(DEFAULT_KEY_BINDINGS.submit, ["enter"]);
  assertEquals(DEFAULT_KEY_BINDINGS.toggle_plan, ["shift+tab"]);
});

Deno.test("resolveKeyBindings(): a configured key is taken from the action that has it by default", () => {
  assertEquals(resolve('[keys]\nnewline = "enter"\nsubmit = ["alt+enter", "ctrl+s"]\n'), {
    changed: { submit: ["alt+enter", "ctrl+s"], newline: ["enter"], follow_up: [] },
    problems: [],
  });
  assertEquals(resolve("[keys]\neditor = []\n"), { changed: { editor: [] }, problems: [] });
  assertEquals(resolve('keys.editor = "f2"\nkeys.expand_tool = "ctrl+g"\n').changed, {
    editor: ["f2"],
    expand_tool: ["ctrl+g"],
  });
});

Deno.test("resolveKeyBindings(): a key with two actions is an error, and the first action has it", () => {
  assertEquals(resolve('[keys]\neditor = "F6"\nquit = ["f6", "ctrl+d"]\n'), {
    changed: { quit: ["f6", "ctrl+d"], editor: [] },
    problems: ["config.toml: keys.editor: f6 is in keys.quit, too"],
  });
});

Deno.test("resolveKeyBindings(): a prompt needs a key that sends it", () => {
  assertEquals(resolve("[keys]\nsubmit = []\n").problems, [
    "config.toml: keys.submit needs a key",
  ]);
  assertEquals(resolve('[keys]\nnewline = "enter"\n').problems, [
    "config.toml: keys.newline: enter sends the prompt; set keys.submit to another key first",
  ]);
});
