import { assertEquals, assertThrows } from "@std/assert";
import { parseSelection } from "./ok.ts";

const names = ["format", "lint", "tests"];

Deno.test("parseSelection() reads names with a space or an equals sign", () => {
  assertEquals(parseSelection([], names), { only: [], but: [] });
  assertEquals(parseSelection(["--only", "lint", "--only=tests"], names), {
    only: ["lint", "tests"],
    but: [],
  });
  assertEquals(parseSelection(["--but=tests"], names), { only: [], but: ["tests"] });
});

Deno.test("parseSelection() throws for unknown and missing names and unknown options", () => {
  assertThrows(() => parseSelection(["--only", "none"], names), Error, "format, lint, tests");
  assertThrows(() => parseSelection(["--only"], names), Error, "needs the name");
  assertThrows(() => parseSelection(["--onyl=lint"], names), Error, "Unknown option: --onyl=lint");
  assertThrows(() => parseSelection(["lint"], names), Error, "Unknown option: lint");
});
