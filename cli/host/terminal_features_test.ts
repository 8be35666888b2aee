import { assertEquals } from "@std/assert";
import { detectTerminalFeatures } from "./terminal_features.ts";

function detect(variables: Readonly<Record<string, string>>, isPlain = false) {
  const { hasCursor, isSynchronized, reflow, keyProtocol, hasPasteMode } = detectTerminalFeatures({
    env: (name) => variables[name],
    isPlain,
  });
  return [hasCursor, isSynchronized, reflow, keyProtocol, hasPasteMode];
}

const PLAIN = [false, false, "no", "none", false];

Deno.test("detectTerminalFeatures() moves no cursor on a dumb terminal, and where the user wants none", () => {
  assertEquals(detect({ TERM: "dumb" }), PLAIN);
  assertEquals(detect({}), PLAIN);
  assertEquals(detect({ TERM: "xterm-kitty" }, true), PLAIN);
});

Deno.test("detectTerminalFeatures() assumes little of an unknown terminal", () => {
  assertEquals(detect({ TERM: "xterm-256color" }), [true, true, "unknown", "none", true]);
});

Deno.test("detectTerminalFeatures() knows common terminals", () => {
  const kitty = [true, true, "yes", "kitty", true];
  assertEquals(detect({ TERM: "xterm-kitty" }), kitty);
  assertEquals(detect({ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }), kitty);
  assertEquals(detect({ TERM: "alacritty" }), kitty);
  // tmux passes neither the protocol nor the variables of the terminal around it.
  const tmux = [true, true, "late", "modify_other_keys", true];
  assertEquals(
    detect({ TERM: "tmux-256color", TMUX: "/tmp/tmux,1,0", TERM_PROGRAM: "tmux" }),
    tmux,
  );
  assertEquals(detect({ TERM: "xterm-256color", VTE_VERSION: "7600" }), [
    true,
    true,
    "yes",
    "none",
    true,
  ]);
  assertEquals(detect({ TERM: "xterm", XTERM_VERSION: "XTerm(390)" }), [
    true,
    true,
    "no",
    "modify_other_keys",
    true,
  ]);
  assertEquals(detect({ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }), [
    true,
    true,
    "except_cursor",
    "none",
    true,
  ]);
  assertEquals(detect({ TERM: "linux" }), [true, false, "no", "none", true]);
  assertEquals(detect({ WT_SESSION: "1" }), [true, true, "yes", "none", true]);
});
