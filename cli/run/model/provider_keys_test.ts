import { assertEquals } from "@std/assert";
import { ProviderKeys } from "./provider_keys.ts";

Deno.test("ProviderKeys: has() finds a known key, a variable and a key command", async () => {
  const variables: Readonly<Record<string, string>> = { OPENAI_API_KEY: "sk-test" };
  const keys = new ProviderKeys({ anthropic: { apiKey: "sk-ant-test" }, xai: {} }, {
    selection: { providers: { groq: { keyCommand: "false" } } },
    host: { env: (name) => variables[name] },
  });
  const names = ["anthropic", "openai", "groq", "xai"];
  const found = await Promise.all(names.map((name) => keys.has(name)));
  assertEquals(found, [true, true, true, false]);
});
