import { assertEquals } from "@std/assert";
import { resolveBindings } from "./key_bindings.ts";

Deno.test("resolveBindings() returns the default keys and those that are fixed", () => {
  const bindings = resolveBindings();
  assertEquals(bindings.get("enter"), "submit");
  assertEquals(bindings.get("shift+tab"), "toggle_plan");
  assertEquals(["ctrl+c", "escape"].map((key) => bindings.get(key)), ["abort", "abort"]);
  assertEquals(bindings.get("ctrl+z"), "suspend");
});

Deno.test("resolveBindings() replaces the keys of an action, in any notation", () => {
  const bindings = resolveBindings({ quit: ["F10", "Alt+,"], complete: [] });
  assertEquals(["f10", "alt+,", "ctrl+q", "tab", "ctrl+c"].map((key) => bindings.get(key)), [
    "quit",
    "quit",
    undefined,
    undefined,
    "abort",
  ]);
});
