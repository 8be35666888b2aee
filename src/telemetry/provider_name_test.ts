import { assertEquals } from "@std/assert";
import { getProviderName } from "./provider_name.ts";

Deno.test("getProviderName(): returns the names of the conventions for all providers that they list", () => {
  const names = [
    ["anthropic", "anthropic"],
    ["azure", "azure.ai.openai"],
    ["bedrock", "aws.bedrock"],
    ["deepseek", "deepseek"],
    ["gemini", "gcp.gemini"],
    ["google", "gcp.gemini"],
    ["groq", "groq"],
    ["mistral", "mistral_ai"],
    ["moonshot", "moonshot_ai"],
    ["openai", "openai"],
    ["xai", "x_ai"],
  ];
  assertEquals(names.map(([provider = ""]) => [provider, getProviderName(provider)]), names);
});

Deno.test("getProviderName(): keeps other names, also those of members of objects", () => {
  for (const name of ["ollama", "constructor"]) assertEquals(getProviderName(name), name);
});
