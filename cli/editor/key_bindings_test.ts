import { assertEquals, assertThrows } from "@std/assert";
import { ConfigurationError } from "../host/cli_error.ts";
import { listKeys, resolveBindings } from "./key_bindings.ts";

Deno.test("resolveBindings() returns the default keys", () => {
  const bindings = resolveBindings();
  assertEquals(bindings.get("enter"), "submit");
  assertEquals(bindings.get("shift+tab"), "toggle_plan");
  assertEquals(listKeys(bindings, "abort"), ["ctrl+c", "escape"]);
});

Deno.test("resolveBindings() replaces the keys of an action, in any notation, and takes them from others", () => {
  const bindings = resolveBindings({ quit: ["Control+C", "F10"], complete: [] });
  assertEquals(listKeys(bindings, "quit"), ["ctrl+c", "f10"]);
  assertEquals(listKeys(bindings, "abort"), ["escape"]);
  assertEquals(listKeys(bindings, "complete"), []);
  assertEquals(bindings.get("ctrl+q"), undefined);
});

Deno.test("resolveBindings() rejects keys that are unknown, type a character, or are set twice", () => {
  for (
    const [bindings, message] of [
      [{ quit: ["ctl+x"] }, 'The key "ctl+x" of the action quit is unknown'],
      [{ quit: ["q"] }, 'The key "q" of the action quit could no longer be typed'],
      [{ quit: ["shift+space"] }, "could no longer be typed"],
      [{ quit: ["f9"], editor: ["F9"] }, "The key F9 is set for two actions, quit and editor"],
    ] as const
  ) {
    assertThrows(() => resolveBindings(bindings), ConfigurationError, message);
  }
  assertEquals(listKeys(resolveBindings({ quit: ["f9", "F9"] }), "quit"), ["f9"]);
});
