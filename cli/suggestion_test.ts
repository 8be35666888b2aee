import { assertEquals } from "@std/assert";
import { findSuggestion } from "./suggestion.ts";

const FLAGS = ["--model", "--max-turns", "--cwd", "--patch", "-m", "-o"];

Deno.test("suggestionFor() finds what is a slip or two away", () => {
  assertEquals(findSuggestion("--modle", FLAGS), "--model");
  assertEquals(findSuggestion("--max_turns", FLAGS), "--max-turns");
  assertEquals(findSuggestion("--MODEL", FLAGS), "--model");
  assertEquals(findSuggestion("rnu", ["run", "demo"]), "run");
});

Deno.test("suggestionFor() does not guess", () => {
  assertEquals(findSuggestion("--verbose", FLAGS), undefined);
  assertEquals(findSuggestion("chat", ["run", "demo"]), undefined);
  assertEquals(findSuggestion("-x", FLAGS), undefined);
  assertEquals(findSuggestion("xyz", []), undefined);
});
