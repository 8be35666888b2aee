import { assert, assertEquals } from "@std/assert";
import { getLookCode } from "./color_code.ts";
import { getColorLevel } from "./color_level.ts";
import { ASCII_SYMBOLS, getDisplay, UNICODE_SYMBOLS } from "./get_display.ts";
import { THEMES } from "./themes.ts";

type Variables = Readonly<Record<string, string>>;

const terminal = { isTerminal: true };
const pipe = { isTerminal: false };

function read(variables: Variables) {
  return (name: string): string | undefined => variables[name];
}

Deno.test("getColorLevel(): detects the level of a terminal by its variables", () => {
  const cases: readonly (readonly [Variables, string])[] = [
    [{}, "basic"],
    [{ TERM: "xterm" }, "basic"],
    [{ TERM: "xterm-256color" }, "indexed"],
    [{ TERM: "tmux-256color" }, "indexed"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }, "indexed"],
    [{ TERM: "xterm-256color", COLORTERM: "truecolor" }, "true_color"],
    [{ TERM: "xterm", COLORTERM: "24bit" }, "true_color"],
    [{ TERM: "xterm-kitty" }, "true_color"],
    [{ TERM: "xterm-direct" }, "true_color"],
    [{ WT_SESSION: "1" }, "true_color"],
    [{ TERM: "dumb" }, "none"],
    [{ TERM: "dumb", COLORTERM: "truecolor" }, "none"],
    [{ NO_COLOR: "1", TERM: "xterm-256color" }, "none"],
    [{ NO_COLOR: "", TERM: "xterm-256color" }, "indexed"],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, "basic"],
    [{ FORCE_COLOR: "0", TERM: "xterm-256color" }, "none"],
    [{ FORCE_COLOR: "false", TERM: "xterm-256color" }, "none"],
    [{ FORCE_COLOR: "1", TERM: "xterm-256color" }, "indexed"],
    [{ FORCE_COLOR: "3", TERM: "xterm" }, "true_color"],
    [{ FORCE_COLOR: "2", TERM: "dumb" }, "indexed"],
  ];
  for (const [variables, expected] of cases) {
    assertEquals(getColorLevel(terminal, read(variables)), expected, JSON.stringify(variables));
  }
});

Deno.test("getColorLevel(): colors a pipe only with FORCE_COLOR", () => {
  assertEquals(getColorLevel(pipe, read({ COLORTERM: "truecolor" })), "none");
  assertEquals(getColorLevel(pipe, read({ FORCE_COLOR: "true" })), "basic");
});

Deno.test("getDisplay(): shows links where the terminal has them", () => {
  const hasLinks = (variables: Variables) => getDisplay(terminal, read(variables)).hasLinks;
  assert(hasLinks({ TERM: "xterm-kitty" }));
  assert(hasLinks({ TERM: "xterm-256color", VTE_VERSION: "7600" }));
  assert(!hasLinks({ TERM: "xterm-256color", VTE_VERSION: "4999" }));
  assert(!hasLinks({ TERM: "xterm-256color" }));
  assert(!hasLinks({ TERM: "tmux-256color", VTE_VERSION: "7600" }));
  assert(!hasLinks({ TERM: "xterm-kitty", TMUX: "/tmp/tmux" }));
  assert(hasLinks({ TERM: "tmux-256color", FORCE_HYPERLINK: "1" }));
  assert(!hasLinks({ TERM: "xterm-kitty", FORCE_HYPERLINK: "0" }));
  assert(!hasLinks({ TERM: "xterm-kitty", NO_COLOR: "1" }));
});

Deno.test("getDisplay(): --plain has no colors, links and symbols beyond ASCII, whatever is forced", () => {
  const env = read({ FORCE_COLOR: "3", FORCE_HYPERLINK: "1", LANG: "en_US.UTF-8" });
  const { colors, hasLinks, symbols, isPlain } = getDisplay(terminal, env, { isPlain: true });
  assertEquals([colors, hasLinks, isPlain], ["none", false, true]);
  assertEquals(symbols, ASCII_SYMBOLS);
});

Deno.test("getDisplay(): selects the symbols by the locale", () => {
  const getSymbols = (variables: Variables) => getDisplay(terminal, read(variables)).symbols;
  assertEquals(getSymbols({ LANG: "de_DE.UTF-8" }), UNICODE_SYMBOLS);
  assertEquals(getSymbols({ LANG: "de_DE.utf8", LC_ALL: "C" }), ASCII_SYMBOLS);
  assertEquals(getSymbols({ LC_CTYPE: "en_US.ISO-8859-1" }), ASCII_SYMBOLS);
  assertEquals(getSymbols({}), UNICODE_SYMBOLS);
  assertEquals(getSymbols({ TERM: "linux" }), ASCII_SYMBOLS);
});

Deno.test("getLookCode(): encodes a color for each level", () => {
  const look = { bold: true, color: { rgb: "#ff9e64", basic: "yellow" } } as const;
  assertEquals(getLookCode(look, "none"), "");
  assertEquals(getLookCode(look, "basic"), "1;33");
  assertEquals(getLookCode(look, "indexed"), "1;38;5;215");
  assertEquals(getLookCode(look, "true_color"), "1;38;2;255;158;100");
  const gray = { background: { rgb: "#808080", basic: "gray" } } as const;
  assertEquals(getLookCode(gray, "indexed"), "48;5;244");
  assertEquals(getLookCode(gray, "basic"), "100");
});

Deno.test("themes: mono has no colors, and no theme shows two diff roles alike", () => {
  for (const look of Object.values(THEMES.mono.looks)) {
    assertEquals([look.color, look.background], [undefined, undefined]);
  }
  for (const { name, looks } of Object.values(THEMES)) {
    for (const level of ["basic", "indexed", "true_color"] as const) {
      const codes = [looks.added, looks.removed, looks.addedWord, looks.removedWord]
        .map((look) => getLookCode(look, level));
      assertEquals(new Set(codes).size, 4, `${name} ${level}`);
    }
  }
});

Deno.test("themes: text of the light and dark themes has a contrast of at least 4.5 on their background", () => {
  const backgrounds = { dark: "#1a1b26", light: "#ffffff", high_contrast: "#000000" } as const;
  for (const name of ["dark", "light", "high_contrast"] as const) {
    const background = backgrounds[name];
    for (const [role, look] of Object.entries(THEMES[name].looks)) {
      if (!look.color) continue;
      const contrast = getContrast(look.color.rgb, look.background?.rgb ?? background);
      assert(contrast >= 4.5, `${name} ${role}: ${contrast.toFixed(2)}`);
    }
  }
});

Deno.test("themes: highlighted code has a contrast of at least 4.5 on the background of changed lines", () => {
  const roles = ["code", "keyword", "string", "comment", "number", "type", "name"] as const;
  for (const name of ["dark", "light"] as const) {
    const { looks } = THEMES[name];
    for (const { background } of [looks.addedLine, looks.removedLine]) {
      for (const role of roles) {
        const contrast = getContrast(looks[role].color?.rgb ?? "", background?.rgb ?? "");
        assert(contrast >= 4.5, `${name} ${role}: ${contrast.toFixed(2)}`);
      }
    }
  }
});

/** Computes the contrast of two colors as WCAG 2 defines it. */
function getContrast(left: string, right: string): number {
  const [high = 0, low = 0] = [getLuminance(left), getLuminance(right)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function getLuminance(rgb: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(rgb.slice(at, at + 2), 16) / 255)
    .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const [red = 0, green = 0, blue = 0] = channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
