import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { KEY_ACTIONS } from "../settings/key_actions.ts";
import { parseKeyName } from "./key_name.ts";

/** Returns the name, or what is wrong with it. */
function parse(text: string): string {
  const parsed = parseKeyName(text);
  return parsed.type === "key" ? parsed.name : `${text} ${parsed.reason}`;
}

Deno.test("parseKeyName(): brings names to one form", () => {
  const names = {
    "ctrl+r": "ctrl+r",
    " Ctrl+R ": "ctrl+r",
    "Shift+Ctrl+Alt+Up": "ctrl+alt+shift+up",
    "Option+Return": "alt+enter",
    "meta+,": "alt+,",
    "alt++": "alt++",
    "alt+ü": "alt+ü",
    "esc": "escape",
    "PgUp": "page_up",
    "F12": "f12",
    "ctrl+space": "ctrl+space",
    "ctrl+ctrl+a": "ctrl+a",
  };
  for (const [text, name] of Object.entries(names)) assertEquals(parse(text), name);
});

Deno.test("parseKeyName(): refuses keys that terminals do not send, or that have a fixed effect", () => {
  assertEquals(["a", "shift+a", "é", "ctrl+1", "ctrl+shift+r", "ctrl+m", "ctrl+i"].map(parse), [
    "a is part of a prompt: add ctrl or alt",
    "shift+a is part of a prompt: add ctrl or alt",
    "é is part of a prompt: add ctrl or alt",
    "ctrl+1 is a key that terminals do not send: use a letter with ctrl, or alt",
    "ctrl+shift+r is the same key as ctrl+r in a terminal: write ctrl+r",
    "ctrl+m is the same key as enter in a terminal: write enter",
    "ctrl+i is the same key as tab in a terminal: write tab",
  ]);
  assertEquals(["left", "shift+space", "Control+C", "ctrl+z"].map(parse), [
    "left edits the prompt: add ctrl or alt",
    "shift+space edits the prompt: add ctrl or alt",
    "Control+C cannot be changed: it ends the run, and pressed twice the conversation",
    "ctrl+z cannot be changed: it suspends the program",
  ]);
});

Deno.test("parseKeyName(): suggests a name", () => {
  const suggestions = {
    "ctrl-r": "ctrl+r",
    "C-x": "ctrl+x",
    "M-Enter": "alt+enter",
    "crtl+g": "ctrl+g",
    "shift tab": "shift+tab",
    "entre": "enter",
    "alt+escpae": "alt+escape",
  };
  for (const [text, name] of Object.entries(suggestions)) {
    assertEquals(parse(text), `${text} is no key. Did you mean ${name}?`);
  }
  for (const text of ["", "super+a", "f13", "ctrl+", "ctrl c", "constructor"]) {
    assert(/ is no key(\. Did you mean f1[0-2]?\?)?$/.test(parse(text)), parse(text));
  }
});

Deno.test("parseKeyName(): never throws, and a name in its form is unchanged", () => {
  const words = fc.constantFrom(
    "ctrl",
    "alt",
    "shift",
    "+",
    "-",
    " ",
    "a",
    "enter",
    "f1",
    "C",
    "é",
  );
  const texts = fc.oneof(fc.string(), fc.array(words).map((list) => list.join("")));
  fc.assert(fc.property(texts, (text) => {
    const parsed = parseKeyName(text);
    if (parsed.type === "key") assertEquals(parse(parsed.name), parsed.name);
  }));
});

Deno.test("KEY_ACTIONS: each default key is a name in its form, and has one action", () => {
  const keys = Object.values(KEY_ACTIONS).flatMap((action) => action.default);
  assertEquals(keys.map(parse), keys);
  assertEquals(new Set(keys).size, keys.length);
});
