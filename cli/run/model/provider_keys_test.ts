import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { openCredentials } from "../../credentials/find_key.ts";
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

Deno.test("ProviderKeys: a missing key is found when it has been saved", async () => {
  await using home = await createTemporaryDirectory();
  const host = { env: (name: string) => name === "HOME" ? home.path : undefined };
  const keys = new ProviderKeys({ openai: {} }, { selection: {}, host });
  assertEquals(await keys.get("openai"), undefined);
  await openCredentials(host)?.save("openai", "sk-test");
  assertEquals(await keys.get("openai"), "sk-test");
  await openCredentials(host)?.save("openai", "sk-other");
  assertEquals(await keys.get("openai"), "sk-test");
  keys.forget("openai");
  assertEquals(await keys.get("openai"), "sk-other");
});
