import { assertLess, assertStringIncludes } from "@std/assert";
import { estimateTextTokens } from "../src/loop/mod.ts";
import { systemPrompt } from "./system_prompt.ts";

const ENVIRONMENT = {
  cwd: "/work",
  platform: "linux",
  date: "2026-01-01",
  attended: false,
  net: "off",
} as const;

Deno.test("the system prompt takes less than 1,000 tokens", () => {
  assertLess(estimateTextTokens(systemPrompt(ENVIRONMENT)), 1_000);
});

Deno.test("the system prompt tells where it is, who is there and what may be reached", () => {
  const prompt = systemPrompt(ENVIRONMENT);
  for (
    const fact of ["/work", "linux", "2026-01-01", "Nobody is there", "Network of commands: none"]
  ) {
    assertStringIncludes(prompt, fact);
  }
  const other = systemPrompt({ ...ENVIRONMENT, attended: true, net: ["deno.land"] });
  assertStringIncludes(other, "A person is watching");
  assertStringIncludes(other, "only deno.land");
});
