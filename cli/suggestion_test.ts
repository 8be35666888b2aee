import { assertEquals } from "@std/assert";
import { suggestionFor } from "./suggestion.ts";

const FLAGS = ["--model", "--max-turns", "--cwd", "--patch", "-m", "-o"];

Deno.test("suggestionFor() finds what is a slip or two away", () => {
  assertEquals(suggestionFor("--modle", FLAGS), "--model");
  assertEquals(suggestionFor("--max_turns", FLAGS), "--max-turns");
  assertEquals(suggestionFor("--MODEL", FLAGS), "--model");
  assertEquals(suggestionFor("rnu", ["run", "demo"]), "run");
});

Deno.test("suggestionFor() does not guess", () => {
  assertEquals(suggestionFor("--verbose", FLAGS), undefined);
  assertEquals(suggestionFor("chat", ["run", "demo"]), undefined);
  assertEquals(suggestionFor("-x", FLAGS), undefined);
  assertEquals(suggestionFor("xyz", []), undefined);
});
