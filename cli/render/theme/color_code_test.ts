import { assertEquals } from "@std/assert";
import { getLookCode } from "./color_code.ts";
import type { BasicColor } from "./theme.ts";

Deno.test("getLookCode(): the 16 colors have the codes of ECMA-48, and backgrounds those 10 higher", () => {
  const dark = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
  const bright = [
    "gray",
    "brightRed",
    "brightGreen",
    "brightYellow",
    "brightBlue",
    "brightMagenta",
    "brightCyan",
    "brightWhite",
  ] as const;
  const assertCode = (basic: BasicColor, code: number) => {
    const color = { basic, rgb: "#000000" };
    assertEquals(getLookCode({ color }, "basic"), `${code}`);
    assertEquals(getLookCode({ background: color }, "basic"), `${code + 10}`);
  };
  dark.forEach((name, index) => assertCode(name, 30 + index));
  bright.forEach((name, index) => assertCode(name, 90 + index));
});

Deno.test("getLookCode(): other color levels have the exact color, the nearest one or none", () => {
  const color = { basic: "blue", rgb: "#0a6fd1" } as const;
  assertEquals(getLookCode({ bold: true, color }, "true_color"), "1;38;2;10;111;209");
  assertEquals(getLookCode({ background: color }, "indexed"), "48;5;26");
  assertEquals(getLookCode({ color: { ...color, rgb: "#808080" } }, "indexed"), "38;5;244");
  assertEquals(getLookCode({ bold: true, color }, "none"), "");
  const all = { bold: true, dim: true, italic: true, underline: true, inverse: true, strike: true };
  assertEquals(getLookCode(all, "basic"), "1;2;3;4;7;9");
});
