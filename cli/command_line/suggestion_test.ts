import { assertEquals } from "@std/assert";
import { didYouMean, findSuggestion } from "./suggestion.ts";

const FLAGS = ["--model", "--max-turns", "--cwd", "--patch", "-m", "-o"];

Deno.test("findSuggestion(): returns the candidate that differs by one typing error", () => {
  assertEquals(findSuggestion("--modle", FLAGS), "--model");
  assertEquals(findSuggestion("--max_turns", FLAGS), "--max-turns");
  assertEquals(findSuggestion("--MODEL", FLAGS), "--model");
  assertEquals(findSuggestion("rnu", ["run", "demo"]), "run");
});

Deno.test("findSuggestion(): returns the candidate of which a word is a long form", () => {
  const modes = ["default", "acceptEdits", "plan", "bypass"];
  assertEquals(findSuggestion("bypassPermissions", modes), "bypass");
  assertEquals(findSuggestion("Planning", modes), "plan");
  assertEquals(findSuggestion("onward", ["on", "off"]), undefined);
  assertEquals(findSuggestion("--model-name", FLAGS), undefined);
});

Deno.test("findSuggestion(): returns undefined when no candidate is similar", () => {
  assertEquals(findSuggestion("--verbose", FLAGS), undefined);
  assertEquals(findSuggestion("chat", ["run", "demo"]), undefined);
  assertEquals(findSuggestion("abc", ["run", "acp"]), undefined);
  assertEquals(findSuggestion("-x", FLAGS), undefined);
  assertEquals(findSuggestion("xyz", []), undefined);
});

Deno.test("didYouMean(): returns a sentence, empty when no candidate is similar", () => {
  assertEquals(didYouMean("rnu", ["run", "demo"]), ". Did you mean run?");
  assertEquals(didYouMean("chat", ["run", "demo"]), "");
});
