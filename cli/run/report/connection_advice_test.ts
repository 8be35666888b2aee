import { assertEquals } from "@std/assert";
import {
  type ConnectionSettings,
  getConnectionAdvice,
  nameUrlSource,
} from "./connection_advice.ts";

function createSettings(
  provider: string,
  variables?: Readonly<Record<string, string>>,
  baseUrl?: string,
): ConnectionSettings {
  return { provider, baseUrl, env: (name) => variables?.[name] };
}

Deno.test("getConnectionAdvice(): names the settings that determine the connection", () => {
  const advice = (...args: Parameters<typeof createSettings>) =>
    getConnectionAdvice(createSettings(...args));
  assertEquals(advice("anthropic"), "Check the network.");
  assertEquals(advice("lab"), "Check the network.");
  assertEquals(advice("lab", {}, "https://lab.test/v1"), "Check the network and --base-url.");
  const gateway = { ANTHROPIC_BASE_URL: "https://gateway.test" };
  assertEquals(advice("anthropic", gateway), "Check the network and ANTHROPIC_BASE_URL.");
  assertEquals(advice("openai", gateway), "Check the network.");
  assertEquals(
    getConnectionAdvice({
      ...createSettings("lab"),
      providers: { lab: { baseUrl: "https://lab.test/v1" } },
    }),
    "Check the network and base_url in the configuration.",
  );
  assertEquals(
    advice("anthropic", { ...gateway, HTTPS_PROXY: "http://proxy.test", HTTP_PROXY: "x" }),
    "Check the network, ANTHROPIC_BASE_URL and the proxy in HTTPS_PROXY.",
  );
});

Deno.test("getConnectionAdvice(): omits the network for a server of this machine", () => {
  const advice = (...args: Parameters<typeof createSettings>) =>
    getConnectionAdvice(createSettings(...args));
  assertEquals(advice("ollama"), undefined);
  assertEquals(advice("openai", {}, "http://[::1]:8080/v1"), "Check --base-url.");
  assertEquals(
    advice("openai", { http_proxy: "proxy.test" }, "http://127.0.0.1:8080/v1"),
    "Check --base-url and the proxy in http_proxy.",
  );
});

Deno.test("nameUrlSource(): names the variable with the URL, unless the option replaces it", () => {
  const text = "anthropic answered with text/html instead of a stream; check --base-url";
  const variables = { ANTHROPIC_BASE_URL: "https://gateway.test" };
  assertEquals(
    nameUrlSource(text, createSettings("anthropic", variables)),
    "anthropic answered with text/html instead of a stream; check ANTHROPIC_BASE_URL",
  );
  assertEquals(nameUrlSource(text, createSettings("anthropic", variables, "https://a.test")), text);
  assertEquals(nameUrlSource(text, createSettings("anthropic")), text);
});
